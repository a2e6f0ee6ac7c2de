"""Relevance and trust become an order: additively as published, and by expected usefulness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from veridical.evidence.rescore import (
    RelevanceModel,
    additive,
    behind_successors,
    falling,
    is_neutral,
    relevance_model,
    usefulness,
)

POOLS = hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-1, 1))


def test_additive_rescoring_reproduces_the_published_rule():
    utility = additive([0.9, 0.7, 0.5], [0.1, 0.9, 0.5], 0.6)
    np.testing.assert_allclose(utility, [0.46, 0.74, 0.30])
    assert np.argsort(-utility, kind="stable").tolist() == [1, 0, 2]


def test_a_pool_without_spread_has_no_relevance_and_unknown_trust_is_one_half():
    np.testing.assert_allclose(additive([0.4, 0.4], [np.nan, 0.9], 0.6), [0.30, 0.54])
    assert additive([], [], 0.6).shape == (0,)


def test_the_shipped_model_rises_with_similarity_and_is_a_probability():
    model = relevance_model()
    cosines = np.linspace(1, -1, 50)
    log_p = model.log_probability(cosines, cosines, dense=True)
    assert (np.diff(log_p) < 0).all()
    assert (log_p <= 0).all()


@given(POOLS, st.sampled_from(["dense", "cosines", "no cosines"]))
def test_relevance_never_rises_along_the_retrievers_order(numbers, kind):
    model = RelevanceModel(14.0, 0.4, 10.0, 0.7)
    relevance = np.sort(np.abs(numbers))[::-1]
    similarity = (
        np.random.default_rng(0).permutation(numbers) if kind == "cosines" else np.full(len(numbers), np.nan)
    )
    log_p = model.log_probability(relevance, similarity, dense=kind == "dense")
    assert np.isfinite(log_p).all()
    assert (np.diff(log_p) <= 0).all()


def test_a_few_unknown_cosines_count_as_the_farthest_known():
    model = RelevanceModel(14.0, 0.4, 10.0, 0.7)
    log_p = model.log_probability([3.0, 2.0, 1.0], [0.6, np.nan, 0.2], dense=False)
    expected = model.log_probability([0.6, 0.2, 0.2], [], dense=True)
    np.testing.assert_allclose(log_p, expected)


@given(POOLS)
def test_the_nearest_falling_sequence_falls_keeps_the_mean_and_leaves_a_falling_one_alone(values):
    found = falling(values)
    assert (np.diff(found) <= 1e-12).all()
    assert found.mean() == pytest.approx(values.mean(), abs=1e-9)
    np.testing.assert_allclose(falling(found), found, atol=1e-12)


def test_the_nearest_falling_sequence_is_that_of_least_squares():
    np.testing.assert_allclose(falling(np.array([3.0, 1.0, 2.0, 2.0, 0.0])), [3, 5 / 3, 5 / 3, 5 / 3, 0])


def test_a_passage_that_only_the_words_put_first_does_not_borrow_relevance():
    model = RelevanceModel(14.0, 0.4, 10.0, 0.7)
    log_p = model.log_probability([9.0, 8.0, 7.0], [0.1, 0.6, 0.05], dense=False)
    assert log_p[0] == log_p[1] > log_p[2]


def test_a_pool_of_zero_bm25_is_one_tie():
    log_p = RelevanceModel(14.0, 0.4, 10.0, 0.7).log_probability([0.0, 0.0], [np.nan] * 2, dense=False)
    assert log_p[0] == log_p[1]


def test_trust_weight_goes_from_relevance_alone_to_trust_alone():
    log_relevant, trust = np.log([0.9, 0.5]), np.array([0.2, 0.8])
    np.testing.assert_allclose(usefulness(log_relevant, trust, 0.0), 2 * log_relevant)
    np.testing.assert_allclose(usefulness(log_relevant, trust, 1.0), 2 * np.log(trust))
    np.testing.assert_allclose(usefulness(log_relevant, trust), log_relevant + np.log(trust))


def test_a_trusted_but_irrelevant_passage_does_not_beat_a_relevant_one_of_unknown_trust():
    log_relevant = relevance_model().log_probability([0.7, 0.15], [], dense=True)
    utility = usefulness(log_relevant, [np.nan, 0.99])
    assert utility[0] > utility[1]


def test_distrust_without_bounds_stays_finite():
    assert np.isfinite(usefulness([0.0], [0.0])).all()


@pytest.mark.parametrize("trust", [[], [0.3], [0.5, np.nan], [np.nan, np.nan], [0.8, 0.8]])
def test_trust_that_tells_nothing_apart_is_neutral(trust):
    assert is_neutral(trust)


def test_trust_that_tells_passages_apart_is_not_neutral():
    assert not is_neutral([0.5, 0.6])


def test_a_superseded_passage_stands_right_behind_its_successor():
    utility = behind_successors(np.array([3.0, 2.0, 1.0]), [2, -1, -1], [0.6, 0.6, 0.6])
    assert np.argsort(-utility, kind="stable").tolist() == [1, 2, 0]


def test_a_chain_of_versions_ends_in_order_whatever_it_began_with():
    utility = behind_successors(np.array([3.0, 2.0, 1.0]), [1, 2, -1], [0.6, 0.6, 0.6])
    assert np.argsort(-utility, kind="stable").tolist() == [2, 1, 0]


def test_a_date_is_not_believed_of_a_document_that_is_not():
    utility = np.array([2.0, 1.0])
    np.testing.assert_array_equal(behind_successors(utility, [1, -1], [0.9, 0.2]), utility)
    np.testing.assert_array_equal(behind_successors(utility, [1, -1], [0.9, 0.4]), utility)


@pytest.mark.parametrize("successor", [np.nan, 0.5, 0.9])
def test_no_later_date_puts_a_less_trusted_or_unknown_document_ahead_of_a_judged_one(successor):
    utility = np.array([0.0, -3.0, -5.0])
    np.testing.assert_array_equal(behind_successors(utility, [2, -1, -1], [0.99, 0.5, successor]), utility)


@pytest.mark.parametrize("earlier", [0.7200001, 0.76])
def test_documents_of_about_equal_trust_are_ordered_by_date(earlier):
    utility = behind_successors(np.array([2.0, 1.0]), [1, -1], [earlier, 0.72])
    assert utility[0] < utility[1]


def test_a_circle_of_successors_ends():
    assert np.isfinite(behind_successors(np.array([2.0, 1.0]), [1, 0], [0.5, 0.6])).all()
