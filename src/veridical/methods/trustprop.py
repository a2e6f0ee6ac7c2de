"""Method ``trustprop``: TrustPropRAG as published (arXiv 2609.00543)."""

from __future__ import annotations

import numpy as np

from veridical.errors import InputError
from veridical.evidence.rescore import additive
from veridical.graph.arrays import Anchors, FloatArray, Graph
from veridical.methods.base import Candidates, TrustState
from veridical.trust.problem import TrustProblem
from veridical.trust.solvers.projected_gradient import ProjectedGradient

TARGET_GOOD, TARGET_BAD = 0.9, 0.1
TRUST_WEIGHT = 0.6
MAX_SOURCE_PAIRS = 3_000_000  # about 20 seconds and 0.5 GB


class TrustProp:
    """The paper's problem, initialisation, step, stop, targets and rescoring, and nothing else.

    Documents of one source are joined pairwise by supporting edges of weight 1 (the paper is silent on the
    weight); a contradiction counts whatever the dates. Feedback of grade ``v`` has target ``.1 + .8 v`` and
    weight 1. Projected gradient from the paper's initial trust with step .01 runs until the loss changes by
    less than 1e-6, for at most 1,000 steps; on large sources it may diverge, as the published system does,
    and the state says so. Trust is not calibrated.
    """

    name = "trustprop"

    def believe(self, graph: Graph, anchors: Anchors, *, warm_start: FloatArray | None = None) -> TrustState:
        """Solve for trust; see `Method.believe`. The paper starts afresh, so ``warm_start`` is not used."""
        del warm_start
        n = graph.n_documents
        heads, tails = same_source_pairs(graph.source_of)
        # The paper knows no dates: a later statement against an earlier one is a contradiction.
        signs = [graph.signs, -np.ones(len(graph.later)), np.ones(len(heads))]
        problem = TrustProblem(
            n_nodes=n,
            heads=np.concatenate([graph.heads, graph.later, heads]),
            tails=np.concatenate([graph.tails, graph.earlier, tails]),
            signs=np.concatenate(signs).astype(np.int8),
            weights=np.concatenate([graph.weights, graph.supersede_weights, np.ones(len(heads))]),
            anchors=anchors.documents,
            anchor_targets=TARGET_BAD + (TARGET_GOOD - TARGET_BAD) * anchors.values,
        )
        solution = ProjectedGradient().solve(problem)
        everything = np.full(graph.n_nodes, np.nan)
        everything[:n] = solution.values
        notes = () if solution.converged else (f"The projected gradient ended as '{solution.status}'.",)
        return TrustState(
            raw=everything,
            trust=everything.copy(),
            calibrated=False,
            solution=solution,
            problem=problem,
            notes=notes,
        )

    def rank(self, candidates: Candidates, *, trust_weight: float | None = None) -> FloatArray:
        """Mix trust and relevance additively, ``trust_weight`` .6 by default; see `Method.rank`."""
        weight = TRUST_WEIGHT if trust_weight is None else trust_weight
        if weight == 0.0:
            return candidates.relevance.copy()
        return additive(candidates.relevance, candidates.trust, weight)


def same_source_pairs(source_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every pair of documents with the same source, heads before tails; -1 is no source.

    Raises
    ------
    InputError
        There are more than ``MAX_SOURCE_PAIRS``: the published method does not scale to such sources.
    """
    _, sizes = np.unique(source_of[source_of >= 0], return_counts=True)
    n_pairs = int((sizes * (sizes - 1) // 2).sum())
    if n_pairs > MAX_SOURCE_PAIRS:
        raise InputError(
            f"Method trustprop joins every two documents of a source, here {n_pairs:,} pairs; "
            f"its limit is {MAX_SOURCE_PAIRS:,}.",
            "Use method veridical, in which a source is one node.",
        )
    heads, tails = [], []
    order = np.argsort(source_of, kind="stable")
    bounds = np.flatnonzero(np.diff(source_of[order])) + 1
    for group in np.split(order, bounds):
        if len(group) < 2 or source_of[group[0]] < 0:
            continue
        first, second = np.triu_indices(len(group), k=1)
        heads.append(group[first])
        tails.append(group[second])
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *heads]), np.concatenate([none, *tails])
