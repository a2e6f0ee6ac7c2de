"""Reliability mixes relevance and credibility; what it offers is each triple once, and none twice."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.errors import InputError
from veridical.evidence.reliability import known, offer, reliability

UNIT = st.floats(0.0, 1.0, allow_subnormal=False)
COSINE = st.floats(-1.0, 1.0, allow_subnormal=False)


@pytest.mark.parametrize(
    ("cosine", "credibility", "expected"),
    [(0.8, 10, 0.92), (0.9, 1, 0.42), (0.9, 0, 0.36), (0.5, 7, 0.62), (0.75, 5, 0.60)],
)
def test_reliability_is_as_calculated_by_hand(cosine, credibility, expected):
    assert reliability(cosine, credibility / 10) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("ahead", "weight"), [(0.1, 0.90), (0.3, 0.75), (0.5, 0.643), (1.0, 0.474)])
def test_the_weight_from_which_a_false_triple_outranks_a_true_one_is_as_calculated_by_hand(ahead, weight):
    assert 0.9 / (ahead + 0.9) == pytest.approx(weight, abs=5e-4)
    for step, outranks in ((-0.005, False), (0.005, True)):
        true, false = reliability([0.0, ahead], [1.0, 0.1], weight + step)
        assert (false > true) == outranks


@given(ahead=st.floats(0.01, 1.0), cosine=COSINE, weight=UNIT)
def test_a_false_triple_outranks_a_true_one_only_above_the_crossover(ahead, cosine, weight):
    crossover = 0.9 / (ahead + 0.9)
    true, false = reliability([cosine - ahead, cosine], [1.0, 0.1], weight)
    if abs(weight - crossover) > 1e-9:
        assert (false > true) == (weight > crossover)


@given(cosine=COSINE, credibility=UNIT, weight=UNIT)
def test_reliability_lies_between_what_it_mixes(cosine, credibility, weight):
    mixed = float(reliability(cosine, credibility, weight))
    low, high = sorted((cosine, credibility))
    assert low - 1e-12 <= mixed <= high + 1e-12


def test_the_ends_of_the_weight_are_relevance_alone_and_credibility_alone():
    cosines, credibilities = np.array([0.2, -0.4]), np.array([0.9, 0.3])
    np.testing.assert_array_equal(reliability(cosines, credibilities, 1.0), cosines)
    np.testing.assert_array_equal(reliability(cosines, credibilities, 0.0), credibilities)


def test_a_triple_that_nobody_judged_counts_as_one_half():
    np.testing.assert_array_equal(known([math.nan, 0.0, 1.0]), [0.5, 0.0, 1.0])
    assert reliability(0.8, math.nan) == reliability(0.8, 0.5)


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan])
def test_a_weight_outside_0_to_1_is_refused(weight):
    with pytest.raises(InputError, match="relevance_weight"):
        reliability(0.5, 0.5, weight)


def test_credibility_decides_what_is_offered_and_what_is_kept_out():
    # R = .4 cos + .6 eta: .42, .92, .62, .60; by relevance alone the first two places go to 0 and 1.
    found = offer([0.9, 0.8, 0.5, 0.75], [0.1, 1.0, 0.7, 0.5], top_k=2)
    assert found.places.tolist() == [1, 2]
    assert found.kept_out.tolist() == [0]
    np.testing.assert_allclose(found.reliability, [0.42, 0.92, 0.62, 0.60], atol=1e-12)


def test_kept_out_are_the_more_relevant_first():
    found = offer([0.7, 0.9, 0.8, 0.1], [0.0, 0.0, 0.0, 1.0], top_k=3)
    assert found.places.tolist() == [3, 1, 2]
    assert found.kept_out.tolist() == [0]
    assert offer([0.7, 0.9, 0.1, 0.1], [0.0, 0.0, 1.0, 1.0], top_k=2).kept_out.tolist() == [1, 0]


def test_used_triples_do_not_come_back_where_few_are_left():
    found = offer([0.9, 0.8, 0.7], [0.5, 0.5, 0.5], used=(0, 2), top_k=20)
    assert found.places.tolist() == [1]
    assert offer([0.9, 0.8], [0.5, 0.5], used=(0, 1)).places.size == 0


def test_an_empty_pool_offers_nothing():
    found = offer([], [])
    assert found.places.size == found.kept_out.size == found.reliability.size == 0


def test_equally_reliable_triples_come_by_relevance_and_then_by_place():
    # In the second pool both have R = 1/2.
    assert offer([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]).places.tolist() == [0, 1, 2]
    assert offer([0.0, 1.0], [1.0, 0.0], relevance_weight=0.5).places.tolist() == [1, 0]


@given(
    pool=st.lists(st.tuples(COSINE, UNIT), max_size=30),
    weight=UNIT,
    top_k=st.integers(1, 25),
    data=st.data(),
)
@settings(max_examples=200, deadline=None)
def test_an_offer_is_the_best_of_what_is_left(pool, weight, top_k, data):
    cosines, credibilities = [row[0] for row in pool], [row[1] for row in pool]
    used = data.draw(st.sets(st.integers(0, len(pool) - 1))) if pool else set()
    found = offer(cosines, credibilities, used, relevance_weight=weight, top_k=top_k)
    offered = found.places.tolist()
    left = set(range(len(pool))) - used
    assert len(offered) == len(set(offered)) == min(top_k, len(left))
    assert set(offered) <= left
    values = found.reliability
    assert all(values[a] >= values[b] for a, b in pairwise(offered))
    assert all(values[place] <= values[offered[-1]] for place in left - set(offered))
    assert set(found.kept_out.tolist()) <= left - set(offered)


@given(cosines=st.lists(COSINE, max_size=30), credibility=UNIT, weight=UNIT, top_k=st.integers(1, 25))
def test_credibility_that_is_the_same_for_all_keeps_nothing_out(cosines, credibility, weight, top_k):
    found = offer(cosines, [credibility] * len(cosines), relevance_weight=weight, top_k=top_k)
    assert found.kept_out.size == 0
    by_relevance = np.argsort(-np.array(cosines), kind="stable")[:top_k]
    assert found.places.tolist() == by_relevance.tolist()
