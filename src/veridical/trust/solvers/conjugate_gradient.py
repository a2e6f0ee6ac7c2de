"""Jacobi-preconditioned conjugate gradients: the default solver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from veridical.errors import SolverError
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
        matrix = problem.matrix()
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
    residual: FloatArray = pull - matrix @ z if z.any() else pull.copy()
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
        curvature = float(direction @ image)
        if curvature <= 0.0:  # only by underflow, as A is positive definite here
            return step
        alpha = rho / curvature
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


def solve_columns(
    problem: TrustProblem, right: FloatArray, *, tol: float = 1e-10, max_iter: int = 10_000
) -> FloatArray:
    """Solve ``A X = B`` for all columns of ``B`` at once, each by conjugate gradients of its own.

    One sweep over the matrix serves all columns, which is several times faster than one solve a column.

    Parameters
    ----------
    problem
        Whose ``A``.
    right
        ``B``, shape (n, k), 0 in the rows of `TrustProblem.unanchored` (where ``A`` is singular).
    tol, max_iter
        Each column ends at ``||A x - b||_2 <= tol ||b||_2``, all at ``max_iter``.

    Returns
    -------
    ``X``, shape (n, k).

    Raises
    ------
    SolverError
        If a column is not there after ``max_iter`` iterations.
    """
    matrix = problem.matrix()
    diagonal = matrix.diagonal()[:, None]
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    solution = np.zeros_like(right, dtype=np.float64)
    residual = np.array(right, dtype=np.float64)
    goal = (tol * np.linalg.norm(residual, axis=0)) ** 2
    direction = inverse * residual
    rho = np.einsum("ij,ij->j", residual, direction)
    for _ in range(max_iter):
        open_columns = np.einsum("ij,ij->j", residual, residual) > goal
        if not open_columns.any():
            return solution
        image = matrix @ direction
        curvature = np.einsum("ij,ij->j", direction, image)
        # A column that has arrived takes steps of 0 from then on.
        alpha = np.divide(rho, curvature, out=np.zeros_like(rho), where=open_columns & (curvature > 0))
        solution += alpha * direction
        residual -= alpha * image
        scaled = inverse * residual
        previous, rho = rho, np.einsum("ij,ij->j", residual, scaled)
        beta = np.divide(rho, previous, out=np.zeros_like(rho), where=open_columns & (previous > 0))
        direction *= beta
        direction += scaled
    raise SolverError(
        f"{right.shape[1]} linear solves did not all reach a residual of {tol:g} in {max_iter} iterations.",
        "Raise tol or max_iter.",
    )
