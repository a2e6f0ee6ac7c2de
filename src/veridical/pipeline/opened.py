"""What an open knowledge base holds on to: its store, its models, and what is loaded once."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from veridical.errors import InputError, StoreError
from veridical.evidence.triples import Extractor
from veridical.llm.base import LLM
from veridical.llm.cache import FILE as REPLIES
from veridical.llm.cache import CacheReport, ReplyCache
from veridical.methods.base import Method
from veridical.pipeline import beliefs, building
from veridical.pipeline.asked import Means
from veridical.pipeline.extracting import extractor_named
from veridical.pipeline.models import Models
from veridical.pipeline.progress import Progress
from veridical.pipeline.reasoning import ChainOptions, Reasoner
from veridical.pipeline.retrieval import Retriever
from veridical.reading.base import Reader
from veridical.stores import Store, derived, values

DEFAULTS = {
    "method": "veridical",
    "retriever": "hybrid",
    "nli": "features",
    "reader": "embedded",
    "extractor": "embedded",
    "made_questions": str(building.DEFAULT_MADE),
}

CHAINED = "reliable"
"""The method that answers from chains of triples."""


class Opened:
    """A knowledge base that is open, or will be when it is first used; see `Veridical`."""

    def __init__(self, path: Path, models: Models, progress: Progress | None, llm: LLM | None) -> None:
        self.path = path
        self.models = models
        self._progress = progress
        self._llm = None if llm is None else models.managed(llm)
        self._readers: dict[str, Reader] = {}
        self._store: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, and the cache of replies."""
        if self.models.replies is not None:
            self.models.replies.close()
        if self._store is not None:
            self._store.close()
            self._store = None
            self.__dict__.pop("_retriever", None)

    @property
    def store(self) -> Store:
        """The store behind it.

        Raises
        ------
        StoreError
            There is no knowledge base yet, or it cannot be opened.
        """
        return self._open(create=False)

    def _open(self, *, create: bool) -> Store:
        if self._store is None:
            self._store = Store(self.path, create=create)
        return self._store

    def cached_replies(self) -> list[CacheReport]:
        """What is kept of language models' replies: in this knowledge base, or where the settings say."""
        with ExitStack() as closing:
            return [closing.enter_context(cache).report() for cache in self._caches()]

    def forget_replies(self) -> int:
        """Forget all replies of language models that are kept, and return how many there were.

        Raises
        ------
        StoreError
            That cannot be done, as where the disk is read-only.
        """
        with ExitStack() as closing:
            return sum([closing.enter_context(cache).clear() for cache in self._caches()])

    def _caches(self) -> list[ReplyCache]:
        """The cache in use and the one in the folder, which may be from before another was chosen."""
        own, used = ReplyCache(self.path / REPLIES), self.models.replies
        if used is None or used.path == own.path:
            return [used or own]
        return [used, own] if own.path.is_file() else [used]

    @cached_property
    def _retriever(self) -> Retriever:
        return Retriever(self.store, self.models.encoder)

    def setting(self, name: str) -> str:
        """A setting of this knowledge base: ``method``, ``retriever`` or ``nli``."""
        with self.store.read() as connection:
            return values.setting(connection, name, DEFAULTS[name])

    def _method(self, name: str | None) -> Method:
        return beliefs.method_named(name or self.setting("method"))

    def _believing(self, name: str | None, *, must_store: bool = True) -> Method:
        """The method, with its beliefs on record if the knowledge base is built, and they can be stored."""
        method = self._method(name)
        with self.store.read() as connection:
            missing = values.state(connection, "built") and (
                method.name not in derived.methods_with_trust(connection)
            )
        if missing:
            try:
                with self.store.write() as connection:
                    beliefs.update(connection, method)
            except StoreError:  # busy, full or read-only: an answer without trust is better than none
                if must_store:
                    raise
        return method

    def _refresh_beliefs(self) -> None:
        with self.store.write() as connection:
            name = values.setting(connection, "method", DEFAULTS["method"])
            beliefs.refresh(connection, beliefs.method_named(name))

    def _reader(self, name: str | None = None) -> Reader:
        """The reader of this name, or else that which this knowledge base is set to, loaded once."""
        name = name or self.setting("reader")
        if name not in self._readers:
            self._readers[name] = self.models.reader(name)
        return self._readers[name]

    def _other_llm(self) -> LLM | None:
        """A language model that can be asked, whether or not it is the one that answers."""
        return self._llm or self.models.llm()

    def _extractor_ahead(self, method: str | None, extractor: str | None) -> Extractor | None:
        """What a build has see all passages, if anything is to: see `Veridical.build`."""
        with self.store.read() as connection:
            chosen = extractor or values.setting(connection, "extractor")
        if not chosen and (method or self.setting("method")) != CHAINED:
            return None
        return extractor_named(chosen or DEFAULTS["extractor"], self.models.encoder, self._other_llm)

    def _with_chains(
        self, means: Means, method: Method, options: ChainOptions | None, *, use_trust: bool
    ) -> Means:
        """Add what chains are found with, where the method answers from them and somebody reads them.

        Raises
        ------
        InputError
            There are options, and the method does not answer from chains.
        """
        if method.name != CHAINED:
            if options is not None:
                raise InputError(
                    f"Method {method.name} does not answer from chains, so their options say nothing.",
                    f"Leave them out, or choose method {CHAINED}.",
                )
            return means
        if means.generator == "extractive" or (means.llm is None and means.reader is None):
            return means
        reasoner = Reasoner.of(
            options or ChainOptions(),
            llm=means.llm,
            other_llm=self._other_llm,
            encoder=self.models.encoder,
            extractor=self.setting("extractor"),
            use_trust=use_trust,
        )
        return replace(means, reasoner=reasoner)
