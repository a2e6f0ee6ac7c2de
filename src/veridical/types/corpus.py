"""Documents and passages, and what reading and building report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from veridical.types.base import Record

DocumentFormat = Literal["jsonl", "beir", "text", "markdown", "html", "pdf"]


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
    Where triples are found ahead, ``n_triples`` were newly found in ``n_extracted`` passages, and
    ``n_not_extracted`` are left to the next build, ``notes`` say why.
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
    n_extracted: int = 0
    n_triples: int = 0
    n_not_extracted: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    estimate_only: bool = False
    notes: tuple[str, ...] = ()
