"""Questions that documents put to their neighbours: what was asked, and from what it was made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa

from veridical.stores import schema, values
from veridical.stores.documents import chunks

Key = tuple[int, int, str]
"""Asking passage, other passage, question."""
_MADE = schema.question_pairs.c.origin == "made"


def use_version(connection: sa.Connection, version: str) -> None:
    """Have everything made anew if it was made in another way."""
    if values.state(connection, "made_version") != version:
        connection.execute(schema.made_questions.delete())
        connection.execute(schema.question_pairs.delete().where(_MADE))
        values.set_state(connection, "made_version", version)


def stamps(connection: sa.Connection) -> dict[int, str]:
    """What each document's questions were made from, as a hash."""
    table = schema.made_questions
    return {row.document_id: row.stamp for row in connection.execute(sa.select(table))}


def put_stamps(connection: sa.Connection, found: Mapping[int, str]) -> None:
    """Record what documents' questions were made from; documents that have gone meanwhile are left out."""
    table = schema.documents.c.id
    live: set[int] = set()
    for part in chunks(list(found)):
        live.update(connection.execute(sa.select(table).where(table.in_(part))).scalars())
    rows = [
        {"document_id": document, "stamp": stamp} for document, stamp in found.items() if document in live
    ]
    if rows:
        connection.execute(schema.made_questions.insert().prefix_with("OR REPLACE"), rows)


def titles(connection: sa.Connection) -> dict[int, str]:
    """Title of each document."""
    table = schema.documents
    return {row.id: row.title for row in connection.execute(sa.select(table.c.id, table.c.title))}


def pairs_of(connection: sa.Connection, askers: Sequence[int], reader: str) -> set[Key]:
    """What these passages have asked that this reader has read."""
    return {key for key, _, name in _rows(connection, askers) if name == reader}


def _rows(connection: sa.Connection, askers: Sequence[int]) -> list[tuple[Key, int, str]]:
    table = schema.question_pairs
    columns = (table.c.id, table.c.low_passage, table.c.high_passage, table.c.asker, table.c.question)
    query = sa.select(*columns, table.c.reader).where(_MADE)
    found = []
    for part in chunks(askers):
        # By the passages, which are indexed, and not by the asker, which is not.
        for side in (table.c.low_passage, table.c.high_passage):
            for row in connection.execute(query.where(side.in_(part), table.c.asker == side)):
                other = row.high_passage if row.low_passage == row.asker else row.low_passage
                found.append(((row.asker, other, row.question), row.id, row.reader))
    return found


def forget(connection: sa.Connection, askers: Sequence[int], reader: str, keep: Collection[Key]) -> None:
    """Drop what these passages asked, but for what is to be kept of this reader."""
    table = schema.question_pairs
    gone = [i for key, i, name in _rows(connection, askers) if name != reader or key not in keep]
    for part in chunks(gone):
        connection.execute(table.delete().where(table.c.id.in_(part)))


def count(connection: sa.Connection) -> int:
    """How many questions stand."""
    return connection.execute(
        sa.select(sa.func.count()).select_from(schema.question_pairs).where(_MADE)
    ).scalar_one()


def n_unmade(connection: sa.Connection) -> int:
    """How many documents have not been made to ask yet."""
    table, done = schema.documents, schema.made_questions
    query = sa.select(sa.func.count()).select_from(table)
    return connection.execute(query.where(table.c.id.not_in(sa.select(done.c.document_id)))).scalar_one()
