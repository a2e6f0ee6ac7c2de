"""The paper's projected gradient, with its published step, start and stop, faults included."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.errors import InputError
from veridical.testing.solver_contract import signed_problem
from veridical.trust.problem import TrustProblem
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.solvers.projected_gradient import ProjectedGradient


def clique(n_nodes: int) -> TrustProblem:
    heads, tails = np.triu_indices(n_nodes, 1)
    ones = np.ones(len(heads))
    return TrustProblem(n_nodes, heads, tails, ones, ones, np.array([0]), np.array([0.9]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_chain_stops_after_787_steps_short_of_the_optimum(dtype):
    chain = signed_problem(3, [(0, 1, 1, 0.8), (1, 2, -1, 0.5)], [(0, 0.9)])
    solution = ProjectedGradient(dtype=dtype).solve(chain)
    assert solution.n_iter == 787
    np.testing.assert_allclose(solution.values, [0.8920, 0.8837, 0.1242], atol=6e-5)
    assert solution.status == "converged"
    assert solution.kkt > 1e-3  # and it says how far from the optimum that is


def test_single_precision_is_the_default_for_the_published_step_only():
    assert ProjectedGradient().dtype == np.float32
    assert ProjectedGradient(step="auto").dtype == np.float64


@pytest.mark.parametrize("n_nodes", [101, 150])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_clique_too_large_for_the_step_is_reported_as_diverged(n_nodes, dtype):
    solution = ProjectedGradient(dtype=dtype).solve(clique(n_nodes))
    assert solution.status == "diverged"
    assert not solution.converged
    assert solution.objective > 1.0
    exact = ConjugateGradient().solve(clique(n_nodes))
    np.testing.assert_allclose(exact.values, 0.9, atol=1e-8)


def test_bouncing_between_equal_objectives_is_not_called_converged():
    solution = ProjectedGradient().solve(clique(100))
    assert solution.n_iter <= 2  # the published stop fires at once
    assert solution.status == "diverged"
    assert solution.kkt > 0.1


def test_a_clique_just_small_enough_does_not_diverge():
    assert ProjectedGradient(dtype="float64").solve(clique(98)).status != "diverged"


def test_a_long_chain_is_unfinished_after_a_thousand_steps():
    chain = signed_problem(10, [(i, i + 1, 1, 0.5) for i in range(9)], [(0, 0.9)])
    solution = ProjectedGradient().solve(chain)
    assert solution.n_iter == 1000
    assert solution.status == "max_iter"
    assert solution.values[-1] == pytest.approx(0.637, abs=1e-3)
    np.testing.assert_allclose(ConjugateGradient().solve(chain).values, 0.9, atol=1e-8)


def test_a_weak_edge_is_left_unfinished_too():
    pair = signed_problem(2, [(0, 1, 1, 0.05)], [(0, 0.9)])
    assert ProjectedGradient().solve(pair).values[1] == pytest.approx(0.738, abs=1e-3)


def test_the_automatic_step_goes_on_to_the_optimum():
    chain = signed_problem(10, [(i, i + 1, 1, 0.5) for i in range(9)], [(0, 0.9)])
    solution = ProjectedGradient(step="auto").solve(chain)
    assert solution.status == "converged"
    assert solution.kkt <= 1e-8
    np.testing.assert_allclose(solution.values, 0.9, atol=1e-5)


def test_a_tolerance_below_the_precision_is_reported_as_stalled():
    chain = signed_problem(3, [(0, 1, 1, 0.8), (1, 2, -1, 0.5)], [(0, 0.8)])
    solution = ProjectedGradient(step=0.1, stop="gradient", dtype="float32").solve(chain, tol=1e-15)
    assert solution.status in ("stalled", "converged")
    assert solution.kkt < 1e-5


@pytest.mark.parametrize("arguments", [{"step": 0.0}, {"step": -1.0}, {"stop": "never"}])
def test_a_step_or_stop_without_sense_is_refused(arguments):
    with pytest.raises(InputError):
        ProjectedGradient(**arguments)
