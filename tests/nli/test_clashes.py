"""Where two sentences part: dates, numbers and names first, and a few words where there are none of these."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.nli.clashes import clashes

CASES = [
    ("The port of the gateway is 443.", "The port of the gateway is 8080.", ["443"], ["8080"]),
    ("Paris is the capital of France.", "London is the capital of France.", ["Paris"], ["London"]),
    (
        "It was built by New York architect John Smith in 1932.",
        "It was built by Jane Doe of Boston on 3 May 1933.",
        ["New York", "John Smith", "1932"],
        ["Jane Doe", "Boston", "3 May 1933"],
    ),
    ("The shop is open on Sundays.", "The shop is not open on Sundays.", [], ["not"]),
    ("The door is open.", "The door is closed.", ["open"], ["closed"]),
    ("Meals cost $1,200 in March 2020.", "Meals cost $1200 in May 2020.", ["March 2020"], ["May 2020"]),
    ("Backups are kept for 30 days.", "Backups are kept for ninety days.", ["30"], ["ninety"]),
    ("It opened in 1889 for 3 guests.", "On 2 May 1889 it opened for 4 guests.", ["3"], ["4"]),
    ("The port is 443.", "The port is 443.", [], []),
    ("The sea is calm today.", "Three old men went fishing in a leaking boat last winter.", [], []),
    ("", "", [], []),
]


@pytest.mark.parametrize(("left", "right", "ours", "theirs"), CASES)
def test_what_one_says_and_the_other_says_otherwise(
    left: str, right: str, ours: list[str], theirs: list[str]
) -> None:
    found = clashes(left, right)
    assert [[span.text for span in spans] for spans in found] == [ours, theirs]
    turned = clashes(right, left)
    assert [[span.text for span in spans] for spans in turned] == [theirs, ours]


def test_a_year_on_one_side_only_is_no_clash() -> None:
    left, right = clashes("The bridge has 3 lanes.", "The bridge of 1932 has 4 lanes.")
    assert [span.text for span in left] == ["3"]
    assert [span.text for span in right] == ["4"]


WORDS = ["the", "Paris", "not", "3", "May", "1932", "1,200", "open", "isn't", "In", ",", "."]
SENTENCES = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))


@given(SENTENCES, SENTENCES)
def test_places_lie_in_their_sentences_in_order(left: str, right: str) -> None:
    for text, spans in zip((left, right), clashes(left, right), strict=True):
        assert all(text[span.start : span.end] == span.text and span.text for span in spans)
        assert all(a.end <= b.start for a, b in pairwise(spans))


@given(SENTENCES)
def test_a_sentence_does_not_clash_with_itself(text: str) -> None:
    assert clashes(text, text) == ((), ())
