"""Projected gradient descent, as published, and with a step that is always stable."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError
from veridical.trust.problem import TrustProblem
from veridical.trust.solution import Status, TrustSolution, examine
from veridical.trust.solvers.base import limits, starting_point

Real = npt.NDArray[Any]  # float32 or float64


class ProjectedGradient:
    """Repeat ``t <- clip(t - step * gradient, 0, 1)``.

    As constructed by default this is TrustPropRAG's solver: step .01, start at the paper's initial trust,
    stop once the objective changes by less than 1e-6 or after 1,000 steps, in single precision. Its faults
    are kept: it diverges where the largest eigenvalue of ``A`` is above ``2 / step``, and it stops short of
    the optimum along flat directions. Both are reported in the solution.

    Parameters
    ----------
    step
        Length of a step, or ``"auto"`` for 1 / `TrustProblem.sigma_max`.
    stop
        ``"loss"``: ``|L_previous - L| < tol`` (default 1e-6, at most 1,000 steps). ``"gradient"``: the
        largest entry of the projected gradient is below ``tol`` (default 1e-8, at most 100,000 steps). The
        default is the first for a number as ``step`` and the second for ``"auto"``.
    dtype
        ``"float32"`` or ``"float64"``; the default is the first for a number as ``step``.
    """

    name = "projected_gradient"

    def __init__(
        self,
        *,
        step: float | Literal["auto"] = 0.01,
        stop: Literal["loss", "gradient"] | None = None,
        dtype: Literal["float32", "float64"] | None = None,
    ) -> None:
        automatic = step == "auto"
        if not automatic and not float(step) > 0:
            raise InputError(f"step is {step}.", 'Pass a number above 0, or "auto".')
        self.step = step
        self.stop = stop or ("gradient" if automatic else "loss")
        self.dtype = np.dtype(dtype or ("float64" if automatic else "float32"))
        if self.stop not in ("loss", "gradient"):
            raise InputError(f'stop is "{stop}".', 'Pass "loss" or "gradient".')

    def solve(
        self,
        problem: TrustProblem,
        *,
        initial: npt.ArrayLike | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
    ) -> TrustSolution:
        """Solve ``problem``; see `Solver.solve` and the class for what ``tol`` bounds."""
        defaults = (1e-6, 1000) if self.stop == "loss" else (1e-8, 100_000)
        tol, max_iter = limits(tol, max_iter, default_tol=defaults[0], default_max_iter=defaults[1])
        started = time.perf_counter()
        start = starting_point(problem, initial, problem.rest())
        step = self._length(problem)
        gradient, objective = _evaluators(problem, self.dtype)
        z = np.clip(start, 0.0, 1.0).astype(self.dtype) - self.dtype.type(0.5)
        if self.stop == "loss":
            z, n_iter, status = self._until_loss_settles(z, gradient, objective, step, tol, max_iter)
        else:
            z, n_iter, status = self._until_gradient_vanishes(z, gradient, objective, step, tol, max_iter)
        values = z.astype(np.float64) + 0.5
        seconds = time.perf_counter() - started
        return examine(problem, values, n_iter=n_iter, status=status, solver=self.name, seconds=seconds)

    def _length(self, problem: TrustProblem) -> float:
        if self.step != "auto":
            return float(self.step)
        # Any step below twice this one is stable, so a rough estimate of the eigenvalue will do.
        return 1.0 / (problem.sigma_max(tol=1e-3, max_iter=50) or 1.0)

    def _until_loss_settles(
        self,
        z: Real,
        gradient: Callable[[Real], Real],
        objective: Callable[[Real, Real], float],
        step: float,
        tol: float,
        max_iter: int,
    ) -> tuple[Real, int, Status]:
        previous, rose = float("inf"), False
        for n_iter in range(1, max_iter + 1):
            slope = gradient(z)
            loss = objective(z, slope)
            moved = np.clip(z - self.dtype.type(step) * slope, -0.5, 0.5)
            size = float(np.sum((moved - z) ** 2, dtype=np.float64))
            z = moved
            # As published: the objective compared is the one before the step, and the step is still taken.
            if abs(previous - loss) < tol:
                # A stable step lowers the objective by at least about size / (2 step). Iterates that still
                # jump while the objective stands still bounce between the walls of a valley.
                bouncing = size / (2 * step) > 100 * max(tol, self._slack * loss)
                return z, n_iter, "diverged" if bouncing else "converged"
            rose = rose or loss > previous * (1 + self._slack) + tol
            previous = loss
        return z, max_iter, "diverged" if rose else "max_iter"

    def _until_gradient_vanishes(
        self,
        z: Real,
        gradient: Callable[[Real], Real],
        objective: Callable[[Real, Real], float],
        step: float,
        tol: float,
        max_iter: int,
    ) -> tuple[Real, int, Status]:
        slope = gradient(z)
        first = objective(z, slope)
        for n_iter in range(max_iter + 1):
            inward = np.where(
                z <= -0.5, np.minimum(slope, 0), np.where(z >= 0.5, np.maximum(slope, 0), slope)
            )
            if float(np.abs(inward).max(initial=0.0)) <= tol:
                return z, n_iter, "converged"
            if n_iter < max_iter:
                moved = np.clip(z - self.dtype.type(step) * slope, -0.5, 0.5)
                if np.array_equal(moved, z):
                    return z, n_iter, "stalled"
                z = moved
                slope = gradient(z)
        rose = objective(z, slope) > first * (1 + self._slack) + tol
        return z, max_iter, "diverged" if rose else "max_iter"

    @property
    def _slack(self) -> float:
        """How far rounding alone can move the objective, relative to it."""
        return 100 * float(np.finfo(self.dtype).eps)


def _evaluators(
    problem: TrustProblem, dtype: np.dtype[Any]
) -> tuple[Callable[[Real], Real], Callable[[Real, Real], float]]:
    """Return gradient and objective in ``z = t - 1/2`` at the given precision.

    In double precision the objective comes almost free from the gradient, ``L = offset + z'(g - c)/2``. In
    single precision that would cancel, so it is summed term by term, as the paper's reference does.
    """
    matrix = problem.system()[0].astype(dtype)
    pull = problem.pull().astype(dtype)

    def gradient(z: Real) -> Real:
        result: Real = matrix @ z - pull
        return result

    if dtype == np.float64:
        offset = problem.offset
        return gradient, lambda z, slope: offset + 0.5 * float(z @ (slope - pull))

    half = dtype.type(0.5)
    heads, tails, signs = problem.heads, problem.tails, problem.signs.astype(dtype)
    weights, anchor_weights = problem.weights.astype(dtype), problem.anchor_weights.astype(dtype)
    targets = problem.anchor_targets.astype(dtype) - half
    priors, prior_weights = problem.prior_targets.astype(dtype) - half, problem.prior_weights.astype(dtype)

    def objective(z: Real, slope: Real) -> float:
        del slope
        edges = np.sum(weights * (z[heads] - signs * z[tails]) ** 2)
        anchors = np.sum(anchor_weights * (z[problem.anchors] - targets) ** 2)
        return float(edges + anchors + np.sum(prior_weights * (z - priors) ** 2))

    return gradient, objective
