"""Paired comparison of two systems on the same questions, and correction for many comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from veridical.bench.results import Bootstrap, Interval

FloatArray = npt.NDArray[np.float64]
Values = Mapping[tuple[str, int], float]
"""A metric by question and seed."""

N_DRAWS = 2000
N_FLIPS = 9999


@dataclass(frozen=True)
class Paired:
    """One system minus another.

    Attributes
    ----------
    difference, low, high
        The mean over questions, with its 95% bootstrap interval; NaN where they share no question.
    p
        Two-sided, of the sign-flip test; 1 where they never differ.
    n
        Questions.
    """

    difference: float
    low: float
    high: float
    p: float
    n: int


def mean(values: Values) -> Interval:
    """Average with a 95% interval; whole questions are drawn, with all their seeds."""
    keys = sorted(values)
    return _bootstrap(tuple(question for question, _ in keys)).mean([values[key] for key in keys])


@lru_cache(maxsize=64)
def _bootstrap(questions: tuple[str, ...]) -> Bootstrap:
    """The same draws for the same questions, and not drawn again for every metric and system."""
    return Bootstrap(questions, n_draws=N_DRAWS)


def paired(first: Values, second: Values) -> Paired:
    """Compare two systems on the questions that both have.

    The difference of a question is the mean over its seeds. Under the hypothesis that the systems are alike
    each of these differences could as well have the other sign: ``p`` is the share of ``N_FLIPS`` random
    sign patterns whose mean is at least as far from 0, counting the one observed.
    """
    keys = sorted(first.keys() & second.keys())
    if not keys:
        return Paired(math.nan, math.nan, math.nan, math.nan, 0)
    gaps = [first[key] - second[key] for key in keys]
    found = _bootstrap(tuple(question for question, _ in keys)).mean(gaps)
    numbers: dict[str, int] = {}
    cluster = np.array([numbers.setdefault(question, len(numbers)) for question, _ in keys])
    by_question = np.bincount(cluster, gaps) / np.bincount(cluster)
    return Paired(found.value, found.low, found.high, sign_flip(by_question), found.n)


def sign_flip(gaps: FloatArray) -> float:
    """The two-sided p of paired differences, shape (n,), by random sign flips."""
    gaps = gaps[gaps != 0.0]
    if not len(gaps):
        return 1.0
    rng = np.random.default_rng(0)
    seen = abs(gaps.sum()) - 1e-9
    n_far = 0
    for begin in range(0, N_FLIPS, 1000):
        signs = rng.choice((-1.0, 1.0), size=(min(1000, N_FLIPS - begin), len(gaps)))
        n_far += int((np.abs(signs @ gaps) >= seen).sum())
    return (n_far + 1) / (N_FLIPS + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values by Holm's step-down method; NaN stays NaN and does not count."""
    known = [place for place, p in enumerate(p_values) if not math.isnan(p)]
    found = list(p_values)
    most = 0.0
    for rank, place in enumerate(sorted(known, key=lambda at: p_values[at])):
        most = max(most, min(1.0, (len(known) - rank) * p_values[place]))
        found[place] = most
    return found
