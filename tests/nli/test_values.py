"""What a sentence says that can be compared: numbers, dates, names, denial."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.nli.values import compare_dates, compare_quantities, facts_of


def quantity(text: str):
    found = facts_of(text).quantities
    assert len(found) == 1, found
    return found[0]


def date(text: str):
    found = facts_of(text).dates
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("It cost $1.2 billion.", "It cost 1,200 million dollars.", "same"),
        ("It cost $1.2 billion.", "It cost $1.4 billion.", "differs"),
        ("It cost $5.", "It cost £5.", "apart"),
        ("It rose by 5%.", "It rose by 5 percent.", "same"),
        ("It rose by 5%.", "It rose by 7 per cent.", "differs"),
        ("It is 5 km away.", "It is 3.1 miles away.", "same"),
        ("It is 5 km away.", "It is 5 miles away.", "differs"),
        ("It is 5 km long.", "It weighs 5 kg.", "apart"),
        ("It has 12 floors.", "It has twelve floors.", "same"),
        ("It has 12 floors.", "It has a dozen floors.", "same"),
        ("It has 12 floors.", "It has 13 floors.", "differs"),
        ("It has 12 floors.", "It has 13 windows.", "apart"),
        ("It has twenty-two players.", "It has 22 players.", "same"),
        ("About 10,000 people came.", "It drew 10,400 people.", "same"),
        ("About 10,000 people came.", "It drew 14,000 people.", "differs"),
        ("More than 300 people came.", "It drew 420 people.", "same"),
        ("More than 300 people came.", "It drew 120 people.", "differs"),
        ("He was the second winner.", "He was the 2nd winner.", "same"),
        ("He was the second winner.", "He was the 3rd winner.", "differs"),
        ("3 million people live there.", "2.9 million people live there.", "same"),
        ("It took 90 minutes.", "It took 1.5 hours.", "same"),
        ("It took 2 hours.", "It took 3 hours.", "differs"),
    ],
)
def test_quantities_are_compared_by_what_they_measure(left, right, verdict):
    assert compare_quantities(quantity(left), quantity(right)) == verdict
    assert compare_quantities(quantity(right), quantity(left)) == verdict


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("He was born on 12 March 1934.", "He was born in 1934.", "same"),
        ("He was born on 12 March 1934.", "He was born on March 12, 1934.", "same"),
        ("He was born on 12 March 1934.", "He was born on 1934-03-12.", "same"),
        ("He was born on 12 March 1934.", "He was born in March 1935.", "differs"),
        ("He was born on 12 March 1934.", "He was born on 12 April 1934.", "differs"),
        ("It opened in 1994.", "It opened in the 1990s.", "same"),
        ("It opened in 1994.", "It opened in the 1980s.", "differs"),
        ("It was built in 1850.", "It was built in the 19th century.", "same"),
        ("It lasted from 1914–18.", "It was in 1916.", "same"),
        ("It lasted from 1914-1918.", "It was in 1921.", "differs"),
        ("It is on 4 July.", "It was in 1776.", "apart"),
    ],
)
def test_dates_are_compared_at_the_precision_they_share(left, right, verdict):
    assert compare_dates(date(left), date(right)) == verdict
    assert compare_dates(date(right), date(left)) == verdict


def test_a_year_is_a_date_and_no_quantity():
    facts = facts_of("In 1994 it had 2000 people and 1,994 seats.")
    assert [d.first for d in facts.dates] == [1994]
    assert [(q.kind, round(q.low + q.high) / 2) for q in facts.quantities] == [
        ("count:person", 2000),
        ("count:seat", 1994),
    ]


def test_digits_within_a_name_are_no_quantity():
    assert facts_of("The B52 and the R2D2 unit").quantities == ()


def test_what_follows_rather_than_is_denied_and_the_rest_asserted():
    facts = facts_of("It has 10,000 gates, rather than 100,000 doors, and 3 towers.")
    assert [q.denied for q in facts.quantities] == [False, True, False]
    assert "door" in facts.denied and not {"gat", "tow"} & facts.denied
    assert facts.n_disputes >= 1


def test_contrary_to_belief_denies_up_to_the_comma():
    facts = facts_of("Contrary to popular belief, Mara Lind wrote it.")
    assert facts.denied == {"popular", "belief"}
    assert {"mara", "lind"} <= facts.names


def test_negations_are_counted_and_are_no_content_words():
    facts = facts_of("It isn't open and has never been.")
    assert facts.n_negations == 2
    assert not {"isn't", "nev", "not"} & facts.words


def test_inflected_forms_of_a_word_meet():
    assert facts_of("released movies").words == facts_of("release film").words


@given(st.text())
def test_any_text_can_be_read(text):
    facts = facts_of(text)
    assert all(not math.isnan(q.low) and q.low <= q.high for q in facts.quantities)
    assert facts.denied <= facts.words and facts.names <= facts.words


@given(st.from_regex(r"[0-9.,%$€ \-–a-z]{0,40}", fullmatch=True))
def test_any_run_of_digits_and_signs_can_be_read(text):
    for q in facts_of(text).quantities:
        assert compare_quantities(q, q) == "same"


@given(st.integers(1, 28), st.sampled_from(["January", "June", "December"]), st.integers(1000, 2099))
def test_a_full_date_agrees_with_its_month_its_year_and_itself(day, month, year):
    full = date(f"on {day} {month} {year}")
    for other in (f"{month} {day}, {year}", f"{month} {year}", f"in {year}"):
        assert compare_dates(full, date(other)) == "same"


@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6))
def test_quantities_further_apart_than_their_rounding_differ(a, b):
    left, right = quantity(f"{a:.2f} kg"), quantity(f"{b:.2f} kg")
    if abs(a - b) > 0.02 * max(a, b) + 0.02:
        assert compare_quantities(left, right) == "differs"


def test_b_not_a_denies_a_and_is_no_negation_of_b():
    facts = facts_of("The answer is “otter dog,” not “mer cat”.")
    assert facts.denied == {"mer", "cat"} and facts.n_negations == 0


def test_what_a_sentence_also_asserts_is_not_denied():
    assert facts_of("The gates are iron gates, not wooden gates.").denied == {"wooden"}
