"""The relation graph as arrays, which is all that trust and methods see of a corpus."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from veridical.types import Node

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def _no_ints() -> IntArray:
    return np.empty(0, dtype=np.int64)


def _no_floats() -> FloatArray:
    return np.empty(0, dtype=np.float64)


@dataclass(frozen=True)
class Graph:
    """Documents, their sources, and what documents say of one another.

    Documents are numbered ``0 .. n_documents - 1`` and sources ``0 .. n_sources - 1``; ``nodes`` lists the
    documents and then the sources, so that source ``s`` is node ``n_documents + s``.

    Attributes
    ----------
    nodes
        Typed nodes, documents first.
    n_documents
        How many of them are documents.
    source_of
        Shape (n_documents,): source number of each document, -1 where it has none.
    text_group
        Shape (n_documents,): documents of exactly the same text share a number; a copy is another document
        but not another voice.
    heads, tails, signs, weights
        Shape (m,): document pairs, one row a pair with ``heads < tails``; ``signs`` +1 supports, -1
        contradicts; ``weights`` in [0, 1], the strongest passage pair's.
    later, earlier, supersede_weights
        Shape (s,): document ``later[i]`` supersedes ``earlier[i]``. No term of the trust problem; it acts at
        ranking time.
    """

    nodes: tuple[Node, ...]
    n_documents: int
    source_of: IntArray
    text_group: IntArray
    heads: IntArray = field(default_factory=_no_ints)
    tails: IntArray = field(default_factory=_no_ints)
    signs: IntArray = field(default_factory=_no_ints)
    weights: FloatArray = field(default_factory=_no_floats)
    later: IntArray = field(default_factory=_no_ints)
    earlier: IntArray = field(default_factory=_no_ints)
    supersede_weights: FloatArray = field(default_factory=_no_floats)

    @property
    def n_nodes(self) -> int:
        """Documents and sources together."""
        return len(self.nodes)

    @property
    def n_sources(self) -> int:
        """How many sources there are."""
        return len(self.nodes) - self.n_documents


@dataclass(frozen=True)
class Anchors:
    """Feedback as the trust problem takes it: one row a judged document, repeated feedback averaged.

    Attributes
    ----------
    documents
        Shape (f,): document numbers in the graph, each at most once.
    values
        Shape (f,): averaged grade in [0, 1], 1 good and 0 bad (before any method's targets such as .9/.1).
    weights
        Shape (f,): total rater weight behind the grade, > 0.
    """

    documents: IntArray = field(default_factory=_no_ints)
    values: FloatArray = field(default_factory=_no_floats)
    weights: FloatArray = field(default_factory=_no_floats)

    def __len__(self) -> int:
        return len(self.documents)
