"""A solution of the trust problem, which checks itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from veridical.trust.problem import FloatArray, TrustProblem

Status = Literal["converged", "max_iter", "stalled", "diverged"]


@dataclass(frozen=True, eq=False)
class TrustSolution:
    """Trust values with an account of how good they are; every number is computed from the values themselves.

    Attributes
    ----------
    values
        Shape (n,): trust in [0, 1].
    residual
        ``||A t - b||_2 / ||c||_2``, where ``c = b - A 1/2`` is the pull of anchors and priors; absolute where
        there is no pull.
    kkt
        Largest absolute entry of the projected gradient for the box [0, 1]: the gradient, less what points
        out of the box at a bound. 0 at the optimum.
    box_active
        Whether a bound holds a value back. With targets and priors in [0, 1] the maximum principle forbids
        it at the optimum, so true means that the solver has not arrived.
    objective
        ``L(values)``.
    error_bound
        Upper bound on the largest absolute difference from the exact optimum, ``kkt / (2 min(lambda + mu))``
        from the diagonal dominance of ``A``; infinite where some node has neither anchor nor prior.
    n_iter
        Iterations used; 0 for a direct solver.
    status
        ``converged``: the solver's stopping rule holds, and the point bears it out. ``max_iter``: iterations
        ran out. ``stalled``: no further progress in this precision. ``diverged``: the step was too long.
    solver
        Name of the solver.
    seconds
        Wall-clock time of the solve, the assembly of a problem's first use included.
    """

    values: FloatArray
    residual: float
    kkt: float
    box_active: bool
    objective: float
    error_bound: float
    n_iter: int
    status: Status
    solver: str
    seconds: float

    @property
    def converged(self) -> bool:
        """Whether the status is ``converged``."""
        return self.status == "converged"

    def to_dict(self) -> dict[str, Any]:
        """Return all but the values as plain JSON values (an infinite bound as ``None``)."""
        return {
            "residual": self.residual,
            "kkt": self.kkt,
            "box_active": self.box_active,
            "objective": self.objective,
            "error_bound": self.error_bound if np.isfinite(self.error_bound) else None,
            "n_iter": self.n_iter,
            "status": self.status,
            "solver": self.solver,
            "seconds": self.seconds,
            "n_nodes": len(self.values),
        }


def examine(
    problem: TrustProblem, values: FloatArray, *, n_iter: int, status: Status, solver: str, seconds: float
) -> TrustSolution:
    """Build the solution that holds ``values``, shape (n,), clipped to the box, and check it from scratch."""
    clipped = np.clip(values, 0.0, 1.0)
    overshoot = float(np.abs(values - clipped).max(initial=0.0))
    gradient = problem.gradient(clipped)
    projected = np.where(clipped <= 0.0, np.minimum(gradient, 0.0), gradient)
    projected = np.where(clipped >= 1.0, np.maximum(projected, 0.0), projected)
    size = float(np.linalg.norm(problem.pull()))
    z = clipped - 0.5
    kkt = float(np.abs(projected).max(initial=0.0))
    held = float(np.abs(gradient - projected).max(initial=0.0))
    ground = float(problem.ground().min(initial=np.inf))
    # L = offset + z'Az/2 - c'z and Az = c + gradient; cancellation can leave a tiny negative number.
    objective = problem.offset + 0.5 * float(z @ (gradient - problem.pull()))
    return TrustSolution(
        values=clipped,
        residual=float(np.linalg.norm(gradient)) / (size or 1.0),
        kkt=kkt,
        box_active=held > 1e-6 or overshoot > 1e-6,
        objective=max(objective, 0.0),
        error_bound=kkt / (2.0 * ground) if ground > 0 else float("inf"),
        n_iter=n_iter,
        status=status,
        solver=solver,
        seconds=seconds,
    )
