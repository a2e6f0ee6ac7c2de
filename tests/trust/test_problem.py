"""The trust problem: values worked out by hand, and what it refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from veridical.errors import InputError
from veridical.testing.solver_contract import KNOWN, random_problem, signed_problem
from veridical.trust.problem import TrustProblem
from veridical.trust.solvers.reference import Reference, dense_system

CHAIN = signed_problem(3, [(0, 1, 1, 0.8), (1, 2, -1, 0.5)], [(0, 0.9)])


def test_the_published_start_of_the_chain():
    start = CHAIN.paper_initial()
    np.testing.assert_allclose(start, [0.7, 0.3 + 0.4 * 0.8 / 1.3, 0.3], atol=1e-12)
    np.testing.assert_allclose(start, [0.7, 0.546154, 0.3], atol=1e-6)


def test_objective_gradient_and_first_step_of_the_chain():
    start = CHAIN.paper_initial()
    gradient = CHAIN.gradient(start)
    assert CHAIN.objective(start) == pytest.approx(0.070769, abs=1e-6)
    np.testing.assert_allclose(gradient, [-0.153846, -0.4, -0.153846], atol=1e-6)
    np.testing.assert_allclose(start - 0.01 * gradient, [0.701538, 0.550154, 0.301538], atol=1e-6)


def test_eigenvalues_of_the_chain():
    matrix, _ = CHAIN.system()
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix.toarray()), [0.3284, 2.0, 4.8716], atol=1e-4)
    assert CHAIN.sigma_max(tol=1e-10) == pytest.approx(4.8716, abs=1e-4)
    assert CHAIN.gershgorin() == pytest.approx(5.2)


@pytest.mark.parametrize(("name", "problem", "values", "objective"), KNOWN, ids=[row[0] for row in KNOWN])
def test_the_gradient_vanishes_at_the_known_solutions(name, problem, values, objective):
    np.testing.assert_allclose(problem.gradient(np.array(values)), 0.0, atol=1e-12)
    if objective is not None:
        assert problem.objective(np.array(values)) == pytest.approx(objective, abs=1e-9)


def test_the_gradient_is_the_derivative_of_the_objective():
    problem = random_problem(3, prior=0.3)
    rng = np.random.default_rng(0)
    point, step = rng.random(30), 1e-4
    for i in range(30):
        unit = np.eye(30)[i]
        rise = problem.objective(point + step * unit) - problem.objective(point - step * unit)
        assert rise / (2 * step) == pytest.approx(problem.gradient(point)[i], abs=1e-8)


def test_the_sparse_system_is_the_dense_one():
    problem = random_problem(4, n_nodes=12, n_edges=80, prior=0.1)  # many parallel edges
    matrix, right = problem.system()
    dense, pull = dense_system(problem)
    np.testing.assert_allclose(matrix.toarray(), dense, atol=1e-13)
    np.testing.assert_allclose(right, pull + dense @ np.full(12, 0.5), atol=1e-12)
    np.testing.assert_allclose(problem.pull(), pull, atol=1e-13)


def test_the_quadratic_form_and_the_sum_over_edges_are_one_objective():
    problem = random_problem(5, prior=0.2)
    point = np.random.default_rng(1).random(30)
    matrix, right = problem.system()
    at_zero = problem.objective(np.zeros(30))
    assert problem.objective(point) == pytest.approx(at_zero + 0.5 * point @ (matrix @ point) - right @ point)
    z = point - 0.5
    assert problem.objective(point) == pytest.approx(
        problem.offset + 0.5 * z @ (matrix @ z) - problem.pull() @ z
    )


def test_the_step_bounds_hold_the_largest_eigenvalue():
    for seed in range(5):
        problem = random_problem(seed)
        largest = np.linalg.eigvalsh(problem.system()[0].toarray())[-1]
        assert problem.sigma_max() == pytest.approx(largest, rel=0.02)
        assert problem.sigma_max() <= largest * (1 + 1e-9)
        assert problem.gershgorin() >= largest


def test_a_clique_of_one_source_needs_a_step_below_one_hundredth():
    heads, tails = np.triu_indices(100, 1)
    clique = TrustProblem(100, heads, tails, np.ones(len(heads)), np.ones(len(heads)))
    assert clique.sigma_max() == pytest.approx(200.0)


def test_start_is_one_half_without_edges_and_where_all_sums_are_equal():
    np.testing.assert_array_equal(signed_problem(3, []).paper_initial(), 0.5)
    np.testing.assert_array_equal(signed_problem(2, [(0, 1, 1, 0.7)]).paper_initial(), 0.5)
    assert signed_problem(0, []).paper_initial().shape == (0,)


def test_an_isolated_node_starts_at_one_half_whatever_the_others_are():
    start = signed_problem(4, [(0, 1, 1, 0.8), (1, 2, -1, 0.5)]).paper_initial()
    np.testing.assert_allclose(start, [0.7, 0.3 + 0.4 * 0.8 / 1.3, 0.3, 0.5])


def test_components_are_told_apart():
    edges = [
        (0, 1, 1, 1.0), (1, 2, -1, 1.0),  # balanced, anchored
        (3, 4, 1, 1.0), (4, 5, 1, 1.0), (3, 5, -1, 1.0),  # frustrated
        (6, 7, -1, 1.0),  # balanced
        (7, 8, 1, 0.0),  # absent
    ]  # fmt: skip
    parts = signed_problem(9, edges, [(2, 0.9)]).components()
    assert parts.n_components == 4
    first = [parts.labels[node] for node in (0, 3, 6, 8)]
    assert [bool(parts.anchored[c]) for c in first] == [True, False, False, False]
    assert [bool(parts.balanced[c]) for c in first] == [True, False, True, True]
    np.testing.assert_array_equal(parts.sides, [1, 1, -1, 0, 0, 0, 1, -1, 1])


def test_edges_that_cancel_still_join_their_nodes():
    edges = [(0, 1, 1, 0.5), (0, 1, -1, 0.5), (1, 2, 1, 1.0)]
    problem = signed_problem(3, edges, initial=np.array([0.9, 0.9, 0.9]))
    assert problem.components().n_components == 1
    np.testing.assert_array_equal(problem.unanchored()[1], 0.5)


def test_a_balanced_component_without_feedback_keeps_its_mean_and_a_frustrated_one_is_undecided():
    edges = [(0, 1, 1, 0.2), (1, 2, -1, 0.9), (3, 4, 1, 1.0), (3, 4, -1, 0.1)]
    problem = signed_problem(6, edges, [(5, 0.9)], initial=np.array([0.9, 0.6, 0.2, 0.9, 0.8, 0.1]))
    nodes, values = problem.unanchored()
    np.testing.assert_array_equal(nodes, [0, 1, 2, 3, 4])
    mean = (0.4 + 0.1 + 0.3) / 3
    np.testing.assert_allclose(values, [0.5 + mean, 0.5 + mean, 0.5 - mean, 0.5, 0.5])


def test_other_anchors_on_the_same_edges_make_the_same_problem_as_afresh():
    base = random_problem(6, prior=0.1)
    base.system()
    base.labels()
    other = base.with_anchors([1, 2], [0.9, 0.1], [2.0, 1.0])
    fresh = dataclasses.replace(
        base,
        anchors=np.array([1, 2]),
        anchor_targets=np.array([0.9, 0.1]),
        anchor_weights=np.array([2.0, 1.0]),
    )
    np.testing.assert_array_equal(other.system()[0].toarray(), fresh.system()[0].toarray())
    np.testing.assert_array_equal(Reference().solve(other).values, Reference().solve(fresh).values)
    np.testing.assert_array_equal(other.anchor_weights, [2.0, 1.0])


def test_arrays_of_a_problem_are_read_only_and_the_callers_stay_writable():
    weights = np.array([0.8, 0.5])
    problem = TrustProblem(3, np.array([0, 1]), np.array([1, 2]), np.array([1, -1]), weights)
    with pytest.raises(ValueError, match="read-only"):
        problem.weights[0] = 1.0
    weights[0] = 0.1


EDGE = {"heads": [0], "tails": [1], "signs": [1], "weights": [1.0]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_nodes": -1}, "n_nodes is -1"),
        ({**EDGE, "heads": [3]}, "names node 3"),
        ({**EDGE, "tails": [-1]}, "names node -1"),
        ({**EDGE, "heads": [0.5]}, "float64"),
        ({**EDGE, "heads": [[0]]}, "shape"),
        ({**EDGE, "tails": [0]}, "joins a node to itself"),
        ({**EDGE, "tails": [1, 2]}, "heads has 1 entries and tails 2"),
        ({**EDGE, "signs": [0]}, "signs"),
        ({**EDGE, "signs": [1, 1]}, "signs"),
        ({**EDGE, "weights": [-0.1]}, r"weights\[0\] is -0.1"),
        ({**EDGE, "weights": [float("nan")]}, "NaN"),
        ({**EDGE, "weights": []}, "weights has shape"),
        ({"anchors": [3], "anchor_targets": [0.9]}, "names node 3"),
        ({"anchors": [0], "anchor_targets": [1.1]}, "outside"),
        ({"anchors": [0], "anchor_targets": []}, "anchor_targets has shape"),
        ({"anchors": [0], "anchor_targets": [0.9], "anchor_weights": [0.0]}, "anchor_weights"),
        ({"prior_targets": [0.5, 0.5, -0.1]}, "outside"),
        ({"prior_weights": [0.0, 0.0]}, "prior_weights has shape"),
        ({"prior_weights": [0.0, 0.0, -1.0]}, "outside"),
        ({"initial": [0.5, 0.5, 2.0]}, "outside"),
        ({"initial": [0.5]}, "initial has shape"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        TrustProblem(**{"n_nodes": 3, **arguments})


def test_a_point_of_the_wrong_length_is_refused():
    with pytest.raises(InputError, match="expected"):
        CHAIN.objective([0.5])
    with pytest.raises(InputError, match="expected"):
        CHAIN.gradient(np.zeros(4))
