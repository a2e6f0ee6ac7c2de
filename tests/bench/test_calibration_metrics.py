"""Risk-coverage curves, calibration error and abstention give the values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.bench.metrics.calibration import abstention, calibration_error, risk_coverage
from veridical.errors import InputError

ANSWERS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30)


def test_the_surest_answers_come_first():
    curve = risk_coverage([0.2, 0.9, 0.6, 0.4], [1, 0, 1, 0])
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curve.risk == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert curve.at(0.5) == 0.5
    assert curve.at(0.6) == pytest.approx(1 / 3)
    assert curve.at(1.0) == 0.5


def test_answers_of_equal_confidence_share_their_loss():
    # The mean over both orders of the last two: (0, 1/2, 2/3, 1/2) and (0, 0, 1/3, 1/2) would be no means.
    curve = risk_coverage([0.9, 0.5, 0.5], [0, 1, 0])
    assert curve.risk == pytest.approx([0, 1 / 4, 1 / 3])


def test_a_constant_confidence_gives_a_flat_curve():
    assert risk_coverage([1, 1, 1, 1], [0, 1, 1, 1]).risk == pytest.approx([0.75] * 4)


@given(ANSWERS, st.randoms())
def test_the_curve_ends_at_the_mean_loss_whatever_the_order(answers, random):
    sure, loss = zip(*answers, strict=True)
    shuffled = list(answers)
    random.shuffle(shuffled)
    curve, again = risk_coverage(sure, loss), risk_coverage(*zip(*shuffled, strict=True))
    assert curve.risk[-1] == pytest.approx(np.mean(loss))
    assert curve.risk == pytest.approx(again.risk)


@given(ANSWERS)
def test_no_confidence_does_better_than_knowing_which_answers_are_wrong(answers):
    sure, loss = (np.array(part, dtype=float) for part in zip(*answers, strict=True))
    best, worst = risk_coverage(-loss, loss).area, risk_coverage(loss, loss).area
    assert best - 1e-12 <= risk_coverage(sure, loss).area <= worst + 1e-12


def test_calibration_error_is_the_mean_gap_of_bins():
    # Bin [.2, .4): said .3 and .3, one of two right. Bin [.8, 1]: said .9 and 1, both right.
    assert calibration_error([0.3, 0.3, 0.9, 1.0], [1, 0, 1, 1], n_bins=5) == pytest.approx(0.125)
    assert calibration_error([0.25] * 4, [1, 0, 0, 0]) == pytest.approx(0)
    assert calibration_error([1.0, 0.0], [0, 1]) == 1


def test_abstention_compares_given_and_withheld():
    found = abstention([True, True, False, True, False], [1, 0, 1, 1, 0])
    assert found.coverage == 0.6
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.withheld_right == 0.5


def test_without_questions_there_is_no_number():
    assert math.isnan(risk_coverage([], []).area)
    assert math.isnan(risk_coverage([], []).at(0.5))
    assert math.isnan(calibration_error([], []))
    assert math.isnan(abstention([], []).coverage)
    assert math.isnan(abstention([False], [1]).accuracy)


@pytest.mark.parametrize(
    ("left", "right"), [([0.1], [1, 0]), ([math.nan], [1]), ([0.1], [math.nan]), ([[0.1]], [[1]])]
)
def test_rows_that_do_not_fit_are_refused(left, right):
    for metric in (risk_coverage, calibration_error, abstention):
        with pytest.raises(InputError):
            metric(left, right)


def test_a_probability_lies_between_0_and_1():
    with pytest.raises(InputError):
        calibration_error([1.2], [1])
    with pytest.raises(InputError):
        calibration_error([0.2], [1], n_bins=0)
