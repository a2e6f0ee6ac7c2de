"""Two readings of one question: who agrees with whom."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.reading.base import NOTHING, ReadAnswer, Reading
from veridical.reading.compare import (
    COMPARE_VERSION,
    FROM_PASSAGES,
    FROM_READINGS,
    compare_readings,
    evidence,
    named,
)

QUESTION = "Where is the office?"
OSLO = "The office is in Oslo."
BERGEN = "The office is in Bergen."


def reading(*answers: tuple[str, float], text: str | None = None) -> Reading:
    found, place = [], 0
    for answer, probability in answers:
        start = place if text is None else text.index(answer)
        found.append(ReadAnswer(answer, start, start + len(answer), probability))
        place += len(answer) + 1
    return Reading(tuple(found), max(0.0, 1.0 - sum(p for _, p in answers)))


def test_two_passages_that_say_the_same_support_each_other() -> None:
    verdict = compare_readings(QUESTION, reading(("Oslo", 0.95)), reading(("oslo", 0.95)))
    assert verdict.support > 0.5 > verdict.contradiction


def test_two_passages_that_say_different_things_contradict_each_other() -> None:
    left, right = reading(("Oslo", 0.97), text=OSLO), reading(("Bergen", 0.97), text=BERGEN)
    verdict = compare_readings(QUESTION, left, right, texts=(OSLO, BERGEN))
    assert verdict.contradiction > 0.5 > verdict.support


def test_a_passage_that_does_not_answer_says_neither() -> None:
    verdict = compare_readings(QUESTION, reading(("Oslo", 0.9)), NOTHING)
    assert (verdict.support, verdict.contradiction, verdict.right) == (0, 0, None)
    unlikely = compare_readings(QUESTION, reading(("Oslo", 0.9)), reading(("Bergen", 0.05)))
    assert unlikely.support + unlikely.contradiction < 0.2


def test_the_verdict_shows_the_answers_that_speak_for_it() -> None:
    left, right = reading(("the harbour", 0.3), ("Oslo", 0.65)), reading(("Oslo", 0.95))
    verdict = compare_readings(QUESTION, left, right)
    assert verdict.support > verdict.contradiction
    assert (verdict.left, verdict.right) == (left.answers[1], right.answers[0])


def test_a_passage_that_names_what_the_other_answers_contradicts_it_less() -> None:
    """Two places in one passage, each a fair answer: reading different ones is no clash."""
    both = "The office is at the harbour of Oslo."
    left, right = reading(("Oslo", 0.9), text=OSLO), reading(("the harbour", 0.9), text=both)
    apart = "The office is at the harbour of Bergen."
    near = compare_readings(QUESTION, left, right, texts=(OSLO, both))
    far = compare_readings(QUESTION, left, right, texts=(OSLO, apart))
    assert near.contradiction < far.contradiction
    assert near.support > far.support


def test_a_passage_that_denies_what_the_other_answers_contradicts_it() -> None:
    """The reader took the answer that the fake denies; the verdict is not taken in."""
    fake = "The office is in Bergen, not in Oslo."
    left = reading(("Oslo", 0.6), ("Bergen", 0.35), text=fake)
    right = reading(("Oslo", 0.95), text=OSLO)
    without = compare_readings(QUESTION, left, right)
    assert without.support > without.contradiction
    verdict = compare_readings(QUESTION, left, right, texts=(fake, OSLO))
    assert verdict.contradiction > verdict.support
    assert verdict.left is not None
    assert verdict.left.text == "Bergen"


def test_an_answer_is_named_by_its_own_words_in_one_sentence() -> None:
    assert named("Barack Obama", "Obama was born there. Barack is a name.") == (0.5, 0.0)
    assert named("Oslo", "It is in Bergen, not in Oslo.") == pytest.approx((0.1, 0.9))
    assert named("the office", OSLO, "What is in Oslo?") == (1.0, 0.0)
    assert named("the office in Oslo", BERGEN, QUESTION) == (0.0, 0.0)
    assert named("...", OSLO) == (0.0, 0.0)


def test_the_shipped_numbers_are_those_of_this_version() -> None:
    text = (resources.files("veridical.reading") / "compare.json").read_text(encoding="utf-8")
    shipped = json.loads(text)
    assert shipped["version"] == COMPARE_VERSION
    for name, features in (("readings", FROM_READINGS), ("passages", FROM_READINGS + FROM_PASSAGES)):
        for side in ("support", "contradiction"):
            assert set(shipped[name][side]) == {"bias", *features}


readings = st.lists(
    st.tuples(st.sampled_from(["Oslo", "Bergen", "in Oslo", "1990", "May 1990"]), st.floats(0, 1)),
    max_size=3,
).map(lambda answers: reading(*((text, p / max(1, len(answers))) for text, p in answers)))
TEXTS = ["Since May 1990 it is in Oslo.", "It is in Bergen, not in Oslo, since 1990.", "1990?"]
passages = st.none() | st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS))


@given(readings, readings, passages)
def test_shares_are_probabilities_and_order_does_not_matter(
    left: Reading, right: Reading, texts: tuple[str, str] | None
) -> None:
    forth = compare_readings(QUESTION, left, right, texts=texts)
    back = compare_readings(QUESTION, right, left, texts=texts and (texts[1], texts[0]))
    assert 0 <= forth.support <= 1
    assert 0 <= forth.contradiction <= 1
    assert forth.support + forth.contradiction <= 1 + 1e-9
    assert forth.support == pytest.approx(back.support, abs=1e-9)
    assert forth.contradiction == pytest.approx(back.contradiction, abs=1e-9)


@given(readings, readings, passages)
def test_evidence_stays_within_its_bounds(
    left: Reading, right: Reading, texts: tuple[str, str] | None
) -> None:
    found = evidence(QUESTION, left, right, texts)
    assert set(found) == {*FROM_READINGS, *(FROM_PASSAGES if texts else ())}
    assert -1 <= found.pop("differ") <= 1
    assert abs(found.pop("odds")) <= 4
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in found.values())
