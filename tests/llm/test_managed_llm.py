"""Every call goes through one place: cached, limited, counted, and in order."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from veridical.errors import BudgetError, InputError, LLMError, ModelError, UnreachableError
from veridical.llm.base import Choice, Chooser, Generation, Likely, Message, NextTokens, Scored, Scorer
from veridical.llm.budget import Budget, Prices
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ChoiceRequest, ManagedLLM, Request, manage
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.llm_contract import ChooserContract, LLMContract
from veridical.types import Usage


def say(text: str) -> tuple[Message, ...]:
    return (Message("system", "Be short."), Message("user", text))


def echo(messages: Sequence[Message]) -> str:
    return messages[-1].content


class Engine:
    """Answers with the last message from any number of threads, and looks at how many come at once."""

    def __init__(
        self, answer: Callable[[Sequence[Message]], str] = echo, *, name: str = "engine", wait_s: float = 0.0
    ) -> None:
        self.name = name
        self.sent: list[str] = []
        self.most_at_once = 0
        self._answer = answer
        self._wait_s = wait_s
        self._now = 0
        self._lock = threading.Lock()

    def generate(self, messages, *, max_tokens, temperature=0.0, seed=None, schema=None) -> Generation:
        with self._lock:
            self.sent.append(messages[-1].content)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            time.sleep(self._wait_s)
            return Generation(self._answer(messages), Usage(1, 10, 2), "stop", 0.1)
        finally:
            with self._lock:
                self._now -= 1


class Skilled(Engine):
    """Chooses and scores too."""

    def choose(self, messages, labels, *, n_votes=5, seed=0) -> Choice:
        self.sent.append(messages[-1].content)
        shares = {label: 1 / len(labels) for label in labels}
        return Choice(shares, "logprobs", Usage(1, 7, 1), 0.1, unseen=tuple(labels[1:2]))

    def logprob(self, messages, continuation) -> Scored:
        self.sent.append(continuation)
        return Scored(-1.5, 3, Usage(1, 9), 0.1)

    def next_tokens(self, messages, written="", *, n_top=100) -> Likely:
        self.sent.append(written)
        return Likely(((" a", -0.5), ("", -1.0))[:n_top], Usage(1, 9, 1), 0.1)


def requests(*texts: str) -> list[Request]:
    return [Request(say(text), 8) for text in texts]


def texts(replies: Sequence[Generation | LLMError]) -> list[str]:
    return [reply.text if isinstance(reply, Generation) else type(reply).__name__ for reply in replies]


@pytest.fixture
def cache(tmp_path):
    with ReplyCache(tmp_path / "replies.db") as cache:
        yield cache


class TestManaged(LLMContract, ChooserContract):
    def make(self):
        return ManagedLLM(ScriptedLLM(lambda messages: "B"))

    def make_failing(self):
        down = LLMError("The server is down.", "Start it.")
        return [ManagedLLM(ScriptedLLM([down])), ManagedLLM(Engine(), budget=Budget(max_calls=0))]


def test_it_is_all_that_a_language_model_can_be() -> None:
    llm = ManagedLLM(Engine())
    assert isinstance(llm, Chooser) and isinstance(llm, Scorer) and isinstance(llm, NextTokens)
    assert llm.name == "engine"


def test_managing_twice_changes_nothing() -> None:
    llm = manage(Engine())
    assert manage(llm) is llm


def test_replies_come_in_the_order_of_the_requests_whichever_was_first() -> None:
    slow_first = Engine(lambda messages: (time.sleep(0.02 * (messages[-1].content < "3")), echo(messages))[1])
    replies = ManagedLLM(slow_first).generate_many(requests(*"12345"), stage="s")
    assert texts(replies) == [*"12345"]


def test_no_more_calls_than_allowed_are_sent_at_once() -> None:
    engine = Engine(wait_s=0.01)
    llm = ManagedLLM(engine, n_concurrent=3)
    halves = [requests(*(f"{half}{i}" for i in range(10))) for half in "ab"]
    threads = [threading.Thread(target=llm.generate_many, args=(h,), kwargs={"stage": "s"}) for h in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(engine.sent) == 20
    assert engine.most_at_once == 3


def test_an_engine_that_serves_one_at_a_time_is_asked_one_at_a_time() -> None:
    llm = ManagedLLM(ScriptedLLM([*"abc"]), n_concurrent=8)
    assert llm.n_concurrent == 1
    assert texts(llm.generate_many(requests(*"123"), stage="s")) == [*"abc"]


def test_identical_requests_of_a_batch_are_sent_once_and_paid_for_once() -> None:
    engine = Engine()
    llm = ManagedLLM(engine)
    replies = llm.generate_many(requests("a", "b", "a", "a"), stage="s")
    assert texts(replies) == ["a", "b", "a", "a"]
    assert sorted(engine.sent) == ["a", "b"]
    assert sum((reply.usage for reply in replies), Usage()) == llm.usage_by_stage()["s"] == Usage(2, 20, 4)


def test_replies_that_are_left_to_chance_are_each_sent(cache: ReplyCache) -> None:
    engine = Engine()
    llm = ManagedLLM(engine, cache=cache)
    drawn = Request(say("a"), 8, temperature=0.7)
    llm.generate_many([drawn, drawn], stage="s")
    llm.generate(say("a"), max_tokens=8, temperature=0.7)
    assert len(engine.sent) == 3
    assert cache.report().n_replies == 0


def test_a_seed_makes_a_drawn_reply_one_that_is_kept(cache: ReplyCache) -> None:
    engine = Engine()
    llm = ManagedLLM(engine, cache=cache)
    for _ in range(2):
        llm.generate(say("a"), max_tokens=8, temperature=0.7, seed=3)
    assert len(engine.sent) == 1


def test_a_failure_stands_in_its_place_and_the_others_go_on() -> None:
    def answer(messages: Sequence[Message]) -> str:
        if echo(messages) == "b":
            raise LLMError("Too long.", "Cut it.")
        return echo(messages)

    replies = ManagedLLM(Engine(answer)).generate_many(requests(*"abc"), stage="s")
    assert texts(replies) == ["a", "LLMError", "c"]


def test_failures_are_not_kept(cache: ReplyCache) -> None:
    llm = ManagedLLM(ScriptedLLM([LLMError("Down."), "up"]), cache=cache)
    first, second = (llm.generate_many(requests("a"), stage="s") for _ in range(2))
    assert texts([*first, *second]) == ["LLMError", "up"]


def test_a_server_that_nobody_reaches_is_not_asked_a_thousand_times() -> None:
    def nobody(messages: Sequence[Message]) -> str:
        raise UnreachableError("No connection.", "Start it.")

    engine = Engine(nobody)
    llm = ManagedLLM(engine, n_concurrent=2)
    replies = llm.generate_many(requests(*map(str, range(1000))), stage="s")
    assert all(isinstance(reply, UnreachableError) for reply in replies)
    assert 3 <= len(engine.sent) <= 4
    assert "no more was sent" in str(replies[-1])
    assert replies[-1].hint == "Start it."  # type: ignore[union-attr]


def test_failures_that_are_the_requests_own_do_not_end_a_batch() -> None:
    def refuse(messages: Sequence[Message]) -> str:
        raise LLMError("The prompt is too long.")

    engine = Engine(refuse)
    ManagedLLM(engine).generate_many(requests(*map(str, range(20))), stage="s")
    assert len(engine.sent) == 20


def test_what_is_cached_is_answered_though_nobody_is_reached(cache: ReplyCache) -> None:
    known = requests(*map(str, range(100, 120)))
    ManagedLLM(Engine(), cache=cache).generate_many(known, stage="s")

    def nobody(messages: Sequence[Message]) -> str:
        raise UnreachableError("No connection.")

    replies = ManagedLLM(Engine(nobody), cache=cache).generate_many(
        [*requests(*map(str, range(10))), *known], stage="s"
    )
    assert texts(replies[:10]) == ["UnreachableError"] * 10
    assert texts(replies[10:]) == [echo(request.messages) for request in known]


@pytest.mark.parametrize(
    "wrong", [InputError("No."), ModelError("There is no such file."), ZeroDivisionError()]
)
def test_what_no_other_request_can_mend_is_raised(wrong: Exception) -> None:
    def answer(messages: Sequence[Message]) -> str:
        raise wrong

    budget = Budget(max_calls=100)
    llm = ManagedLLM(Engine(answer), budget=budget)
    with pytest.raises(type(wrong)):
        llm.generate_many(requests(*"abc"), stage="s")
    assert budget.used == Usage()


def test_a_bad_request_is_refused_before_any_is_sent() -> None:
    engine = Engine()
    with pytest.raises(InputError):
        ManagedLLM(engine).generate_many([*requests("a"), Request((), 8)], stage="s")
    with pytest.raises(InputError):
        ManagedLLM(engine).choose_many([ChoiceRequest(say("a"), ["A"])], stage="s")
    assert engine.sent == []


def test_an_empty_batch_is_an_empty_list() -> None:
    assert ManagedLLM(Engine()).generate_many([], stage="s") == []


def test_it_works_under_an_event_loop_that_runs() -> None:
    async def notebook() -> list[str]:
        return texts(ManagedLLM(Engine()).generate_many(requests(*"ab"), stage="s"))

    assert asyncio.run(notebook()) == ["a", "b"]


def test_the_async_calls_leave_the_event_loop_free_and_are_counted_alike() -> None:
    async def server() -> tuple[list[str], list[Choice | LLMError], int, dict[str, Usage]]:
        llm = ManagedLLM(Skilled(wait_s=0.05))
        n_beats = 0

        async def beat() -> None:
            nonlocal n_beats
            while True:
                n_beats += 1
                await asyncio.sleep(0.005)

        beating = asyncio.create_task(beat())
        replies = await llm.agenerate_many(requests(*"ab"), stage="s")
        choices = await llm.achoose_many([ChoiceRequest(say("c"), ["A", "B"])], stage="c")
        beating.cancel()
        return texts(replies), choices, n_beats, llm.usage_by_stage()

    replies, choices, n_beats, used = asyncio.run(server())
    assert replies == ["a", "b"]
    assert isinstance(choices[0], Choice)
    assert n_beats >= 3
    assert used == {"s": Usage(2, 20, 4), "c": Usage(1, 7, 1)}


def test_a_cancelled_batch_sends_no_more(cache: ReplyCache) -> None:
    engine = Engine(wait_s=0.05)

    async def server() -> None:
        llm = ManagedLLM(engine, cache=cache, n_concurrent=2)
        batch = asyncio.create_task(llm.agenerate_many(requests(*map(str, range(50))), stage="s"))
        await asyncio.sleep(0.07)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch

    asyncio.run(server())
    assert 2 <= len(engine.sent) <= 6
    assert cache.report().n_replies == len(engine.sent)


def test_an_interrupt_ends_a_batch_and_keeps_what_was_done(cache: ReplyCache) -> None:
    engine = Engine(wait_s=0.005)
    llm = ManagedLLM(engine, cache=cache, n_concurrent=2)
    n_done = 0

    def interrupt() -> None:
        nonlocal n_done
        n_done += 1
        if n_done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        llm.generate_many(requests(*map(str, range(50))), stage="s", tick=interrupt)
    n_sent = len(engine.sent)
    assert 3 <= n_sent <= 8
    assert cache.report().n_replies == n_sent
    llm.generate_many(requests(*map(str, range(50))), stage="s")
    assert sorted(engine.sent) == sorted(map(str, range(50)))


def test_an_interrupt_ends_a_vote_that_is_being_taken() -> None:
    engine = Engine(lambda _: "A", wait_s=0.01)
    short, long = (ChoiceRequest(say(str(n)), ["A", "B"], n_votes=n) for n in (1, 100))

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ManagedLLM(engine, n_concurrent=2).choose_many([short, long], stage="s", tick=interrupt)
    assert 2 <= len(engine.sent) <= 10


def test_progress_is_told_once_a_request() -> None:
    done = []
    ManagedLLM(Engine()).generate_many(requests(*"abab"), stage="s", tick=lambda: done.append(1))
    assert len(done) == 4


def test_an_engine_without_a_choice_votes_and_its_votes_are_kept(cache: ReplyCache) -> None:
    engine = Engine(lambda messages: "B")
    llm = ManagedLLM(engine, cache=cache)
    choice = llm.choose(say("?"), ["A", "B"], n_votes=4)
    assert (choice.mode, choice.n_votes) == ("votes", 4)
    again = llm.choose(say("?"), ["A", "B"], n_votes=4)
    assert again.probabilities == choice.probabilities
    assert len(engine.sent) == 4
    assert again.usage == Usage(cached_calls=4)


def test_choices_and_scores_are_kept_and_come_back_the_same(cache: ReplyCache) -> None:
    engine = Skilled()
    llm = ManagedLLM(engine, cache=cache)
    ask = [ChoiceRequest(say("?"), ["B", "A", "C"])]
    first, second = (llm.choose_many(ask, stage="s")[0] for _ in range(2))
    assert isinstance(first, Choice) and isinstance(second, Choice)
    assert list(second.probabilities.items()) == list(first.probabilities.items())
    assert (second.mode, second.unseen, second.n_votes) == (first.mode, first.unseen, first.n_votes)
    scores = [llm.logprob(say("?"), "Red") for _ in range(2)]
    assert scores[0].logprob == scores[1].logprob == -1.5
    assert scores[0].n_tokens == scores[1].n_tokens == 3
    assert engine.sent == ["?", "Red"]


def test_next_tokens_are_kept_by_what_was_written_before(cache: ReplyCache) -> None:
    engine = Skilled()
    llm = ManagedLLM(engine, cache=cache)
    first, again, other = (llm.next_tokens(say("?"), text, n_top=2) for text in ("Re", "Re", "Red"))
    assert first.tokens == again.tokens == other.tokens == ((" a", -0.5), ("", -1.0))
    assert (first.usage.calls, again.usage) == (1, Usage(cached_calls=1))
    assert engine.sent == ["Re", "Red"]


def test_an_engine_that_lists_no_tokens_says_so() -> None:
    with pytest.raises(LLMError, match="which tokens may come next"):
        ManagedLLM(Engine()).next_tokens(say("?"))


def test_an_engine_that_cannot_score_says_so() -> None:
    with pytest.raises(LLMError, match="cannot say how probable"):
        ManagedLLM(Engine()).logprob(say("?"), "Red")


def test_usage_is_priced_by_the_million_tokens() -> None:
    llm = ManagedLLM(Engine(), prices=Prices(prompt=2.0, completion=10.0))
    reply = llm.generate(say("a"), max_tokens=8)
    assert reply.usage.money == pytest.approx(10 * 2e-6 + 2 * 10e-6)
    assert llm.usage_by_stage()["other"].money == reply.usage.money


def test_a_failed_call_is_counted() -> None:
    llm = ManagedLLM(ScriptedLLM([LLMError("Down.")]))
    with pytest.raises(LLMError), llm.stage("answer"):
        llm.generate(say("a"), max_tokens=8)
    assert llm.usage_by_stage() == {"answer": Usage(calls=1)}


def test_a_budget_that_runs_out_is_raised_not_returned() -> None:
    engine = Engine()
    llm = ManagedLLM(engine, budget=Budget(max_calls=2))
    with pytest.raises(BudgetError):
        llm.generate_many(requests(*"abcd"), stage="s")
    assert len(engine.sent) == 2


def test_fewer_than_one_call_at_once_is_refused() -> None:
    with pytest.raises(InputError, match="n_concurrent"):
        ManagedLLM(Engine(), n_concurrent=0)
