"""The query log, and verdicts of passage pairs that came from its questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from stored import count, passage_ids, put

from veridical.stores import Store, questions, schema
from veridical.stores.questions import LoggedQuestion, QuestionPair


def texts_and_counts(connection: sa.Connection) -> list[tuple[str, int]]:
    return [(question.text, question.n_asked) for question in questions.every(connection)]


def test_a_question_is_logged_once_and_counted_however_it_is_spelled(store: Store) -> None:
    with store.write() as connection:
        first = questions.log(connection, "Which port?")
        assert questions.log(connection, " which  PORT?") == first
        other = questions.log(connection, "Which door?")
        assert None not in (first, other)
        assert first != other
        assert texts_and_counts(connection) == [("Which port?", 2), ("Which door?", 1)]


def test_a_question_from_a_file_was_never_asked(store: Store) -> None:
    with store.write() as connection:
        questions.log(connection, "Which port?", "file")
        assert texts_and_counts(connection) == [("Which port?", 0)]
        questions.log(connection, "Which port?")
        questions.log(connection, "Which port?", "file")
        (only,) = questions.every(connection)
        assert (only.origin, only.n_asked) == ("file", 1)


def test_a_log_that_is_switched_off_keeps_what_it_held_and_takes_no_question(store: Store) -> None:
    with store.write() as connection:
        assert questions.is_on(connection)
        questions.log(connection, "Which port?")
        questions.switch(connection, on=False)
        assert questions.log(connection, "Which door?") is None
        assert questions.log(connection, "Which port?") is None
        assert texts_and_counts(connection) == [("Which port?", 1)]
        questions.switch(connection, on=True)
        assert questions.log(connection, "Which door?") is not None


def test_the_vector_that_comes_with_a_question_is_kept_with_it(store: Store) -> None:
    vector = np.zeros(384, dtype=np.float32)
    vector[3] = 1.0
    with store.write() as connection:
        number = questions.log(connection, "Which port?", vector=vector, encoder="e")
        row = connection.execute(sa.select(schema.question_vectors)).one()
        assert (row.question_id, row.encoder) == (number, "e")
        assert np.array_equal(np.frombuffer(row.data, dtype=np.float16), vector)


def test_clearing_forgets_the_questions_and_those_of_the_answers_on_record(store: Store) -> None:
    with store.write() as connection:
        a, b = (passage_ids(connection, put(connection, key, "One."))["One."] for key in "ab")
        number = questions.log(connection, "Which port?", vector=np.ones(4, dtype=np.float32), encoder="e")
        questions.put_pairs(connection, [pair(a, b, question_id=number), pair(a, b, origin="made")])
        answer = {"text": "443.", "status": "answered", "method": "m", "generator": "g", "at": "then"}
        connection.execute(schema.answers.insert().values(question="Which port?", **answer))
        assert questions.clear(connection) == 1
        assert questions.clear(connection) == 0
        assert count(connection, schema.question_vectors) == 0
        assert [found.origin for found in questions.pairs(connection)] == ["made"]
        row = connection.execute(sa.select(schema.answers)).one()
        assert (row.question, row.text) == ("", "443.")


def test_merging_a_log_twice_changes_nothing_and_the_larger_count_stands(store: Store) -> None:
    theirs = [
        LoggedQuestion(7, "Which port?", "asked", "then", 3),
        LoggedQuestion(9, "Which door?", "file", "then", 0),
        LoggedQuestion(10, "which door?", "asked", "later", 5),
    ]
    with store.write() as connection:
        for _ in range(5):
            questions.log(connection, "Which port?")
        assert questions.merge(connection, theirs) == 1
        assert questions.merge(connection, theirs) == 0
        assert texts_and_counts(connection) == [("Which port?", 5), ("Which door?", 5)]


def pair(low: int, high: int, **changes: object) -> QuestionPair:
    base = QuestionPair(low, high, None, "Which port?", "asked", 0, "r", 0.1, 0.8, 0, 3, 4, 8)
    return replace(base, **changes)  # type: ignore[arg-type]


@pytest.fixture
def three(store: Store) -> dict[str, int]:
    """Three documents of one passage; passage ids by name."""
    with store.write() as connection:
        return {k: passage_ids(connection, put(connection, k, "One."))["One."] for k in "abc"}


def test_pairs_come_back_whole_and_in_order(store: Store, three: dict[str, int]) -> None:
    a, b, c = three.values()
    stored = [pair(b, c, question="B?"), pair(a, c, origin="made", asker=c), pair(b, c, question="A?")]
    with store.write() as connection:
        questions.put_pairs(connection, stored)
        assert questions.pairs(connection) == [stored[1], stored[2], stored[0]]


def test_pairs_can_be_had_of_some_passages_or_of_one_document(store: Store, three: dict[str, int]) -> None:
    a, b, c = three.values()
    with store.write() as connection:
        questions.put_pairs(connection, [pair(a, b), pair(a, c), pair(b, c)])
        assert questions.pairs(connection, [a, b]) == [pair(a, b)]
        assert questions.pairs(connection, []) == []
        of_b = sa.select(schema.passages.c.document_id).where(schema.passages.c.id == b)
        document_id = connection.execute(of_b).scalar_one()
        assert questions.pairs(connection, document_id=document_id) == [pair(a, b), pair(b, c)]
        assert questions.pairs(connection, [a, c], document_id=document_id) == []


def test_a_later_verdict_of_the_same_question_replaces_the_earlier(
    store: Store, three: dict[str, int]
) -> None:
    a, b, _ = three.values()
    with store.write() as connection:
        questions.put_pairs(connection, [pair(a, b), pair(a, b, reader="other")])
        questions.put_pairs(connection, [pair(a, b, support=0.7, contradiction=0.0)])
        assert [found.support for found in questions.pairs(connection)] == [0.1, 0.7]


def test_a_verdict_that_says_nothing_is_on_record_but_no_evidence(
    store: Store, three: dict[str, int]
) -> None:
    a, b, _ = three.values()
    nothing = pair(a, b, support=0.04, contradiction=0.01)
    assert not nothing.says_something
    with store.write() as connection:
        questions.put_pairs(connection, [nothing])
        assert questions.pairs(connection) == []
        assert count(connection, schema.question_pairs) == 1
