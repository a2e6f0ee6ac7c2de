"""Paired comparison of two systems on the same questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from veridical.bench.metrics.significance import sign_flip
from veridical.bench.results import Bootstrap, Interval

Values = Mapping[tuple[str, int], float]
"""A metric by question and seed."""

N_DRAWS = 2000


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

    The difference of a question is the mean over its seeds, and ``p`` is by
    `veridical.bench.metrics.significance.sign_flip`.
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
