"""What state a knowledge base is in, and proof that nothing in it dangles."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import sqlalchemy as sa

from veridical.corpus.dedupe import content_hash
from veridical.feedback import record
from veridical.index import bm25, dense
from veridical.stores import Store, derived, documents, questions, readings, schema, triples, values
from veridical.stores.documents import text_hash
from veridical.types import Record


@dataclass(frozen=True, slots=True)
class StatusReport(Record):
    """Counts, what is behind, and what is in force.

    ``query_log`` says whether questions are logged. ``question_pairs`` passage pairs agree or clash by what
    they answer to the ``questions`` in the log, ``made_pairs`` by what they answer to one another;
    ``questions_behind`` questions have been read by an answer at most, and not by a build.
    """

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
    query_log: bool = True
    questions: int = 0
    questions_behind: int = 0
    question_pairs: int = 0
    made_pairs: int = 0
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
        n_questions = questions.count(connection)
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
            query_log=questions.is_on(connection),
            questions=n_questions,
            questions_behind=n_questions - readings.n_pooled(connection),
            question_pairs=questions.n_pairs(connection, "asked"),
            made_pairs=questions.n_pairs(connection, "made"),
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
        for look in (
            _database,
            _documents,
            _vectors,
            _judgements,
            _questions,
            _triples,
            _trust,
            partial(_indexes, store),
        ):
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


def _questions(connection: sa.Connection) -> Iterator[str]:
    table = schema.questions
    for row in connection.execute(sa.select(table.c.id, table.c.text, table.c.text_hash)):
        if text_hash(questions.same_question(row.text)) != row.text_hash:
            yield f"Question {row.id} of the query log is not what it was logged as."
    for question_id in readings.damaged_vectors(connection, derived.DIMENSIONS):
        yield f"The vector of question {question_id} is damaged; 'veridical build' makes it again."
    passages = {passage.id: passage.text for passage in documents.every_passage(connection)}
    table = schema.readings
    raw = sa.type_coerce(table.c.answers, sa.Text).label("raw")  # which may be no JSON
    for row in connection.execute(sa.select(table.c.question_id, table.c.passage_id, raw)):
        if not _said(row.raw, passages.get(row.passage_id, "")):
            yield f"What passage {row.passage_id} answers to question {row.question_id} is not what it says."
    for low, high in questions.damaged_pairs(connection):
        yield f"What a question says of passages {low} and {high} is damaged."
    for pair in questions.pairs(connection):
        places = (
            (pair.low_passage, pair.low_answer_start, pair.low_answer_end),
            (pair.high_passage, pair.high_answer_start, pair.high_answer_end),
        )
        for passage, start, end in places:
            if start is not None and end is not None and not start < end <= len(passages.get(passage, "")):
                yield f"An answer of passage {passage} to {pair.question[:80]!r} points past the passage."
        if pair.origin == "made" and pair.asker not in (pair.low_passage, pair.high_passage):
            yield f"Nobody asked {pair.question[:80]!r}, by which two passages are compared."


def _said(raw: str, passage: str) -> bool:
    """Whether stored answers stand in the passage where they say."""
    try:
        return all(said and passage[start:end] == said for said, start, end, _ in json.loads(raw))
    except (ValueError, TypeError):
        return False


def _triples(connection: sa.Connection) -> Iterator[str]:
    for passage_id in triples.damaged_extractions(connection):
        yield f"The triples of passage {passage_id} are not those that were found in it."
    for passage_id in triples.damaged_vectors(connection):
        yield f"A vector of a triple of passage {passage_id} is damaged; it is made again when needed."
    for thing in triples.damaged_credibilities(connection):
        yield f"How far {thing} is believed is damaged."


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
