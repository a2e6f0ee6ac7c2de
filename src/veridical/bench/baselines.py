"""Baselines that are no methods of the package: feedback that is not propagated."""

from __future__ import annotations

import numpy as np

from veridical.evidence.rescore import additive
from veridical.graph.arrays import Anchors, FloatArray, Graph
from veridical.methods.base import Candidates, TrustState
from veridical.methods.trustprop import TARGET_BAD, TARGET_GOOD, TRUST_WEIGHT
from veridical.trust.problem import TrustProblem
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient


class NoPropagation:
    """Judged documents have the paper's targets as trust, all others 1/2; rescored as in the paper.

    Stands for the paper's ablation "trivial feedback", whose boost it does not state.
    """

    name = "no propagation"

    def believe(self, graph: Graph, anchors: Anchors, *, warm_start: FloatArray | None = None) -> TrustState:
        """Take the judgements as they are; see `Method.believe`."""
        del warm_start
        problem = TrustProblem(
            n_nodes=graph.n_nodes,
            anchors=anchors.documents,
            anchor_targets=TARGET_BAD + (TARGET_GOOD - TARGET_BAD) * anchors.values,
        )
        solution = ConjugateGradient().solve(problem)
        trust = np.array(solution.values)
        return TrustState(trust, trust, False, solution, problem)

    def rank(self, candidates: Candidates, *, trust_weight: float | None = None) -> FloatArray:
        """Mix additively; see `Method.rank`."""
        weight = TRUST_WEIGHT if trust_weight is None else trust_weight
        return additive(candidates.relevance, candidates.trust, weight)
