"""Method trustprop is the published system, pitfalls included."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.bench import protocol
from veridical.errors import InputError
from veridical.graph.arrays import Anchors, Graph
from veridical.methods.base import Candidates
from veridical.methods.trustprop import TrustProp, same_source_pairs
from veridical.types import Node


def test_the_published_iteration_stops_where_the_reference_does():
    # methods.md 2.10, T1: support(0,1) .8, contradict(1,2) .5, positive feedback on 0.
    graph = protocol.with_relations(
        protocol.source_graph(3, None),
        np.array([0, 1]),
        np.array([1, 2]),
        np.array([1, -1]),
        np.array([0.8, 0.5]),
    )
    state = TrustProp().believe(graph, Anchors(np.array([0]), np.ones(1), np.ones(1)))
    np.testing.assert_allclose(state.trust, [0.8920, 0.8837, 0.1242], atol=1e-4)
    assert state.solution.n_iter == 787


def test_documents_of_one_source_are_joined_pairwise():
    heads, tails = same_source_pairs(np.array([0, 1, 0, -1, 0, 1, -1]))
    assert set(zip(heads.tolist(), tails.tolist(), strict=True)) == {(0, 2), (0, 4), (2, 4), (1, 5)}


def test_no_sources_give_no_pairs():
    heads, tails = same_source_pairs(np.array([-1, -1]))
    assert len(heads) == len(tails) == 0


def test_sources_have_no_trust_of_their_own():
    state = TrustProp().believe(protocol.source_graph(4, np.array([0, 0, 1, 1]), 2), Anchors())
    assert np.isnan(state.trust[4:]).all()
    assert not state.calibrated


def test_feedback_targets_are_nine_tenths_and_one_tenth():
    anchors = Anchors(np.array([0, 1]), np.array([1.0, 0.0]), np.ones(2))
    problem = TrustProp().believe(protocol.source_graph(2, None), anchors).problem
    np.testing.assert_allclose(problem.anchor_targets, [0.9, 0.1])


def test_a_large_source_makes_the_published_step_diverge_and_the_state_says_so():
    n = 150
    graph = protocol.source_graph(n, np.zeros(n, dtype=np.int64), 1)
    state = TrustProp().believe(graph, Anchors(np.array([0, 1]), np.array([1.0, 0.0]), np.ones(2)))
    assert not state.solution.converged or state.solution.kkt > 0.1


@pytest.mark.parametrize(("weight", "best"), [(None, 1), (0.0, 0), (1.0, 1)])
def test_rescoring_is_additive_with_alpha_of_six_tenths(weight, best):
    relevance, trust = np.array([0.9, 0.7, 0.5]), np.array([0.1, 0.9, 0.5])
    utility = TrustProp().rank(Candidates(relevance, relevance, trust, "dense"), trust_weight=weight)
    assert int(np.argmax(utility)) == best


def test_a_contradiction_counts_whatever_the_dates():
    nodes = tuple(Node("document", str(i)) for i in range(2))
    alone = np.array([-1, -1])
    graph = Graph(
        nodes,
        2,
        alone,
        np.arange(2),
        later=np.array([1]),
        earlier=np.array([0]),
        supersede_weights=np.ones(1),
    )
    state = TrustProp().believe(graph, Anchors(np.array([0]), np.ones(1), np.ones(1)))
    assert state.trust[1] < 0.2 < 0.8 < state.trust[0]


def test_a_source_that_is_too_large_is_refused_before_any_work():
    with pytest.raises(InputError, match="limit is"):
        same_source_pairs(np.zeros(3000, dtype=np.int64))
