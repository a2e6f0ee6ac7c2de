"""Leave-one-out: what the rest of the graph would say of each judged node, were its own anchors not there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.errors import InputError
from veridical.trust.problem import BoolArray, FloatArray, IntArray, TrustProblem
from veridical.trust.solution import TrustSolution
from veridical.trust.solvers.conjugate_gradient import solve_columns
from veridical.trust.solvers.reference import dense_system

_DENSE_NODES = 300
_BLOCK = 32


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Held-out trust at judged nodes.

    Attributes
    ----------
    nodes
        Shape (k,): judged nodes, ascending, each once.
    targets, weights
        Shape (k,): weighted mean target and total weight of a node's anchors.
    predicted
        Shape (k,), in [0, 1]: the node's trust once all its own anchors are removed; its prior stays.
    leverage
        Shape (k,), in [0, 1]: how much of a change of its own target arrives at the node, ``h = dt / dy``.
    informed
        Shape (k,): false where nothing else reaches the node, so that ``predicted`` is only its value by
        definition (`TrustProblem.unanchored`).
    n_judged
        How many judged nodes there are; k is smaller where they were sampled.
    """

    nodes: IntArray
    targets: FloatArray
    weights: FloatArray
    predicted: FloatArray
    leverage: FloatArray
    informed: BoolArray
    n_judged: int


def leave_one_out(
    problem: TrustProblem,
    solution: TrustSolution,
    *,
    max_nodes: int = 512,
    seed: int = 0,
    tol: float = 1e-5,
) -> LeaveOneOut:
    r"""Predict each judged node from all the others, without solving again.

    For this quadratic smoother, with ``lambda`` the total weight and ``y`` the mean target of a node's
    anchors,

    .. math:: t_i^{(-i)} = (t_i - h_i y_i) / (1 - h_i), \qquad h_i = 2 \lambda_i (A^{-1})_{ii}.

    Up to 300 nodes the diagonal of the inverse comes from a dense Cholesky factor, above from conjugate
    gradients on blocks of columns; its error is quadratic in ``tol``, since ``(A^-1)_ii`` is a quadratic
    form. Where more than ``max_nodes`` nodes are judged, so many are drawn at random: calibration needs a few
    hundred.

    Parameters
    ----------
    problem, solution
        The problem and its (converged) solution.
    max_nodes
        At most so many judged nodes, > 0.
    seed
        Of the draw.
    tol
        Relative residual of the linear solves.

    Raises
    ------
    InputError
        If the solution is of another problem or ``max_nodes`` is below 1.
    SolverError
        If a linear solve fails.
    """
    if len(solution.values) != problem.n_nodes:
        raise InputError(f"The solution has {len(solution.values)} nodes, the problem {problem.n_nodes}.")
    if max_nodes < 1:
        raise InputError(f"max_nodes is {max_nodes}.", "Pass 1 or more.")
    judged = np.unique(problem.anchors)
    nodes = judged
    if len(judged) > max_nodes:
        drawn = np.random.default_rng(seed).choice(len(judged), max_nodes, replace=False)
        nodes = judged[np.sort(drawn)]
    mass = np.bincount(problem.anchors, problem.anchor_weights, minlength=problem.n_nodes)[nodes]
    moment = problem.anchor_weights * problem.anchor_targets
    targets: FloatArray = np.bincount(problem.anchors, moment, minlength=problem.n_nodes)[nodes] / mass
    leverage = np.clip(2.0 * mass * _inverse_diagonal(problem, nodes, tol), 0.0, 1.0)
    own = solution.values[nodes]
    left = np.maximum(1.0 - leverage, np.finfo(np.float64).eps)
    predicted = np.clip((own - leverage * targets) / left, 0.0, 1.0)
    alone = _alone(problem, nodes)
    predicted[alone] = _without(problem, nodes[alone])
    return LeaveOneOut(nodes, targets, mass.astype(np.float64), predicted, leverage, ~alone, len(judged))


def _alone(problem: TrustProblem, nodes: IntArray) -> BoolArray:
    """Return which of the judged nodes are the only ones of their component with an anchor or a prior."""
    if not len(nodes):
        return np.empty(0, dtype=np.bool_)
    labels = problem.labels()
    grounded = np.bincount(labels[problem.ground() > 0], minlength=int(labels.max()) + 1)
    alone: BoolArray = (grounded[labels[nodes]] == 1) & (problem.prior_weights[nodes] == 0)
    return alone


def _without(problem: TrustProblem, nodes: IntArray) -> FloatArray:
    """Return the values by definition at ``nodes`` once their anchors, the only ones around, are gone."""
    if not len(nodes):
        return np.empty(0)
    keep = ~np.isin(problem.anchors, nodes)
    rest = problem.with_anchors(
        problem.anchors[keep], problem.anchor_targets[keep], problem.anchor_weights[keep]
    )
    unreached, values = rest.unanchored()
    result: FloatArray = values[np.searchsorted(unreached, nodes)]
    return result


def _inverse_diagonal(problem: TrustProblem, nodes: IntArray, tol: float) -> FloatArray:
    """Return ``(A^-1)_ii`` for the given nodes, all of which an anchor or prior reaches."""
    if problem.n_nodes <= _DENSE_NODES:
        return _dense_inverse_diagonal(problem, nodes)
    diagonal = np.empty(len(nodes))
    for start in range(0, len(nodes), _BLOCK):
        block = nodes[start : start + _BLOCK]
        unit = np.zeros((problem.n_nodes, len(block)))
        unit[block, np.arange(len(block))] = 1.0
        diagonal[start : start + _BLOCK] = solve_columns(problem, unit, tol=tol)[block, np.arange(len(block))]
    return diagonal


def _dense_inverse_diagonal(problem: TrustProblem, nodes: IntArray) -> FloatArray:
    from scipy.linalg import cholesky, solve_triangular

    matrix, _ = dense_system(problem)
    unreached, _ = problem.unanchored()
    matrix[unreached, unreached] += 1.0  # singular there, not coupled to the rest, and not asked for
    factor = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    unit = np.zeros((problem.n_nodes, len(nodes)))
    unit[nodes, np.arange(len(nodes))] = 1.0
    # (A^-1)_ii = ||L^-1 e_i||^2
    columns = solve_triangular(factor, unit, lower=True, overwrite_b=True, check_finite=False)
    result: FloatArray = np.einsum("ij,ij->j", columns, columns)
    return result
