"""The records that flow through veridical: frozen, typed, and free of behaviour.

Every record has ``to_dict()``, which gives plain JSON values; the command line's ``--json`` prints exactly
that. This module imports nothing else of the package.

Four numbers in [0, 1] are kept apart throughout (see ``docs/words.md``):

``relevance``
    how well a passage fits a question;
``trust``
    how far a document is believed, after feedback has been propagated;
``confidence``
    a model's own probability for what it says;
``utility``
    what a method ranks passages by. It is a number of that method and need not lie in [0, 1].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

NodeKind = Literal["document", "source"]
TrustLabel = Literal["HIGH", "MEDIUM", "LOW"]
AnswerStatus = Literal["answered", "degraded", "no_evidence", "abstained", "failed"]
DocumentFormat = Literal["jsonl", "beir", "text", "markdown", "html", "pdf"]


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


def plain(value: Any) -> Any:
    """Turn a record, or anything that holds records, into plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and callable(value.item) and not isinstance(value, (str, bytes)):
        return value.item()  # NumPy scalars
    return value


class Record:
    """Base of all records: gives them ``to_dict()``."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON values, nested records included."""
        result: dict[str, Any] = plain(self)
        return result


@dataclass(frozen=True, slots=True)
class Span(Record):
    """A stretch of text with its place: ``text == whole[start:end]`` in characters."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SourceDocument(Record):
    """A document as a reader found it, before it has an id.

    ``key`` is stable over edits (path, URL or given id); ``version`` is the SHA-256 of what it says.
    """

    key: str
    version: str
    text: str
    title: str = ""
    source: str | None = None
    url: str | None = None
    date: str | None = None
    format: DocumentFormat = "text"
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document(Record):
    """A stored document. Its short id in commands and answers is ``d`` and the number, as in ``d12``."""

    id: int
    key: str
    version: str
    title: str
    source: str | None = None
    url: str | None = None
    date: str | None = None
    format: str = "text"
    n_passages: int = 0
    n_chars: int = 0

    @property
    def ref(self) -> str:
        """The short id that one can type, such as ``d12``."""
        return f"d{self.id}"


@dataclass(frozen=True, slots=True)
class Passage(Record):
    """A run of whole sentences of one document: ``text == document_text[start:end]``."""

    id: int
    document_id: int
    ordinal: int
    start: int
    end: int
    text: str


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
    """What a step cost: calls to a language model and tokens, as the server counted them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_calls: int = 0


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """An answer with all that it rests on.

    ``status`` is ``answered``; ``degraded`` (an answer stands, but a citation failed or the language model
    did, ``notes`` say which); ``no_evidence`` (nothing was retrieved); ``abstained`` (the evidence is thin or
    tied: ``candidates`` show it); ``failed`` (no answer, the evidence is still here).

    ``candidates`` is the evidence board, heaviest first; a vote goes to one by its ``a1.2``. ``probability``
    is that of the answer, where it was taken from the board.
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
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """The short id that one can type, such as ``a1``."""
        return f"a{self.id}"


@dataclass(frozen=True, slots=True)
class Problem(Record):
    """A file or record that could not be read: where, and why."""

    path: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class IngestReport(Record):
    """What an ingest did, by number of documents; ``problems`` lists what was skipped and why."""

    added: int
    replaced: int
    unchanged: int
    n_passages: int
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildReport(Record):
    """What a build did and what it cost, stage by stage (seconds, and how many of how many were redone).

    ``n_questions`` are in the query log, ``n_made`` were made of the passages themselves; ``n_read`` passages
    were newly read for either, and ``n_question_pairs`` passage pairs agree or clash by what they answer.
    """

    n_documents: int
    n_passages: int
    n_embedded: int
    n_pairs: int
    n_pairs_judged: int
    n_supports: int
    n_contradicts: int
    n_supersedes: int
    n_sources: int
    method: str
    n_questions: int = 0
    n_made: int = 0
    n_read: int = 0
    n_question_pairs: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    estimate_only: bool = False
    notes: tuple[str, ...] = ()


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
