"""Past answers, so that feedback can go to the documents that an answer cited or a candidate rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from veridical.errors import InputError, NotFoundError
from veridical.stores import schema
from veridical.stores.documents import inserted_id
from veridical.types import Answer, Record

READER = "reader"
"""The generator whose answer is the first candidate of the evidence board."""

_PRINTED = "'veridical ask' prints the id of each answer."
_REF = re.compile(r"a(\d{1,18})(?:\.(\d{1,18}))?")
_LIKE_REF = re.compile(r"a\d+(?:\.\d*)*")


@dataclass(frozen=True, slots=True)
class CandidateDocument(Record):
    """A version of a document that gives candidate ``number``; ``share`` in [0, 1] is 1 for the strongest."""

    number: int
    key: str
    version: str
    share: float


@dataclass(frozen=True, slots=True)
class Voted(Record):
    """What a vote goes to: (key, version, share) of each document, and the candidate if it is on one."""

    answer_id: int
    candidate: int | None
    documents: tuple[tuple[str, str, float], ...]


def now() -> str:
    """The present time in UTC, to the second, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def put(connection: sa.Connection, answer: Answer, behind: Sequence[CandidateDocument] = ()) -> int:
    """Store an answer, its candidates, and the documents behind them; return its id.

    Parameters
    ----------
    behind
        Who gives which candidate, as it was when it was read.
    """
    result = connection.execute(
        schema.answers.insert().values(
            question=answer.question,
            text=answer.text,
            status=answer.status,
            method=answer.method,
            generator=answer.generator,
            at=now(),
        )
    )
    answer_id = inserted_id(result)
    cited = {citation.document_id for citation in answer.citations}
    rows: list[dict[str, object]] = []
    seen: set[int] = set()
    for hit in answer.hits:
        if hit.document.id not in seen:
            seen.add(hit.document.id)
            rows.append(
                {
                    "answer_id": answer_id,
                    "rank": len(rows),
                    "key": hit.document.key,
                    "version": hit.document.version,
                    "cited": hit.document.id in cited,
                }
            )
    if rows:
        connection.execute(schema.answer_documents.insert(), rows)
    _put_candidates(connection, answer_id, answer, behind)
    return answer_id


def _put_candidates(
    connection: sa.Connection, answer_id: int, answer: Answer, behind: Sequence[CandidateDocument]
) -> None:
    candidates = [
        {
            "answer_id": answer_id,
            "number": candidate.number,
            "text": candidate.text,
            "weight": candidate.weight,
            "probability": candidate.probability,
        }
        for candidate in answer.candidates
    ]
    if candidates:
        connection.execute(schema.answer_candidates.insert(), candidates)
    rows = [
        {"answer_id": answer_id, "number": d.number, "key": d.key, "version": d.version, "part": d.share}
        for d in behind
    ]
    if rows:
        connection.execute(schema.candidate_documents.insert(), rows)


def parse(ref: str) -> tuple[int, int | None] | None:
    """Answer and candidate that ``a1`` or ``a1.2`` names, or ``None`` where it is neither."""
    match = _REF.fullmatch(ref.strip())
    return None if match is None else (int(match[1]), None if match[2] is None else int(match[2]))


def is_ref(ref: str) -> bool:
    """Whether this names an answer (``a1``) or one of its candidates (``a1.2``)."""
    return parse(ref) is not None


def check_like_ref(ref: str) -> None:
    """Raise InputError if this looks like the name of an answer or a candidate but is none."""
    if _LIKE_REF.fullmatch(ref.strip()) and not is_ref(ref):
        raise InputError(
            f"{ref!r} names neither an answer nor a candidate answer.",
            "Write a1 for an answer, and a1.2 for its second candidate.",
        )


def voted_documents(connection: sa.Connection, ref: str) -> Voted:
    """The documents that a vote on an answer or on a candidate goes to.

    An answer's vote goes to the documents that it cited, in full; one that the reader gave is the board's
    first candidate. A candidate's vote goes to those that give it, each by its share.

    Raises
    ------
    NotFoundError
        There is no such answer or candidate, or no document behind it.
    """
    answer_id, candidate = _must_parse(ref)
    table = schema.answers
    row = connection.execute(
        sa.select(table.c.generator, table.c.text).where(table.c.id == answer_id)
    ).first()
    if row is None:
        raise NotFoundError(f"There is no answer a{answer_id}.", _PRINTED)
    numbers = _numbers(connection, answer_id)
    if candidate is None and row.generator == READER and row.text and numbers:
        candidate = numbers[0]
    if candidate is None:
        return Voted(answer_id, None, _cited(connection, answer_id, numbers))
    if candidate not in numbers:
        raise NotFoundError(f"Answer a{answer_id} has no candidate {candidate}.", _known(answer_id, numbers))
    behind = schema.candidate_documents
    rows = connection.execute(
        sa.select(behind.c.key, behind.c.version, behind.c.part)
        .where(behind.c.answer_id == answer_id, behind.c.number == candidate)
        .order_by(behind.c.part.desc(), behind.c.key)
    ).all()
    if not rows:
        raise NotFoundError(
            f"No document is on record for candidate a{answer_id}.{candidate}, so there is nothing to judge.",
            "Judge a document by its id instead, such as d12.",
        )
    return Voted(answer_id, candidate, tuple((r.key, r.version, r.part) for r in rows))


def _must_parse(ref: str) -> tuple[int, int | None]:
    found = parse(ref)
    if found is None:
        check_like_ref(ref)
        raise NotFoundError(f"{ref!r} names no answer.", _PRINTED)
    return found


def _numbers(connection: sa.Connection, answer_id: int) -> list[int]:
    table = schema.answer_candidates
    query = sa.select(table.c.number).where(table.c.answer_id == answer_id).order_by(table.c.number)
    return list(connection.execute(query).scalars())


def _known(answer_id: int, numbers: Sequence[int]) -> str:
    if not numbers:
        return "It was answered without reading passages one by one, so there are no candidates to vote on."
    first, last = f"a{answer_id}.{numbers[0]}", f"a{answer_id}.{numbers[-1]}"
    return f"There is only {first}." if first == last else f"There are {first} to {last}."


def _cited(
    connection: sa.Connection, answer_id: int, numbers: Sequence[int]
) -> tuple[tuple[str, str, float], ...]:
    table = schema.answer_documents
    rows = connection.execute(
        sa.select(table.c.key, table.c.version)
        .where(table.c.answer_id == answer_id, table.c.cited)
        .order_by(table.c.rank)
    ).all()
    if not rows:
        instead = f"one of its candidates, such as a{answer_id}.{numbers[0]}, or " if numbers else ""
        raise NotFoundError(
            f"Answer a{answer_id} cited no document, so there is nothing that feedback could go to.",
            f"Judge {instead}a document by its id instead, such as d12.",
        )
    return tuple((row.key, row.version, 1.0) for row in rows)
