r"""What weighing passages by credibility does to the probability of the right answer.

ReliableRAG's indirect effect. With :math:`P(g \mid z) = \exp \sum_t \log p(g_t \mid z, g_{<t})` the
probability of a gold answer given a context :math:`z`, teacher-forced, and :math:`P(z)` its maximum over all
aliases :math:`g`,

.. math:: IE = P(z_\alpha) - P(z_1),

where :math:`z_\alpha` was chosen with credibility and :math:`z_1` by relevance alone. For evaluation only: it
takes gold answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError
from veridical.llm.base import Message, Scorer


@dataclass(frozen=True)
class IndirectEffect:
    """Over several questions and contexts.

    Attributes
    ----------
    mean
        In [-1, 1]; NaN without any.
    share_positive
        Of those above 0, in [0, 1]; NaN without any.
    n
        How many.
    """

    mean: float
    share_positive: float
    n: int


def answer_probability(log_probabilities: Iterable[float]) -> float:
    """The probability of the likeliest alias, in [0, 1].

    Parameters
    ----------
    log_probabilities
        Natural logarithms, each at most 0: one a gold answer, summed over its tokens.

    Raises
    ------
    InputError
        One is above 0 or NaN.
    """
    found = list(log_probabilities)
    if not all(value <= 1e-9 for value in found):
        raise InputError("A logarithm of a probability is above 0, or missing.")
    return max((math.exp(min(value, 0.0)) for value in found), default=0.0)


def scored_answer(llm: Scorer, messages: Sequence[Message], golds: Sequence[str]) -> float:
    """Ask a model how probable the gold answers are as its reply; see `answer_probability`.

    Raises
    ------
    LLMError
        The model is down, or gives no log-probabilities.
    """
    return answer_probability(llm.logprob(messages, gold).logprob for gold in golds if gold)


def indirect_effect(weighed: npt.ArrayLike, unweighed: npt.ArrayLike) -> IndirectEffect:
    """Compare the probabilities of right answers with and without credibility.

    Parameters
    ----------
    weighed, unweighed
        Shape (n,) each, in [0, 1]: of the same questions, pooled over the kinds of contexts.

    Raises
    ------
    InputError
        The shapes differ, or a number is no probability.
    """
    one, other = np.asarray(weighed, dtype=np.float64), np.asarray(unweighed, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"Two rows of one length are wanted, not shapes {one.shape} and {other.shape}.")
    if not all(((row >= 0) & (row <= 1)).all() for row in (one, other)):
        raise InputError("A probability is not from 0 to 1.")
    gaps = one - other
    if not len(gaps):
        return IndirectEffect(math.nan, math.nan, 0)
    return IndirectEffect(float(gaps.mean()), float((gaps > 0).mean()), len(gaps))
