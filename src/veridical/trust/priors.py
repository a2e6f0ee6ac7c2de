"""What to expect before the graph is looked at: how feedback was sampled, and how much sources differ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# Candidates for a source's prior strength, and the belief about it: one or two judgements do not yet
# condemn a source of which nothing else is known.
_STRENGTHS = np.geomspace(0.1, 50.0, 28)
_USUAL_STRENGTH = 2.0
_LOG_SPREAD = 0.7


def class_weights(values: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    r"""Weigh judgements so that good and bad ones speak with one voice in total.

    Feedback is a case-control sample: people report what strikes them, so the share of bad judgements says
    how people report and not how much of the corpus is bad. Only the contrast between good and bad is
    informative, which is what balanced weights keep. They also make 1/2 the neutral point: trust is the
    probability of being reliable at even prior odds, so a document of which nothing is known has trust 1/2.

    Parameters
    ----------
    values
        Shape (f,): grades in [0, 1].
    weights
        Shape (f,): rater weights > 0.

    Returns
    -------
    numpy.ndarray
        Shape (f,): ``v / (2 p) + (1 - v) / (2 (1 - p))`` where ``p`` is the share of good judgements, shrunk
        by one imagined judgement of each kind, so that one-sided feedback stays finite.
    """
    grades, amounts = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    good = float(grades @ amounts)
    share = (good + 1.0) / (float(amounts.sum()) + 2.0)
    result: FloatArray = grades * 0.5 / share + (1.0 - grades) * 0.5 / (1.0 - share)
    return result


def source_strength(good: npt.ArrayLike, bad: npt.ArrayLike) -> float:
    r"""Estimate how strongly a source is held to neutral, in units of judgements (empirical Bayes).

    The reliability of a source is taken as Beta(k/2, k/2); with ``g`` good and ``b`` bad judgements its mean
    is ``(g + k/2) / (g + b + k)``. Where sources differ as night and day, ``k`` is small and one judgement
    says much; where every source is the same mixture, ``k`` is large and sources say nothing, however many
    judgements there are. ``k`` maximises the beta-binomial likelihood of all sources times a log-normal prior
    about 2.

    Parameters
    ----------
    good, bad
        Shape (n_sources,): balanced weight of the judgements of each kind; sources without any may be left
        in.

    Returns
    -------
    float
        ``k`` in [0.1, 50].
    """
    from scipy.special import betaln

    g, b = np.asarray(good, dtype=np.float64), np.asarray(bad, dtype=np.float64)
    seen = g + b > 0
    half = _STRENGTHS[:, None] / 2.0
    likelihood = (betaln(g[seen] + half, b[seen] + half) - betaln(half, half)).sum(axis=1)
    posterior = likelihood - 0.5 * (np.log(_STRENGTHS / _USUAL_STRENGTH) / _LOG_SPREAD) ** 2
    return peak(_STRENGTHS, posterior)


def peak(grid: FloatArray, height: FloatArray) -> float:
    """Return where a smooth curve is highest, from its values on a geometric grid.

    A parabola through the best point and its neighbours gives the place between grid points, so that a little
    more evidence moves it a little.
    """
    top = int(np.argmax(height))
    if top in (0, len(grid) - 1):
        return float(grid[top])
    left, middle, right = height[top - 1 : top + 2]
    bend = left - 2.0 * middle + right
    shift = 0.5 * (left - right) / bend if bend < 0 else 0.0
    return float(grid[top] * (grid[top + 1] / grid[top]) ** shift)


def relation_reliability(
    agreement: npt.ArrayLike, weights: npt.ArrayLike, *, prior: float = 0.5, strength: float = 4.0
) -> float:
    """Estimate from judged pairs how far relations of one kind can be relied on, in [0, 1].

    With balanced weights two documents agree by chance half the time, so a share ``a`` of agreement is worth
    ``2 a - 1``: 1 where such relations always hold, 0 where they are no better than chance (or worse).

    Parameters
    ----------
    agreement
        Shape (p,): for each related pair of judged documents how far the judgements bear the relation out,
        in [0, 1].
    weights
        Shape (p,): balanced weight of each pair.
    prior
        Reliability before any pair is seen.
    strength
        How many pairs the prior is worth.
    """
    agrees, amounts = np.asarray(agreement, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    expected = 0.5 * (1.0 + prior)
    share = (float(agrees @ amounts) + strength * expected) / (float(amounts.sum()) + strength)
    return min(max(2.0 * share - 1.0, 0.0), 1.0)
