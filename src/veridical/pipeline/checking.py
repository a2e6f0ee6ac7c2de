"""What state a knowledge base is in, and proof that nothing in it dangles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import sqlalchemy as sa

from veridical.corpus.dedupe import content_hash
from veridical.feedback import record
from veridical.index import bm25, dense
from veridical.stores import Store, derived, documents, schema, values
from veridical.types import Record


@dataclass(frozen=True, slots=True)
class StatusReport(Record):
    """Counts, what is behind, and what is in force."""

    folder: str
    bytes: int
    documents: int
    passages: int
    sources: int
    built: bool
    lexical_behind: int
    vectors_behind: int
    judged_pairs: int
    method: str
    methods_with_trust: tuple[str, ...]
    calibrated: bool
    n_judged_documents: int
    read_only: bool = False
    feedback: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckReport(Record):
    """``problems`` is empty if nothing dangles; ``n_checked`` counts what was looked at."""

    problems: tuple[str, ...]
    n_checked: int


def status(store: Store, *, method: str, encoder: str) -> StatusReport:
    """Describe a knowledge base."""
    behind = bm25.n_behind(store)
    with store.read() as connection:
        counts = documents.count(connection)
        feedback = record.every(connection)
        table = schema.judgements
        return StatusReport(
            folder=str(store.folder),
            bytes=_size(store),
            documents=counts["documents"],
            passages=counts["passages"],
            sources=counts["sources"],
            built=bool(values.state(connection, "built")),
            lexical_behind=behind,
            vectors_behind=len(derived.without_vectors(connection, encoder)),
            judged_pairs=connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one(),
            method=method,
            methods_with_trust=tuple(derived.methods_with_trust(connection)),
            calibrated=values.state(connection, f"calibrated:{method}") == "yes",
            n_judged_documents=len({item.document_id for item in feedback if item.state == "active"}),
            read_only=store.read_only,
            feedback=dict(Counter(item.state for item in feedback)),
            settings=values.settings(connection),
        )


def _size(store: Store) -> int:
    total = 0
    for path in store.folder.rglob("*"):
        with suppress(OSError):  # a build may be replacing it
            total += path.stat().st_size if path.is_file() else 0
    return total


def check(store: Store) -> CheckReport:
    """Look for anything that dangles, is out of place, or does not say what it should."""
    problems: list[str] = []
    with store.read() as connection:
        n = 0
        for look in (_database, _documents, _vectors, _judgements, _trust, partial(_indexes, store)):
            try:
                problems += look(connection)
                n = n or sum(documents.count(connection).values())
            except sa.exc.DatabaseError as error:
                problems.append(f"The database is damaged: {error.orig}.")
    return CheckReport(tuple(dict.fromkeys(problems)), n)


def _database(connection: sa.Connection) -> Iterator[str]:
    for row in connection.exec_driver_sql("PRAGMA integrity_check"):
        if row[0] != "ok":
            yield f"The database is damaged: {row[0]}"
    for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield f"A row of {row[0]} refers to a row of {row[2]} that is gone."


def _documents(connection: sa.Connection) -> Iterator[str]:
    table, passages = schema.documents, schema.passages
    rows = connection.execute(
        sa.select(table.c.id, table.c.key, table.c.version, table.c.title, table.c.text)
    )
    for row in rows:
        if content_hash(row.title, row.text) != row.version:
            yield f"d{row.id} ({row.key}): its text does not match its version."
        query = sa.select(passages.c.start, passages.c.end, passages.c.text).where(
            passages.c.document_id == row.id
        )
        pieces = connection.execute(query).all()
        if not pieces:
            yield f"d{row.id} ({row.key}) has no passage."
        for start, end, text in pieces:
            if end > len(row.text) or row.text[start:end] != text:
                yield f"d{row.id} ({row.key}): the passage at {start}:{end} is not what the text says there."


def _vectors(connection: sa.Connection) -> Iterator[str]:
    for passage_id in derived.damaged_vectors(connection):
        yield f"A vector of passage {passage_id} is damaged; 'veridical build' makes it again."


def _judgements(connection: sa.Connection) -> Iterator[str]:
    lengths = {
        row[0]: row[1]
        for row in connection.execute(sa.select(schema.passages.c.id, sa.func.length(schema.passages.c.text)))
    }
    for item in derived.judgements(connection):
        ends = ((item.low, item.low_end), (item.high, item.high_end))
        for passage, end in ends:
            if end is not None and end > lengths.get(passage, 0):
                yield f"The relation of passages {item.low} and {item.high} points past passage {passage}."


def _trust(connection: sa.Connection) -> Iterator[str]:
    table = schema.documents
    ids = {str(i) for i in connection.execute(sa.select(table.c.id)).scalars()}
    sources = set(connection.execute(sa.select(table.c.source).distinct()).scalars())
    for method in derived.methods_with_trust(connection):
        for row in derived.trust(connection, method):
            if row.key not in (ids if row.kind == "document" else sources):
                yield f"Method {method} has a trust for {row.kind} {row.key}, which does not exist."


def _indexes(store: Store, connection: sa.Connection) -> Iterator[str]:
    live = set(connection.execute(sa.select(schema.passages.c.id)).scalars())
    held = bm25.indexed_ids(store)
    if held - live:
        gone = len(held - live)
        yield f"The BM25 index holds {gone} passages that are gone; 'veridical build' removes them."
    if live and not held:
        yield "The BM25 index is missing or damaged; 'veridical build' makes it again."
    stamp = values.state(connection, "dense")
    if stamp:
        ids = dense.ids_of(store, stamp)
        if ids is None or dense.is_damaged(store, stamp):
            yield f"The dense index {stamp} is missing or damaged; 'veridical build' makes it again."
        elif gone := len(set(ids.tolist()) - live):
            yield f"The dense index holds {gone} passages that are gone; 'veridical build' removes them."
