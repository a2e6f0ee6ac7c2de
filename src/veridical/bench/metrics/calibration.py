"""How well probabilities hold, and what is gained by not answering where they are low."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """The loss of those answers that are given, as fewer and fewer are withheld.

    Attributes
    ----------
    coverage
        Shape (n,): 1/n, 2/n ... 1, the share of questions that are answered.
    risk
        Shape (n,): mean loss of the answers given at that coverage.
    """

    coverage: FloatArray
    risk: FloatArray

    @property
    def area(self) -> float:
        """Area under the curve (AURC): the mean risk over all coverages; NaN without questions."""
        return float(self.risk.mean()) if len(self.risk) else math.nan

    def at(self, coverage: float) -> float:
        """Return the risk when at least this share of the questions is answered; NaN without questions."""
        place = int(np.searchsorted(self.coverage, coverage - 1e-9))
        return float(self.risk[min(place, len(self.risk) - 1)]) if len(self.risk) else math.nan


def risk_coverage(confidence: npt.ArrayLike, loss: npt.ArrayLike) -> RiskCoverage:
    """Answer the surest questions first.

    Answers of equal confidence come in random order, so each of them counts with their mean loss: the curve
    does not depend on the order in which questions are given.

    Parameters
    ----------
    confidence
        Shape (n,): any number that grows with how sure an answer is.
    loss
        Shape (n,): what an answer costs, such as 1 if it is wrong and 0 if it is right.

    Raises
    ------
    InputError
        The shapes differ, or a number is NaN.
    """
    sure, cost = _pair(confidence, loss)
    levels, group = np.unique(-sure, return_inverse=True)
    sizes = np.bincount(group, minlength=len(levels))
    means = np.bincount(group, cost, minlength=len(levels)) / np.maximum(sizes, 1)
    steps = np.arange(1, len(cost) + 1, dtype=np.float64)
    return RiskCoverage(steps / max(len(cost), 1), np.cumsum(np.repeat(means, sizes)) / steps)


def calibration_error(probability: npt.ArrayLike, right: npt.ArrayLike, *, n_bins: int = 10) -> float:
    r"""Expected calibration error, in [0, 1]: how far probabilities lie from what they stand for.

    .. math:: ECE = \sum_b \frac{n_b}{n} \left|\bar p_b - \bar y_b\right|

    The mean over bins of equal width, weighted by how many answers fall into each, of the distance between
    the mean probability and the share that is right. NaN without answers.

    Parameters
    ----------
    probability
        Shape (n,): in [0, 1].
    right
        Shape (n,): 1 if right, 0 if wrong, or a grade between.
    n_bins
        At least 1.

    Raises
    ------
    InputError
        The shapes differ, a number is NaN, a probability lies outside [0, 1], or there is no bin.
    """
    said, true = _pair(probability, right)
    if n_bins < 1 or (said < 0).any() or (said > 1).any():
        raise InputError("Calibration needs probabilities from 0 to 1, and at least one bin.")
    if not len(said):
        return math.nan
    bins = np.minimum((said * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.abs(np.bincount(bins, said - true, n_bins))
    return float(gaps.sum() / len(said))


@dataclass(frozen=True)
class Abstention:
    """What withholding answers did.

    Attributes
    ----------
    coverage
        Share of the questions that were answered.
    accuracy
        Share right of those that were answered; NaN if none was.
    withheld_right
        Share of the answers withheld that were right; NaN if none was withheld.
    """

    coverage: float
    accuracy: float
    withheld_right: float


def abstention(answered: npt.ArrayLike, right: npt.ArrayLike) -> Abstention:
    """Compare the answers that were given with those that were withheld.

    Parameters
    ----------
    answered
        Shape (n,): whether each question was answered.
    right
        Shape (n,): 1 if its answer, given or withheld, is right; 0 if not, or a grade between.

    Raises
    ------
    InputError
        The shapes differ, or a number is NaN.
    """
    given, true = _pair(answered, right)
    shown = given > 0
    return Abstention(_mean(shown.astype(np.float64)), _mean(true[shown]), _mean(true[~shown]))


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else math.nan


def _pair(left: npt.ArrayLike, right: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(f"Two rows of one length are wanted, not shapes {first.shape} and {second.shape}.")
    if np.isnan(first).any() or np.isnan(second).any():
        raise InputError("A number is missing (NaN).", "Leave out questions that have none.")
    return first, second
