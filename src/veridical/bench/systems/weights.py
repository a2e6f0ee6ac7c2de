"""Engines for systems that wait for weights of their own: from a GGUF file, or as a test hands them over."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from veridical.bench.systems.base import TOP_K, About, Tools
from veridical.errors import EmptyReplyError
from veridical.llm.base import LLM, Generation, Message, check_request
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.llm.llama_cpp_server import LlamaServer, RefusedError
from veridical.llm.llama_cpp_tokens import usage_of
from veridical.llm.managed import ManagedLLM, manage


def engine(tools: Tools, name: str, *, raw: bool = False) -> ManagedLLM:
    """Return the language model that a run has under the name of these weights.

    Parameters
    ----------
    tools
        With the weights: a GGUF file or its folder, which is loaded by the first call, or any language model.
        Where there is another language model, its cache and its budget are these calls' too.
    raw
        A file is not to put its template of conversations around what it is asked.
    """
    given: LLM | Path = tools.weights[name]
    if isinstance(given, Path):
        given = RawLlamaCppLLM(given, name=name) if raw else LlamaCppLLM(given, name=name)
    if isinstance(given, ManagedLLM) or tools.llm is None:
        return manage(given)
    return ManagedLLM(given, cache=tools.llm.cache, budget=tools.llm.budget)


class Trained:
    """What systems with weights of their own share: the engine of the weights that they are about.

    Parameters
    ----------
    tools
        With the weights.
    top_k
        Passages in the prompt.
    """

    about: About
    raw = False
    """Whether a file is used without its template of conversations; see `engine`."""

    def __init__(self, tools: Tools, *, top_k: int = TOP_K) -> None:
        self.tools, self.top_k = tools, top_k

    @cached_property
    def _llm(self) -> ManagedLLM:
        return engine(self.tools, self.about.weights or "", raw=self.raw)


class RawLlamaCppLLM(LlamaCppLLM):
    """A GGUF model that continues the text it is given as it is, for models that are no chat models.

    The contents of all messages make one text. Signs of the model in it stand for themselves, also in what
    was written before, so whoever writes the text has to take them out of what is quoted. Signs that the
    file counts as control tokens are not written out in replies.
    """

    @property
    def identity(self) -> str:
        """That of the file, and that it is used without its template."""
        return f"{super().identity} raw"

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Generation:
        """Continue the text; see `LlamaCppLLM.generate`. A schema is not followed."""
        del schema
        check_request(messages, max_tokens, temperature)

        def ask(server: LlamaServer) -> Generation:
            began = time.monotonic()
            prompt, _ = self._tokens(server, messages, "")
            request = {"prompt": prompt, "max_tokens": max_tokens, "temperature": temperature}
            body = server.complete(request if seed is None else {**request, "seed": seed})
            choice: Mapping[str, Any] = (body.get("choices") or ({},))[0]
            text = str(choice.get("text") or "").strip()
            if not text:
                hint = "Ask in other words, or use a larger model."
                raise self._error("it wrote nothing", hint, kind=EmptyReplyError)
            reason = str(choice.get("finish_reason") or "stop")
            return Generation(text, usage_of(body), reason, time.monotonic() - began)

        return self._run(ask)

    def _tokens(
        self, server: LlamaServer, messages: Sequence[Message], reply: str
    ) -> tuple[list[int], list[tuple[int, bool]]]:
        """Cut the text and what was written after it into tokens, as one."""
        text = "".join(message.content for message in messages) + reply
        tokens = [token for token, _ in server.tokens(text, prompt=True)]
        if len(tokens) > self._n_ctx:
            raise RefusedError(f"the text has {len(tokens)} tokens", too_long=True)
        return tokens, []
