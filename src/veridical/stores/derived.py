"""What is derived from the documents: vectors, neighbours, judgements of passage pairs, and trust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from veridical.stores import schema, values
from veridical.stores.documents import chunks
from veridical.types import NodeKind

Float32Array = npt.NDArray[np.float32]
DIMENSIONS = 384


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an NLI model said of two passages (``low < high`` by id), and where in them; symmetric."""

    low: int
    high: int
    entailment: float
    contradiction: float
    low_start: int | None = None
    low_end: int | None = None
    high_start: int | None = None
    high_end: int | None = None


_PLACES = ("low_start", "low_end", "high_start", "high_end")
JUDGEMENT = tuple(
    schema.judgements.c[name]
    for name in ("low_passage", "high_passage", "entailment", "contradiction", *_PLACES)
)
"""The columns of a ``Judgement``, in its order."""


def use_encoder(connection: sa.Connection, encoder: str) -> None:
    """Drop what was derived from the vectors of any other encoder, and record which one is in use."""
    if values.state(connection, "encoder") == encoder:
        return
    for table in (schema.vectors, schema.sentence_vectors):
        connection.execute(table.delete().where(table.c.encoder != encoder))
    if values.state(connection, "encoder"):
        connection.execute(schema.neighbours.delete())
    values.set_state(connection, "encoder", encoder)


def without_vectors(connection: sa.Connection, encoder: str) -> list[int]:
    """Passages that this encoder has not seen."""
    table, vectors = schema.passages, schema.vectors
    seen = sa.select(vectors.c.passage_id).where(vectors.c.encoder == encoder)
    query = sa.select(table.c.id).where(table.c.id.not_in(seen)).order_by(table.c.id)
    return list(connection.execute(query).scalars())


def n_without_vectors(connection: sa.Connection, encoder: str) -> int:
    """How many passages this encoder has not seen."""
    table = schema.vectors
    all_of_them = connection.execute(sa.select(sa.func.count()).select_from(schema.passages)).scalar_one()
    seen = sa.select(sa.func.count()).select_from(table).where(table.c.encoder == encoder)
    return int(all_of_them) - int(connection.execute(seen).scalar_one())


def put_vectors(
    connection: sa.Connection,
    encoder: str,
    passage_ids: Sequence[int],
    vectors: Float32Array,
    sentences: Sequence[Float32Array],
) -> None:
    """Store the vector of each passage, and those of its sentences in order."""
    live = _live(connection, passage_ids)
    rows = [
        {"passage_id": i, "encoder": encoder, "data": vector.astype(np.float16).tobytes()}
        for i, vector in zip(passage_ids, vectors, strict=True)
        if i in live
    ]
    inner = [
        {"passage_id": i, "encoder": encoder, "data": matrix.astype(np.float16).tobytes()}
        for i, matrix in zip(passage_ids, sentences, strict=True)
        if i in live
    ]
    if rows:
        connection.execute(schema.vectors.insert().prefix_with("OR REPLACE"), rows)
        connection.execute(schema.sentence_vectors.insert().prefix_with("OR REPLACE"), inner)


def _live(connection: sa.Connection, passage_ids: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for part in chunks(list(passage_ids)):
        query = sa.select(schema.passages.c.id).where(schema.passages.c.id.in_(part))
        found.update(connection.execute(query).scalars())
    return found


def all_vectors(connection: sa.Connection, encoder: str) -> tuple[npt.NDArray[np.int64], Float32Array]:
    """Every passage vector: ids of shape (p,), ascending, and unit rows of shape (p, dimensions).

    One that is not as long as the others is left out; the next build makes it again.
    """
    table = schema.vectors
    query = (
        sa.select(table.c.passage_id, table.c.data)
        .where(table.c.encoder == encoder, _is_blob(table))
        .order_by(table.c.passage_id)
    )
    rows = connection.execute(query).all()
    lengths = Counter(len(row[1]) for row in rows).most_common(1)
    rows = [row for row in rows if len(row[1]) == lengths[0][0]]
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    data = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16)
    return ids, data.reshape(len(ids), -1 if len(ids) else 0).astype(np.float32)


def sentence_vectors(
    connection: sa.Connection, encoder: str, passage_ids: Sequence[int], dimensions: int = DIMENSIONS
) -> dict[int, Float32Array]:
    """Sentence vectors by passage, each of shape (n_sentences, dimensions); damaged ones are left out."""
    table = schema.sentence_vectors
    found = {}
    for part in chunks(list(passage_ids)):
        query = sa.select(table.c.passage_id, table.c.data).where(
            table.c.encoder == encoder, table.c.passage_id.in_(part), _is_blob(table)
        )
        for passage_id, data in connection.execute(query):
            if len(data) % (2 * dimensions) == 0:
                matrix = np.frombuffer(data, dtype=np.float16).astype(np.float32)
                found[passage_id] = matrix.reshape(-1, dimensions)
    return found


def _is_blob(table: sa.Table) -> sa.ColumnElement[bool]:
    return sa.func.typeof(table.c.data) == "blob"


def damaged_vectors(connection: sa.Connection, dimensions: int = DIMENSIONS) -> list[int]:
    """Passages of which a vector, or one of a sentence, has a wrong length or holds what is no number."""
    size = 2 * dimensions
    found: set[int] = set()
    for table in (schema.vectors, schema.sentence_vectors):
        query = sa.select(table.c.passage_id, table.c.data)
        found.update(connection.execute(sa.select(table.c.passage_id).where(~_is_blob(table))).scalars())
        for passage_id, data in connection.execute(query.where(_is_blob(table))):
            wrong = len(data) % size if table is schema.sentence_vectors else len(data) != size
            if wrong or not np.isfinite(np.frombuffer(data, dtype=np.float16)).all():
                found.add(passage_id)
    return sorted(found)


def drop_vectors(connection: sa.Connection, passage_ids: Sequence[int]) -> None:
    """Forget the vectors of these passages and of their sentences, so that they are embedded again."""
    for table in (schema.vectors, schema.sentence_vectors):
        for part in chunks(passage_ids):
            connection.execute(table.delete().where(table.c.passage_id.in_(part)))


def neighbours(connection: sa.Connection) -> dict[int, dict[int, float]]:
    """Each passage's nearest neighbours in other documents, with their cosines."""
    table = schema.neighbours
    lists: dict[int, dict[int, float]] = {}
    query = sa.select(table.c.passage_id, table.c.neighbour_id, table.c.similarity)
    for passage_id, neighbour_id, similarity in connection.execute(query):
        lists.setdefault(passage_id, {})[neighbour_id] = similarity
    return lists


def put_neighbours(connection: sa.Connection, lists: Mapping[int, Mapping[int, float]]) -> None:
    """Replace the neighbours of the passages given; passages that have gone meanwhile are left out."""
    table = schema.neighbours
    live = _live(connection, sorted({*lists, *(j for near in lists.values() for j in near)}))
    for part in chunks(list(lists)):
        connection.execute(table.delete().where(table.c.passage_id.in_(part)))
    rows = [
        {"passage_id": i, "neighbour_id": j, "similarity": float(similarity)}
        for i, near in lists.items()
        for j, similarity in near.items()
        if i in live and j in live
    ]
    if rows:
        connection.execute(table.insert(), rows)


def judged_pairs(connection: sa.Connection, model: str) -> set[tuple[int, int]]:
    """Passage pairs that this model has judged already."""
    table = schema.judgements
    query = sa.select(table.c.low_passage, table.c.high_passage).where(table.c.model == model)
    return {(low, high) for low, high in connection.execute(query)}


def put_judgements(connection: sa.Connection, model: str, judgements: Iterable[Judgement]) -> None:
    """Store judgements; pairs of which a passage has gone meanwhile are left out."""
    judgements = list(judgements)
    live = _live(connection, sorted({i for j in judgements for i in (j.low, j.high)}))
    rows = [
        {
            "model": model,
            "low_passage": j.low,
            "high_passage": j.high,
            "entailment": j.entailment,
            "contradiction": j.contradiction,
            "low_start": j.low_start,
            "low_end": j.low_end,
            "high_start": j.high_start,
            "high_end": j.high_end,
        }
        for j in judgements
        if j.low in live and j.high in live
    ]
    if rows:
        connection.execute(schema.judgements.insert().prefix_with("OR REPLACE"), rows)


def forget_judgements(connection: sa.Connection, model: str, pairs: Iterable[tuple[int, int]]) -> None:
    """Drop judgements of pairs that are no longer neighbours, and all of other models."""
    table = schema.judgements
    connection.execute(table.delete().where(table.c.model != model))
    gone = [{"low": low, "high": high} for low, high in pairs]
    if gone:
        one = (table.c.low_passage == sa.bindparam("low")) & (table.c.high_passage == sa.bindparam("high"))
        connection.execute(table.delete().where(one), gone)


def judgements(connection: sa.Connection, among: Sequence[int] | None = None) -> list[Judgement]:
    """All judgements, or those with both passages among the ones given."""
    table = schema.judgements
    query = sa.select(*JUDGEMENT).order_by(table.c.low_passage, table.c.high_passage)
    if among is None:
        return [Judgement(*row) for row in connection.execute(query)]
    wanted = set(among)
    return [
        Judgement(*row)
        for part in chunks(sorted(wanted))
        for row in connection.execute(query.where(table.c.low_passage.in_(part)))
        if row.high_passage in wanted
    ]


@dataclass(frozen=True, slots=True)
class NodeTrust:
    """One node's trust as stored: ``trust`` is ``None`` where nothing is known of it."""

    kind: NodeKind
    key: str
    raw: float
    trust: float | None


def put_trust(connection: sa.Connection, method: str, rows: Sequence[NodeTrust]) -> None:
    """Replace what a method believes."""
    table = schema.trust
    connection.execute(table.delete().where(table.c.method == method))
    if rows:
        connection.execute(
            table.insert(),
            [
                {"method": method, "kind": row.kind, "key": row.key, "raw": row.raw, "trust": row.trust}
                for row in rows
            ],
        )


def trust(
    connection: sa.Connection,
    method: str,
    *,
    kind: NodeKind | None = None,
    keys: Sequence[str] | None = None,
) -> list[NodeTrust]:
    """What a method believes of all nodes, of one kind, or of the nodes given."""
    table = schema.trust
    query = sa.select(table.c.kind, table.c.key, table.c.raw, table.c.trust).where(table.c.method == method)
    if kind is not None:
        query = query.where(table.c.kind == kind)
    if keys is None:
        return [NodeTrust(*row) for row in connection.execute(query)]
    return [
        NodeTrust(*row)
        for part in chunks(list(keys))
        for row in connection.execute(query.where(table.c.key.in_(part)))
    ]


def methods_with_trust(connection: sa.Connection) -> list[str]:
    """Methods that have beliefs on record."""
    return sorted(connection.execute(sa.select(schema.trust.c.method).distinct()).scalars())
