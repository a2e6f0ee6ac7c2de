"""Raw values become probabilities, and judged documents are what their judges say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.trust.calibrate import Calibration, calibrate, judged_trust, label


def drawn(slope, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    raw = rng.uniform(0.05, 0.95, n)
    odds = slope * np.log(raw / (1 - raw))
    return raw, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(float)


@pytest.mark.parametrize("slope", [0.3, 1.0, 3.0])
def test_the_slope_that_made_the_judgements_is_recovered(slope):
    raw, values = drawn(slope)
    assert calibrate(raw, values, np.ones(len(raw))).slope == pytest.approx(slope, rel=0.15)


def test_a_graph_that_predicts_nothing_is_flattened():
    rng = np.random.default_rng(1)
    raw = rng.uniform(0.05, 0.95, 500)
    assert calibrate(raw, rng.integers(0, 2, 500).astype(float), np.ones(500)).slope < 0.25


def test_few_judgements_change_little():
    assert calibrate([0.8, 0.2], [1.0, 0.0], [1.0, 1.0]).slope == pytest.approx(1.0, abs=0.5)


def test_without_judgements_raw_values_stand():
    fitted = calibrate([], [], [])
    assert fitted.slope == pytest.approx(1.0, rel=0.02)
    assert not fitted.calibrated


def test_ten_judged_documents_count_as_calibrated_and_nine_do_not():
    assert Calibration(1.0, 10).calibrated
    assert not Calibration(1.0, 9).calibrated


def clashes(share_bad, n=400, seed=0):
    """Judged documents of which the graph knows nothing; half answer outright, a share of these is bad."""
    outright = np.where(np.arange(n) % 2, 0.1, -0.1)
    bad = np.random.default_rng(seed).random(n) < np.where(outright > 0, share_bad, 1 - share_bad)
    return np.full(n, 0.5), (~bad).astype(float), np.ones(n), outright


def test_where_the_more_outright_were_judged_bad_that_counts_against_a_document():
    fitted = calibrate(*clashes(0.7))
    assert fitted.trust(0.5, 0.1) == pytest.approx(0.3, abs=0.05)
    assert fitted.trust(0.5, -0.1) == pytest.approx(0.7, abs=0.05)
    assert fitted.trust(0.5, 0.0) == 0.5


@pytest.mark.parametrize("share_bad", [0.1, 0.45])
def test_answering_outright_never_speaks_for_a_document(share_bad):
    assert calibrate(*clashes(share_bad)).clash == 0.0


def test_what_the_graph_explains_does_not_count_twice():
    _, values, weights, outright = clashes(0.7)
    known = np.where(values > 0, 0.9, 0.1)
    alone = calibrate(np.full(len(values), 0.5), values, weights, outright).clash
    assert calibrate(known, values, weights, outright).clash < 0.3 * alone


def test_a_few_judgements_do_not_say_which_side_of_a_clash_is_wrong():
    few, many = np.ones(4), np.ones(20)
    assert calibrate(0.5 * few, 0.0 * few, few, 0.125 * few).clash == 0.0
    assert calibrate(0.5 * many, 0.0 * many, many, 0.125 * many).clash > 0.0


def test_answering_outright_is_worth_odds_of_at_most_thirteen_to_one():
    fitted = calibrate(*clashes(1.0, n=4000))
    assert 1 / 14 < fitted.trust(0.5, 0.125) < fitted.trust(0.5, -0.125) < 13 / 14


@given(st.floats(0.05, 8), st.floats(0, 1))
def test_trust_is_a_probability_and_neutral_stays_neutral(slope, raw):
    calibration = Calibration(slope, 20)
    assert 0 <= calibration.trust(raw) <= 1
    assert calibration.trust(0.5) == 0.5


@given(st.floats(0.05, 8), st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_calibration_keeps_the_order(slope, left, right):
    low, high = sorted((left, right))
    calibration = Calibration(slope, 20)
    assert calibration.trust(low) <= calibration.trust(high)


@given(st.floats(-50, 50))
def test_hearsay_never_overturns_a_clear_judgement(hearsay):
    trust = judged_trust([hearsay, hearsay], [0.0, 1.0], [1.0, 1.0])
    assert label(trust[0]) == "LOW"
    assert label(trust[1]) == "HIGH"


def test_judges_who_disagree_leave_it_to_the_graph():
    assert judged_trust([1.0], [0.5], [2.0])[0] == pytest.approx(1 / (1 + np.exp(-1.0)))


def test_a_rater_of_little_weight_says_little():
    assert 0.35 < judged_trust([0.0], [0.0], [0.1])[0] < 0.5


def test_labels_take_in_their_bounds():
    assert [label(trust) for trust in (0.7, 0.3, 0.5)] == ["HIGH", "LOW", "MEDIUM"]
    assert [label(trust) for trust in (0.6999, 0.3001)] == ["MEDIUM", "MEDIUM"]
