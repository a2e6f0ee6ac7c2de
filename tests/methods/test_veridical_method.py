"""The default method: neutral without feedback, sane with six judgements, calibrated with many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.bench import protocol
from veridical.graph.arrays import Anchors
from veridical.methods.base import Candidates, Method
from veridical.methods.trustprop import TrustProp
from veridical.methods.veridical import Veridical

NOBODY = Anchors()


def judged(pairs):
    documents = np.array([d for d, _ in pairs], dtype=np.int64)
    return Anchors(documents, np.array([v for _, v in pairs], dtype=np.float64), np.ones(len(pairs)))


def candidates(relevance, trust, **extra):
    relevance = np.asarray(relevance, dtype=np.float64)
    return Candidates(relevance, relevance, np.asarray(trust, dtype=np.float64), "dense", **extra)


def sources(*sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def world(n=400, wrong=0.1, share=0.1, seed=0):
    true = np.random.default_rng(seed).random(n) < 0.75
    graph = protocol.source_graph(n, protocol.assign_sources(true, wrong=wrong, seed=seed))
    return true, graph, protocol.judge(true, share, seed=seed)


@pytest.mark.parametrize("method", [Veridical(), TrustProp()])
def test_it_keeps_the_contract(method):
    assert isinstance(method, Method)


@given(st.lists(st.floats(-1, 1), max_size=40), st.integers(0, 100))
@settings(deadline=None)
def test_without_feedback_the_ranking_is_plain_retrieval_bit_by_bit(numbers, seed):
    method = Veridical()
    graph = protocol.source_graph(50, sources(20, 30), 2)
    state = method.believe(graph, NOBODY)
    assert state.neutral
    assert np.isnan(state.trust).all()
    relevance = np.sort(np.array(numbers))[::-1]
    documents = np.random.default_rng(seed).integers(0, 50, len(numbers))
    utility = method.rank(candidates(relevance, state.trust[documents], superseded=[-1] * len(numbers)))
    np.testing.assert_array_equal(utility, relevance)


def test_trust_weight_zero_is_plain_retrieval_bit_by_bit():
    pool = candidates([0.8, 0.7, 0.6], [0.1, 0.9, 0.5])
    for method in (Veridical(), TrustProp()):
        np.testing.assert_array_equal(method.rank(pool, trust_weight=0.0), pool.relevance)


def test_trust_weight_one_ranks_by_trust_alone():
    utility = Veridical().rank(candidates([0.8, 0.7, 0.1], [0.1, 0.5, 0.9]), trust_weight=1.0)
    assert np.argsort(-utility).tolist() == [2, 1, 0]


def test_unknown_trust_ranks_as_neutral():
    method = Veridical()
    unknown = method.rank(candidates([0.6, 0.5, 0.4], [np.nan, 0.9, 0.2]))
    np.testing.assert_array_equal(unknown, method.rank(candidates([0.6, 0.5, 0.4], [0.5, 0.9, 0.2])))


def test_six_judgements_are_enough_to_be_sane():
    graph = protocol.source_graph(40, sources(10, 10, 10, 10), 4)
    feedback = judged([(0, 1.0), (1, 1.0), (10, 1.0), (20, 0.0), (21, 0.0), (22, 0.0)])
    state = Veridical().believe(graph, feedback)
    assert not state.calibrated
    assert (state.trust[[20, 21, 22]] <= 0.3).all()
    assert (state.trust[[0, 1, 10]] >= 0.7).all()
    assert (state.trust[23:30] < 0.35).all()
    assert (state.trust[2:10] > 0.6).all()
    assert np.isnan(state.trust[30:40]).all()
    assert "Uncalibrated" in state.notes[0]


def test_one_bad_document_does_not_condemn_its_source():
    state = Veridical().believe(protocol.source_graph(20, sources(10, 10), 2), judged([(0, 0.0)]))
    assert state.trust[0] < 0.1
    assert 0.3 < state.trust[20] < 0.5


def test_judging_only_bad_documents_leaves_the_unjudged_rest_neutral():
    graph = protocol.source_graph(40, sources(20, 20), 2)
    state = Veridical().believe(graph, judged([(i, 0.0) for i in range(12)]))
    assert state.calibrated
    assert (state.trust[12:20] < 0.3).all()
    assert np.isnan(state.trust[20:40]).all()


def test_trust_separates_what_nobody_judged():
    true, graph, feedback = world(n=800, share=0.3)
    trust = np.nan_to_num(Veridical().believe(graph, feedback).trust[:800], nan=0.5)
    unjudged = np.setdiff1d(np.arange(800), feedback.documents)
    assert trust[unjudged][true[unjudged]].mean() > trust[unjudged][~true[unjudged]].mean() + 0.4


def test_trust_is_calibrated_at_even_odds():
    # Among unjudged documents of about the same trust, the balanced share of true ones is about that trust.
    shares, stated = [], []
    for seed in range(8):
        true, graph, feedback = world(n=1500, wrong=0.2, share=0.3, seed=seed)
        trust = Veridical().believe(graph, feedback).trust[:1500]
        unjudged = np.setdiff1d(np.arange(1500), feedback.documents)
        weight = np.where(true, 0.5 / true.mean(), 0.5 / (1 - true.mean()))[unjudged]
        for low in (0.0, 0.5):
            inside = (trust[unjudged] >= low) & (trust[unjudged] < low + 0.5)
            shares.append((weight * true[unjudged])[inside].sum() / weight[inside].sum())
            stated.append((weight * trust[unjudged])[inside].sum() / weight[inside].sum())
    np.testing.assert_allclose(np.mean(shares[::2]), np.mean(stated[::2]), atol=0.06)
    np.testing.assert_allclose(np.mean(shares[1::2]), np.mean(stated[1::2]), atol=0.06)


def test_sources_that_say_nothing_move_nothing_much():
    rng = np.random.default_rng(3)
    true = rng.random(600) < 0.75
    graph = protocol.source_graph(600, rng.integers(0, 28, 600))
    state = Veridical().believe(graph, protocol.judge(true, 0.3))
    assert np.abs(state.trust[600:] - 0.5).max() < 0.25


def test_undoing_feedback_restores_trust():
    _, graph, feedback = world()
    method = Veridical()
    before = method.believe(graph, feedback)
    more = Anchors(
        np.append(feedback.documents, 399 if 399 not in feedback.documents else 398),
        np.append(feedback.values, 0.0),
        np.append(feedback.weights, 1.0),
    )
    moved = method.believe(graph, more, warm_start=before.raw)
    restored = method.believe(graph, feedback, warm_start=moved.raw)
    np.testing.assert_allclose(restored.trust, before.trust, atol=1e-8)


def test_a_warm_start_saves_iterations_and_changes_nothing():
    _, graph, feedback = world()
    cold = Veridical().believe(graph, feedback)
    warm = Veridical().believe(graph, feedback, warm_start=cold.raw)
    assert warm.solution.n_iter < cold.solution.n_iter
    np.testing.assert_allclose(warm.trust, cold.trust, atol=1e-8)


def test_a_warm_start_of_another_graph_is_ignored():
    _, graph, feedback = world()
    state = Veridical().believe(graph, feedback, warm_start=np.full(3, 0.5))
    assert state.solution.converged


def test_calibration_by_folds_agrees_with_leaving_out_one_by_one(monkeypatch):
    from veridical.methods import veridical as module

    _, graph, feedback = world(share=0.3)
    exact = Veridical().believe(graph, feedback)
    monkeypatch.setattr(module, "_LEAVE_ONE_OUT_WORK", 0)
    folds = Veridical().believe(graph, feedback)
    unjudged = np.setdiff1d(np.arange(400), feedback.documents)
    np.testing.assert_allclose(folds.trust[unjudged], exact.trust[unjudged], atol=0.05)


def test_an_empty_corpus_has_nothing_to_believe():
    assert Veridical().believe(protocol.source_graph(0, None), NOBODY).trust.shape == (0,)


def test_a_superseded_passage_stands_behind_its_successor():
    pool = candidates([0.8, 0.7, 0.6], [0.6, 0.7, 0.6], superseded=[2, -1, -1])
    assert np.argsort(-Veridical().rank(pool), kind="stable").tolist() == [1, 2, 0]
