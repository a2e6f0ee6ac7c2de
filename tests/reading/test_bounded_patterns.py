"""Hostile texts take no longer than others of their length: patterns see bounded pieces."""

from __future__ import annotations

import pytest

from veridical.reading.agree import agreement
from veridical.reading.base import ReadAnswer, Reading
from veridical.reading.denied import undenied, word_denials
from veridical.reading.said import MOST_CHARS, asserted, one_line, said

HOSTILE = [
    "12" + " " * 30_000 + "May" + " " * 30_000 + "1950",
    " " * 100_000,
    "; " * 20_000,
    "' " * 20_000,
    " - " * 20_000,
    "1.1." * 20_000,
    "1 to " * 10_000,
    "5 feet 11 inches " * 4_000,
    "a' " * 20_000,
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_answer_is_read_in_no_time(text: str) -> None:
    said(text)
    asserted(text)
    assert 0.0 <= agreement(text, text + "x") <= 1.0


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_passage_is_searched_in_no_time(text: str) -> None:
    word_denials(text)
    passage = f"Halden {text}"
    reading = Reading((ReadAnswer("Halden", 0, 6, 0.9),), 0.1)
    assert 0.0 < undenied(passage, reading).answers[0].probability <= 0.9


def test_an_answer_is_brought_to_one_line_and_cut() -> None:
    assert one_line("  Anna \n\t Berg ") == "Anna Berg"
    assert len(one_line("word " * 1000)) <= MOST_CHARS


def test_white_space_makes_no_other_answer() -> None:
    assert agreement("12  May\n1950", "12 May 1950") == 1.0
