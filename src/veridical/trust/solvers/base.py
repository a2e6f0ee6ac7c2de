"""The contract of a solver."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError
from veridical.trust.problem import FloatArray, TrustProblem
from veridical.trust.solution import TrustSolution


@runtime_checkable
class Solver(Protocol):
    """Finds the minimum of a trust problem. Constructors are light; a solver keeps nothing between calls.

    The result depends on the problem alone, to the solver's tolerance, and never on ``initial``: components
    without anchor or prior get the values that `TrustProblem.unanchored` defines.
    """

    @property
    def name(self) -> str:
        """One word for reports."""
        ...

    def solve(
        self,
        problem: TrustProblem,
        *,
        initial: npt.ArrayLike | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
    ) -> TrustSolution:
        """Solve ``problem``.

        Parameters
        ----------
        problem
            What to solve.
        initial
            Shape (n,): where to start, such as an earlier solution; ``None`` is the solver's own choice.
        tol, max_iter
            ``None`` is the solver's own default; what ``tol`` bounds is the solver's to say.

        Raises
        ------
        InputError
            If ``initial`` has the wrong shape or is not finite, or ``tol`` or ``max_iter`` is out of range.
        """
        ...


def starting_point(problem: TrustProblem, initial: npt.ArrayLike | None, default: FloatArray) -> FloatArray:
    """Return a fresh point to start from, shape (n,), already right where no anchor or prior reaches."""
    start = np.array(default if initial is None else initial, dtype=np.float64)
    if start.shape != (problem.n_nodes,):
        raise InputError(f"initial has shape {start.shape}, expected ({problem.n_nodes},).")
    if not np.isfinite(start).all():
        raise InputError(
            "initial holds NaN or infinity.", "Start from an earlier solution's values, or None."
        )
    nodes, values = problem.unanchored()
    start[nodes] = values
    return start


def limits(
    tol: float | None, max_iter: int | None, *, default_tol: float, default_max_iter: int
) -> tuple[float, int]:
    """Fill in and check the two numbers that end an iteration."""
    tol = default_tol if tol is None else tol
    max_iter = default_max_iter if max_iter is None else max_iter
    if not 0 < tol < 1:
        raise InputError(f"tol is {tol}.", "Pass a number between 0 and 1.")
    if max_iter < 0:
        raise InputError(f"max_iter is {max_iter}.", "Pass 0 or more.")
    return tol, max_iter
