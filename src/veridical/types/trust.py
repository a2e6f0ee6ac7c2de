"""Relations between documents, feedback, and what they do to trust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from veridical.types.base import Record, Span
from veridical.types.corpus import Document

NodeKind = Literal["document", "source"]


TrustLabel = Literal["HIGH", "MEDIUM", "LOW"]


class RelationKind(StrEnum):
    """What one node says about another."""

    SAME_SOURCE = "SAME_SOURCE"
    SUPPORTS = "SUPPORTS"
    CONTRADICTS = "CONTRADICTS"
    SUPERSEDES = "SUPERSEDES"


class NLILabel(StrEnum):
    """The three classes of natural language inference, by name and never by index."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Node(Record):
    """A node of the trust problem: a document (by id) or a source (by name)."""

    kind: NodeKind
    key: str


@dataclass(frozen=True, slots=True)
class NLIResult(Record):
    """What one text says about another, and the two sentences that decided it.

    The three probabilities sum to one. ``premise_span`` and ``hypothesis_span`` are offsets into the texts
    that were given to the model.
    """

    entailment: float
    neutral: float
    contradiction: float
    premise_span: Span | None = None
    hypothesis_span: Span | None = None

    @property
    def label(self) -> NLILabel:
        """The most probable class."""
        return max(NLILabel, key=lambda label: float(getattr(self, label.value)))


@dataclass(frozen=True, slots=True)
class Relation(Record):
    """``head`` stands in ``kind`` to ``tail`` with ``weight`` in [0, 1]; documents by id.

    ``head_span`` and ``tail_span`` are the two sentences that decided it, with offsets into their documents.
    For ``SUPERSEDES`` the head is the later document.
    """

    head: int
    tail: int
    kind: RelationKind
    weight: float
    head_passage: int | None = None
    tail_passage: int | None = None
    head_span: Span | None = None
    tail_span: Span | None = None


@dataclass(frozen=True, slots=True)
class Feedback(Record):
    """One person's judgement of one version of one document.

    ``value`` is 1 for good, 0 for bad, or a grade between. ``answer_id`` and ``candidate`` say what was voted
    on, if not the document itself: an answer, and one of its candidate answers. ``state`` says whether it
    counts: ``active``; ``stale`` (the document has changed since), ``gone`` (the document was deleted) and
    ``undone`` do not.
    """

    id: int
    key: str
    version: str
    value: float
    weight: float = 1.0
    by: str = "anonymous"
    note: str = ""
    at: str = ""
    answer_id: int | None = None
    candidate: int | None = None
    undone_at: str | None = None
    document_id: int | None = None
    state: Literal["active", "stale", "gone", "undone"] = "active"

    @property
    def ref(self) -> str:
        """The short id that one can type, such as ``f3``."""
        return f"f{self.id}"


@dataclass(frozen=True, slots=True)
class Reason(Record):
    """One line of why: ``text`` for people, ``amount`` as a share or a difference of the number explained."""

    text: str
    amount: float | None = None


@dataclass(frozen=True, slots=True)
class TrustChange(Record):
    """How one node's trust moved."""

    kind: NodeKind
    key: str
    title: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class FeedbackReport(Record):
    """The feedback as recorded, and what moved because of it (largest first)."""

    recorded: Sequence[Feedback]
    moved: Sequence[TrustChange]
    n_moved: int
    calibrated: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationEvidence(Record):
    """One piece of evidence on how two documents stand to each other; all spans lie in the documents.

    ``origin`` says what it rests on: ``inference`` between two sentences by the NLI model ``backend``, or
    what the reader ``backend`` found both to answer to ``question``, which was ``asked`` or ``made`` of a
    sentence of the document ``made_of``. ``weight`` in [0, 1] is how probable that makes ``kind``.
    ``head_values`` and ``tail_values`` are what clashes, or what agrees: the two answers, or the numbers,
    dates, names and words in which the sentences differ.
    """

    kind: RelationKind
    weight: float
    origin: Literal["inference", "asked", "made"]
    backend: str
    head_passage: int
    tail_passage: int
    head_sentence: Span | None = None
    tail_sentence: Span | None = None
    head_values: tuple[Span, ...] = ()
    tail_values: tuple[Span, ...] = ()
    question: str | None = None
    made_of: int | None = None


@dataclass(frozen=True, slots=True)
class RelationView(Record):
    """How two documents stand to each other, with all the evidence, strongest first.

    ``kind`` and ``weight`` are those of the strongest evidence. For ``SUPERSEDES`` the head is the later
    document. ``favours`` is the id of the document that trust favours where the two contradict each other,
    ``None`` where it favours neither, and ``verdict`` says so in words.
    """

    head: Document
    tail: Document
    kind: RelationKind
    weight: float
    evidence: tuple[RelationEvidence, ...]
    head_trust: float | None = None
    tail_trust: float | None = None
    head_label: TrustLabel | None = None
    tail_label: TrustLabel | None = None
    favours: int | None = None
    verdict: str = ""
