"""AUC counts ties half, is the area under the curve, and has an interval by whole questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.bench.metrics.roc import area, auc, auc_interval, curve

ROWS = st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.sampled_from("abcd")), min_size=1, max_size=30)


def test_auc_is_the_chance_that_a_pair_is_in_order() -> None:
    assert auc([0, 1], [1, 2]) == 0.875
    assert np.isnan(auc([], [1.0]))
    assert np.isnan(auc([1.0], []))


def test_the_curve_has_one_point_where_values_tie() -> None:
    values = np.array([3.0, 2.0, 2.0, 1.0])
    points = curve(values, np.array([True, True, False, False]))
    assert points.tolist() == [[0, 0], [0, 0.5], [0.5, 1], [1, 1]]


def test_there_is_no_curve_without_both_kinds() -> None:
    points = curve(np.array([1.0, 2.0]), np.array([True, True]))
    assert points.shape == (0, 2)
    assert np.isnan(area(points))


@given(ROWS)
def test_auc_is_the_area_under_the_curve_and_the_mean_over_pairs(rows: list[tuple[int, bool, str]]) -> None:
    values = np.array([row[0] for row in rows], dtype=float)
    true = np.array([row[1] for row in rows])
    high, low = values[true], values[~true]
    found = auc(low, high)
    if not len(high) or not len(low):
        assert np.isnan(found)
        return
    pairs = [1.0 if x > y else 0.5 if x == y else 0.0 for x in high for y in low]
    assert found == pytest.approx(np.mean(pairs))
    assert area(curve(values, true)) == pytest.approx(found)


@given(ROWS)
def test_the_interval_of_an_auc_holds_its_value_for_one_question_and_is_undefined_without_both_kinds(
    rows: list[tuple[int, bool, str]],
) -> None:
    scores = np.array([row[0] for row in rows], dtype=float)
    positive = np.array([row[1] for row in rows])
    one = auc_interval(scores, positive, ["q"] * len(rows), n_draws=20)
    if positive.all() or not positive.any():
        assert one.n == 0
        return
    assert one.value == auc(scores[~positive], scores[positive])
    assert one.low == pytest.approx(one.value)
    assert one.high == pytest.approx(one.value)
    many = auc_interval(scores, positive, [row[2] for row in rows], n_draws=50)
    assert many.value == one.value
    assert 0 <= many.low <= many.high <= 1
