r"""Whether two systems differ on the same questions, over many comparisons, and by how little.

All tests are paired: :math:`d_i` is a metric of one system minus that of the other on question :math:`i`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from veridical.bench.results import Bootstrap, Interval
from veridical.errors import InputError

FloatArray = npt.NDArray[np.float64]

N_FLIPS = 9999
_CHUNK = 1000


def paired_difference(
    first: npt.ArrayLike, second: npt.ArrayLike, questions: Sequence[Hashable] | None = None, *, seed: int = 0
) -> Interval:
    """The mean of ``first - second`` with its 95% bootstrap interval.

    Whole questions are drawn, with all their observations, so that a question asked under several seeds is
    not counted as several.

    Parameters
    ----------
    first, second
        Shape (n,): a metric of two systems, observation by observation.
    questions
        The question of each observation; each its own without them.
    seed
        Of the draws.

    Raises
    ------
    InputError
        The shapes differ.
    """
    gaps = _gaps(first, second)
    clusters = range(len(gaps)) if questions is None else questions
    return Bootstrap(clusters, n_draws=2000, seed=seed).mean(gaps)


def sign_flip(gaps: npt.ArrayLike, *, n_flips: int = N_FLIPS, seed: int = 0) -> float:
    r"""The two-sided p of paired differences, by random sign flips.

    If the systems are alike, each difference could as well have the other sign:

    .. math:: p = \frac{1 + \#\{s : |\sum_i s_i d_i| \ge |\sum_i d_i|\}}{1 + B}

    over ``B = n_flips`` random sign patterns :math:`s`, counting the one observed (Fisher's randomisation
    test). Differences of 0 change nothing and are left out.

    Parameters
    ----------
    gaps
        Shape (n,): one difference a question.

    Returns
    -------
    float
        In (0, 1]; 1 where nothing differs.
    """
    found = np.asarray(gaps, dtype=np.float64)
    found = found[found != 0.0]
    if not len(found):
        return 1.0
    rng = np.random.default_rng(seed)
    seen = abs(found.sum()) - 1e-9  # equal sums may differ in their last digits
    n_far = 0
    for begin in range(0, n_flips, _CHUNK):
        signs = rng.choice((-1.0, 1.0), size=(min(_CHUNK, n_flips - begin), len(found)))
        n_far += int((np.abs(signs @ found) >= seen).sum())
    return (n_far + 1) / (n_flips + 1)


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    r"""The exact two-sided p of McNemar's test, for metrics that are 0 or 1.

    Of the :math:`b + c` questions that exactly one of two systems gets right, each is as likely to be the
    one's as the other's if they are alike: :math:`p` is that of :math:`b` under
    :math:`\mathrm{Binomial}(b + c, 1/2)`.

    Returns
    -------
    float
        In (0, 1]; 1 where they never differ.

    Raises
    ------
    InputError
        The shapes differ, or a value is neither 0 nor 1.
    """
    from scipy.stats import binomtest

    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    gaps = _gaps(one, other)
    if not np.isin(one, (0.0, 1.0)).all() or not np.isin(other, (0.0, 1.0)).all():
        raise InputError("McNemar's test takes values of 0 and 1.", "Use sign_flip for others.")
    n_first, n_second = int((gaps > 0).sum()), int((gaps < 0).sum())
    if n_first + n_second == 0:
        return 1.0
    return float(binomtest(n_first, n_first + n_second, 0.5).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    r"""Adjust p values by Holm's step-down method.

    With :math:`p_{(1)} \le \dots \le p_{(m)}`, the adjusted :math:`p_{(k)}` is
    :math:`\max_{j \le k} \min(1, (m - j + 1)\, p_{(j)})`: those below a level may all be called significant,
    with at most that probability of one being so by chance. NaN stays NaN and does not count.
    """
    known = [place for place, p in enumerate(p_values) if not math.isnan(p)]
    found = list(p_values)
    most = 0.0
    for rank, place in enumerate(sorted(known, key=lambda at: p_values[at])):
        most = max(most, min(1.0, (len(known) - rank) * p_values[place]))
        found[place] = most
    return found


def non_inferior(difference: Interval, margin: float) -> bool:
    """Whether a system is worse by less than a margin: the whole interval lies above ``-margin``.

    Parameters
    ----------
    difference
        The system minus the one it is compared with, with its interval, in a metric where more is better.
    margin
        Above 0, fixed before the data were seen.

    Raises
    ------
    InputError
        The margin is not above 0.
    """
    if not margin > 0.0:
        raise InputError(f"The margin of a test for non-inferiority is {margin}.", "Pass one above 0.")
    return difference.low > -margin


def _gaps(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"Two rows of one length are wanted, not shapes {one.shape} and {other.shape}.")
    return one - other
