"""How feedback was sampled, how much sources differ, and how reliable relations are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.trust.priors import class_weights, peak, relation_reliability, source_strength


def test_many_good_and_few_bad_judgements_weigh_the_same_in_total():
    values = np.array([1.0] * 90 + [0.0] * 10)
    weights = class_weights(values, np.ones(100))
    assert weights[values == 1].sum() == pytest.approx(weights[values == 0].sum(), rel=0.12)


def test_one_sided_feedback_keeps_finite_weights():
    np.testing.assert_allclose(class_weights([0.0] * 6, [1.0] * 6), 0.5 / (7 / 8))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_class_weights_are_positive_and_never_exceed_what_one_imagined_judgement_allows(values):
    weights = class_weights(values, np.ones(len(values)))
    assert (weights > 0).all()
    assert weights.max() <= 0.5 * (len(values) + 2) + 1e-9


def test_no_feedback_gives_no_weights():
    assert class_weights([], []).shape == (0,)


def test_sources_as_different_as_night_and_day_need_little_prior():
    assert source_strength([10] * 10 + [0] * 10, [0] * 10 + [10] * 10) < 0.5


def test_sources_that_are_all_the_same_mixture_are_held_to_neutral():
    assert source_strength([5] * 20, [5] * 20) > 10


def test_without_judgements_the_prior_decides():
    assert source_strength([0, 0], [0, 0]) == pytest.approx(2.0, rel=0.05)


def test_relations_that_judged_pairs_bear_out_are_relied_on_and_chance_is_not():
    assert relation_reliability(np.ones(100), np.ones(100)) > 0.95
    assert relation_reliability(np.tile([0.0, 1.0], 50), np.ones(100)) < 0.05
    assert relation_reliability(np.zeros(100), np.ones(100)) == 0.0


def test_without_judged_pairs_relations_keep_their_prior_reliability():
    assert relation_reliability([], [], prior=0.5) == pytest.approx(0.5)


def test_the_peak_of_a_parabola_is_found_between_grid_points():
    grid = np.geomspace(0.1, 10, 21)
    assert peak(grid, -(np.log(grid / 1.37) ** 2)) == pytest.approx(1.37)


def test_a_peak_at_the_edge_stays_on_the_grid():
    grid = np.geomspace(0.1, 10, 5)
    assert peak(grid, np.arange(5.0)) == pytest.approx(10)
