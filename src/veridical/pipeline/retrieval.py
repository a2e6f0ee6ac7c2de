"""Retrieving a pool of passages for a question, by BM25, by embedding, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from veridical.errors import InputError
from veridical.index import bm25, dense, hybrid
from veridical.index.dense import DenseIndex
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.stores import Store

RetrieverName = Literal["hybrid", "dense", "bm25"]
RETRIEVERS: tuple[RetrieverName, ...] = ("hybrid", "dense", "bm25")
POOL = 100


def check_retriever(name: str) -> RetrieverName:
    """Return the name if it is one, else raise InputError."""
    for known in RETRIEVERS:
        if name == known:
            return known
    raise InputError(f"{name!r} is no retriever.", "There are: " + ", ".join(RETRIEVERS))


@dataclass(frozen=True)
class Pool:
    """Passages for one question, in the retriever's order.

    Attributes
    ----------
    retriever
        What was used, which is ``bm25`` where there are no vectors yet.
    ids, relevance, similarity
        Passage ids, the retriever's numbers (descending) and cosines (NaN where unknown).
    vector
        The question's vector, where one was computed.
    """

    retriever: RetrieverName
    ids: list[int]
    relevance: list[float]
    similarity: list[float]
    vector: Float32Array | None
    note: str = ""


class Retriever:
    """Reads the indexes of a store, and notices when a build has put new ones in force."""

    def __init__(self, store: Store, encoder: TextEncoder) -> None:
        self._store = store
        self._encoder = encoder
        self._lexical: bm25.LexicalIndex | None = None
        self._dense: DenseIndex | None = None
        self._stamp = ""

    @property
    def encoder_name(self) -> str:
        """Under which the vectors of passages and sentences are kept."""
        return self._encoder.name

    def retrieve(self, question: str, *, retriever: RetrieverName = "hybrid", top_k: int = POOL) -> Pool:
        """Return the pool for a question."""
        index = self._dense_index()
        note = ""
        if index is None or not len(index):
            if retriever != "bm25":
                why = (
                    "The dense index is damaged"
                    if self._stamp and index is None
                    else "There are no vectors yet"
                )
                note = f"{why}, so this is plain BM25; run 'veridical build'."
            retriever, index = "bm25", None
        vector = None if index is None else self._encoder.encode([question])[0]
        lexical = [] if retriever == "dense" else self._search_lexical(question, top_k)
        if index is None or vector is None:
            ids, relevance = _unzip(lexical)
            return Pool("bm25", ids, relevance, [float("nan")] * len(ids), None, note)
        if retriever == "bm25":  # the order is BM25's; cosines say how relevant is relevant
            ids, relevance = _unzip(lexical)
            cosines = index.cosines(ids, vector)
            return Pool("bm25", ids, relevance, [cosines.get(i, float("nan")) for i in ids], vector)
        near = index.search(vector, top_k)
        if retriever == "dense":
            ids, relevance = _unzip(near)
            return Pool(retriever, ids, relevance, list(relevance), vector)
        fused = hybrid.fuse([[i for i, _ in lexical], [i for i, _ in near]], top_k)
        ids, relevance = _unzip(fused)
        cosines = index.cosines(ids, vector)
        return Pool(retriever, ids, relevance, [cosines.get(i, float("nan")) for i in ids], vector)

    def nearest(self, vectors: Float32Array) -> list[tuple[int, float]]:
        """The nearest passage of each vector and its cosine; empty without an index."""
        index = self._dense_index()
        if index is None or not len(index):
            return []
        return [index.search(np.asarray(vector), 1)[0] for vector in vectors]

    def vectors(self, passage_ids: Sequence[int]) -> Float32Array | None:
        """Vector of each passage, NaN where it has none; ``None`` without an index."""
        index = self._dense_index()
        return None if index is None else index.rows(passage_ids)

    def _search_lexical(self, question: str, top_k: int) -> list[tuple[int, float]]:
        if self._lexical is None:
            if not bm25.exists(self._store):
                return []
            self._lexical = bm25.open_index(self._store)
        return self._lexical.search(question, top_k)

    def _dense_index(self) -> DenseIndex | None:
        stamp = dense.stamp_in_force(self._store)
        if stamp and (stamp != self._stamp or self._dense is None):
            self._dense, self._stamp = dense.open_index(self._store, stamp), stamp
        return self._dense if stamp else None


def _unzip(pairs: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [i for i, _ in pairs], [value for _, value in pairs]
