"""Jacobi-preconditioned conjugate gradients: the default solver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from veridical.trust.problem import FloatArray, TrustProblem
from veridical.trust.solution import Status, TrustSolution, examine
from veridical.trust.solvers.base import limits, starting_point

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class ConjugateGradient:
    """Solve ``A z = c``, ``z = t - 1/2``, until ``||A z - c||_2 <= tol ||c||_2`` (default 1e-10).

    The residual is computed afresh before it is believed, and the iteration goes on from there if rounding
    had fooled it. Each iteration costs one product with ``A``.
    """

    name = "conjugate_gradient"

    def solve(
        self,
        problem: TrustProblem,
        *,
        initial: npt.ArrayLike | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
    ) -> TrustSolution:
        """Solve ``problem``; see `Solver.solve`. ``max_iter`` defaults to 10,000."""
        tol, max_iter = limits(tol, max_iter, default_tol=1e-10, default_max_iter=10_000)
        started = time.perf_counter()
        z = starting_point(problem, initial, np.full(problem.n_nodes, 0.5)) - 0.5
        matrix, _ = problem.system()
        fixed, _ = problem.unanchored()
        pull = problem.pull()
        # Without any pull the solution is z = 0 and there is nothing to be relative to.
        goal = tol * (float(np.linalg.norm(pull)) or 1.0)
        n_iter = 0
        status: Status = "converged"
        residual = _residual(matrix, z, pull, fixed)
        while (size := float(np.linalg.norm(residual))) > goal:
            if n_iter >= max_iter:
                status = "max_iter"
                break
            n_iter += iterate(matrix, z, residual, goal=goal, max_iter=max_iter - n_iter)
            residual = _residual(matrix, z, pull, fixed)
            if float(np.linalg.norm(residual)) > max(goal, 0.5 * size) and n_iter < max_iter:
                status = "stalled"
                break
        seconds = time.perf_counter() - started
        return examine(problem, z + 0.5, n_iter=n_iter, status=status, solver=self.name, seconds=seconds)


def _residual(matrix: csr_array, z: FloatArray, pull: FloatArray, fixed: npt.NDArray[np.int64]) -> FloatArray:
    residual: FloatArray = pull - matrix @ z
    residual[fixed] = 0.0  # exact by definition; what is left there is rounding along a singular direction
    return residual


def iterate(matrix: csr_array, z: FloatArray, residual: FloatArray, *, goal: float, max_iter: int) -> int:
    """Run conjugate gradients on ``z`` and ``residual`` in place until ``||residual|| <= goal``.

    Returns the number of iterations. ``residual`` must be ``c - A z`` on entry, and 0 wherever ``A`` is
    singular.
    """
    diagonal = matrix.diagonal()
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    scaled = inverse * residual
    direction = scaled.copy()
    rho = float(residual @ scaled)
    for step in range(1, max_iter + 1):
        image = matrix @ direction
        alpha = rho / float(direction @ image)
        # In place through one buffer: at a million nodes, fresh arrays cost as much as the arithmetic.
        np.multiply(direction, alpha, out=scaled)
        z += scaled
        image *= alpha
        residual -= image
        if float(residual @ residual) <= goal * goal:
            return step
        np.multiply(inverse, residual, out=scaled)
        previous, rho = rho, float(residual @ scaled)
        direction *= rho / previous
        direction += scaled
    return max_iter
