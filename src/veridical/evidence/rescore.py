"""Ranking by relevance and trust: the paper's additive mix, and expected usefulness (the default)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

MARGIN = 0.05
"""A later document is believed unless it is trusted less than the earlier one by more than this."""

NEUTRAL = 0.5
"""Trust of a document of which nothing is known."""


def additive(relevance: npt.ArrayLike, trust: npt.ArrayLike, trust_weight: float = 0.6) -> FloatArray:
    """TrustPropRAG's mix, ``alpha trust + (1 - alpha) relevance`` (section "Trust-aware rescoring").

    Parameters
    ----------
    relevance
        Shape (p,): the retriever's numbers; scaled to [0, 1] by the pool's minimum and maximum (all equal:
        0).
    trust
        Shape (p,): in [0, 1]; NaN counts as 1/2.
    trust_weight
        The paper's alpha, in [0, 1].
    """
    numbers = np.asarray(relevance, dtype=np.float64)
    if numbers.size == 0:
        return numbers.copy()
    low, width = numbers.min(), np.ptp(numbers)
    scaled = (numbers - low) / width if width > 0 else np.zeros_like(numbers)
    result: FloatArray = trust_weight * _known(trust) + (1.0 - trust_weight) * scaled
    return result


@dataclass(frozen=True)
class RelevanceModel:
    """P(relevant) at even prior odds, from a cosine or from a retriever's number beside the pool's best.

    Attributes
    ----------
    cosine_slope, cosine_middle
        ``logit P = cosine_slope * (cosine - cosine_middle)``.
    ratio_slope, ratio_middle
        ``logit P = ratio_slope * (relevance / best - ratio_middle)``, for a pool without cosines.
    """

    cosine_slope: float
    cosine_middle: float
    ratio_slope: float
    ratio_middle: float

    def log_probability(
        self, relevance: npt.ArrayLike, similarity: npt.ArrayLike, *, dense: bool
    ) -> FloatArray:
        """Return ``log P(relevant)`` of each member of a pool, never rising along the retriever's order.

        Where the order is not the cosine's (BM25, hybrid), the cosines say how probable relevance is and the
        retriever in which order it falls: the probabilities are those nearest to the cosines' (least squares)
        that do not rise along the retriever's order. Every retriever is thereby on one scale, and equal trust
        leaves its order alone.

        Parameters
        ----------
        relevance
            Shape (p,): the retriever's numbers, descending.
        similarity
            Shape (p,): cosines, NaN where unknown.
        dense
            Whether ``relevance`` itself is the cosine.
        """
        numbers = np.asarray(relevance, dtype=np.float64)
        if dense:
            return _log_expit(self.cosine_slope * (numbers - self.cosine_middle))
        cosines = np.asarray(similarity, dtype=np.float64)
        known = ~np.isnan(cosines)
        if known.any():
            # What has no cosine is taken to be as far away as the farthest that has one.
            filled = np.where(known, cosines, cosines[known].min())
            logs = _log_expit(self.cosine_slope * (filled - self.cosine_middle))
            return np.log(falling(np.exp(logs)))
        best = float(numbers.max(initial=0.0))
        ratios = numbers / best if best > 0 else np.ones_like(numbers)
        return _log_expit(self.ratio_slope * (ratios - self.ratio_middle))


def falling(values: FloatArray) -> FloatArray:
    """Return the sequence nearest to ``values``, shape (p,), that never rises (pool adjacent violators)."""
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] <= mean:
            mean = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            size += sizes.pop()
            means.pop()
        means.append(mean)
        sizes.append(size)
    result: FloatArray = np.repeat(np.array(means, dtype=np.float64), np.array(sizes, dtype=np.int64))
    return result


def _log_expit(logits: FloatArray) -> FloatArray:
    result: FloatArray = -np.logaddexp(0.0, -logits)
    return result


@cache
def relevance_model() -> RelevanceModel:
    """Return the model that ships with the package (see ``evidence/relevance.md`` for how it was fitted)."""
    text = resources.files("veridical.evidence").joinpath("relevance.json").read_text(encoding="utf-8")
    fitted = json.loads(text)
    return RelevanceModel(**fitted["constants"])


def usefulness(log_relevant: npt.ArrayLike, trust: npt.ArrayLike, trust_weight: float = 0.5) -> FloatArray:
    """Log of expected usefulness: a passage is useful if it is relevant and reliable.

    Parameters
    ----------
    log_relevant
        Shape (p,): ``log P(relevant)``.
    trust
        Shape (p,): P(reliable); NaN counts as 1/2.
    trust_weight
        In [0, 1]: the sum is ``2 ((1 - w) log P(relevant) + w log P(reliable))``, the plain one at 1/2.
    """
    floor = np.finfo(np.float64).tiny
    reliable = np.log(np.maximum(_known(trust), floor))
    relevant = np.asarray(log_relevant, dtype=np.float64)
    result: FloatArray = 2.0 * ((1.0 - trust_weight) * relevant + trust_weight * reliable)
    return result


def is_neutral(trust: npt.ArrayLike) -> bool:
    """Whether trust tells no passage of the pool from another, so that plain retrieval has to stand."""
    values = _known(trust)
    return bool(values.size == 0 or (values == values[0]).all())


def behind_successors(
    utility: FloatArray, superseded: Sequence[int] | None, trust: npt.ArrayLike, *, believed: float = 0.3
) -> FloatArray:
    """Put each superseded passage right behind its successor.

    A date is believed only as far as its document is trusted: a successor of which nothing is known, with
    trust at or below ``believed``, or trusted less than the passage that it claims to replace, moves nothing.

    Parameters
    ----------
    utility
        Shape (p,).
    superseded
        Shape (p,): place of each passage's successor in the pool, -1 where it has none.
    trust
        Shape (p,): NaN is unknown.
    """
    if superseded is None:
        return utility
    successor = np.asarray(superseded, dtype=np.int64)
    unknown = np.isnan(np.asarray(trust, dtype=np.float64))
    values, result = _known(trust), utility.copy()
    for _ in range(len(result)):  # a chain settles in as many rounds as it is long; a circle ends here too
        moved = False
        for place in np.flatnonzero(successor >= 0):
            ahead = successor[place]
            doubted = unknown[ahead] or values[ahead] <= max(believed, values[place] - MARGIN)
            if ahead == place or doubted or result[place] < result[ahead]:
                continue
            result[place] = np.nextafter(result[ahead], -np.inf)
            moved = True
        if not moved:
            break
    return result


def _known(trust: npt.ArrayLike) -> FloatArray:
    values = np.asarray(trust, dtype=np.float64)
    result: FloatArray = np.where(np.isnan(values), NEUTRAL, values)
    return result
