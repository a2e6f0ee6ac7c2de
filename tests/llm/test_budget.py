"""A budget lets through what it may, and says what ran out."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.errors import BudgetError, InputError, LLMError
from veridical.llm.base import Generation, Message
from veridical.llm.budget import Budget, Prices
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ManagedLLM, Request
from veridical.types import Usage


class Counting:
    """Any number at once; says how often each text was sent."""

    name = "counting"

    def __init__(self, usage: Usage = Usage(1, 100, 20)) -> None:  # noqa: B008 - frozen
        self.sent: list[str] = []
        self._usage = usage

    def generate(self, messages, *, max_tokens, temperature=0.0, seed=None, schema=None) -> Generation:
        self.sent.append(messages[-1].content)
        return Generation("a reply of 24 characters", self._usage, "stop", 0.0)


def requests(n: int) -> list[Request]:
    return [Request((Message("user", f"question {i}"),), 8) for i in range(n)]


@settings(deadline=None, max_examples=30)
@given(limit=st.integers(0, 30), n=st.integers(0, 40), at_once=st.integers(1, 8), n_threads=st.integers(1, 3))
def test_no_more_calls_are_sent_than_the_budget_has(limit: int, n: int, at_once: int, n_threads: int) -> None:
    engine = Counting()
    budget = Budget(max_calls=limit)
    llm = ManagedLLM(engine, budget=budget, n_concurrent=at_once)
    ended: list[BaseException | None] = []

    def batch() -> None:
        try:
            llm.generate_many(requests(n), stage="s")
            ended.append(None)
        except BudgetError as error:
            ended.append(error)

    threads = [threading.Thread(target=batch) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(engine.sent) == min(limit, n * n_threads)
    assert budget.used.calls == len(engine.sent)
    assert any(ended) == (n * n_threads > limit)


def test_after_it_ran_out_the_same_batch_goes_on_and_no_call_is_made_twice(tmp_path: Path) -> None:
    engine = Counting()
    with ReplyCache(tmp_path / "c.db") as cache:
        with pytest.raises(BudgetError):
            ManagedLLM(engine, cache=cache, budget=Budget(max_calls=7)).generate_many(requests(20), stage="s")
        assert len(engine.sent) == 7
        llm = ManagedLLM(engine, cache=cache, budget=Budget(max_calls=13))
        replies = llm.generate_many(requests(20), stage="s")
    assert all(isinstance(reply, Generation) for reply in replies)
    assert sorted(engine.sent) == sorted(f"question {i}" for i in range(20))
    assert llm.usage_by_stage()["s"] == Usage(13, 1300, 260, cached_calls=7)


def test_what_is_cached_is_answered_with_no_budget_at_all(tmp_path: Path) -> None:
    with ReplyCache(tmp_path / "c.db") as cache:
        ManagedLLM(Counting(), cache=cache).generate_many(requests(5), stage="s")
        none = ManagedLLM(Counting(), cache=cache, budget=Budget(max_calls=0))
        assert len(none.generate_many(requests(5), stage="s")) == 5


@pytest.mark.parametrize(
    ("limits", "n_sent", "what", "variable"),
    [
        ({"max_calls": 3}, 3, "calls", "VERIDICAL_LLM_MAX_CALLS"),
        ({"max_tokens": 240}, 2, "tokens", "VERIDICAL_LLM_MAX_TOKENS"),
        ({"max_tokens": 241}, 3, "tokens", "VERIDICAL_LLM_MAX_TOKENS"),
        ({"max_money": 0.0006}, 2, "money", "VERIDICAL_LLM_MAX_COST"),
    ],
)
def test_each_limit_stops_and_is_named(limits: dict, n_sent: int, what: str, variable: str) -> None:
    engine = Counting()
    llm = ManagedLLM(engine, budget=Budget(**limits), prices=Prices(2.0, 5.0), n_concurrent=1)
    with pytest.raises(BudgetError, match=f"budget of {what} is used up") as caught:
        llm.generate_many(requests(10), stage="s")
    assert len(engine.sent) == n_sent
    assert variable in caught.value.hint and "goes on" in caught.value.hint
    assert f"{n_sent} calls, {n_sent * 120} tokens" in caught.value.message


def test_tokens_are_guessed_where_the_server_does_not_count_them() -> None:
    engine = Counting(Usage(1))
    budget = Budget(max_tokens=9)
    llm = ManagedLLM(engine, budget=budget, n_concurrent=1)
    with pytest.raises(BudgetError):
        llm.generate_many(requests(10), stage="s")
    # "question 0" and the reply of 24 characters are 3 and 6 tokens of 4 characters
    assert (len(engine.sent), budget.used) == (1, Usage(1, 3, 6))
    assert llm.usage_by_stage() == {"s": Usage(calls=1)}


def test_retries_of_a_call_are_counted_when_it_is_done() -> None:
    budget = Budget(max_calls=3)
    llm = ManagedLLM(Counting(Usage(3, 1, 1)), budget=budget)
    llm.generate(requests(1)[0].messages, max_tokens=8)
    assert budget.used.calls == 3
    with pytest.raises(BudgetError):
        llm.generate(requests(1)[0].messages, max_tokens=8)


def test_a_call_that_failed_was_a_call() -> None:
    class Down(Counting):
        def generate(self, messages, **options) -> Generation:
            raise LLMError("Down.")

    budget = Budget(max_calls=1)
    with pytest.raises(LLMError):
        ManagedLLM(Down(), budget=budget).generate(requests(1)[0].messages, max_tokens=8)
    assert budget.used == Usage(calls=1)


@pytest.mark.parametrize("limits", [{"max_calls": -1}, {"max_tokens": -5}, {"max_money": float("nan")}])
def test_limits_that_are_none_are_refused(limits: dict) -> None:
    with pytest.raises(InputError, match=next(iter(limits))):
        Budget(**limits)


@pytest.mark.parametrize("prices", [(-1.0, 0.0), (0.0, float("inf"))])
def test_prices_are_numbers_from_zero(prices: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="price"):
        Prices(*prices)
