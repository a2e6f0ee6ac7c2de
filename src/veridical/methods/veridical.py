"""Method ``veridical``, the default: sources as nodes, calibrated trust, ranking by expected usefulness."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from veridical.evidence.rescore import behind_successors, is_neutral, relevance_model, usefulness
from veridical.graph.arrays import Anchors, FloatArray, Graph, IntArray
from veridical.methods.base import Candidates, TrustState
from veridical.trust import clashes
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
_N_SHARED = (
    4  # how often dated contradictions are weighed again; more moves 99 of 100 documents less than .01
)


@dataclass(frozen=True)
class _Heard:
    """What the graph alone says of each judged document (raw values, shape (f,)), and the calibration."""

    raw: FloatArray
    calibration: Calibration


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
        no judgement reaches have NaN, unless they clash with others and the judgements show which side of a
        clash is the wrong one more often (`Calibration.clash`).

        A later document that contradicts an earlier one is its update, or a forgery with a later date. The
        contradiction counts by 1 - trust of the later document, which is itself what is looked for: the
        problem is solved with half of it, and again with what that says, `_N_SHARED` times. So a document
        that is found bad clears those that it claims to replace, whatever its date.
        """
        shares, start, heard = np.full(len(graph.later), 0.5), warm_start, None
        if len(anchors) and len(shares):
            for _ in range(_N_SHARED):
                state, heard = self._believe(graph.contested(shares), anchors, start, heard)
                trust, start = state.trust[graph.later], state.raw
                shares = 1.0 - np.where(np.isnan(trust), 0.5, trust)
        return self._believe(graph.contested(shares), anchors, start)[0]

    def _believe(
        self, graph: Graph, anchors: Anchors, warm_start: FloatArray | None, heard: _Heard | None = None
    ) -> tuple[TrustState, _Heard | None]:
        """Solve for trust, calibrated anew, or as it was in ``heard``."""
        assembled = assemble(graph, anchors, self.settings)
        problem = assembled.problem
        solution = ConjugateGradient().solve(problem, initial=_start(problem, warm_start))
        raw = solution.values
        if len(anchors) == 0:
            unknown = np.full(problem.n_nodes, np.nan)
            return TrustState(raw, unknown, False, solution, problem, neutral=True), None
        outright = clashes.outrightness(graph)
        heard = heard or _hear(graph, problem, solution, assembled, outright)
        calibration = heard.calibration
        trust = calibration.trust(raw, outright)
        judged = assembled.anchors
        said = calibration.logit(heard.raw, outright[judged.documents])
        own = judged_trust(said, judged.values, judged.weights)
        at = assembled.judgement >= 0  # a judgement is of all copies of its text
        trust[: graph.n_documents][at] = own[assembled.judgement[at]]
        trust[~_reached(problem) & (calibration.clash * outright == 0.0)] = np.nan
        notes = _notes(calibration, assembled)
        return TrustState(raw, trust, calibration.calibrated, solution, problem, notes=notes), heard

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


def _hear(
    graph: Graph,
    problem: TrustProblem,
    solution: TrustSolution,
    assembled: Assembled,
    outright: FloatArray,
) -> _Heard:
    """Leave out each judgement in turn, and calibrate on what the graph says without it."""
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
        hearsay = _left_out_in_folds(problem, solution, np.arange(len(anchors)))
    _, voice, sizes = np.unique(graph.voices[anchors.documents], return_inverse=True, return_counts=True)
    echoed = sizes[voice] > 1
    if echoed.any():  # near-copies that are judged, too, would tell each other's judgement
        hearsay[echoed] = _left_out_in_folds(problem, solution, np.where(echoed, voice, -1))[echoed]
    weights = assembled.balance * anchors.weights
    at = anchors.documents[chosen]
    fitted = calibrate(hearsay[chosen], anchors.values[chosen], weights[chosen], outright[at])
    return _Heard(hearsay, replace(fitted, n_judged=len(sizes)))


def _left_out_in_folds(problem: TrustProblem, solution: TrustSolution, groups: IntArray) -> FloatArray:
    """Predict each anchor from those of the other folds: a few solves, however many anchors.

    Parameters
    ----------
    groups
        Shape (f,): anchors of one group are in one fold; those of group -1 always stay, and have NaN.
    """
    names = np.unique(groups[groups >= 0])
    fold_of = np.full(int(groups.max()) + 1, -1, dtype=np.int64)
    fold_of[names] = np.random.default_rng(0).permutation(len(names)) % _N_FOLDS
    fold = np.where(groups >= 0, fold_of[groups], -1)
    predicted = np.full(len(problem.anchors), np.nan)
    for number in range(_N_FOLDS):
        out = fold == number
        if not out.any():
            continue
        rest = problem.with_anchors(
            problem.anchors[~out], problem.anchor_targets[~out], problem.anchor_weights[~out]
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
    if calibration.clash > 0.0:
        odds = float(np.exp(clashes.MOST * calibration.clash))
        notes.append(
            "Where documents clash, those that answer more outright were found bad more often: by itself "
            f"that is worth odds of up to {odds:.1f} to 1."
        )
    if np.isfinite(assembled.source_strength):
        notes.append(f"A source's prior is worth {assembled.source_strength:.1f} judgements.")
    return tuple(notes)
