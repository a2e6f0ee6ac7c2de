"""Triples come back as they were put, go with their passages, and damage is named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import sqlalchemy as sa
from stored import count, passage_ids, put

from veridical.errors import StoreError
from veridical.evidence.triples import Extraction, Found
from veridical.stores import Store, schema, triples

DERIVED = (
    schema.triples,
    schema.extractions,
    schema.triple_vectors,
    schema.credibilities,
    schema.passage_credibilities,
)


@dataclass(frozen=True)
class Filled:
    """A store of two passages with a triple each, all judged, and one passage without any triple."""

    document: int
    both: tuple[int, int]
    empty: int


def found(*tails: str, problem: str | None = None) -> Extraction:
    return Extraction(tuple(Found("Ada", "wrote", tail, 0, 4) for tail in tails), problem)


@pytest.fixture
def filled(store: Store) -> Filled:
    with store.write() as connection:
        document = put(connection, "a", "One.\nTwo.\nThree.")
        one, two, three = passage_ids(connection, document).values()
        triples.put_extractions(
            connection, "x", {one: found("a note"), two: found("a letter"), three: found(problem="nothing")}
        )
        triples.put_vectors(connection, "x", "e", {i: np.eye(1, 4, dtype=np.float32) for i in (one, two)})
        ids = [t.id for found in triples.extracted(connection, "x", [one, two]).values() for t in found]
        triples.put_triple_credibilities(connection, "j", dict.fromkeys(ids, 0.5))
        triples.put_passage_credibilities(connection, "j", {one: 0.25, two: None})
    return Filled(document, (one, two), three)


def test_triples_come_back_in_order_and_only_of_passages_that_were_seen(store: Store) -> None:
    with store.write() as connection:
        one, two = passage_ids(connection, put(connection, "a", "One.\nTwo.")).values()
        assert triples.without_extraction(connection, "x") == [one, two]
        triples.put_extractions(connection, "x", {two: found("b", "a", "c")})
        back = triples.extracted(connection, "x", [one, two])
        assert triples.without_extraction(connection, "x") == [one]
        assert triples.extracted(connection, "y", [one, two]) == {}
    assert list(back) == [two]
    assert [(t.passage_id, t.head, t.relation, t.tail, t.start, t.end) for t in back[two]] == [
        (two, "Ada", "wrote", tail, 0, 4) for tail in "bac"
    ]


def test_a_passage_that_states_nothing_is_done_and_says_why(store: Store, filled: Filled) -> None:
    with store.read() as connection:
        assert triples.extracted(connection, "x", [filled.empty]) == {filled.empty: ()}
        assert triples.problems(connection, "x", [*filled.both, filled.empty]) == {filled.empty: "nothing"}


def test_what_is_found_anew_replaces_the_old_and_all_that_came_of_it(store: Store, filled: Filled) -> None:
    one, two = filled.both
    with store.write() as connection:
        before = triples.extracted(connection, "x", [one])[one][0].id
        triples.put_extractions(connection, "x", {one: found("a poem", "a song")})
        after = triples.extracted(connection, "x", [one])[one]
        assert [t.tail for t in after] == ["a poem", "a song"]
        assert before not in {t.id for t in after}
        assert triples.triple_credibilities(connection, "j", [before, *(t.id for t in after)]) == {}
        assert list(triples.vectors(connection, "x", "e", [one, two], 4)) == [two]
        assert count(connection, schema.credibilities) == 1


def test_the_id_of_a_triple_that_has_gone_is_never_given_to_another(store: Store, filled: Filled) -> None:
    two = filled.both[1]
    with store.write() as connection:
        last = triples.extracted(connection, "x", [two])[two][0].id
        triples.put_extractions(connection, "x", {two: found("else")})
        assert triples.extracted(connection, "x", [two])[two][0].id > last


def test_two_extractors_keep_their_own(store: Store, filled: Filled) -> None:
    one = filled.both[0]
    with store.write() as connection:
        triples.put_extractions(connection, "y", {one: found("a list")})
        assert [t.tail for t in triples.extracted(connection, "x", [one])[one]] == ["a note"]
        assert [t.tail for t in triples.extracted(connection, "y", [one])[one]] == ["a list"]
        assert triples.vectors(connection, "y", "e", [one], 4) == {}


def test_nothing_derived_outlives_its_document(store: Store, filled: Filled) -> None:
    with store.write() as connection:
        assert all(count(connection, table) for table in DERIVED)
        connection.execute(schema.documents.delete())
        assert [count(connection, table) for table in DERIVED] == [0] * len(DERIVED)


def test_what_is_found_in_passages_that_have_gone_is_left_out(store: Store, filled: Filled) -> None:
    gone = 999
    with store.write() as connection:
        triples.put_extractions(connection, "x", {gone: found("a note")})
        triples.put_vectors(connection, "x", "e", {gone: np.eye(1, 4, dtype=np.float32)})
        triples.put_triple_credibilities(connection, "j", {gone: 1.0})
        triples.put_passage_credibilities(connection, "j", {gone: 1.0})
        assert triples.extracted(connection, "x", [gone]) == {}
        assert triples.triple_credibilities(connection, "j", [gone]) == {}
        assert triples.passage_credibilities(connection, "j", [gone]) == {}


def test_vectors_come_back_one_row_a_triple(store: Store, filled: Filled) -> None:
    one = filled.both[0]
    rows = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], dtype=np.float32)
    with store.write() as connection:
        triples.put_extractions(connection, "x", {one: found("a note", "a letter")})
        triples.put_vectors(connection, "x", "e", {one: rows, filled.empty: rows[:0]})
        back = triples.vectors(connection, "x", "e", [one, filled.empty, 999], 4)
        assert triples.vectors(connection, "x", "other", [one], 4) == {}
    assert back[filled.empty].shape == (0, 4)
    np.testing.assert_allclose(back[one], rows, atol=5e-4)
    assert back[one].dtype == np.float32


@pytest.mark.parametrize(
    "data", ["x'00'", "'text'", "x'0000000000000000' || x'0000000000000000'", "x'007c000000000000'"]
)
def test_damaged_vectors_are_left_out_so_that_they_are_made_again(
    store: Store, filled: Filled, data: str
) -> None:
    one, two = filled.both
    with store.write() as connection:
        connection.exec_driver_sql(f"UPDATE triple_vectors SET data = {data} WHERE passage_id = {one}")
        assert list(triples.vectors(connection, "x", "e", [one, two], 4)) == [two]


def test_a_judge_that_failed_is_told_from_one_that_was_not_asked(store: Store, filled: Filled) -> None:
    one, two = filled.both
    with store.read() as connection:
        assert triples.passage_credibilities(connection, "j", [one, two, filled.empty]) == {
            one: 0.25,
            two: None,
        }
        assert triples.passage_credibilities(connection, "k", [one]) == {}


def test_a_later_judgement_replaces_the_earlier(store: Store, filled: Filled) -> None:
    with store.write() as connection:
        number = triples.extracted(connection, "x", filled.both)[filled.both[0]][0].id
        triples.put_triple_credibilities(connection, "j", {number: float("nan")})
        assert triples.triple_credibilities(connection, "j", [number]) == {number: None}
        triples.put_triple_credibilities(connection, "j", {number: 1.0})
        assert triples.triple_credibilities(connection, "j", [number]) == {number: 1.0}


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM triples WHERE passage_id = {}",
        "UPDATE triples SET ordinal = 3 WHERE passage_id = {}",
        "UPDATE triples SET head = '' WHERE passage_id = {}",
        "UPDATE triples SET tail = x'ff' WHERE passage_id = {}",
        "UPDATE triples SET sentence_start = 'zero' WHERE passage_id = {}",
        "UPDATE triples SET sentence_end = 0 WHERE passage_id = {}",
        "UPDATE triples SET sentence_end = 5 WHERE passage_id = {}",  # the passage has four characters
        "UPDATE extractions SET n_triples = 2 WHERE passage_id = {}",
        "UPDATE extractions SET n_triples = 'one' WHERE passage_id = {}",
    ],
)
def test_a_damaged_triple_is_named_and_the_others_can_be_read(
    store: Store, filled: Filled, damage: str
) -> None:
    one, two = filled.both
    with store.write() as connection:
        connection.exec_driver_sql(damage.format(one))
        with pytest.raises(StoreError, match=f"passage {one} states is damaged"):
            triples.extracted(connection, "x", [one, two])
        assert list(triples.extracted(connection, "x", [two])) == [two]


@pytest.mark.parametrize("value", ["'high'", "1.5", "-0.1", "x'00'"])
def test_a_damaged_credibility_is_named(store: Store, filled: Filled, value: str) -> None:
    with store.write() as connection:
        ids = list(connection.execute(sa.select(schema.triples.c.id)).scalars())
        for table in ("credibilities", "passage_credibilities"):
            connection.exec_driver_sql(f"UPDATE {table} SET value = {value}")
        with pytest.raises(StoreError, match=r"triple \d+ is believed is damaged"):
            triples.triple_credibilities(connection, "j", ids)
        with pytest.raises(StoreError, match=r"passage \d+ is believed is damaged"):
            triples.passage_credibilities(connection, "j", filled.both)
