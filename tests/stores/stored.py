"""Documents for store tests: one passage a paragraph."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa

from veridical.corpus.dedupe import content_hash
from veridical.stores import documents, schema
from veridical.types import SourceDocument, Span


def document_of(key: str, text: str, *, title: str = "", **fields: Any) -> SourceDocument:
    return SourceDocument(key, content_hash(title, text), text, title, **fields)


def paragraphs(text: str) -> list[Span]:
    return [Span(m[0], m.start(), m.end()) for m in re.finditer(r"[^\n]+", text)]


def put(connection: sa.Connection, key: str, text: str, **fields: Any) -> int:
    """Store a document and return its id."""
    return documents.put(connection, document_of(key, text, **fields), paragraphs(text), None)[1]


def passage_ids(connection: sa.Connection, document_id: int) -> dict[str, int]:
    """Passage ids of a document by text."""
    table = schema.passages
    query = sa.select(table.c.text, table.c.id).where(table.c.document_id == document_id)
    return {row.text: row.id for row in connection.execute(query)}


def count(connection: sa.Connection, table: sa.Table) -> int:
    return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
