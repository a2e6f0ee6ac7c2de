"""Learning from questions: what an answer read is kept at once, and a build reads what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from veridical.graph import from_questions
from veridical.graph.from_questions import MIN_SIMILARITY, POOL_SIZE, VERSION
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.pipeline import beliefs
from veridical.pipeline.progress import Stages
from veridical.reading.base import Reader, Reading
from veridical.stores import Store, documents, questions, readings, schema, values

ENCODE_BATCH = 256
READ_BATCH = 80
"""Passages that are read between two commits, about a second's work."""


COMPARE_BATCH = 20

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Learned:
    """What was done: questions in the log, and passages read for them."""

    n_questions: int
    n_read: int


def learn(
    connection: sa.Connection,
    question_id: int,
    question: str,
    found: Mapping[int, Reading],
    cosines: Mapping[int, float],
    reader: str,
) -> int:
    """Keep what was read to answer a question, as far as it belongs to the question's pool.

    Nothing is read here. What the pool lacks, and the pool itself where the question is new, is left to the
    next build.

    Parameters
    ----------
    connection
        Of a write transaction.
    question_id, question
        As it was logged, and as it was asked: nothing is kept of one that is spelled in another way, as it
        may be read in another way.
    found
        Passage id to what the passage, read on its own, answers.
    cosines
        Passage id to its cosine with the question, of the passages that were retrieved.
    reader
        Name of the reader.

    Returns
    -------
    int
        How many readings were new.
    """
    table = schema.questions
    if connection.execute(sa.select(table.c.text).where(table.c.id == question_id)).scalar() != question:
        return 0
    pool = readings.pools(connection, [question_id]).get(question_id) or _nearest(cosines)
    known = {stored.passage_id for stored in readings.readings(connection, reader, [question_id])}
    live = readings.owners(connection, sorted(found))
    new = [
        from_questions.to_store(question_id, passage_id, reading)
        for passage_id, reading in sorted(found.items())
        if pool.get(passage_id, 0.0) >= MIN_SIMILARITY and passage_id not in known and passage_id in live
    ]
    if new:
        readings.put_readings(connection, reader, new)
        _compare(connection, reader, {question_id: question}, {(question_id, r.passage_id) for r in new})
        beliefs.mark_behind(connection)
    return len(new)


def _nearest(cosines: Mapping[int, float]) -> dict[int, float]:
    known = {passage: cosine for passage, cosine in cosines.items() if cosine == cosine}  # not NaN
    return dict(sorted(known.items(), key=lambda item: (-item[1], item[0]))[:POOL_SIZE])


def _compare(
    connection: sa.Connection,
    reader: str,
    texts: Mapping[int, str],
    new: Iterable[tuple[int, int]] | None = None,
) -> None:
    """Compare what was read for some questions, or only what is ``new``: (question, passage) pairs."""
    if new is None:
        questions.drop_pairs(connection, reader, sorted(texts))
    stored = readings.readings(connection, reader, sorted(texts))
    passages = documents.passages_by_ids(connection, sorted({reading.passage_id for reading in stored}))
    owner = {i: passage.document_id for i, passage in passages.items()}
    said = {i: passage.text for i, passage in passages.items()}
    fresh: dict[int, set[int]] = {}
    for question_id, passage_id in new or ():
        fresh.setdefault(question_id, set()).add(passage_id)
    for question_id, group in groupby(stored, key=lambda reading: reading.question_id):
        text, only = texts[question_id], None if new is None else fresh.get(question_id, set())
        found = {item.passage_id: from_questions.from_store(item) for item in group}
        pairs = from_questions.pairs_of(question_id, text, found, owner, reader=reader, texts=said, new=only)
        questions.put_pairs(connection, pairs)


def update(
    store: Store, encoder: TextEncoder, reader: Reader, ids: IntArray, vectors: Float32Array, stages: Stages
) -> Learned:
    """Bring pools, readings and pairs of all logged questions up to date, in steps that are committed.

    Parameters
    ----------
    ids, vectors
        Every passage's id, ascending, shape (p,), and unit vector, shape (p, d).
    """
    with stages.run("question pools"):
        _embed(store, encoder)
        _pool(store, encoder, ids, vectors)
        with store.read() as connection:
            texts = questions.texts(connection)
        _recompare(store, reader.name, texts)
    with store.read() as connection:
        todo = readings.missing(connection, reader.name, MIN_SIMILARITY)
    with stages.run("questions", len(todo), "passages") as progress:
        for part in documents.chunks(todo, READ_BATCH):
            with store.read() as connection:
                found = documents.passages_by_ids(connection, sorted({passage for _, passage in part}))
            live = [(q, passage) for q, passage in part if passage in found and q in texts]
            read = reader.read_pairs([(texts[q], found[passage].text) for q, passage in live])
            rows = [from_questions.to_store(*ids, reading) for ids, reading in zip(live, read, strict=True)]
            with store.write() as connection:
                readings.put_readings(connection, reader.name, rows)
                _compare(connection, reader.name, {q: texts[q] for q, _ in live}, live)
            progress.advance(len(part))
    with store.write() as connection:
        readings.forget_other_readers(connection, reader.name)
    return Learned(len(texts), len(todo))


def _embed(store: Store, encoder: TextEncoder) -> None:
    dimensions = encoder.encode([]).shape[1]
    with store.write() as connection:
        readings.use_encoder(connection, encoder.name)
        todo = readings.without_vectors(connection, encoder.name, dimensions)
    for part in documents.chunks(list(todo), ENCODE_BATCH):
        vectors = encoder.encode([todo[i] for i in part])
        with store.write() as connection:
            readings.put_vectors(connection, encoder.name, part, vectors)


def _pool(store: Store, encoder: TextEncoder, ids: IntArray, vectors: Float32Array) -> None:
    dimensions = vectors.shape[1]
    with store.read() as connection:
        question_ids, asked = readings.vectors(connection, encoder.name, dimensions)
        known = readings.pools(connection)
        up_to = int(values.state(connection, readings.POOLED_UP_TO, "0"))
    changed = from_questions.update_pools(question_ids, asked, ids, vectors, known, up_to=up_to)
    with store.write() as connection:
        readings.put_pools(connection, changed, MIN_SIMILARITY)
        values.set_state(connection, readings.POOLED_UP_TO, str(int(ids.max(initial=up_to))))


def _recompare(store: Store, reader: str, texts: Mapping[int, str]) -> None:
    """Compare all readings anew if the way to compare has changed."""
    compared = f"{reader}:{VERSION}"
    with store.read() as connection:
        if values.state(connection, "compared") == compared:
            return
        todo = [i for i in readings.read_questions(connection, reader) if i in texts]
    for part in documents.chunks(todo, COMPARE_BATCH):
        with store.write() as connection:
            _compare(connection, reader, {i: texts[i] for i in part})
    with store.write() as connection:
        values.set_state(connection, "compared", compared)


def behind(connection: sa.Connection, reader: str, n_passages: int, n_more: int) -> tuple[int, int]:
    """How many questions there are, and about how many passages a build would read for them.

    Parameters
    ----------
    n_passages
        Of the whole knowledge base; of a new question's pool it is known only that it is no larger.
    n_more
        Questions that are yet to be added.
    """
    n_questions = questions.count(connection) + n_more
    n_new = n_questions - readings.n_pooled(connection)
    n_read = len(readings.missing(connection, reader, MIN_SIMILARITY)) + n_new * min(POOL_SIZE, n_passages)
    return n_questions, n_read
