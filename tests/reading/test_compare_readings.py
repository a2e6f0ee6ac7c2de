"""Two readings of one question: who agrees with whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.reading.base import NOTHING, ReadAnswer, Reading
from veridical.reading.compare import compare_readings

QUESTION = "Where is the office?"


def reading(*answers: tuple[str, float]) -> Reading:
    found, place = [], 0
    for text, probability in answers:
        found.append(ReadAnswer(text, place, place + len(text), probability))
        place += len(text) + 1
    return Reading(tuple(found), 1.0 - sum(p for _, p in answers))


def test_two_passages_that_say_the_same_support_each_other() -> None:
    verdict = compare_readings(QUESTION, reading(("Oslo", 0.9)), reading(("oslo", 0.9)))
    assert verdict.support > 0.5 > verdict.contradiction


def test_two_passages_that_say_different_things_contradict_each_other() -> None:
    verdict = compare_readings(QUESTION, reading(("Oslo", 0.95)), reading(("Bergen", 0.95)))
    assert verdict.contradiction > 0.5 > verdict.support


def test_a_passage_that_does_not_answer_says_neither() -> None:
    verdict = compare_readings(QUESTION, reading(("Oslo", 0.9)), NOTHING)
    assert verdict.support == 0
    assert verdict.contradiction == 0
    assert verdict.right is None


def test_the_verdict_shows_the_answers_that_speak_for_it() -> None:
    left = reading(("the harbour", 0.5), ("Oslo", 0.45))
    right = reading(("Oslo", 0.95))
    verdict = compare_readings(QUESTION, left, reading(("Bergen", 0.95)))
    assert (verdict.left, verdict.right) == (left.answers[0], verdict.right)
    agreed = compare_readings(QUESTION, reading(("the harbour", 0.3), ("Oslo", 0.65)), right)
    assert agreed.left is not None
    assert agreed.left.text == "Oslo"


readings = st.lists(
    st.tuples(st.sampled_from(["Oslo", "Bergen", "in Oslo", "1990", "May 1990"]), st.floats(0, 1)),
    max_size=3,
).map(lambda answers: reading(*((text, p / max(1, len(answers))) for text, p in answers)))


@given(readings, readings)
def test_shares_are_probabilities_and_order_does_not_matter(left: Reading, right: Reading) -> None:
    forth, back = compare_readings(QUESTION, left, right), compare_readings(QUESTION, right, left)
    assert 0 <= forth.support <= 1
    assert 0 <= forth.contradiction <= 1
    assert forth.support + forth.contradiction <= 1 + 1e-9
    assert forth.support == pytest.approx(back.support, abs=1e-9)
    assert forth.contradiction == pytest.approx(back.contradiction, abs=1e-9)
