"""Hits, the evidence board, and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from veridical.types.base import Record, Span
from veridical.types.chains import Trace
from veridical.types.corpus import Document, Passage
from veridical.types.trust import Reason, RelationKind, TrustLabel

AnswerStatus = Literal["answered", "degraded", "no_evidence", "abstained", "failed"]


@dataclass(frozen=True, slots=True)
class Hit(Record):
    """A passage retrieved for a question, with everything that moved it.

    ``relevance`` is the retriever's own number (cosine, BM25 or fused), ``relevance_rank`` its place there
    (from 1). ``trust`` is the document's calibrated trust, ``None`` where nothing is known yet.
    """

    passage: Passage
    document: Document
    relevance: float
    relevance_rank: int
    utility: float
    trust: float | None = None
    label: TrustLabel | None = None
    similarity: float | None = None
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict(Record):
    """Two retrieved passages that contradict one another, with the sentence of each side by side."""

    left_document: int
    right_document: int
    left_span: Span
    right_span: Span
    confidence: float
    kind: RelationKind = RelationKind.CONTRADICTS


@dataclass(frozen=True, slots=True)
class Witness(Record):
    """One passage that gives a candidate answer, as it was read on its own.

    ``answer`` and ``sentence`` have offsets into the document. ``probability`` is the reader's, that the
    passage gives this answer; ``relevance`` is P(relevant to the question) and ``trust`` the document's, both
    in [0, 1] (``trust`` is ``None`` where nothing is known). ``voice`` in (0, 1] says how far it counts
    beside near-duplicates and others of its source, ``part`` is its share of the candidate's weight. ``key``
    and ``title`` are the document's.
    """

    document_id: int
    passage_id: int
    answer: Span
    sentence: Span
    probability: float
    relevance: float
    trust: float | None = None
    label: TrustLabel | None = None
    voice: float = 1.0
    part: float = 0.0
    key: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """Answers that mean the same, and who gives them, heaviest witness first.

    ``weight`` is the evidence for it (an amount, not bounded by one); ``probability`` is calibrated: the
    share of such candidates that are right.
    """

    number: int
    text: str
    weight: float
    probability: float
    witnesses: tuple[Witness, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation(Record):
    """A place in a retrieved passage that an answer leans on.

    ``valid`` is decided in code: the id was in the context and ``quote`` occurs in the passage at
    ``start:end`` of the document. A citation that fails carries the ``problem`` and is not counted.
    """

    marker: str
    document_id: int | None
    passage_id: int | None
    quote: str
    start: int | None
    end: int | None
    valid: bool
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Usage(Record):
    """What a step cost: calls to a language model and tokens, as the server counted them.

    ``calls`` are requests that were sent, retries included; ``cached_calls`` were answered from the cache on
    disk and cost nothing. Of ``prompt_tokens``, ``reused_tokens`` were not computed again, because the prompt
    began like one before (0 where the server does not say). ``money`` is at the prices in the settings.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_calls: int = 0
    reused_tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """An answer with all that it rests on.

    ``status`` is ``answered``; ``degraded`` (an answer stands, but a citation failed or the language model
    did, ``notes`` say which); ``no_evidence`` (nothing was retrieved); ``abstained`` (the evidence is thin or
    tied: ``candidates`` show it); ``failed`` (no answer, the evidence is still here).

    ``candidates`` is the evidence board, heaviest first; a vote goes to one by its ``a1.2``. ``probability``
    is that of the answer, where it was taken from the board. ``trace`` shows the chains of method
    ``reliable``. ``usage`` is the sum of ``usage_by_stage``.
    """

    id: int
    question: str
    text: str
    status: AnswerStatus
    method: str
    generator: str
    citations: tuple[Citation, ...] = ()
    dropped_citations: tuple[Citation, ...] = ()
    hits: tuple[Hit, ...] = ()
    kept_out: tuple[Hit, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    probability: float | None = None
    trace: Trace | None = None
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    usage_by_stage: Mapping[str, Usage] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """The short id that one can type, such as ``a1``."""
        return f"a{self.id}"


@dataclass(frozen=True, slots=True)
class RankedPassage(Record):
    """One of somebody else's passages after ``rerank``: its place, trust, label and the reasons."""

    text: str
    index: int
    utility: float
    similarity: float | None
    trust: float | None
    label: TrustLabel | None
    id: str | None = None
    source: str | None = None
    reasons: tuple[Reason, ...] = ()
