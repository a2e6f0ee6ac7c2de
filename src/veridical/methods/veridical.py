"""Method ``veridical``, the default: sources as nodes, calibrated trust, ranking by expected usefulness."""

from __future__ import annotations

import numpy as np

from veridical.evidence.rescore import behind_successors, is_neutral, relevance_model, usefulness
from veridical.graph.arrays import Anchors, FloatArray, Graph
from veridical.methods.base import Candidates, TrustState
from veridical.trust.calibrate import MIN_JUDGED, Calibration, calibrate, judged_trust, left_out_values
from veridical.trust.problem import TrustProblem
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.weights import Assembled, WeightSettings, assemble

TRUST_WEIGHT = 0.5
_MAX_CALIBRATION = 128  # judged documents that calibration looks at
_CALIBRATION_WORK = 10_000_000  # nodes times judged documents, so that a large graph stays quick


class Veridical:
    """The default method; its parts and their reasons are in `veridical.trust.weights` and `calibrate`.

    Parameters
    ----------
    settings
        Weights of the trust problem.
    """

    name = "veridical"

    def __init__(self, settings: WeightSettings | None = None) -> None:
        self.settings = settings or WeightSettings()

    def believe(self, graph: Graph, anchors: Anchors, *, warm_start: FloatArray | None = None) -> TrustState:
        """Solve for trust; see `Method.believe`.

        Trust is the probability of being reliable at even prior odds: 1/2 says nothing either way. Nodes that
        no judgement reaches have NaN.
        """
        assembled = assemble(graph, anchors, self.settings)
        problem = assembled.problem
        solution = ConjugateGradient().solve(problem, initial=_start(problem, warm_start))
        raw = solution.values
        if len(anchors) == 0:
            unknown = np.full(problem.n_nodes, np.nan)
            return TrustState(raw, unknown, False, solution, problem, neutral=True)
        left_out, calibration = _calibrate(problem, raw, anchors, assembled)
        trust = calibration.trust(raw)
        hearsay = np.where(np.isnan(left_out), raw[anchors.documents], left_out)
        trust[anchors.documents] = judged_trust(calibration.logit(hearsay), anchors.values, anchors.weights)
        trust[~_reached(problem)] = np.nan
        return TrustState(
            raw, trust, calibration.calibrated, solution, problem, notes=_notes(calibration, assembled)
        )

    def rank(self, candidates: Candidates, *, trust_weight: float | None = None) -> FloatArray:
        """Rank by log P(relevant) + log P(reliable); see `Method.rank`.

        Where trust tells the passages of the pool apart by nothing, or has no weight, the retriever's own
        numbers come back untouched. ``trust_weight`` 1/2 is the default, 1 is trust alone.
        """
        weight = TRUST_WEIGHT if trust_weight is None else trust_weight
        if weight == 0.0 or is_neutral(candidates.trust):
            return candidates.relevance.copy()
        relevant = relevance_model().log_probability(
            candidates.relevance, candidates.similarity, dense=candidates.retriever == "dense"
        )
        utility = usefulness(relevant, candidates.trust, weight)
        return behind_successors(utility, candidates.superseded, candidates.trust)


def _start(problem: TrustProblem, warm_start: FloatArray | None) -> FloatArray | None:
    if warm_start is None or warm_start.shape != (problem.n_nodes,) or not np.isfinite(warm_start).all():
        return None
    return warm_start


def _calibrate(
    problem: TrustProblem, raw: FloatArray, anchors: Anchors, assembled: Assembled
) -> tuple[FloatArray, Calibration]:
    """Return the left-out value of each anchor (NaN where it was not looked at), and the calibration."""
    n = len(anchors)
    budget = min(_MAX_CALIBRATION, max(32, _CALIBRATION_WORK // problem.n_nodes))
    chosen = np.unique(np.linspace(0, n - 1, min(n, budget)).round().astype(np.int64))
    left_out = np.full(n, np.nan)
    left_out[chosen] = left_out_values(problem, raw, chosen)
    weights = assembled.balance * anchors.weights
    fitted = calibrate(left_out[chosen], anchors.values[chosen], weights[chosen])
    return left_out, Calibration(fitted.slope, n)


def _reached(problem: TrustProblem) -> np.ndarray:
    """Which nodes some judgement reaches over edges that count."""
    labels = problem.components().labels
    reached = np.zeros(int(labels.max()) + 1, dtype=np.bool_)
    reached[labels[problem.anchors]] = True
    result: np.ndarray = reached[labels]
    return result


def _notes(calibration: Calibration, assembled: Assembled) -> tuple[str, ...]:
    notes = []
    if not calibration.calibrated:
        judged = calibration.n_judged
        notes.append(f"Uncalibrated: {judged} of at least {MIN_JUDGED} judged documents.")
    if np.isfinite(assembled.source_strength):
        notes.append(f"A source's prior is worth {assembled.source_strength:.1f} judgements.")
    return tuple(notes)
