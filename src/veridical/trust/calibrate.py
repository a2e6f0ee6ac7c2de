"""From the solver's raw values to trust as a probability, calibrated on the judged documents themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.trust.priors import peak

FloatArray = npt.NDArray[np.float64]

MIN_JUDGED = 10
"""With fewer judged documents trust is shown as uncalibrated."""

HIGH, LOW = 0.7, 0.3
"""Bounds of the labels, both inclusive (TrustPropRAG, prompt)."""

_EDGE = 0.02  # raw values are kept this far from 0 and 1: no graph is worth more than odds of 49 to 1
_SLOPES = np.geomspace(0.05, 8.0, 60)
_LOG_SPREAD = 0.7
_JUDGED_LOGIT = float(np.log(0.99 / 0.01))
_HEARSAY_LOGIT = 2.0
_CLASH_RATE = 0.25  # of an exponential prior: a few judgements do not yet say which side of a clash is wrong
_MOST_CLASH = 20.0


@dataclass(frozen=True)
class Calibration:
    """How raw values become trust: ``logit(trust) = slope * logit(raw) - clash * outright``.

    ``outright`` is how much more outright a document answers than the one that contradicts it most surely
    (`veridical.trust.clashes`). There is no intercept on purpose: 1/2 stays 1/2 where nobody contradicts, so
    that what is not known stays neutral.

    Attributes
    ----------
    slope
        > 1 stretches values that the graph has squashed towards 1/2, < 1 tempers those that it overstates.
    n_judged
        Judged documents it was fitted on.
    clash
        In [0, 20]: how much that counts against a document by itself, as far as judgements bear it out.
    """

    slope: float = 1.0
    n_judged: int = 0
    clash: float = 0.0

    @property
    def calibrated(self) -> bool:
        """Whether there were enough judged documents."""
        return self.n_judged >= MIN_JUDGED

    def logit(self, raw: npt.ArrayLike, outright: npt.ArrayLike = 0.0) -> FloatArray:
        """Return log-odds of being reliable, at even prior odds, same shape as ``raw``.

        Parameters
        ----------
        raw
            In [0, 1].
        outright
            The same shape, in [-1/8, 1/8].
        """
        stands_out = self.clash * np.asarray(outright, dtype=np.float64)
        return self.slope * _logit(np.asarray(raw, dtype=np.float64)) - stands_out

    def trust(self, raw: npt.ArrayLike, outright: npt.ArrayLike = 0.0) -> FloatArray:
        """Return trust in [0, 1], same shape as ``raw``; see `logit`."""
        return _expit(self.logit(raw, outright))


def calibrate(
    left_out: npt.ArrayLike,
    values: npt.ArrayLike,
    weights: npt.ArrayLike,
    outright: npt.ArrayLike | None = None,
) -> Calibration:
    r"""Fit on what the graph says of each judged document when its own judgement is left out.

    The slope maximises the balanced log-likelihood of the judgements given ``slope * logit(left_out)`` (Platt
    scaling without intercept) times a log-normal prior about 1, so that few judgements change little. What
    answering outright says by itself is fitted after it, with an exponential prior: it is exactly 0 until the
    more outright of documents that clash have been judged bad more often than the graph explains, and it
    never speaks for them.

    Parameters
    ----------
    left_out
        Shape (f,): raw value of each judged document without its own judgement, in [0, 1].
    values
        Shape (f,): judgements in [0, 1].
    weights
        Shape (f,): balanced weights (`veridical.trust.priors.class_weights` times rater weights).
    outright
        Shape (f,), in [-1/8, 1/8]: how much more outright each answers than the one that contradicts it most
        surely; ``None``: 0.
    """
    z = _logit(np.asarray(left_out, dtype=np.float64))
    grades, amounts = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    logits = _SLOPES[:, None] * z
    likelihood = -(amounts * (grades * np.logaddexp(0.0, -logits) + (1 - grades) * np.logaddexp(0.0, logits)))
    posterior = likelihood.sum(axis=1) - 0.5 * (np.log(_SLOPES) / _LOG_SPREAD) ** 2
    slope = peak(_SLOPES, posterior)
    clash = 0.0
    if outright is not None:
        clash = _clash_weight(slope * z, grades, amounts, np.asarray(outright, dtype=np.float64))
    return Calibration(slope, len(z), clash)


def _clash_weight(logits: FloatArray, grades: FloatArray, amounts: FloatArray, x: FloatArray) -> float:
    """Maximise the likelihood given ``logits - b x`` times ``exp(-rate b)`` over b in [0, 20].

    The logarithm of the posterior is concave in b, so that its slope changes sign once at most: by halving.
    """

    def rises(b: float) -> bool:
        return float((amounts * x) @ (_expit(logits - b * x) - grades)) > _CLASH_RATE

    if not rises(0.0):
        return 0.0
    low, high = 0.0, _MOST_CLASH
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rises(middle) else (low, middle)
    return low


def judged_trust(hearsay: npt.ArrayLike, values: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """Trust of judged documents: the judgement, and a little of what the graph says.

    A judgement is right in 99 of 100 cases; judges who disagree cancel out. What the graph says counts for at
    most odds of about 7 to 1, and so never overturns a clear judgement of full weight.

    Parameters
    ----------
    hearsay
        Shape (f,): calibrated log-odds by the graph without the document's own judgement.
    values
        Shape (f,): averaged grades in [0, 1].
    weights
        Shape (f,): total rater weight > 0; above 1 it counts as 1, since raters share their mistakes.
    """
    said = np.clip(np.asarray(hearsay, dtype=np.float64), -_HEARSAY_LOGIT, _HEARSAY_LOGIT)
    grades = 2.0 * np.asarray(values, dtype=np.float64) - 1.0
    sure = np.minimum(np.asarray(weights, dtype=np.float64), 1.0)
    return _expit(said + _JUDGED_LOGIT * sure * grades)


def label(trust: float) -> str:
    """Return HIGH (>= .7), LOW (<= .3) or MEDIUM."""
    return "HIGH" if trust >= HIGH else "LOW" if trust <= LOW else "MEDIUM"


def _logit(p: FloatArray) -> FloatArray:
    inside = np.clip(p, _EDGE, 1.0 - _EDGE)
    result: FloatArray = np.log(inside) - np.log1p(-inside)
    return result


def _expit(x: FloatArray) -> FloatArray:
    result: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * x))
    return result
