"""The query log, which is truth, and what was learned of passages by putting its questions to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from veridical.stores import readings, schema, values
from veridical.stores.answers import now
from veridical.stores.documents import chunks, inserted_id, text_hash
from veridical.stores.readings import Float32Array
from veridical.types import Record

Origin = Literal["asked", "file"]
LOGGING = "query_log"
"""The setting that switches the log ``on`` (as it is by default) or ``off``."""
LEAST_SAID = 0.05
"""Verdicts below it, of either kind, say nothing."""


@dataclass(frozen=True, slots=True)
class LoggedQuestion(Record):
    """A question as it was first written. ``origin`` is how it first came: ``asked``, or from a ``file``.

    ``n_asked`` counts how often it was asked; case and spaces make no other question.
    """

    id: int
    text: str
    origin: Origin
    at: str
    n_asked: int


@dataclass(frozen=True, slots=True)
class QuestionPair(Record):
    """How two passages of different documents stand to each other, as they were asked one question.

    ``low_passage < high_passage`` by id. ``origin`` is ``asked`` (``question_id`` is in the log) or ``made``:
    then passage ``asker``, one of the two, holds a sentence that answers the question, and only the other was
    read; else ``asker`` is 0. ``support`` and ``contradiction`` lie in [0, 1], with a sum of at most 1. The
    answers' offsets are into the passages, ``None`` where one gives none.
    """

    low_passage: int
    high_passage: int
    question_id: int | None
    question: str
    origin: Literal["asked", "made"]
    asker: int
    reader: str
    support: float
    contradiction: float
    low_answer_start: int | None = None
    low_answer_end: int | None = None
    high_answer_start: int | None = None
    high_answer_end: int | None = None

    @property
    def says_something(self) -> bool:
        """Whether it is any evidence at all; one that is not is kept only so as not to be read again."""
        return max(self.support, self.contradiction) >= LEAST_SAID


_PAIR = tuple(schema.question_pairs.c[name] for name in QuestionPair.__dataclass_fields__)
_SUPPORT, _CONTRADICTION = schema.question_pairs.c.support, schema.question_pairs.c.contradiction
_SOUND = sa.and_(*(sa.func.typeof(column).in_(("real", "integer")) for column in (_SUPPORT, _CONTRADICTION)))
_SAID = _SOUND & ((_SUPPORT >= LEAST_SAID) | (_CONTRADICTION >= LEAST_SAID))


# --- the log ---


def is_on(connection: sa.Connection) -> bool:
    """Whether questions are logged."""
    return values.setting(connection, LOGGING, "on") != "off"


def switch(connection: sa.Connection, *, on: bool) -> None:
    """Switch logging on or off, from now on; what is in the log stays."""
    values.set_setting(connection, LOGGING, "on" if on else "off")


def same_question(text: str) -> str:
    """What two spellings of one question share: letters without case, words without extra spaces."""
    return " ".join(text.split()).casefold()


def log(
    connection: sa.Connection,
    text: str,
    origin: Origin = "asked",
    vector: Float32Array | None = None,
    encoder: str = "",
) -> int | None:
    """Log a question and return its id; one that is known is counted. ``None`` where the log is off.

    A question from a file was not asked, and is logged even where the log is off: whoever gives the file
    wants it used.

    Parameters
    ----------
    vector, encoder
        The question's unit vector and the name of what made it, where it is known already.
    """
    if origin == "asked" and not is_on(connection):
        return None
    asked = 1 if origin == "asked" else 0
    table = schema.questions
    digest = text_hash(same_question(text))
    known = connection.execute(sa.select(table.c.id).where(table.c.text_hash == digest)).scalar()
    if known is not None:
        connection.execute(table.update().where(table.c.id == known).values(n_asked=table.c.n_asked + asked))
        return int(known)
    result = connection.execute(
        table.insert().values(text=text, text_hash=digest, origin=origin, at=now(), n_asked=asked)
    )
    question_id = inserted_id(result)
    if vector is not None:
        readings.put_vectors(connection, encoder, [question_id], vector[None, :])
    return question_id


def every(connection: sa.Connection) -> list[LoggedQuestion]:
    """All logged questions, oldest first."""
    table = schema.questions
    query = sa.select(*(table.c[name] for name in LoggedQuestion.__dataclass_fields__)).order_by(table.c.id)
    return [LoggedQuestion(*row) for row in connection.execute(query)]


def count(connection: sa.Connection) -> int:
    """How many questions are in the log."""
    return connection.execute(sa.select(sa.func.count()).select_from(schema.questions)).scalar_one()


def texts(connection: sa.Connection) -> dict[int, str]:
    """Each logged question's text by its id, oldest first."""
    table = schema.questions
    query = sa.select(table.c.id, table.c.text).order_by(table.c.id)
    return {row.id: row.text for row in connection.execute(query)}


def merge(connection: sa.Connection, questions: Iterable[LoggedQuestion]) -> int:
    """Add questions from elsewhere, whatever their ids; return how many were new.

    Of one that is known the larger count stands, so that adding the same log twice changes nothing.
    """
    table = schema.questions
    known = {
        row.text_hash: row
        for row in connection.execute(sa.select(table.c.text_hash, table.c.id, table.c.n_asked))
    }
    new: dict[str, dict[str, Any]] = {}
    for question in questions:
        digest = text_hash(same_question(question.text))
        if digest in known:
            row = known[digest]
            if question.n_asked > row.n_asked:
                more = table.update().where(table.c.id == row.id, table.c.n_asked < question.n_asked)
                connection.execute(more.values(n_asked=question.n_asked))
            continue
        one = {"text": question.text, "origin": question.origin, "at": question.at}
        new.setdefault(digest, {**one, "text_hash": digest, "n_asked": question.n_asked})
    if new:
        connection.execute(table.insert(), list(new.values()))
    return len(new)


def clear(connection: sa.Connection) -> int:
    """Forget every question, all that hangs on them, and what was asked for the answers on record.

    Returns how many questions there were. The answers stay, as feedback goes to them, and so do the settings.
    """
    n = count(connection)
    connection.execute(schema.questions.delete())
    connection.execute(schema.answers.update().values(question=""))
    return n


# --- what was learned ---


def pairs(
    connection: sa.Connection, among: Sequence[int] | None = None, document_id: int | None = None
) -> list[QuestionPair]:
    """What questions say of passage pairs, ordered by passages and question; only what says something.

    Parameters
    ----------
    among
        Only pairs with both passages among these ids.
    document_id
        Only pairs with a passage of this document.
    """
    table = schema.question_pairs
    query = sa.select(*_PAIR).where(_SAID)
    query = query.order_by(table.c.low_passage, table.c.high_passage, table.c.question, table.c.reader)
    if document_id is not None:
        passages = schema.passages
        own = sa.select(passages.c.id).where(passages.c.document_id == document_id)
        query = query.where(table.c.low_passage.in_(own) | table.c.high_passage.in_(own))
    if among is None:
        return [QuestionPair(*row) for row in connection.execute(query)]
    wanted = set(among)
    return [
        QuestionPair(*row)
        for part in chunks(sorted(wanted))
        for row in connection.execute(query.where(table.c.low_passage.in_(part)))
        if row.high_passage in wanted
    ]


def damaged_pairs(connection: sa.Connection) -> list[tuple[int, int]]:
    """Passage pairs whose verdict is no number; `pairs` leaves them out."""
    table = schema.question_pairs
    rows = connection.execute(sa.select(table.c.low_passage, table.c.high_passage).where(~_SOUND))
    return sorted({(row.low_passage, row.high_passage) for row in rows})


def n_pairs(connection: sa.Connection, origin: Literal["asked", "made"] | None = None) -> int:
    """How many verdicts say something, from questions of any origin or of one."""
    query = sa.select(sa.func.count()).select_from(schema.question_pairs).where(_SAID)
    if origin is not None:
        query = query.where(schema.question_pairs.c.origin == origin)
    return connection.execute(query).scalar_one()


def put_pairs(connection: sa.Connection, found: Iterable[QuestionPair]) -> None:
    """Store verdicts, in place of older ones of the same passages, question, reader and asker."""
    rows = [{column.name: getattr(pair, column.name) for column in _PAIR} for pair in found]
    if rows:
        connection.execute(schema.question_pairs.insert().prefix_with("OR REPLACE"), rows)


def drop_pairs(connection: sa.Connection, reader: str, question_ids: Sequence[int]) -> None:
    """Forget what a reader's answers to these questions said."""
    table = schema.question_pairs
    for part in chunks(question_ids):
        connection.execute(table.delete().where(table.c.reader == reader, table.c.question_id.in_(part)))
