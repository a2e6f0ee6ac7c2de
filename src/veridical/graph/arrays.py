"""The relation graph as arrays, which is all that trust and methods see of a corpus."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from veridical.types import Node

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def _no_ints() -> IntArray:
    return np.empty(0, dtype=np.int64)


def _no_floats() -> FloatArray:
    return np.empty(0, dtype=np.float64)


def _no_flags() -> BoolArray:
    return np.empty(0, dtype=np.bool_)


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
        but not another voice, and shares its fate.
    heads, tails, signs, weights
        Shape (m,): document pairs, one row a pair with ``heads < tails``; ``signs`` +1 supports, -1
        contradicts; ``weights`` in [0, 1], the strongest evidence's.
    later, earlier, supersede_weights
        Shape (s,): document ``later[i]`` supersedes ``earlier[i]``. It acts at ranking time; in the trust
        problem only as far as the later document is distrusted (`contested`).
    voice_group
        Shape (n_documents,): documents of nearly the same text share a number, and with it one voice; each
        ``text_group`` lies in one of them. Empty stands for ``text_group``.
    by_answers, superseded_by_answers
        Shapes (m,) and (s,): whether the pair rests on what both answer to one question, rather than on
        inference between sentences. Empty stands for none.
    margins
        Shape (m,), in [-1, 1]: how much more probably the head answers the question that a pair rests on than
        the tail does; 0 where no question is. Empty stands for 0.
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
    voice_group: IntArray = field(default_factory=_no_ints)
    by_answers: BoolArray = field(default_factory=_no_flags)
    superseded_by_answers: BoolArray = field(default_factory=_no_flags)
    margins: FloatArray = field(default_factory=_no_floats)

    @property
    def n_nodes(self) -> int:
        """Documents and sources together."""
        return len(self.nodes)

    @property
    def n_sources(self) -> int:
        """How many sources there are."""
        return len(self.nodes) - self.n_documents

    @property
    def voices(self) -> IntArray:
        """Shape (n_documents,): which voice each document is."""
        return self.voice_group if len(self.voice_group) else self.text_group

    @property
    def answered(self) -> BoolArray:
        """Shape (m,): ``by_answers``, written out."""
        return self.by_answers if len(self.by_answers) else np.zeros(len(self.heads), dtype=np.bool_)

    @property
    def answer_margins(self) -> FloatArray:
        """Shape (m,): ``margins``, written out."""
        return self.margins if len(self.margins) else np.zeros(len(self.heads))

    def contested(self, shares: FloatArray) -> Graph:
        """Return the graph in which dated contradictions count among the others, each by its share.

        Parameters
        ----------
        shares
            Shape (s,), in [0, 1]: how much of each contradiction counts.
        """
        if not len(self.later):
            return self
        dated = self.superseded_by_answers
        if not len(dated):
            dated = np.zeros(len(self.later), dtype=np.bool_)
        return replace(
            self,
            heads=np.concatenate([self.heads, np.minimum(self.later, self.earlier)]),
            tails=np.concatenate([self.tails, np.maximum(self.later, self.earlier)]),
            signs=np.concatenate([self.signs, np.full(len(self.later), -1, dtype=np.int64)]),
            weights=np.concatenate([self.weights, shares * self.supersede_weights]),
            by_answers=np.concatenate([self.answered, dated]),
            margins=np.concatenate([self.answer_margins, np.zeros(len(self.later))]),
        )


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
