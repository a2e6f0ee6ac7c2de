"""What answers cost: calls, tokens, money, and the time a user waits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veridical.errors import InputError
from veridical.types import Usage


@dataclass(frozen=True)
class Cost:
    """Of one question, on average; NaN without questions.

    Attributes
    ----------
    calls
        Of a language model.
    prompt_tokens, completion_tokens
        As the model counted them.
    money
        In whatever the prices were given in.
    latency, latency_95
        Median and 95th percentile of the seconds that answers took, over those that were measured (an answer
        from a cache was not): linear interpolation between neighbours.
    n, n_timed
        Questions, and those whose time was measured.
    """

    calls: float
    prompt_tokens: float
    completion_tokens: float
    money: float
    latency: float
    latency_95: float
    n: int
    n_timed: int

    @property
    def tokens(self) -> float:
        """Of prompts and replies together."""
        return self.prompt_tokens + self.completion_tokens


def cost(usages: Sequence[Usage], seconds: Sequence[float | None] = ()) -> Cost:
    """Average what answers cost.

    Parameters
    ----------
    usages
        One a question.
    seconds
        As many, ``None`` or NaN where the time was not measured; or none at all.

    Raises
    ------
    InputError
        There are more or fewer times than questions, or a time is negative.
    """
    if seconds and len(seconds) != len(usages):
        raise InputError(f"{len(seconds)} times were given for {len(usages)} questions.")
    times = np.array([s for s in seconds if s is not None and not math.isnan(s)], dtype=np.float64)
    if (times < 0).any():
        raise InputError("An answer cannot take less than no time.")
    median, late = np.percentile(times, [50, 95]) if len(times) else (math.nan, math.nan)
    return Cost(
        _mean([usage.calls for usage in usages]),
        _mean([usage.prompt_tokens for usage in usages]),
        _mean([usage.completion_tokens for usage in usages]),
        _mean([usage.money for usage in usages]),
        float(median),
        float(late),
        len(usages),
        len(times),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan
