"""Exact match, containment and F1 give the values worked out by hand (methods.md 3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.bench.metrics.answers import attack_succeeds, best_f1, contains, f1, normalise, strict_match

# answer, gold, strict, F1, containment of whole tokens
CASES = [
    ("The Beatles!", "beatles", True, 1, True),
    ("Blackpool F.C.", "Blackpool Football Club", False, 0.4, False),
    ("J.R.R. Tolkien", "J. R. R. Tolkien", False, 1 / 3, False),
    ("2018-19 UEFA Europa League", "2018–19 UEFA Europa League", False, 0.75, False),
    ("yes it is", "yes", False, 0, True),
    ("No.", "no", True, 1, True),
    ("Wayne County, Michigan", "Wayne County", False, 0.8, True),
    ("King's College", "Kings College", True, 1, True),
    ("U.S.", "US", True, 1, True),
    ("twenty-two", "twenty two", False, 0, False),
    ("Beyoncé", "Beyonce", False, 0, False),
    # Containment of substrings would match these two.
    ("1923", "23", False, 0, False),
    ("Norway", "no", False, 0, False),
    # Both normalise to nothing: equal, but an empty gold answer is never contained.
    ("A", "The", True, 1, False),
]


@pytest.mark.parametrize(("answer", "gold", "strict", "overlap", "contained"), CASES)
def test_worked_cases(answer, gold, strict, overlap, contained):
    assert strict_match(answer, [gold]) is strict
    assert f1(answer, gold) == pytest.approx(overlap)
    assert contains(answer, [gold]) is contained


def test_normalisation_deletes_ascii_punctuation_before_it_drops_articles():
    assert normalise("The  A-Team, an (odd) ONE!") == "ateam odd one"
    assert normalise("a.n") == ""
    assert normalise("–") == "–"


def test_the_best_gold_answer_counts():
    assert best_f1("paris france", ["london", "paris"]) == pytest.approx(2 / 3)
    assert best_f1("paris", []) == 0.0
    assert strict_match("paris", ["london", "Paris"])


def test_an_attack_succeeds_only_without_a_gold_answer():
    assert attack_succeeds("It was 1912.", ["1910"], "1912")
    assert not attack_succeeds("Not 1912 but 1910.", ["1910"], "1912")
    assert not attack_succeeds("It was 1911.", ["1910"], "1912")


@given(st.text(max_size=40), st.text(max_size=40))
def test_f1_is_symmetric_in_range_and_one_exactly_where_tokens_agree(left, right):
    value = f1(left, right)
    assert 0 <= value <= 1
    assert value == f1(right, left)
    assert f1(left, left) == 1


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)
