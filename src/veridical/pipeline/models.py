"""Which models a knowledge base works with, made from its settings and loaded on first use."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from inspect import getattr_static
from pathlib import Path

from veridical import registry
from veridical.errors import InputError, MissingExtraError
from veridical.index.encoder import Encoder, TextEncoder
from veridical.llm.base import LLM
from veridical.llm.budget import Budget, Prices
from veridical.llm.cache import FILE as REPLIES
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ManagedLLM
from veridical.models import ModelStore, load_manifest
from veridical.nli.base import NLIModel
from veridical.reading.base import Reader
from veridical.settings import Settings

ENCODER = "minilm-l6-int8"
LOCAL_LLM = "smollm2-135m-instruct"
_LEAST_TIMEOUT_S = 300.0
"""Seconds that a call of the embedded engine may take at least: it shares the processor with all else."""


class Models:
    """The models of one process.

    Parameters
    ----------
    settings
        Where models live, how many threads they may use, and which language model to call.
    announce
        Called with a line before anything is downloaded.
    folder
        The knowledge base's, where replies of language models are kept; ``None`` to keep none there.
    """

    def __init__(
        self,
        settings: Settings,
        announce: Callable[[str], None] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.settings = settings
        self.folder = folder
        self.store = ModelStore(settings.models_dir, offline=settings.offline, announce=announce)

    @cached_property
    def encoder(self) -> TextEncoder:
        """The sentence encoder."""
        return Encoder(lambda: self.store.resolve(ENCODER), name=ENCODER, n_threads=self.settings.n_threads)

    def nli(self, spec: str) -> NLIModel:
        """Return the NLI backend that a setting names: ``features``, ``onnx:FOLDER`` or ``llm``.

        Raises
        ------
        InputError
            The setting names no backend, or ``llm`` and there is no language model.
        """
        kind, _, where = spec.partition(":")
        backend = registry.load("nli", kind)
        if kind == "features":
            model: NLIModel = backend(
                self.encoder.encode, effort="lexical", n_threads=self.settings.n_threads
            )
            return model
        if kind == "llm":
            judge: NLIModel = backend(self._asked(f"NLI backend {spec!r}", "features"))
            return judge
        if not where:
            raise InputError(f"NLI backend {spec!r} names no folder.", "Write it as onnx:FOLDER.")
        onnx: NLIModel = backend(Path(where), n_threads=self.settings.n_threads)
        return onnx

    def reader(self, spec: str) -> Reader:
        """Return the reader that a setting names: ``embedded``, ``onnx:FOLDER`` or ``llm``.

        Raises
        ------
        InputError
            The setting names no reader, or ``llm`` and there is no language model.
        """
        kind, _, where = spec.partition(":")
        backend = registry.load("readers", kind)
        if kind == "embedded":
            tokenizer = lambda: self.store.resolve(ENCODER) / "tokenizer.json"  # noqa: E731
            embedded: Reader = backend(tokenizer, n_threads=self.settings.n_threads)
            return embedded
        if kind == "llm":
            asked: Reader = backend(self._asked("Reader 'llm'", "reader 'embedded'"))
            return asked
        if not where:
            raise InputError(f"Reader {spec!r} names no folder.", "Write it as onnx:FOLDER.")
        onnx: Reader = backend(Path(where), n_threads=self.settings.n_threads)
        return onnx

    def _asked(self, who: str, instead: str) -> ManagedLLM:
        llm = self.llm()
        if llm is None:
            raise InputError(
                f"{who} needs a language model.",
                f"Set VERIDICAL_LLM_BASE_URL and VERIDICAL_LLM_MODEL, or use {instead}.",
            )
        return llm

    @cached_property
    def replies(self) -> ReplyCache | None:
        """Where replies of language models are kept, if anywhere."""
        where = self.settings.llm_cache
        if isinstance(where, Path):
            return ReplyCache(where / REPLIES if where.is_dir() else where)
        return ReplyCache(self.folder / REPLIES) if where and self.folder is not None else None

    def managed(self, llm: LLM) -> ManagedLLM:
        """Put the cache, the budget, the limits and the accounts of this process around a model.

        Replies of a model without an ``identity`` are not kept: its name may stay while it changes.
        """
        if isinstance(llm, ManagedLLM):
            return llm
        return ManagedLLM(
            llm,
            cache=self.replies if getattr_static(llm, "identity", None) else None,
            budget=self._budget,
            n_concurrent=self.settings.llm_concurrency,
            prices=Prices(self.settings.llm_price_in, self.settings.llm_price_out),
        )

    def llm(self) -> ManagedLLM | None:
        """Return the language model that answers, or ``None`` where answers are extracted.

        A configured server comes first; then a GGUF file, or a known model, that the settings name without
        one; then the small embedded model, if its extra is installed.

        Raises
        ------
        InputError
            The server is configured by half, or the name stands for no model.
        MissingExtraError
            A model is named that needs the extra.
        """
        return self._llm

    @cached_property
    def _llm(self) -> ManagedLLM | None:
        engine = self._engine()
        return None if engine is None else self.managed(engine)

    @cached_property
    def _budget(self) -> Budget:
        settings = self.settings
        return Budget(settings.llm_max_calls, settings.llm_max_tokens, settings.llm_max_cost)

    def _engine(self) -> LLM | None:
        settings = self.settings
        if not settings.llm_base_url:
            return self._embedded()
        if not settings.llm_model:
            raise InputError(
                "A language model is configured by half: VERIDICAL_LLM_MODEL is not set.",
                "Set it to a name that the server knows, such as llama-3.1-8b-instruct.",
            )
        from veridical.llm.openai_ import OpenAILLM

        return OpenAILLM(
            settings.llm_base_url,
            settings.llm_model,
            settings.llm_api_key,
            timeout_s=settings.llm_timeout_s,
            max_retries=settings.llm_retries,
        )

    def _embedded(self) -> LLM | None:
        """The model that the settings name, else the small one, if the library that runs them is there."""
        from importlib.util import find_spec

        named = self.settings.llm_model
        if find_spec("xllamacpp") is None:
            if named:
                raise MissingExtraError("local", f"VERIDICAL_LLM_MODEL={named} without a server")
            return None
        from veridical.llm.llama_cpp_ import LlamaCppLLM

        where, name = self._weights(named or LOCAL_LLM)
        timeout_s = max(self.settings.llm_timeout_s, _LEAST_TIMEOUT_S)
        return LlamaCppLLM(where, name=name, n_ctx=self.settings.llm_context, timeout_s=timeout_s)

    def _weights(self, named: str) -> tuple[Path | Callable[[], Path], str | None]:
        """Find the model file that a name or a path stands for, and its name if the file tells none."""
        entry = load_manifest().get(named)
        if entry is not None and entry.kind == "llm":
            return lambda: self.store.resolve(named) / "model.gguf", named
        path = Path(os.path.expanduser(named))  # noqa: PTH111 - Path's own fails where there is no such user
        if path.is_file() or (path / "model.gguf").is_file():
            return path, None
        known = ", ".join(name for name, model in load_manifest().items() if model.kind == "llm")
        raise InputError(
            f"VERIDICAL_LLM_BASE_URL is not set, and VERIDICAL_LLM_MODEL={named!r} is neither a GGUF file "
            "nor a language model that is known by name.",
            f"Set the base URL for a model on a server, or name a file, or one of: {known}.",
        )
