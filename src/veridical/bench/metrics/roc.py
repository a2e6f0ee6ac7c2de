r"""How well a number tells true from false: the receiver operating characteristic and the area under it.

With :math:`x_i` the values of the :math:`n` true cases and :math:`y_j` those of the :math:`m` false ones,

.. math:: AUC = \frac{1}{nm} \sum_i \sum_j \left([x_i > y_j] + \tfrac{1}{2} [x_i = y_j]\right),

the probability that a true case drawn at random lies above a false one. Ties count half, so that it does not
depend on the order in which equal values stand; a sweep over thresholds whose points are then sorted does.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from veridical.bench.results import Interval

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def auc(low: npt.ArrayLike, high: npt.ArrayLike) -> float:
    """Probability that a draw of ``high`` is above one of ``low``, ties counting half.

    Parameters
    ----------
    low, high
        Shapes (m,) and (n,): values of the false and of the true cases.

    Returns
    -------
    float
        In [0, 1]; NaN where either is empty.
    """
    a, b = np.sort(np.asarray(low, dtype=float)), np.asarray(high, dtype=float)
    if not len(a) or not len(b):
        return float("nan")
    below = np.searchsorted(a, b, "left")
    ties = np.searchsorted(a, b, "right") - below
    return float((below + 0.5 * ties).mean() / len(a))


def curve(values: FloatArray, true: BoolArray) -> FloatArray:
    """The receiver operating characteristic of "above a threshold" for "true".

    Parameters
    ----------
    values, true
        Shape (n,) each.

    Returns
    -------
    numpy.ndarray
        Shape (p, 2): shares of the false and of the true cases above each threshold, from (0, 0) to (1, 1);
        one point where several cases have the same value. The area under it, by trapezoids, is `auc`. No
        rows where there are no cases of one kind.
    """
    n_true, n_false = int(true.sum()), int((~true).sum())
    if not n_true or not n_false:
        return np.empty((0, 2))
    order = np.argsort(-values, kind="stable")
    last = np.append(np.diff(values[order]) != 0, True)
    above_true = np.cumsum(true[order])[last] / n_true
    above_false = np.cumsum(~true[order])[last] / n_false
    return np.vstack([[0.0, 0.0], np.column_stack([above_false, above_true])])


def area(points: FloatArray) -> float:
    """The area under a curve of `curve`, by trapezoids; NaN where it has no points."""
    if not len(points):
        return float("nan")
    middle = (points[1:, 1] + points[:-1, 1]) / 2.0
    return float((np.diff(points[:, 0]) * middle).sum())


def auc_interval(
    scores: FloatArray,
    positive: BoolArray,
    clusters: Sequence[Hashable],
    *,
    n_draws: int = 1000,
    seed: int = 0,
) -> Interval:
    """AUC with its 95% interval by drawing whole questions.

    Parameters
    ----------
    scores, positive
        Shape (n,): what should be high where ``positive`` is set.
    clusters
        Question of each pair.
    n_draws, seed
        Of the bootstrap.
    """
    names: dict[Hashable, int] = {}
    own = np.array([names.setdefault(name, len(names)) for name in clusters], dtype=np.int64)
    value = auc(scores[~positive], scores[positive])
    if np.isnan(value):
        return Interval(value, value, value, 0)
    counts = np.random.default_rng(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), n_draws)
    levels, level = np.unique(scores, return_inverse=True)
    draws = []
    for count in counts:
        weight = count[own].astype(float)
        up = np.bincount(level, weight * positive, len(levels))
        down = np.bincount(level, weight * ~positive, len(levels))
        total = up.sum() * down.sum()
        if total:
            draws.append(float((up * (np.cumsum(down) - 0.5 * down)).sum() / total))
    low, high = np.percentile(draws, [2.5, 97.5])
    return Interval(value, float(low), float(high), len(names))
