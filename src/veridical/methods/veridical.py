"""Method ``veridical``, the default: sources as nodes, calibrated trust, ranking by expected usefulness."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from veridical.evidence.rescore import behind_successors, is_neutral, relevance_model, usefulness
from veridical.graph.arrays import Anchors, FloatArray, Graph
from veridical.methods.base import Candidates, TrustState
from veridical.trust.calibrate import MIN_JUDGED, Calibration, calibrate, judged_trust
from veridical.trust.loo import leave_one_out
from veridical.trust.problem import TrustProblem
from veridical.trust.solution import TrustSolution
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.weights import Assembled, WeightSettings, assemble

TRUST_WEIGHT = 0.5
_MAX_LEFT_OUT = 128  # judged documents that are left out one at a time, in closed form
_LEAVE_ONE_OUT_WORK = 1_000_000  # nodes times judged documents; beyond it they are left out by folds
_N_FOLDS = 5
_N_SHARED = 2  # how often dated contradictions are weighed again; more changes trust by less than .01


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

        A later document that contradicts an earlier one is its update, or a forgery with a later date. The
        contradiction counts by 1 - trust of the later document, which is itself what is looked for: the
        problem is solved with half of it, and again with what that says, `_N_SHARED` times in all. So a
        document that is found bad clears those that it claims to replace, whatever its date.
        """
        shares = np.full(len(graph.later), 0.5)
        state = self._believe(graph.contested(shares), anchors, warm_start)
        if state.neutral or not len(shares):
            return state
        for _ in range(_N_SHARED):
            trust = state.trust[graph.later]
            shares = 1.0 - np.where(np.isnan(trust), 0.5, trust)
            state = self._believe(graph.contested(shares), anchors, state.raw)
        return state

    def _believe(self, graph: Graph, anchors: Anchors, warm_start: FloatArray | None) -> TrustState:
        assembled = assemble(graph, anchors, self.settings)
        problem = assembled.problem
        solution = ConjugateGradient().solve(problem, initial=_start(problem, warm_start))
        raw = solution.values
        if len(anchors) == 0:
            unknown = np.full(problem.n_nodes, np.nan)
            return TrustState(raw, unknown, False, solution, problem, neutral=True)
        hearsay, calibration = _calibrate(graph, problem, solution, assembled)
        trust = calibration.trust(raw)
        judged = assembled.anchors
        own = judged_trust(calibration.logit(hearsay), judged.values, judged.weights)
        at = assembled.judgement >= 0  # a judgement is of all copies of its text
        trust[: graph.n_documents][at] = own[assembled.judgement[at]]
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
    graph: Graph, problem: TrustProblem, solution: TrustSolution, assembled: Assembled
) -> tuple[FloatArray, Calibration]:
    """Return what the graph alone says of each anchor (raw), and the calibration."""
    anchors = assembled.anchors
    hearsay = solution.values[anchors.documents]
    if problem.n_nodes * min(len(anchors), _MAX_LEFT_OUT) <= _LEAVE_ONE_OUT_WORK:
        looked = leave_one_out(problem, solution, max_nodes=_MAX_LEFT_OUT)
        place = np.full(problem.n_nodes, -1, dtype=np.int64)
        place[anchors.documents] = np.arange(len(anchors))
        chosen = place[looked.nodes]
        # Where there are too many to look at all, the rest keep their own echo: it can only agree with them.
        hearsay[chosen] = looked.predicted
    else:
        chosen = np.arange(len(anchors))
        hearsay = _left_out_in_folds(problem, solution, n_folds=_N_FOLDS)
    weights = assembled.balance * anchors.weights
    fitted = calibrate(hearsay[chosen], anchors.values[chosen], weights[chosen])
    n_judged = len(np.unique(graph.voices[anchors.documents]))
    return hearsay, Calibration(fitted.slope, n_judged)


def _left_out_in_folds(problem: TrustProblem, solution: TrustSolution, *, n_folds: int) -> FloatArray:
    """Predict each anchor from the anchors of the other folds: a few solves, however many anchors."""
    fold = np.random.default_rng(0).permutation(len(problem.anchors)) % n_folds
    predicted = np.empty(len(problem.anchors))
    for number in range(n_folds):
        kept, out = fold != number, fold == number
        rest = problem.with_anchors(
            problem.anchors[kept], problem.anchor_targets[kept], problem.anchor_weights[kept]
        )
        values = ConjugateGradient().solve(rest, initial=solution.values, tol=1e-4).values
        predicted[out] = values[problem.anchors[out]]
    return predicted


def _reached(problem: TrustProblem) -> npt.NDArray[np.bool_]:
    """Which nodes some judgement reaches over edges that count."""
    labels = problem.labels()
    reached = np.zeros(int(labels.max()) + 1, dtype=np.bool_)
    reached[labels[problem.anchors]] = True
    result: npt.NDArray[np.bool_] = reached[labels]
    return result


def _notes(calibration: Calibration, assembled: Assembled) -> tuple[str, ...]:
    notes = []
    if not calibration.calibrated:
        judged = calibration.n_judged
        notes.append(f"Uncalibrated: {judged} of at least {MIN_JUDGED} judged documents.")
    if np.isfinite(assembled.source_strength):
        notes.append(f"A source's prior is worth {assembled.source_strength:.1f} judgements.")
    return tuple(notes)
