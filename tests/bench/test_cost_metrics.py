"""Costs are averages over questions; times only over those that were measured."""

from __future__ import annotations

import math

import pytest

from veridical.bench.metrics.cost import cost
from veridical.errors import InputError
from veridical.types import Usage

USAGES = [
    Usage(calls=1, prompt_tokens=100, completion_tokens=10, money=0.5),
    Usage(calls=3, prompt_tokens=300, completion_tokens=0, money=0.0),
]


def test_calls_tokens_and_money_are_averages_over_questions():
    found = cost(USAGES)
    assert (found.calls, found.prompt_tokens, found.completion_tokens, found.tokens) == (2, 200, 5, 205)
    assert found.money == 0.25
    assert (found.n, found.n_timed) == (2, 0)
    assert math.isnan(found.latency)


def test_answers_from_a_cache_have_no_time():
    found = cost(USAGES * 2, [1.0, None, 3.0, math.nan])
    assert (found.latency, found.n_timed) == (2.0, 2)
    assert found.latency_95 == pytest.approx(2.9)


def test_without_questions_nothing_can_be_averaged():
    assert math.isnan(cost([]).calls)


def test_times_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="1 times"):
        cost(USAGES, [1.0])
    with pytest.raises(InputError, match="less than no time"):
        cost(USAGES, [1.0, -1.0])
