"""Triples of passages and their vectors: those that are stored, and the rest found now, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import sqlalchemy as sa

from veridical import registry
from veridical.errors import (
    InputError,
    LLMError,
    MissingExtraError,
    ModelError,
    StoreError,
    UnreachableError,
    VeridicalError,
)
from veridical.evidence.triples import Extraction, Extractor, written
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.llm.base import LLM
from veridical.pipeline.progress import Stages
from veridical.stores import Store, documents, schema, triples, values
from veridical.stores.triples import StoredTriple

BATCH = 16
"""Passages that are extracted between two commits: two rounds of calls at once, or about a second's work."""

LLM_NAME = "llm"
NO_LLM = "Set VERIDICAL_LLM_BASE_URL and VERIDICAL_LLM_MODEL, or use 'embedded'."
SECONDS_PER_PASSAGE = 0.025  # on two cores, embedded extractor and encoder; a build replaces it
_RATE = "rate:extract"
_HOPELESS = 3  # failures, and nothing else, in a batch from which on no more is tried

Texts = Mapping[int, tuple[str, str]]
"""Passage id to (title, text)."""


def extractor_named(name: str, encoder: TextEncoder, llm: Callable[[], LLM | None]) -> Extractor:
    """Return the extractor that a setting names: ``embedded``, ``llm``, or a third party's.

    Raises
    ------
    InputError
        There is no such extractor, or it needs a language model and there is none.
    """
    make = registry.load("extractors", name)
    if name != LLM_NAME:
        extractor: Extractor = make()
        return extractor
    model = llm()
    if model is None:
        raise InputError(f"Extractor {name!r} needs a language model.", NO_LLM)
    asked: Extractor = make(model, encoder.encode)
    return asked


@dataclass
class Stated:
    """What passages state, as far as it could be had.

    Attributes
    ----------
    triples
        Of each passage that an extractor has seen, in order. Those that could not be stored have ids below 0.
    vectors
        Of the same passages, shape (n_triples, d).
    failed
        Why a passage was not seen; it is tried again the next time.
    stopped
        What ended the work before all passages were seen, such as a budget.
    unstored
        Why what was found now is not kept.
    """

    triples: dict[int, tuple[StoredTriple, ...]] = field(default_factory=dict)
    vectors: dict[int, Float32Array] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    stopped: VeridicalError | None = None
    unstored: StoreError | None = None


def state(
    store: Store,
    extractor: Extractor,
    encoder: TextEncoder,
    texts: Texts,
    *,
    must_store: bool = False,
    tick: Callable[[], object] | None = None,
) -> Stated:
    """Say what passages state: from the store where they were seen before, else found now and stored.

    Parameters
    ----------
    must_store
        Raise where nothing can be written, instead of going on without.
    tick
        Called once for each passage that was not seen before.

    Raises
    ------
    StoreError
        What is stored is damaged, or nothing can be written under ``must_store``.
    """
    run = _Run(store, extractor, encoder, must_store)
    with store.read() as connection:
        stated = Stated(triples.extracted(connection, extractor.name, list(texts)))
        stated.vectors = triples.vectors(
            connection, extractor.name, encoder.name, list(stated.triples), run.dimensions
        )
    bare = {i: found for i, found in stated.triples.items() if i not in stated.vectors}
    run.keep(stated, {}, bare)
    todo = [i for i in texts if i not in stated.triples]
    for part in documents.chunks(todo, BATCH):
        try:
            found = extractor.extract([texts[i] for i in part], tick=tick)
        except (
            LLMError,
            ModelError,
            MissingExtraError,
        ) as error:  # a budget that is used up, or a model that cannot be had
            stated.stopped = error
            return stated
        seen = {i: each for i, each in zip(part, found, strict=True) if not each.failed}
        stated.failed |= {i: str(each.problem) for i, each in zip(part, found, strict=True) if each.failed}
        run.keep(stated, seen, {})
        if not seen and len(part) >= _HOPELESS:
            stated.stopped = UnreachableError(_sentence(str(found[-1].problem)), "Try again later.")
            return stated
    return stated


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


class _Run:
    """One extractor and one encoder, and where what they find is kept."""

    def __init__(self, store: Store, extractor: Extractor, encoder: TextEncoder, must_store: bool) -> None:
        self.store, self.extractor, self.encoder, self.must_store = store, extractor, encoder, must_store
        self.dimensions = encoder.encode([]).shape[1]
        self._ids = count(-1, -1)

    def keep(
        self,
        stated: Stated,
        seen: Mapping[int, Extraction],
        bare: Mapping[int, Sequence[StoredTriple]],
    ) -> None:
        """Add extractions, and triples that lack vectors, to what is stated, and store both at once."""
        if not seen and not bare:
            return
        said = {i: [written(t.head, t.relation, t.tail) for t in each.triples] for i, each in seen.items()}
        said |= {i: [written(t.head, t.relation, t.tail) for t in each] for i, each in bare.items()}
        flat = self.encoder.encode([text for each in said.values() for text in each])
        # Rounded as the store does, so that the same question is answered alike the next time.
        rows = flat.astype(np.float16).astype(np.float32)
        split = np.cumsum([len(each) for each in said.values()])[:-1]
        stated.vectors |= dict(zip(said, np.split(rows, split), strict=True))
        name = self.extractor.name
        if stated.unstored is None:
            try:
                with self.store.write() as connection:
                    triples.put_extractions(connection, name, seen)
                    made = {i: stated.vectors[i] for i in said}
                    triples.put_vectors(connection, name, self.encoder.name, made)
                    stored = triples.extracted(connection, name, list(seen))
                stated.triples |= stored
            except StoreError as error:
                if self.must_store:
                    raise
                stated.unstored = error
        lost = {i: each for i, each in seen.items() if i not in stated.triples}
        stated.triples |= {i: self._unstored(i, each) for i, each in lost.items()}

    def _unstored(self, passage_id: int, extraction: Extraction) -> tuple[StoredTriple, ...]:
        return tuple(
            StoredTriple(next(self._ids), passage_id, t.head, t.relation, t.tail, t.start, t.end)
            for t in extraction.triples
        )


def titled(connection: sa.Connection, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Title and text of passages, by id; those that have gone are left out."""
    passages, docs = schema.passages, schema.documents
    query = (
        sa.select(passages.c.id, docs.c.title, passages.c.text)
        .join(docs, docs.c.id == passages.c.document_id)
        .where(passages.c.id.in_(ids))
        .order_by(passages.c.id)
    )
    return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


@dataclass(frozen=True)
class Extracted:
    """What a build extracted: passages seen now, triples found in them, and why others were not seen."""

    n_seen: int = 0
    n_triples: int = 0
    n_failed: int = 0
    notes: tuple[str, ...] = ()


def update(store: Store, extractor: Extractor, encoder: TextEncoder, stages: Stages) -> Extracted:
    """Have an extractor see all passages that it has not seen, in steps that are committed.

    Raises
    ------
    BudgetError, ModelError
        The language model's budget is used up, or it cannot be had. What was done stays, and the next build
        goes on.
    """
    with store.read() as connection:
        todo = triples.without_extraction(connection, extractor.name)
    n_seen = n_triples = 0
    failed: dict[int, str] = {}
    stopped: VeridicalError | None = None
    with stages.run("triples", len(todo), "passages") as progress:
        for part in documents.chunks(todo, BATCH):
            with store.read() as connection:
                texts = titled(connection, part)
            stated = state(
                store, extractor, encoder, texts, must_store=True, tick=lambda: progress.advance(1)
            )
            n_seen += len(stated.triples)
            n_triples += sum(map(len, stated.triples.values()))
            failed |= stated.failed
            stopped = stated.stopped
            if stopped is not None:
                break
    _remember_rate(store, n_seen, stages.seconds["triples"])
    if stopped is not None and not isinstance(stopped, UnreachableError):
        raise stopped
    return Extracted(n_seen, n_triples, len(todo) - n_seen, _notes(failed, stopped, len(todo) - n_seen))


def n_behind(connection: sa.Connection, extractor: Extractor | None) -> int:
    """How many passages an extractor has not seen; none if there is no extractor."""
    return 0 if extractor is None else len(triples.without_extraction(connection, extractor.name))


def rate(connection: sa.Connection) -> float:
    """About how many seconds a passage takes."""
    return float(values.state(connection, _RATE, str(SECONDS_PER_PASSAGE)))


def _notes(failed: Mapping[int, str], stopped: VeridicalError | None, n_left: int) -> tuple[str, ...]:
    if stopped is not None:
        are = "1 passage has" if n_left == 1 else f"{n_left:,} passages have"
        return (f"{are} no triples yet: {stopped.message} The next build goes on.",)
    if not failed:
        return ()
    are = "1 passage has" if len(failed) == 1 else f"{len(failed):,} passages have"
    why = next(iter(failed.values()))
    return (f"{are} no triples yet, as {why} The next build tries again.",)


def _remember_rate(store: Store, n: int, seconds: float) -> None:
    if n >= BATCH:
        with store.write() as connection:
            values.set_state(connection, _RATE, f"{seconds / n:.6f}")
