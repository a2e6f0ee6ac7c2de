"""What has to hold for every signed graph: bounds, symmetries, agreement with an independent solver, undo."""

from __future__ import annotations

import dataclasses

import numpy as np
import osqp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from veridical.testing.solver_contract import random_problem, signed_problem
from veridical.trust.problem import TrustProblem
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient, solve_columns
from veridical.trust.solvers.reference import Reference

UNIT = st.floats(0.0, 1.0, allow_subnormal=False)
WEIGHT = st.floats(0.01, 1.0)


@st.composite
def problems(draw, max_nodes=8):
    """Any small problem: parallel edges, repeated anchors, priors or none, several components."""
    n = draw(st.integers(1, max_nodes))
    node = st.integers(0, n - 1)
    edge = st.tuples(node, node, st.sampled_from([1, -1]), WEIGHT).filter(lambda row: row[0] != row[1])
    edges = draw(st.lists(edge, max_size=16)) if n > 1 else []
    anchors = draw(st.lists(st.tuples(node, UNIT), max_size=5))
    options = {
        "anchor_weights": np.array(draw(st.lists(WEIGHT, min_size=len(anchors), max_size=len(anchors))))
    }
    if draw(st.booleans()):
        options["prior_weights"] = np.full(n, draw(WEIGHT))
        options["prior_targets"] = np.array(draw(st.lists(UNIT, min_size=n, max_size=n)))
    options["initial"] = np.array(draw(st.lists(UNIT, min_size=n, max_size=n)))
    return signed_problem(n, edges, anchors, **options)


def solve(problem: TrustProblem) -> np.ndarray:
    solution = ConjugateGradient().solve(problem)
    assert solution.converged
    return solution.values


@given(problems())
@settings(max_examples=150, deadline=None)
def test_conjugate_gradients_agree_with_dense_elimination(problem):
    np.testing.assert_allclose(solve(problem), Reference().solve(problem).values, atol=1e-7)


@given(problems())
@settings(max_examples=150, deadline=None)
def test_no_value_is_further_from_one_half_than_the_furthest_target(problem):
    reach = np.concatenate(
        [
            np.abs(problem.anchor_targets - 0.5),
            np.abs(problem.prior_targets - 0.5)[problem.prior_weights > 0],
            np.abs(problem.unanchored()[1] - 0.5),
        ]
    ).max(initial=0.0)
    solution = ConjugateGradient().solve(problem)
    assert np.abs(solution.values - 0.5).max() <= reach + 1e-8
    assert not solution.box_active


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_numbering_the_nodes_and_ordering_the_edges_differently_changes_nothing(problem, random):
    number = np.array(random.sample(range(problem.n_nodes), problem.n_nodes))
    order = np.array(random.sample(range(problem.n_edges), problem.n_edges), dtype=np.int64)
    back = np.argsort(number)
    other = dataclasses.replace(
        problem,
        heads=number[problem.tails[order]],  # ends swapped, too
        tails=number[problem.heads[order]],
        signs=problem.signs[order],
        weights=problem.weights[order],
        anchors=number[problem.anchors],
        prior_targets=problem.prior_targets[back],
        prior_weights=problem.prior_weights[back],
        initial=problem.initial[back],
    )
    np.testing.assert_allclose(solve(other)[number], solve(problem), atol=1e-7)


@given(problems(), st.integers(0, 7))
@settings(max_examples=80, deadline=None)
def test_turning_a_node_and_all_it_says_upside_down_turns_only_its_own_trust(problem, node):
    node %= problem.n_nodes
    touches = (problem.heads == node) | (problem.tails == node)
    own = problem.anchors == node
    nodes = np.arange(problem.n_nodes) == node
    other = dataclasses.replace(
        problem,
        signs=np.where(touches, -problem.signs, problem.signs),
        anchor_targets=np.where(own, 1 - problem.anchor_targets, problem.anchor_targets),
        prior_targets=np.where(nodes, 1 - problem.prior_targets, problem.prior_targets),
        initial=np.where(nodes, 1 - problem.initial, problem.initial),
    )
    expected = solve(problem)
    expected[node] = 1 - expected[node]
    np.testing.assert_allclose(solve(other), expected, atol=1e-7)


@given(problems())
@settings(max_examples=80, deadline=None)
def test_a_better_target_never_lowers_the_trust_of_its_own_node(problem):
    if len(problem.anchors):
        raised = problem.anchor_targets.copy()
        raised[0] = 1.0
        better = problem.with_anchors(problem.anchors, raised, problem.anchor_weights)
        node = problem.anchors[0]
        assert solve(better)[node] >= solve(problem)[node] - 1e-8


def by_osqp(problem: TrustProblem) -> np.ndarray:
    """The boxed quadratic program, by an operator-splitting solver that shares no code with ours."""
    matrix, right = problem.system()
    solver = osqp.OSQP()
    n = problem.n_nodes
    solver.setup(
        P=sparse.csc_matrix(sparse.triu(matrix)),
        q=-right,
        A=sparse.identity(n, format="csc"),
        l=np.zeros(n),
        u=np.ones(n),
        eps_abs=1e-9,
        eps_rel=1e-9,
        max_iter=200_000,
        polishing=True,
        verbose=False,
    )
    result = solver.solve(raise_error=True)
    assert result.info.status == "solved"
    return np.asarray(result.x)


@pytest.mark.parametrize("batch", range(4))
def test_conjugate_gradients_agree_with_an_independent_solver_of_the_boxed_problem(batch):
    for seed in range(50 * batch, 50 * batch + 50):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 40))
        problem = random_problem(
            seed,
            n_nodes=n,
            n_edges=int(rng.integers(n, 4 * n)),
            n_anchors=int(rng.integers(1, n)),
            contradict=float(rng.random()),
        )
        problem = reached_part(problem)
        solution = ConjugateGradient().solve(problem)
        assert solution.converged
        assert not solution.box_active
        assert 0.1 - 1e-9 <= solution.values.min() <= solution.values.max() <= 0.9 + 1e-9
        np.testing.assert_allclose(solution.values, by_osqp(problem), atol=1e-6, err_msg=f"seed {seed}")


def reached_part(problem: TrustProblem) -> TrustProblem:
    """Give nodes that nothing reaches an anchor, so that the minimum is unique and can be compared."""
    nodes, _ = problem.unanchored()
    return problem.with_anchors(
        np.concatenate([problem.anchors, nodes]),
        np.concatenate([problem.anchor_targets, np.where(nodes % 2, 0.1, 0.9)]),
        np.concatenate([problem.anchor_weights, np.ones(len(nodes))]),
    )


def test_with_one_anchor_and_no_frustration_nothing_is_lost_on_the_way():
    edges = [(i, i + 1, -1 if i % 3 == 0 else 1, 0.05 + 0.1 * i) for i in range(9)]
    low, high = (solve(signed_problem(10, edges, [(0, y)])) for y in (0.4, 0.9))
    np.testing.assert_allclose(np.abs(high - low) / 0.5, 1.0, atol=1e-8)
    np.testing.assert_allclose(np.abs(high - 0.5), 0.4, atol=1e-8)


def large_problem(seed: int = 0, n: int = 2000, m: int = 8000, prior: float = 0.02) -> TrustProblem:
    return random_problem(seed, n_nodes=n, n_edges=m, n_anchors=100, contradict=0.3, prior=prior)


def test_a_warm_start_takes_fewer_iterations():
    problem = large_problem()
    before = ConjugateGradient().solve(problem)
    more = problem.with_anchors(
        np.append(problem.anchors, 5),
        np.append(problem.anchor_targets, 0.1),
        np.append(problem.anchor_weights, 1.0),
    )
    cold = ConjugateGradient().solve(more)
    warm = ConjugateGradient().solve(more, initial=before.values)
    assert warm.n_iter < cold.n_iter
    np.testing.assert_allclose(warm.values, cold.values, atol=1e-8)
    again = ConjugateGradient().solve(more, initial=warm.values)
    assert again.n_iter <= 1


@pytest.mark.parametrize("prior", [0.0, 0.001, 0.02])
def test_undoing_feedback_returns_the_trust_there_was(prior):
    problem = large_problem(seed=3, prior=prior)
    before = ConjugateGradient().solve(problem)
    values = before.values
    for node, target in [(11, 0.9), (12, 0.1), (13, 0.9)]:
        voted = problem.with_anchors(
            np.append(problem.anchors, node),
            np.append(problem.anchor_targets, target),
            np.append(problem.anchor_weights, 1.0),
        )
        values = ConjugateGradient().solve(voted, initial=values).values
        assert np.abs(values - before.values).max() > 1e-3
        values = ConjugateGradient().solve(problem, initial=values).values
        np.testing.assert_allclose(values, before.values, atol=1e-8)


def test_undoing_the_only_feedback_of_a_component_returns_its_starting_values():
    edges = [(0, 1, 1, 0.4), (1, 2, -1, 0.6), (3, 4, 1, 1.0)]
    silent = signed_problem(5, edges)
    before = solve(silent)
    voted = silent.with_anchors([0], [0.9])
    after = ConjugateGradient().solve(voted, initial=before).values
    assert after[0] == pytest.approx(0.9)
    undone = ConjugateGradient().solve(silent, initial=after).values
    np.testing.assert_allclose(undone, before, atol=1e-12)


def test_many_right_hand_sides_are_solved_as_one_by_one():
    problem = random_problem(2, prior=0.1)
    right = np.random.default_rng(0).standard_normal((30, 7))
    right[:, 3] = 0.0
    dense = problem.system()[0].toarray()
    np.testing.assert_allclose(solve_columns(problem, right), np.linalg.solve(dense, right), atol=1e-8)
