"""An answer that a passage names to deny it is not its answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.reading.base import ReadAnswer, Reading
from veridical.reading.denied import DENIED, SET_ASIDE, denial, undenied


def denial_of(answer: str, text: str) -> float:
    start = text.index(answer)
    return denial(text, start, start + len(answer))


@pytest.mark.parametrize(
    "text",
    [
        "The office is in Oslo, not Bergen.",
        "The office is in Oslo rather than Bergen.",
        "Contrary to popular belief that it is Bergen, the office is in Oslo.",
        "The misconception that Bergen has the office is old. It is in Oslo.",
        "The claim that the office is in Bergen lacks evidence. It is in Oslo.",
        "There is no evidence that it is in Bergen.",
        "It is in Oslo. Bergen has never had the office.",
        "It is in Oslo. Bergen was mistakenly named; Bergen is incorrect.",
        "It is in Oslo. Bergen isn't where the office is.",
    ],
)
def test_what_is_said_not_to_be_so_is_denied(text: str) -> None:
    start = text.rindex("Bergen")
    assert denial(text, start, start + len("Bergen")) == DENIED


@pytest.mark.parametrize(
    "text",
    [
        "While Bergen is often named, the office is in Oslo.",
        "Although Bergen has a harbour, the office is in Oslo.",
        "Despite the fame of Bergen, the office is in Oslo.",
        "The office is in Oslo. In contrast, Bergen has a warehouse.",
        "The office is in Oslo. On the other hand, Bergen is larger.",
    ],
)
def test_what_is_conceded_or_contrasted_is_set_aside(text: str) -> None:
    assert denial_of("Bergen", text) == SET_ASIDE
    assert denial_of("Oslo", text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "The office is in Oslo, not Bergen.",
        "It is not in Bergen but in Oslo.",
        "While living in Oslo, she ran the office.",
        "The office, which opened in 1990, is in Oslo. Bergen was never considered.",
        "Bergen was not chosen. The office is in Oslo.",
        "It was not until Oslo had a harbour that the office opened.",
        "The office is not only in Oslo.",
        "Oslo was not only a harbour.",
    ],
)
def test_what_the_passage_says_is_not_denied(text: str) -> None:
    assert denial_of("Oslo", text) == 0


def test_a_number_with_a_comma_does_not_end_what_is_denied() -> None:
    assert denial_of("1,500 people", "There were 900, not 1,500 people.") == DENIED


def test_a_denied_answer_leaves_its_weight_to_what_is_said_instead() -> None:
    text = "The office is in Oslo, not Bergen."
    oslo = ReadAnswer("Oslo", 17, 21, 0.3)
    bergen = ReadAnswer("Bergen", 27, 33, 0.6)
    found = undenied(text, Reading((bergen, oslo), 0.1))
    assert [a.text for a in found.answers] == ["Oslo", "Bergen"]
    assert found.answers[0].probability == pytest.approx(0.3 + 0.6 * DENIED)
    assert found.answers[1].probability == pytest.approx(0.6 * (1 - DENIED))
    assert found.no_answer == 0.1


def test_an_answer_that_is_set_against_another_is_denied_wherever_it_stands() -> None:
    text = "The office is in Oslo, not Bergen. Bergen is a town by the sea."
    bergen = ReadAnswer("Bergen", 35, 41, 0.6)
    oslo = ReadAnswer("Oslo", 17, 21, 0.3)
    assert denial(text, bergen.start, bergen.end) == 0
    found = undenied(text, Reading((bergen, oslo), 0.1))
    assert found.answers[0].text == "Oslo"
    plain = "The office is in Oslo, not only for Bergen. Bergen is a town by the sea."
    again = Reading((ReadAnswer("Bergen", 44, 50, 0.6),), 0.4)
    assert undenied(plain, again) is again


def test_a_passage_that_only_denies_hardly_answers() -> None:
    text = "The office is not in Bergen."
    found = undenied(text, Reading((ReadAnswer("Bergen", 21, 27, 0.8),), 0.2))
    assert found.answers[0].probability == pytest.approx(0.8 * (1 - DENIED))


def test_a_passage_without_denials_is_read_as_before() -> None:
    reading = Reading((ReadAnswer("Oslo", 17, 21, 0.9),), 0.1)
    assert undenied("The office is in Oslo.", reading) is reading


PIECES = [
    "The office is in ",
    "Oslo",
    ", not ",
    "Bergen",
    ". ",
    "While ",
    "rather than ",
    "1,000 ",
    "is not ",
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.lists(st.floats(0.01, 1), max_size=3))
def test_probabilities_stay_probabilities(pieces: list[str], shares: list[float]) -> None:
    text = "".join(pieces).strip() or "a"
    bounds = [i * len(text) // 4 for i in range(5)]
    scale = max(1.0, sum(shares))
    answers = tuple(
        ReadAnswer(text[a:b], a, b, p / scale)
        for a, b, p in zip(bounds, bounds[1:], shares, strict=False)
        if b > a
    )
    reading = Reading(answers, 0.0)
    found = undenied(text, reading)
    assert sum(a.probability for a in found.answers) <= sum(a.probability for a in answers) + 1e-9
    assert {a.text for a in found.answers} == {a.text for a in answers}
    assert all(0 <= a.probability <= 1 for a in found.answers)
