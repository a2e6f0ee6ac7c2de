"""Paired tests, correction for many comparisons, and non-inferiority."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from veridical.bench.metrics.significance import holm, mcnemar, non_inferior, paired_difference, sign_flip
from veridical.bench.results import Interval
from veridical.errors import InputError


def test_the_difference_is_the_mean_over_observations_and_its_interval_holds_it():
    first, second = [1, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 0]
    found = paired_difference(first, second)
    assert found.value == pytest.approx(1 / 3)
    assert found.low <= found.value <= found.high
    assert found.n == 6


def test_seeds_of_one_question_are_not_questions_of_their_own():
    # One question in two halves that differ, the other in none: as two clusters, not four.
    first, second, asked = [1, 1, 0, 0], [0, 0, 0, 0], ["a", "a", "b", "b"]
    found = paired_difference(first, second, asked)
    assert (found.value, found.low, found.high, found.n) == (0.5, 0.0, 1.0, 2)


def test_the_same_draws_serve_every_comparison():
    rng = np.random.default_rng(1)
    first, second = rng.random(20), rng.random(20)
    assert paired_difference(first, second) == paired_difference(first, second)


def test_systems_that_never_differ_are_not_told_apart():
    assert sign_flip([0.0, 0.0]) == 1.0
    assert sign_flip([]) == 1.0
    assert mcnemar([1, 0, 1], [1, 0, 1]) == 1.0


def test_a_small_sample_has_the_p_of_all_its_sign_patterns():
    # Of the 2^5 patterns of five equal differences only two are as far out: 2/32.
    assert sign_flip([1.0] * 5, n_flips=99_999) == pytest.approx(2 / 32, abs=0.004)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=3, max_size=7), st.integers(0, 5))
def test_sign_flips_agree_with_an_exact_permutation_test(gaps, seed):
    if not any(gaps):
        return
    exact = permutation_test((np.array(gaps, dtype=float),), np.sum, permutation_type="samples").pvalue
    assert sign_flip(gaps, n_flips=20_000, seed=seed) == pytest.approx(exact, abs=0.02)


def test_mcnemar_has_the_binomial_p_of_the_questions_on_which_they_differ():
    # The first wins six of six: 2 / 2^6.
    first = [1] * 6 + [1, 0]
    second = [0] * 6 + [1, 0]
    assert mcnemar(first, second) == pytest.approx(2 / 64)
    assert mcnemar(second, first) == pytest.approx(2 / 64)


def test_mcnemar_is_for_zeros_and_ones():
    with pytest.raises(InputError, match="0 and 1"):
        mcnemar([0.5], [1])
    with pytest.raises(InputError, match="one length"):
        mcnemar([0, 1], [1])


def test_holm_multiplies_the_smallest_most_and_never_turns_the_order_round():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_comparison_that_is_undefined_does_not_count():
    found = holm([0.02, math.nan])
    assert found[0] == 0.02
    assert math.isnan(found[1])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_adjusts_upwards_within_one(p_values):
    found = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, found, strict=True))
    assert sorted(range(len(found)), key=lambda i: (p_values[i], i)) == sorted(
        range(len(found)), key=lambda i: (found[i], p_values[i], i)
    )


def test_a_system_is_not_inferior_where_its_whole_interval_is_within_the_margin():
    assert non_inferior(Interval(-0.005, -0.019, 0.01, 100), 0.02)
    assert not non_inferior(Interval(-0.005, -0.021, 0.01, 100), 0.02)
    assert not non_inferior(Interval(0.01, math.nan, math.nan, 0), 0.02)
    with pytest.raises(InputError, match="margin"):
        non_inferior(Interval(0, 0, 0, 1), 0.0)
