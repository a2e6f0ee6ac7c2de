"""The contract of a method: how it believes documents, and how it ranks passages by relevance and trust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from veridical.graph.arrays import Anchors, FloatArray, Graph
from veridical.trust.problem import TrustProblem
from veridical.trust.solution import TrustSolution


@dataclass(frozen=True)
class TrustState:
    """What a method believes after the feedback so far.

    Attributes
    ----------
    raw
        Shape (n_nodes,): the solver's values, documents first and then sources (where the method has source
        nodes; NaN otherwise). Kept for warm starts and explanations.
    trust
        Shape (n_nodes,): calibrated trust in [0, 1]; NaN where nothing at all is known of a node, which
        ranks as neutral.
    calibrated
        Whether there were enough judged documents to calibrate on.
    solution
        The solver's own account.
    problem
        The problem that was solved, for explanations.
    neutral
        True where there is no feedback and no prior, so that ranking must equal plain retrieval bit by bit.
    notes
        Anything the reader should know.
    """

    raw: FloatArray
    trust: FloatArray
    calibrated: bool
    solution: TrustSolution
    problem: TrustProblem
    neutral: bool = False
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Candidates:
    """One question's pool, in the retriever's order.

    Attributes
    ----------
    relevance
        Shape (p,): the retriever's own numbers, descending (cosine, BM25 or reciprocal-rank fused).
    similarity
        Shape (p,): cosine of question and passage, NaN where the retriever has none.
    trust
        Shape (p,): calibrated trust of each passage's document, NaN where unknown.
    retriever
        ``bm25``, ``dense`` or ``hybrid``; says what ``relevance`` is.
    superseded
        Shape (p,): index into the pool of the passage's successor, -1 where it has none.
    """

    relevance: FloatArray
    similarity: FloatArray
    trust: FloatArray
    retriever: str
    superseded: Sequence[int] | None = None


@runtime_checkable
class Method(Protocol):
    """A system that learns trust from a graph and feedback, and ranks by it. Constructors are light."""

    @property
    def name(self) -> str:
        """The one word that ``--method`` takes."""
        ...

    def believe(self, graph: Graph, anchors: Anchors, *, warm_start: FloatArray | None = None) -> TrustState:
        """Solve for trust. ``warm_start`` is an earlier ``TrustState.raw`` of the same nodes."""
        ...

    def rank(self, candidates: Candidates, *, trust_weight: float | None = None) -> FloatArray:
        """Return the utility of each candidate, shape (p,), to be sorted descending and stably.

        ``trust_weight`` in [0, 1] overrides how much trust counts: 0 is plain retrieval, ``None`` the
        method's own default.
        """
        ...
