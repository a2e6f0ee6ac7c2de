"""Leave-one-out in closed form is what solving again without the anchor gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.errors import InputError
from veridical.testing.solver_contract import random_problem, signed_problem
from veridical.trust import loo
from veridical.trust.loo import leave_one_out
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.solvers.reference import Reference


def refit(problem, node):
    keep = problem.anchors != node
    rest = problem.with_anchors(
        problem.anchors[keep], problem.anchor_targets[keep], problem.anchor_weights[keep]
    )
    return Reference().solve(rest).values[node]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.02]))
@settings(max_examples=30, deadline=None)
def test_every_prediction_is_what_a_refit_gives(seed, prior):
    problem = random_problem(seed, n_edges=45, n_anchors=10, prior=prior)
    left_out = leave_one_out(problem, Reference().solve(problem))
    np.testing.assert_array_equal(left_out.nodes, np.unique(problem.anchors))
    expected = [refit(problem, node) for node in left_out.nodes]
    np.testing.assert_allclose(left_out.predicted, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_conjugate_gradients_in_blocks_give_the_same(seed, monkeypatch):
    problem = random_problem(seed, n_nodes=200, n_edges=500, n_anchors=50, prior=0.01)
    solution = ConjugateGradient().solve(problem)
    dense = leave_one_out(problem, solution)
    monkeypatch.setattr(loo, "_DENSE_NODES", 0)
    monkeypatch.setattr(loo, "_BLOCK", 7)
    blocks = leave_one_out(problem, solution)
    np.testing.assert_allclose(blocks.predicted, dense.predicted, atol=1e-7)
    np.testing.assert_allclose(blocks.leverage, dense.leverage, atol=1e-8)


def test_leverage_is_how_much_of_its_own_target_arrives():
    problem = random_problem(5, prior=0.05)
    left_out = leave_one_out(problem, Reference().solve(problem))
    node = left_out.nodes[0]
    shifted = np.where(problem.anchors == node, 0.5, problem.anchor_targets)
    moved = problem.with_anchors(problem.anchors, shifted, problem.anchor_weights)
    change = Reference().solve(problem).values[node] - Reference().solve(moved).values[node]
    assert change == pytest.approx(left_out.leverage[0] * (left_out.targets[0] - 0.5), abs=1e-9)


def test_an_anchor_that_is_alone_gets_the_starting_value_and_is_marked():
    edges = [(0, 1, -1, 0.5), (2, 3, 1, 0.5), (4, 5, 1, 1.0), (4, 5, -1, 1.0)]
    start = np.array([0.6, 0.2, 0.5, 0.5, 0.8, 0.5, 0.3])
    anchors = [(0, 0.9), (2, 0.9), (3, 0.1), (4, 0.9), (6, 0.1)]
    problem = signed_problem(7, edges, anchors, initial=start)
    left_out = leave_one_out(problem, Reference().solve(problem))
    np.testing.assert_array_equal(left_out.informed, [False, True, True, False, False])
    np.testing.assert_allclose(left_out.predicted, [0.7, 0.1, 0.9, 0.5, 0.3], atol=1e-9)


def test_repeated_judgements_of_a_node_leave_together():
    problem = signed_problem(
        2, [(0, 1, 1, 1.0)], [(0, 1.0), (0, 0.5), (1, 0.2)], anchor_weights=np.array([1.0, 3.0, 1.0])
    )
    left_out = leave_one_out(problem, Reference().solve(problem))
    np.testing.assert_allclose(left_out.targets, [0.625, 0.2])
    np.testing.assert_allclose(left_out.weights, [4.0, 1.0])
    np.testing.assert_allclose(left_out.predicted, [0.2, 0.625])


def test_more_judged_nodes_than_wanted_are_sampled_by_seed():
    problem = random_problem(6, n_nodes=300, n_edges=900, n_anchors=150)
    solution = Reference().solve(problem)
    whole = leave_one_out(problem, solution)
    drawn = leave_one_out(problem, solution, max_nodes=20, seed=1)
    assert len(drawn.nodes) == 20
    assert drawn.n_judged == len(whole.nodes)
    place = np.searchsorted(whole.nodes, drawn.nodes)
    np.testing.assert_allclose(drawn.predicted, whole.predicted[place], atol=1e-12)
    same = leave_one_out(problem, solution, max_nodes=20, seed=1)
    np.testing.assert_array_equal(same.nodes, drawn.nodes)
    assert not np.array_equal(leave_one_out(problem, solution, max_nodes=20, seed=2).nodes, drawn.nodes)


def test_without_judgements_there_is_nothing_to_leave_out():
    problem = random_problem(0, n_anchors=0)
    assert len(leave_one_out(problem, Reference().solve(problem)).nodes) == 0


def test_bad_arguments_are_refused():
    problem = random_problem(0)
    with pytest.raises(InputError, match="max_nodes is 0"):
        leave_one_out(problem, Reference().solve(problem), max_nodes=0)
    with pytest.raises(InputError, match="the problem 30"):
        leave_one_out(problem, Reference().solve(signed_problem(2, [])))
