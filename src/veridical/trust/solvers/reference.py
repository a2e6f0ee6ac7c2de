"""The exact solution by dense elimination: slow, short, and what the other solvers are held against."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from veridical.errors import SolverError
from veridical.trust.problem import FloatArray, TrustProblem
from veridical.trust.solution import TrustSolution, examine
from veridical.trust.solvers.base import limits, starting_point


class Reference:
    """Dense solver for up to ``max_nodes`` nodes (default 4,000: a matrix of 128 MB).

    It assembles the equations from the edge list by itself, and so checks the problem's sparse matrix too.
    """

    name = "reference"

    def __init__(self, *, max_nodes: int = 4000) -> None:
        self.max_nodes = max_nodes

    def solve(
        self,
        problem: TrustProblem,
        *,
        initial: npt.ArrayLike | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
    ) -> TrustSolution:
        """Solve ``problem``; see `Solver.solve`. All options but ``problem`` are checked and have no effect.

        Raises
        ------
        SolverError
            If the problem has more than ``max_nodes`` nodes.
        """
        limits(tol, max_iter, default_tol=1e-10, default_max_iter=0)
        n = problem.n_nodes
        if n > self.max_nodes:
            raise SolverError(
                f"The dense solver takes at most {self.max_nodes} nodes, and this problem has {n}.",
                "Use conjugate_gradient.",
            )
        started = time.perf_counter()
        values = starting_point(problem, initial, np.full(n, 0.5))
        matrix, right = dense_system(problem)
        nodes, _ = problem.unanchored()
        free = np.setdiff1d(np.arange(n), nodes)
        # Components are not coupled, so the rows of those without an anchor can simply be left out.
        values[free] = 0.5 + np.linalg.solve(matrix[np.ix_(free, free)], right[free])
        seconds = time.perf_counter() - started
        return examine(problem, values, n_iter=0, status="converged", solver=self.name, seconds=seconds)


def dense_system(problem: TrustProblem) -> tuple[FloatArray, FloatArray]:
    """Return dense ``A`` (n, n) and ``c`` (n,), ``A (t - 1/2) = c``, from edges, anchors and priors."""
    n = problem.n_nodes
    matrix = np.zeros((n, n))
    right = np.zeros(n)
    heads, tails, weights = problem.heads, problem.tails, problem.weights
    across = -2.0 * problem.signs * weights
    np.add.at(matrix, (heads, tails), across)
    np.add.at(matrix, (tails, heads), across)
    np.add.at(matrix, (heads, heads), 2.0 * weights)
    np.add.at(matrix, (tails, tails), 2.0 * weights)
    anchors = problem.anchors
    np.add.at(matrix, (anchors, anchors), 2.0 * problem.anchor_weights)
    np.add.at(right, anchors, 2.0 * problem.anchor_weights * (problem.anchor_targets - 0.5))
    matrix[np.arange(n), np.arange(n)] += 2.0 * problem.prior_weights
    right += 2.0 * problem.prior_weights * (problem.prior_targets - 0.5)
    return matrix, right
