"""What is derived from the query log: vectors of questions, pools of passages, and what those answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from veridical.errors import StoreError
from veridical.stores import schema, values
from veridical.stores.documents import chunks
from veridical.types import Record

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
POOLED_UP_TO = "pooled_up_to"
"""The state that holds the largest passage id which the pools have seen."""
Said = tuple[tuple[str, int, int, float], ...]


@dataclass(frozen=True, slots=True)
class StoredReading(Record):
    """What a passage answers to a question: (text, start, end, probability) of each answer, best first."""

    question_id: int
    passage_id: int
    no_answer: float
    answers: Said


# --- vectors of questions ---


def use_encoder(connection: sa.Connection, encoder: str) -> None:
    """Drop vectors of any other encoder, and pools, which were found by them."""
    if values.state(connection, "question_encoder") == encoder:
        return
    table = schema.question_vectors
    connection.execute(table.delete().where(table.c.encoder != encoder))
    connection.execute(schema.question_pools.delete())
    values.set_state(connection, POOLED_UP_TO, "0")
    values.set_state(connection, "question_encoder", encoder)


def without_vectors(connection: sa.Connection, encoder: str, dimensions: int) -> dict[int, str]:
    """Questions that this encoder has not seen, or of which the vector is damaged: id to text."""
    table, vectors = schema.questions, schema.question_vectors
    whole = (sa.func.typeof(vectors.c.data) == "blob") & (sa.func.length(vectors.c.data) == 2 * dimensions)
    seen = sa.select(vectors.c.question_id).where(vectors.c.encoder == encoder, whole)
    query = sa.select(table.c.id, table.c.text).where(table.c.id.not_in(seen)).order_by(table.c.id)
    return {row.id: row.text for row in connection.execute(query)}


def put_vectors(
    connection: sa.Connection, encoder: str, question_ids: Sequence[int], vectors: Float32Array
) -> None:
    """Store the unit vector of each question; questions that have gone meanwhile are left out."""
    live = _live(connection, question_ids)
    rows = [
        {"question_id": i, "encoder": encoder, "data": vector.astype(np.float16).tobytes()}
        for i, vector in zip(question_ids, vectors, strict=True)
        if i in live
    ]
    if rows:
        connection.execute(schema.question_vectors.insert().prefix_with("OR REPLACE"), rows)


def _live(connection: sa.Connection, question_ids: Iterable[int]) -> set[int]:
    table = schema.questions.c.id
    found: set[int] = set()
    for part in chunks(sorted(set(question_ids))):
        found.update(connection.execute(sa.select(table).where(table.in_(part))).scalars())
    return found


def vectors(connection: sa.Connection, encoder: str, dimensions: int) -> tuple[IntArray, Float32Array]:
    """Every question's vector: ids of shape (q,), ascending, and unit rows of shape (q, dimensions)."""
    table = schema.question_vectors
    whole = (sa.func.typeof(table.c.data) == "blob") & (sa.func.length(table.c.data) == 2 * dimensions)
    query = sa.select(table.c.question_id, table.c.data).where(table.c.encoder == encoder, whole)
    rows = connection.execute(query.order_by(table.c.question_id)).all()
    data = np.frombuffer(b"".join(row.data for row in rows), dtype=np.float16)
    ids = np.array([row.question_id for row in rows], dtype=np.int64)
    return ids, data.reshape(len(rows), dimensions).astype(np.float32)


def damaged_vectors(connection: sa.Connection, dimensions: int) -> list[int]:
    """Questions of which a vector has a wrong length; a build makes it again."""
    table = schema.question_vectors
    whole = (sa.func.typeof(table.c.data) == "blob") & (sa.func.length(table.c.data) == 2 * dimensions)
    return sorted(connection.execute(sa.select(table.c.question_id).where(~whole)).scalars())


# --- pools ---


def pools(
    connection: sa.Connection, question_ids: Sequence[int] | None = None
) -> dict[int, dict[int, float]]:
    """The passages nearest to each question, with their cosines."""
    table = schema.question_pools
    query = sa.select(table.c.question_id, table.c.passage_id, table.c.similarity)
    parts = (
        [query]
        if question_ids is None
        else [query.where(table.c.question_id.in_(part)) for part in chunks(question_ids)]
    )
    found: dict[int, dict[int, float]] = {}
    for part in parts:
        for row in connection.execute(part):
            found.setdefault(row.question_id, {})[row.passage_id] = row.similarity
    return found


def put_pools(connection: sa.Connection, changed: Mapping[int, Mapping[int, float]], least: float) -> None:
    """Replace the pools of the questions given, and drop what was read outside them.

    Parameters
    ----------
    least
        Cosine from which on a passage of a pool is read.
    """
    table, readings, pairs = schema.question_pools, schema.readings, schema.question_pairs
    live = _live(connection, changed)
    for part in chunks(sorted(live)):
        connection.execute(table.delete().where(table.c.question_id.in_(part)))
        rows = [
            {"question_id": i, "passage_id": j, "similarity": float(similarity)}
            for i in part
            for j, similarity in changed[i].items()
        ]
        if rows:
            connection.execute(table.insert(), rows)
        for other, columns in (
            (readings, (readings.c.passage_id,)),
            (pairs, (pairs.c.low_passage, pairs.c.high_passage)),
        ):
            outside = [
                ~sa.exists().where(
                    table.c.question_id == other.c.question_id,
                    table.c.passage_id == column,
                    table.c.similarity >= least,
                )
                for column in columns
            ]
            connection.execute(other.delete().where(other.c.question_id.in_(part), sa.or_(*outside)))


def n_pooled(connection: sa.Connection) -> int:
    """How many questions have a pool."""
    return connection.execute(
        sa.select(sa.func.count(schema.question_pools.c.question_id.distinct()))
    ).scalar_one()


# --- readings ---


def missing(connection: sa.Connection, reader: str, least: float) -> list[tuple[int, int]]:
    """(question, passage) pairs of the pools, as near as ``least``, that this reader has not read."""
    pool, done = schema.question_pools, schema.readings
    read = sa.exists().where(
        done.c.question_id == pool.c.question_id,
        done.c.passage_id == pool.c.passage_id,
        done.c.reader == reader,
    )
    query = sa.select(pool.c.question_id, pool.c.passage_id).where(pool.c.similarity >= least, ~read)
    rows = connection.execute(query.order_by(pool.c.question_id, pool.c.passage_id))
    return [(row.question_id, row.passage_id) for row in rows]


def readings(
    connection: sa.Connection, reader: str, question_ids: Sequence[int] | None = None
) -> list[StoredReading]:
    """What this reader read, of all questions or of those given, by question and passage.

    Raises
    ------
    StoreError
        What is stored of a reading cannot be understood.
    """
    table = schema.readings
    answers = sa.type_coerce(table.c.answers, sa.Text)
    query = sa.select(table.c.question_id, table.c.passage_id, table.c.no_answer, answers.label("answers"))
    query = query.where(table.c.reader == reader).order_by(table.c.question_id, table.c.passage_id)
    parts = (
        [query]
        if question_ids is None
        else [query.where(table.c.question_id.in_(part)) for part in chunks(question_ids)]
    )
    return [_stored(*row) for part in parts for row in connection.execute(part)]


def _stored(question_id: int, passage_id: int, no_answer: float, answers: str) -> StoredReading:
    try:
        said = tuple((str(t), int(a), int(b), float(p)) for t, a, b, p in json.loads(answers))
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"What passage {passage_id} answers to question {question_id} is damaged in the database.",
            "Export it ('veridical export FILE') and import that into another --kb; "
            "or forget all questions: 'veridical questions clear'.",
        ) from error
    return StoredReading(question_id, passage_id, no_answer, said)


def put_readings(connection: sa.Connection, reader: str, found: Sequence[StoredReading]) -> None:
    """Store readings; those of questions that have gone meanwhile are left out."""
    live = _live(connection, (reading.question_id for reading in found))
    rows = [
        {
            "question_id": reading.question_id,
            "passage_id": reading.passage_id,
            "reader": reader,
            "no_answer": reading.no_answer,
            "answers": [list(answer) for answer in reading.answers],
        }
        for reading in found
        if reading.question_id in live
    ]
    if rows:
        connection.execute(schema.readings.insert().prefix_with("OR REPLACE"), rows)


def forget_other_readers(connection: sa.Connection, reader: str) -> None:
    """Drop what any other reader read of logged questions, and what came of it."""
    table, pairs = schema.readings, schema.question_pairs
    connection.execute(table.delete().where(table.c.reader != reader))
    connection.execute(pairs.delete().where(pairs.c.reader != reader, pairs.c.origin == "asked"))


def read_questions(connection: sa.Connection, reader: str) -> list[int]:
    """Ids of the questions that this reader has read any passage for."""
    table = schema.readings
    query = sa.select(table.c.question_id).where(table.c.reader == reader).distinct()
    return sorted(connection.execute(query).scalars())


def owners(connection: sa.Connection, passage_ids: Sequence[int]) -> dict[int, int]:
    """Document of each passage; passages that have gone are left out."""
    table = schema.passages
    query = sa.select(table.c.id, table.c.document_id)
    return {
        row.id: row.document_id
        for part in chunks(passage_ids)
        for row in connection.execute(query.where(table.c.id.in_(part)))
    }
