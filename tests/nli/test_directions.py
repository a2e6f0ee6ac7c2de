"""Two directions make one judgement of an unordered pair."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.nli.directions import combine
from veridical.types import NLILabel, NLIResult, Span

LEFT, RIGHT = Span("left", 0, 4), Span("right", 2, 7)


@st.composite
def results(draw):
    parts = [draw(st.floats(0.001, 1)) for _ in range(3)]
    return NLIResult(*(p / sum(parts) for p in parts))


@given(results(), results())
def test_the_combination_is_a_distribution_and_order_does_not_matter(a, b):
    joined, turned = combine(a, b), combine(b, a)
    assert joined.entailment + joined.neutral + joined.contradiction == pytest.approx(1, abs=1e-9)
    assert min(joined.entailment, joined.neutral, joined.contradiction) >= 0
    assert joined.to_dict() == turned.to_dict()


@given(results())
def test_two_equal_judgements_stay_as_they_are(a):
    joined = combine(a, a)
    assert joined.entailment == pytest.approx(a.entailment)
    assert joined.contradiction == pytest.approx(a.contradiction)


def test_entailment_one_way_is_support_and_contradiction_is_averaged():
    joined = combine(NLIResult(0.7, 0.2, 0.1), NLIResult(0.1, 0.6, 0.3))
    assert (joined.entailment, joined.contradiction) == pytest.approx((0.7, 0.2))
    assert joined.neutral == pytest.approx(0.1)


def test_where_both_are_certain_of_different_things_they_share():
    joined = combine(NLIResult(1.0, 0.0, 0.0), NLIResult(0.0, 0.0, 1.0))
    assert (joined.entailment, joined.neutral, joined.contradiction) == pytest.approx((2 / 3, 0, 1 / 3))


def test_spans_come_from_the_stronger_direction_with_the_left_text_first():
    weak = NLIResult(0.0, 0.6, 0.4, Span("x", 0, 1), Span("y", 0, 1))
    strong = NLIResult(0.0, 0.1, 0.9, RIGHT, LEFT)  # judged as (right, left)
    joined = combine(weak, strong)
    assert joined.label is NLILabel.CONTRADICTION
    assert (joined.premise_span, joined.hypothesis_span) == (LEFT, RIGHT)


def test_without_spans_one_way_those_of_the_other_are_shown():
    joined = combine(NLIResult(0.0, 1.0, 0.0), NLIResult(0.1, 0.8, 0.1, RIGHT, LEFT))
    assert joined.premise_span == LEFT
