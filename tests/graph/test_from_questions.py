"""Pools of questions kept up to date are those of a computation from scratch; pairs say who agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.graph import from_questions
from veridical.graph.from_questions import Pools, from_store, pairs_of, to_store, update_pools
from veridical.reading.base import NOTHING, ReadAnswer, Reading

AXES = np.eye(5, dtype=np.float32)
# Few directions, so that ties are common.
GRID = np.vstack([AXES, *((AXES[i] + AXES[i - 1] / 2) / np.sqrt(1.25) for i in range(5))]).astype(np.float32)


class Log:
    """Questions and passages that come and go, and the pools kept for them."""

    def __init__(self) -> None:
        self.passages: dict[int, np.ndarray] = {}
        self.questions: dict[int, np.ndarray] = {}
        self.pools: Pools = {}
        self.next_id = 1
        self.up_to = 0

    def add_passage(self, direction: int) -> None:
        self.passages[self.next_id] = GRID[direction]
        self.next_id += 1

    def remove_passage(self, passage_id: int) -> None:
        del self.passages[passage_id]
        self.pools = {q: {p: s for p, s in pool.items() if p != passage_id} for q, pool in self.pools.items()}

    def add_question(self, direction: int) -> None:
        self.questions[len(self.questions) + 1] = GRID[direction]

    def update(self, size: int) -> Pools:
        changed = self._update(self.pools, self.up_to, size)
        self.pools.update(changed)
        self.up_to = max(self.passages, default=self.up_to)
        return changed

    def from_scratch(self, size: int) -> Pools:
        return self._update({}, 0, size)

    def _update(self, known: Pools, up_to: int, size: int) -> Pools:
        def arrays(items: dict[int, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
            ids = np.array(sorted(items), dtype=np.int64)
            rows = np.array([items[int(i)] for i in ids], dtype=np.float32)
            return ids, rows.reshape(len(ids), 5)

        return update_pools(*arrays(self.questions), *arrays(self.passages), known, up_to=up_to, size=size)


NUMBERS = st.lists(st.integers(0, len(GRID) - 1), max_size=5)
ROUND = st.tuples(NUMBERS, NUMBERS, st.lists(st.integers(0, 99), max_size=3))


@settings(deadline=None, max_examples=150)
@given(st.lists(ROUND, min_size=1, max_size=6), st.integers(1, 3))
def test_pools_equal_those_from_scratch_after_any_changes(
    rounds: list[tuple[list[int], list[int], list[int]]], size: int
) -> None:
    log = Log()
    for passages, questions, removed in rounds:
        for place in removed:
            if log.passages:
                log.remove_passage(sorted(log.passages)[place % len(log.passages)])
        for direction in passages:
            log.add_passage(direction)
        for direction in questions:
            log.add_question(direction)
        log.update(size)
        assert {q: pool for q, pool in log.pools.items() if pool} == {
            q: pool for q, pool in log.from_scratch(size).items() if pool
        }


def test_a_pool_holds_the_nearest_passages_with_their_cosines() -> None:
    log = Log()
    for direction in (0, 1, 5, 0):
        log.add_passage(direction)
    log.add_question(0)
    assert log.update(3) == {1: {1: 1.0, 4: 1.0, 3: pytest.approx(0.894427)}}


def test_only_questions_that_a_new_passage_concerns_are_touched() -> None:
    log = Log()
    for direction in (0, 0, 1, 1):
        log.add_passage(direction)
    for direction in (0, 1):
        log.add_question(direction)
    log.update(2)
    assert log.update(2) == {}
    log.add_passage(0)  # as near as those there are, and later
    assert log.update(2) == {}
    log.remove_passage(1)
    assert log.update(2) == {1: {2: 1.0, 5: 1.0}}


def test_small_blocks_give_the_same_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    for number in range(40):
        log.add_passage(number % 10)
        log.add_question(number % 7)
    log.update(3)
    log.add_passage(3)
    expected = log.from_scratch(3)
    monkeypatch.setattr(from_questions, "_BLOCK_CELLS", 90)
    monkeypatch.setattr(from_questions, "_BLOCK_ROWS", 7)
    assert log.from_scratch(3) == expected
    log.update(3)
    assert log.pools == expected


def answer(text: str, probability: float = 0.9, start: int = 3) -> Reading:
    spans = (ReadAnswer(text, start, start + len(text), probability),)
    return Reading(spans, round(1.0 - probability, 6))


def test_passages_of_different_documents_agree_or_clash_by_what_they_answer() -> None:
    readings = {1: answer("443"), 2: answer("443", start=9), 3: answer("8080"), 4: NOTHING}
    found = pairs_of(7, "Which port?", readings, {1: 1, 2: 2, 3: 3, 4: 4}, reader="r")
    assert [(pair.low_passage, pair.high_passage) for pair in found] == [(1, 2), (1, 3), (2, 3)]
    agree, clash, _ = found
    assert agree.support > 0.5 > agree.contradiction
    assert clash.contradiction > 2 * clash.support
    assert (agree.question_id, agree.question, agree.origin, agree.reader) == (7, "Which port?", "asked", "r")
    places = (agree.low_answer_start, agree.low_answer_end, agree.high_answer_start, agree.high_answer_end)
    assert places == (3, 6, 9, 12)


def test_passages_of_one_document_are_not_compared() -> None:
    readings = {1: answer("443"), 2: answer("8080"), 3: answer("443")}
    found = pairs_of(7, "Which port?", readings, {1: 1, 2: 1, 3: 2}, reader="r")
    assert [(pair.low_passage, pair.high_passage) for pair in found] == [(1, 3), (2, 3)]


def test_with_the_passages_an_answer_that_is_only_denied_counts_for_less() -> None:
    text = "The port is 8080, not 443."
    denies = Reading((ReadAnswer("443", 22, 25, 0.5), ReadAnswer("8080", 12, 16, 0.4)), 0.1)
    texts, readings = {1: text, 2: "It is the port 443."}, {1: denies, 2: answer("443", start=15)}
    (without,) = pairs_of(7, "Which port?", readings, {1: 1, 2: 2}, reader="r")
    (with_texts,) = pairs_of(7, "Which port?", readings, {1: 1, 2: 2}, reader="r", texts=texts)
    assert with_texts.contradiction > without.contradiction
    assert with_texts.contradiction > with_texts.support


def test_what_hardly_answers_is_left_out() -> None:
    readings = {1: answer("443", 0.2), 2: answer("8080", 0.2)}
    assert pairs_of(7, "Which port?", readings, {1: 1, 2: 2}, reader="r") == []


def test_pairs_of_new_readings_only_are_those_that_were_missing() -> None:
    readings = {1: answer("443"), 2: answer("443"), 3: answer("8080"), 4: answer("443")}
    owner = {i: i for i in readings}
    before = pairs_of(7, "Which port?", {i: readings[i] for i in (1, 3)}, owner, reader="r")
    added = pairs_of(7, "Which port?", readings, owner, reader="r", new={2, 4})
    whole = pairs_of(7, "Which port?", readings, owner, reader="r")
    assert len(before) + len(added) == len(whole)
    assert {*before, *added} == set(whole)


def test_a_reading_comes_back_from_the_store_as_it_was_put() -> None:
    reading = answer("443", 0.123456789)
    assert from_store(to_store(1, 2, reading)) == reading
