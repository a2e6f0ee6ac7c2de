"""Derived for chains: the triples that passages state, their vectors, and how far they are believed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from veridical.errors import StoreError
from veridical.stores import schema
from veridical.stores.derived import DIMENSIONS
from veridical.stores.documents import chunks
from veridical.types import Record

Float32Array = npt.NDArray[np.float32]
_AGAIN = "Export it ('veridical export FILE') and import that into another --kb."


class _Found(Protocol):
    """A triple and the place of its sentence in the passage, as extractors give it."""

    @property
    def head(self) -> str: ...
    @property
    def relation(self) -> str: ...
    @property
    def tail(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class _Extraction(Protocol):
    """What an extractor found in one passage; ``problem`` says why it is nothing, or not all."""

    @property
    def triples(self) -> Sequence[_Found]: ...
    @property
    def problem(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class StoredTriple(Record):
    """A triple on record. Its sentence is at [start, end) of the passage; no id is ever used twice."""

    id: int
    passage_id: int
    head: str
    relation: str
    tail: str
    start: int
    end: int


# --- extractions ---


def without_extraction(connection: sa.Connection, extractor: str) -> list[int]:
    """Passages that this extractor has not seen, ascending."""
    table, done = schema.passages, schema.extractions
    seen = sa.select(done.c.passage_id).where(done.c.extractor == extractor)
    query = sa.select(table.c.id).where(table.c.id.not_in(seen)).order_by(table.c.id)
    return list(connection.execute(query).scalars())


def extracted(
    connection: sa.Connection, extractor: str, passage_ids: Sequence[int]
) -> dict[int, tuple[StoredTriple, ...]]:
    """The triples of the passages that this extractor has seen, in order; others are left out.

    Raises
    ------
    StoreError
        What is stored of a passage is damaged: triples are missing, or are not what they should be.
    """
    expected = {i: n for i, (n, _) in _done(connection, extractor, passage_ids).items()}
    table = schema.triples
    query = _with_length().where(table.c.extractor == extractor)
    found: dict[int, list[StoredTriple]] = {passage_id: [] for passage_id in expected}
    for part in chunks(list(expected)):
        rows = connection.execute(query.where(table.c.passage_id.in_(part)).order_by(table.c.ordinal))
        for row in rows:
            place = len(found[row.passage_id])
            if row.ordinal != place or not _is_whole(row) or row.sentence_end > row.length:
                raise _damaged(row.passage_id)
            found[row.passage_id].append(
                StoredTriple(
                    row.id,
                    row.passage_id,
                    row.head,
                    row.relation,
                    row.tail,
                    row.sentence_start,
                    row.sentence_end,
                )
            )
    for passage_id, triples in found.items():
        if len(triples) != expected[passage_id]:
            raise _damaged(passage_id)
    return {passage_id: tuple(triples) for passage_id, triples in found.items()}


def problems(connection: sa.Connection, extractor: str, passage_ids: Sequence[int]) -> dict[int, str]:
    """Why passages that this extractor has seen have no triples, or not all; the others are left out."""
    done = _done(connection, extractor, passage_ids)
    return {passage_id: str(problem) for passage_id, (_, problem) in done.items() if problem is not None}


def _done(
    connection: sa.Connection, extractor: str, passage_ids: Sequence[int]
) -> dict[int, tuple[object, object]]:
    """Number of triples and problem of each passage that this extractor has seen."""
    table = schema.extractions
    query = sa.select(table.c.passage_id, table.c.n_triples, table.c.problem)
    return {
        row.passage_id: (row.n_triples, row.problem)
        for part in chunks(list(dict.fromkeys(passage_ids)))
        for row in connection.execute(
            query.where(table.c.extractor == extractor, table.c.passage_id.in_(part))
        )
    }


def damaged_extractions(connection: sa.Connection) -> list[int]:
    """Passages of which triples are missing, left over, or not what they should be, ascending.

    A sentence has to lie in its passage, and ordinals have to count what the extraction says there is.
    """
    table, done = schema.triples, schema.extractions
    query = _with_length()
    counts: Counter[tuple[int, str]] = Counter()
    found: set[int] = set()
    for row in connection.execute(query.order_by(table.c.passage_id, table.c.extractor, table.c.ordinal)):
        key = row.passage_id, row.extractor
        if row.ordinal != counts[key] or not _is_whole(row) or row.sentence_end > row.length:
            found.add(row.passage_id)
        counts[key] += 1
    for row in connection.execute(sa.select(done.c.passage_id, done.c.extractor, done.c.n_triples)):
        if row.n_triples != counts.pop((row.passage_id, row.extractor), 0):
            found.add(row.passage_id)
    return sorted(found.union(passage_id for passage_id, _ in counts))


def _with_length() -> sa.Select[Any]:
    """All triples, each with the ``length`` of its passage."""
    table, passages = schema.triples, schema.passages
    length = sa.func.length(passages.c.text).label("length")
    return sa.select(table, length).join(passages, passages.c.id == table.c.passage_id)


def _is_whole(row: sa.Row[tuple[object, ...]]) -> bool:
    """Whether a row holds what its columns should; SQLite stores anything in any of them."""
    texts, (start, end) = (row.head, row.relation, row.tail), (row.sentence_start, row.sentence_end)
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end):
        return False
    return all(isinstance(text, str) and text for text in texts)


def _damaged(passage_id: int) -> StoreError:
    return StoreError(f"What passage {passage_id} states is damaged in the database.", _AGAIN)


def put_extractions(connection: sa.Connection, extractor: str, found: Mapping[int, _Extraction]) -> None:
    """Store what was found in each passage, in place of what this extractor found before.

    What was derived from older triples goes with them; passages that have gone meanwhile are left out.
    """
    table = schema.triples
    live = [i for i in found if i in _live(connection, schema.passages.c.id, found)]
    for part in chunks(live):
        for old in (table, schema.extractions, schema.triple_vectors):
            connection.execute(old.delete().where(old.c.extractor == extractor, old.c.passage_id.in_(part)))
    rows = [
        {
            "passage_id": i,
            "extractor": extractor,
            "ordinal": ordinal,
            "head": triple.head,
            "relation": triple.relation,
            "tail": triple.tail,
            "sentence_start": triple.start,
            "sentence_end": triple.end,
        }
        for i in live
        for ordinal, triple in enumerate(found[i].triples)
    ]
    done = [
        {
            "passage_id": i,
            "extractor": extractor,
            "n_triples": len(found[i].triples),
            "problem": found[i].problem,
        }
        for i in live
    ]
    if rows:
        connection.execute(table.insert(), rows)
    if done:
        connection.execute(schema.extractions.insert(), done)


def _live(connection: sa.Connection, column: sa.Column[int], ids: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for part in chunks(sorted(set(ids))):
        found.update(connection.execute(sa.select(column).where(column.in_(part))).scalars())
    return found


# --- vectors ---


def vectors(
    connection: sa.Connection,
    extractor: str,
    encoder: str,
    passage_ids: Sequence[int],
    dimensions: int = DIMENSIONS,
) -> dict[int, Float32Array]:
    """Vectors of each passage's triples, shape (n_triples, dimensions), in their order.

    Left out are passages without, and those of which the vectors are damaged; both are to be made.
    """
    table = schema.triple_vectors
    is_blob = sa.func.typeof(table.c.data) == "blob"
    query = sa.select(table.c.passage_id, table.c.data).where(
        table.c.extractor == extractor, table.c.encoder == encoder, is_blob
    )
    expected = {i: n for i, (n, _) in _done(connection, extractor, passage_ids).items()}
    found = {}
    for part in chunks(list(expected)):
        for passage_id, data in connection.execute(query.where(table.c.passage_id.in_(part))):
            rows = _matrix(data, dimensions)
            if rows is not None and len(rows) == expected[passage_id]:
                found[passage_id] = rows
    return found


def _matrix(data: bytes, dimensions: int) -> Float32Array | None:
    """The rows in a blob; None where it holds something else."""
    if len(data) % (2 * dimensions):
        return None
    rows = np.frombuffer(data, dtype=np.float16).astype(np.float32).reshape(-1, dimensions)
    return rows if np.isfinite(rows).all() else None


def damaged_vectors(connection: sa.Connection, dimensions: int = DIMENSIONS) -> list[int]:
    """Passages of whose triples a vector is missing, left over, or no vector; they are made again."""
    table, done = schema.triple_vectors, schema.extractions
    same = (done.c.passage_id == table.c.passage_id) & (done.c.extractor == table.c.extractor)
    query = sa.select(table.c.passage_id, table.c.data, done.c.n_triples).join(done, same, isouter=True)
    is_blob = sa.func.typeof(table.c.data) == "blob"
    found = set(connection.execute(sa.select(table.c.passage_id).where(~is_blob)).scalars())
    for passage_id, data, n_triples in connection.execute(query.where(is_blob)):
        rows = _matrix(data, dimensions)
        if rows is None or len(rows) != n_triples:
            found.add(passage_id)
    return sorted(found)


def put_vectors(
    connection: sa.Connection, extractor: str, encoder: str, found: Mapping[int, Float32Array]
) -> None:
    """Store the vectors of each passage's triples; passages that have gone meanwhile are left out."""
    live = _live(connection, schema.passages.c.id, found)
    rows = [
        {
            "passage_id": i,
            "extractor": extractor,
            "encoder": encoder,
            "data": matrix.astype(np.float16).tobytes(),
        }
        for i, matrix in found.items()
        if i in live
    ]
    if rows:
        connection.execute(schema.triple_vectors.insert().prefix_with("OR REPLACE"), rows)


# --- credibilities ---


def triple_credibilities(
    connection: sa.Connection, judge: str, triple_ids: Sequence[int]
) -> dict[int, float | None]:
    """How far this judge believes each triple that it has judged, in [0, 1]; None where it failed.

    Raises
    ------
    StoreError
        A credibility is damaged.
    """
    return _credibilities(connection, schema.credibilities, judge, triple_ids)


def put_triple_credibilities(
    connection: sa.Connection, judge: str, values: Mapping[int, float | None]
) -> None:
    """Store how far this judge believes triples; those that have gone meanwhile are left out."""
    live = _live(connection, schema.triples.c.id, values)
    _put_credibilities(connection, schema.credibilities, judge, {i: values[i] for i in sorted(live)})


def passage_credibilities(
    connection: sa.Connection, judge: str, passage_ids: Sequence[int]
) -> dict[int, float | None]:
    """How far this judge believes each passage that it has judged, in [0, 1]; None where it failed.

    Raises
    ------
    StoreError
        A credibility is damaged.
    """
    return _credibilities(connection, schema.passage_credibilities, judge, passage_ids)


def put_passage_credibilities(
    connection: sa.Connection, judge: str, values: Mapping[int, float | None]
) -> None:
    """Store how far this judge believes passages; those that have gone meanwhile are left out."""
    live = _live(connection, schema.passages.c.id, values)
    _put_credibilities(connection, schema.passage_credibilities, judge, {i: values[i] for i in sorted(live)})


def _credibilities(
    connection: sa.Connection, table: sa.Table, judge: str, ids: Sequence[int]
) -> dict[int, float | None]:
    key = next(iter(table.primary_key.columns))
    query = sa.select(key, table.c.value).where(table.c.judge == judge)
    found: dict[int, float | None] = {}
    for part in chunks(list(dict.fromkeys(ids))):
        for number, value in connection.execute(query.where(key.in_(part))):
            if not _is_credibility(value):
                what = f"{_thing(table)} {number}"
                raise StoreError(f"How far {what} is believed is damaged in the database.", _AGAIN)
            found[number] = value
    return found


def damaged_credibilities(connection: sa.Connection) -> list[str]:
    """Triples and passages, as in "triple 3", of which a credibility is damaged."""
    found = []
    for table in (schema.credibilities, schema.passage_credibilities):
        key = next(iter(table.primary_key.columns))
        for number, value in connection.execute(sa.select(key, table.c.value).order_by(key)):
            if not _is_credibility(value):
                found.append(f"{_thing(table)} {number}")
    return found


def _thing(table: sa.Table) -> str:
    return "triple" if table is schema.credibilities else "passage"


def _is_credibility(value: object) -> bool:
    """Whether it is what may stand in the tables: a number in [0, 1], or None."""
    return value is None or (isinstance(value, int | float) and 0.0 <= value <= 1.0)


def _put_credibilities(
    connection: sa.Connection, table: sa.Table, judge: str, values: Mapping[int, float | None]
) -> None:
    key = next(iter(table.primary_key.columns)).name
    rows = [
        {key: number, "judge": judge, "value": None if value is None or math.isnan(value) else float(value)}
        for number, value in values.items()
    ]
    if rows:
        connection.execute(table.insert().prefix_with("OR REPLACE"), rows)
