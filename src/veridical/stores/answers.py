"""Past answers, so that feedback can go to the documents that an answer cited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from veridical.errors import NotFoundError
from veridical.stores import schema
from veridical.stores.documents import inserted_id
from veridical.types import Answer


def now() -> str:
    """The present time in UTC, to the second, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def put(connection: sa.Connection, answer: Answer) -> int:
    """Store an answer and the documents behind it; return its id."""
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
    return answer_id


def is_ref(ref: str) -> bool:
    """Whether this names an answer (``a1``)."""
    return re.fullmatch(r"a\d{1,18}", ref.strip()) is not None


def cited_documents(connection: sa.Connection, ref: str) -> tuple[int, Sequence[tuple[str, str]]]:
    """The (key, version) pairs that an answer cited, and the answer's id.

    Raises
    ------
    NotFoundError
        There is no such answer, or it cited nothing.
    """
    answer_id = int(ref.strip()[1:])
    if (
        connection.execute(sa.select(schema.answers.c.id).where(schema.answers.c.id == answer_id)).scalar()
        is None
    ):
        raise NotFoundError(f"There is no answer {ref}.", "'veridical ask' prints the id of each answer.")
    table = schema.answer_documents
    rows = connection.execute(
        sa.select(table.c.key, table.c.version)
        .where(table.c.answer_id == answer_id, table.c.cited)
        .order_by(table.c.rank)
    ).all()
    if not rows:
        raise NotFoundError(
            f"Answer {ref} cited no document, so there is nothing that feedback could go to.",
            "Judge a document by its id instead, such as d12.",
        )
    return answer_id, [(row.key, row.version) for row in rows]
