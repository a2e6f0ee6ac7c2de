"""Why a node has the trust it has: the anchors, priors, relations and neighbours behind it, and their shares.

With ``z = t - 1/2`` the solution is linear in the targets: ``z = G c`` with ``G = A^-1``. As ``A`` is
symmetric, one row of ``G`` costs one linear solve, and it holds what every anchor and prior contributes to a
node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.errors import InputError
from veridical.trust.problem import FloatArray, IntArray, TrustProblem
from veridical.trust.solution import TrustSolution
from veridical.trust.solvers.conjugate_gradient import solve_columns
from veridical.types import Record


@dataclass(frozen=True, slots=True)
class TargetInfluence(Record):
    """What one anchor, or one prior, contributes to a node's trust.

    Attributes
    ----------
    index
        Row among the problem's anchors; for a prior, its node.
    node
        The node that has it.
    target, weight
        Its ``y`` and ``lambda``, or ``p`` and ``mu``.
    contribution
        By how much it moves the explained node's trust away from 1/2, signed. All contributions, those of
        anchors and priors, and 1/2 add up to the node's trust.
    share
        Its part of the sum of all absolute contributions, in [0, 1].
    """

    index: int
    node: int
    target: float
    weight: float
    contribution: float
    share: float


@dataclass(frozen=True, slots=True)
class RelationInfluence(Record):
    """How much a node's trust owes to one edge.

    Attributes
    ----------
    edge
        Row among the problem's edges.
    head, tail, sign, weight
        The edge.
    flow
        In [0, 1]: the part of the influence on the node that passes over this edge, as of a unit current that
        leaves the node, drains through anchors and priors, and divides among edges by their weights.
        Random walks from the node that stop at a target cross the edge so many times net. 1 means that
        everything comes this way.
    effect
        Change of the node's trust, to first order, were the edge removed. 0 for an edge that is fully
        satisfied, however much flows over it.
    """

    edge: int
    head: int
    tail: int
    sign: int
    weight: float
    flow: float
    effect: float


@dataclass(frozen=True, slots=True)
class NeighbourPull(Record):
    """One term of the weighted average that the node's trust is at the optimum.

    Attributes
    ----------
    kind
        ``edge``, ``anchor`` or ``prior``.
    index
        Row among the problem's edges or anchors; for the prior, the node.
    node
        The neighbour; the node itself for its anchors and prior.
    says
        In [0, 1], what this term would have the node's trust be: the neighbour's trust over support, 1 less
        it over contradiction, the target of an anchor or prior.
    share
        Weight of the term in the average; the shares add up to 1, and ``share * says`` to the trust.
    """

    kind: str
    index: int
    node: int
    says: float
    share: float


@dataclass(frozen=True, slots=True)
class Influences(Record):
    """Everything behind one node's trust; the lists are sorted by size, largest first, and cut at ``top``.

    Attributes
    ----------
    node, trust
        The node explained and its value.
    constant
        What stands in for contributions where no anchor or prior reaches the node: ``trust - 1/2``; else 0.
    anchor_contribution, prior_contribution
        The sums over all anchors and over all priors, before the lists were cut.
        ``trust = 1/2 + constant + anchor_contribution + prior_contribution``.
    anchors, priors
        By absolute contribution.
    relations
        By flow.
    neighbours
        By share.
    """

    node: int
    trust: float
    constant: float
    anchor_contribution: float
    prior_contribution: float
    anchors: tuple[TargetInfluence, ...]
    priors: tuple[TargetInfluence, ...]
    relations: tuple[RelationInfluence, ...]
    neighbours: tuple[NeighbourPull, ...]


def influences(
    problem: TrustProblem, solution: TrustSolution, node: int, top: int | None = None, *, tol: float = 1e-10
) -> Influences:
    """Explain the trust of ``node``.

    Parameters
    ----------
    problem, solution
        The problem and its solution (converged: the decomposition is of the exact optimum).
    node
        Which node.
    top
        How many entries of each list to keep; ``None`` keeps all that are not 0.
    tol
        Relative residual of the one linear solve.

    Raises
    ------
    InputError
        If ``node`` or ``top`` is out of range, or the solution is of another problem.
    SolverError
        If the linear solve fails.
    """
    if not 0 <= node < problem.n_nodes:
        raise InputError(f"There is no node {node}; nodes are 0 to {problem.n_nodes - 1}.")
    if len(solution.values) != problem.n_nodes:
        raise InputError(f"The solution has {len(solution.values)} nodes, the problem {problem.n_nodes}.")
    if top is not None and top < 0:
        raise InputError(f"top is {top}.", "Pass 0 or more, or None for all.")
    row = np.zeros(problem.n_nodes)
    unreached, _ = problem.unanchored()
    reached = node not in unreached
    if reached:
        unit = np.zeros((problem.n_nodes, 1))
        unit[node] = 1.0
        row = solve_columns(problem, unit, tol=tol)[:, 0]
    anchors = 2.0 * row[problem.anchors] * problem.anchor_weights * (problem.anchor_targets - 0.5)
    priors = 2.0 * row * problem.prior_weights * (problem.prior_targets - 0.5)
    total = float(np.abs(anchors).sum() + np.abs(priors).sum()) or 1.0
    value = float(solution.values[node])
    return Influences(
        node=node,
        trust=value,
        constant=0.0 if reached else value - 0.5,
        anchor_contribution=float(anchors.sum()),
        prior_contribution=float(priors.sum()),
        anchors=tuple(
            TargetInfluence(
                index=int(a),
                node=int(problem.anchors[a]),
                target=float(problem.anchor_targets[a]),
                weight=float(problem.anchor_weights[a]),
                contribution=float(anchors[a]),
                share=abs(float(anchors[a])) / total,
            )
            for a in _largest(np.abs(anchors), top)
        ),
        priors=tuple(
            TargetInfluence(
                index=int(i),
                node=int(i),
                target=float(problem.prior_targets[i]),
                weight=float(problem.prior_weights[i]),
                contribution=float(priors[i]),
                share=abs(float(priors[i])) / total,
            )
            for i in _largest(np.abs(priors), top)
        ),
        relations=_relations(problem, solution.values, row, top),
        neighbours=_neighbours(problem, solution.values, node, top),
    )


def _largest(sizes: FloatArray, top: int | None) -> IntArray:
    """Return the places of the largest sizes above 0, largest first, ties in order."""
    places = np.flatnonzero(sizes > 0)
    if top is not None and len(places) > top:
        places = np.sort(places[np.argpartition(-sizes[places], top - 1)[:top]]) if top else places[:0]
    return places[np.argsort(-sizes[places], kind="stable")]


def _relations(
    problem: TrustProblem, values: FloatArray, row: FloatArray, top: int | None
) -> tuple[RelationInfluence, ...]:
    """Flow and first-order effect of each edge, from the node's row of ``A^-1``.

    Removing an edge ``v = e_i - s e_j`` takes ``2 w v v'`` from ``A``, which changes ``z_node`` by
    ``2 w (v'x)(v'z)`` to first order; ``2 w |v'x|`` is the current over it.
    """
    z = values - 0.5
    heads, tails, signs = problem.heads, problem.tails, problem.signs
    current = 2.0 * problem.weights * (row[heads] - signs * row[tails])
    effect = current * (z[heads] - signs * z[tails])
    return tuple(
        RelationInfluence(
            edge=int(e),
            head=int(heads[e]),
            tail=int(tails[e]),
            sign=int(signs[e]),
            weight=float(problem.weights[e]),
            flow=abs(float(current[e])),
            effect=float(effect[e]),
        )
        for e in _largest(np.abs(current), top)
    )


def _neighbours(
    problem: TrustProblem, values: FloatArray, node: int, top: int | None
) -> tuple[NeighbourPull, ...]:
    """Read the node's own equation as a weighted average of what its neighbours and targets say."""
    edges = np.flatnonzero((problem.heads == node) | (problem.tails == node))
    others = np.where(problem.heads[edges] == node, problem.tails[edges], problem.heads[edges])
    says = 0.5 + problem.signs[edges] * (values[others] - 0.5)
    terms = [
        ("edge", int(edge), int(other), float(word), float(problem.weights[edge]))
        for edge, other, word in zip(edges, others, says, strict=True)
    ]
    for a in np.flatnonzero(problem.anchors == node):
        terms.append(
            ("anchor", int(a), node, float(problem.anchor_targets[a]), float(problem.anchor_weights[a]))
        )
    prior = float(problem.prior_weights[node])
    terms.append(("prior", node, node, float(problem.prior_targets[node]), prior))
    weights = np.array([term[-1] for term in terms])
    total = float(weights.sum()) or 1.0
    return tuple(
        NeighbourPull(kind=kind, index=index, node=other, says=word, share=weight / total)
        for kind, index, other, word, weight in (terms[place] for place in _largest(weights, top))
    )
