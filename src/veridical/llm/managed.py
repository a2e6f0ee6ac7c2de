"""Any language model, with a cache, a budget, a limit on calls at once, and accounts by stage around it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

from veridical.errors import BudgetError, InputError, LLMError, UnreachableError
from veridical.llm import replies, usage
from veridical.llm.base import (
    LLM,
    Choice,
    Chooser,
    Generation,
    Likely,
    Message,
    NextTokens,
    Scored,
    Scorer,
    check_request,
)
from veridical.llm.budget import Budget, Prices, guessed
from veridical.llm.cache import ReplyCache
from veridical.llm.halt import Halt, current
from veridical.llm.labels import check_choice, check_continuation, check_next
from veridical.llm.replies import Reply
from veridical.llm.voting import vote
from veridical.types import Usage

Tick = Callable[[], object]
N_CONCURRENT = 8


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of one `LLM.generate`."""

    messages: Sequence[Message]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChoiceRequest:
    """The arguments of one `Chooser.choose`."""

    messages: Sequence[Message]
    labels: Sequence[str]
    n_votes: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Call(Generic[Reply]):
    """One call of an engine.

    ``key`` is ``None`` where the reply is left to chance, so that each call wants one of its own. Those that
    are ``composed`` are made of others, which are cached and counted by themselves.
    """

    kind: type[Reply]
    key: bytes | None
    send: Callable[[], Reply]
    n_chars: int = 0
    composed: bool = False
    labels: Sequence[str] = ()


class ManagedLLM:
    """A language model whose every call goes through one place; itself an LLM, Chooser and so on.

    Parameters
    ----------
    llm
        The engine. Where it has them, its ``identity`` (what replies depend on besides the request) goes into
        the cache's keys in place of its name, and its ``n_concurrent`` bounds the calls at once.
    cache
        Replies of earlier calls. Failures, and replies at a temperature above 0 without a seed, are not kept.
    budget
        Refuses calls when it is used up. What is cached costs nothing of it.
    n_concurrent
        The most calls that are sent at once, 1 or more.
    prices
        What `Usage.money` is computed by.

    Raises
    ------
    InputError
        If ``n_concurrent`` is below 1.
    BudgetError
        By every call, when the budget is used up.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        cache: ReplyCache | None = None,
        budget: Budget | None = None,
        n_concurrent: int = N_CONCURRENT,
        prices: Prices | None = None,
    ) -> None:
        if n_concurrent < 1:
            raise InputError(f"n_concurrent is {n_concurrent}.", "Pass 1 or more.")
        self.llm = llm
        self.cache = cache
        self.budget = budget
        self.n_concurrent = max(1, min(n_concurrent, getattr(llm, "n_concurrent", n_concurrent)))
        self._prices = prices or Prices()
        self._gate = threading.BoundedSemaphore(self.n_concurrent)
        self._meter = usage.Meter()

    def __repr__(self) -> str:
        return f"ManagedLLM({self.llm!r}, n_concurrent={self.n_concurrent})"

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.llm.name

    @cached_property
    def _identity(self) -> str:
        return str(getattr(self.llm, "identity", self.llm.name))

    def usage_by_stage(self) -> dict[str, Usage]:
        """What was used through this object so far, by stage."""
        return self._meter.by_stage()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the calls inside under a name; see `veridical.llm.usage.stage`."""
        with usage.stage(name):
            yield

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Generation:
        """Continue the conversation; see `LLM.generate`."""
        return self._serve(self._generation(Request(messages, max_tokens, temperature, seed, schema)))

    def choose(
        self, messages: Sequence[Message], labels: Sequence[str], *, n_votes: int = 5, seed: int = 0
    ) -> Choice:
        """Choose among labels, by votes if the engine cannot choose; see `Chooser.choose`."""
        return self._serve(self._choice(ChoiceRequest(messages, labels, n_votes, seed)))

    def logprob(self, messages: Sequence[Message], continuation: str) -> Scored:
        """Say how probable a text is; see `Scorer.logprob`.

        Raises
        ------
        LLMError
            Also if the engine cannot do this.
        """
        check_continuation(messages, continuation)
        engine = self.llm
        if not isinstance(engine, Scorer):
            raise LLMError(
                f"The language model {self.name!r} cannot say how probable a text is.",
                "Use an engine that gives log-probabilities of prompts.",
            )
        request = {"messages": messages, "continuation": continuation}
        key = replies.key_of(self._identity, "logprob", request)
        n_chars = _n_chars(messages) + len(continuation)
        return self._serve(_Call(Scored, key, lambda: engine.logprob(messages, continuation), n_chars))

    def next_tokens(self, messages: Sequence[Message], written: str = "", *, n_top: int = 100) -> Likely:
        """List the likeliest next tokens; see `NextTokens.next_tokens`.

        Raises
        ------
        LLMError
            Also if the engine cannot do this.
        """
        check_next(messages, n_top)
        engine = self.llm
        if not isinstance(engine, NextTokens):
            raise LLMError(
                f"The language model {self.name!r} does not say which tokens may come next.",
                "Use the embedded engine.",
            )
        request = {"messages": messages, "written": written, "n_top": n_top}
        key = replies.key_of(self._identity, "next_tokens", request)
        send = lambda: engine.next_tokens(messages, written, n_top=n_top)  # noqa: E731
        return self._serve(_Call(Likely, key, send, _n_chars(messages) + len(written)))

    def generate_many(
        self, requests: Sequence[Request], *, stage: str, tick: Tick | None = None
    ) -> list[Generation | LLMError]:
        """Answer many requests, several at once; identical ones are sent once.

        It works with and without an event loop that runs in this thread.

        Parameters
        ----------
        requests
            As many as one likes. Those at a temperature above 0 without a seed are all sent.
        stage
            What they are counted under.
        tick
            Called once a request that is done, in this thread.

        Returns
        -------
        list of Generation or LLMError
            In the order of the requests. Where one failed its error stands in its place, and the others go
            on; but when three in a row cannot reach the model at all, the rest are not sent. The usage of
            those that were not sent again is nothing.

        Raises
        ------
        InputError
            If a request is out of range; then none is sent.
        BudgetError
            When the budget is used up: calls on their way are finished and cached, others not sent.
        """
        return self._batch([self._generation(request) for request in requests], stage, tick, Halt())

    def choose_many(
        self, requests: Sequence[ChoiceRequest], *, stage: str, tick: Tick | None = None
    ) -> list[Choice | LLMError]:
        """Make many choices; see `generate_many`."""
        return self._batch([self._choice(request) for request in requests], stage, tick, Halt())

    async def agenerate_many(
        self, requests: Sequence[Request], *, stage: str, tick: Tick | None = None
    ) -> list[Generation | LLMError]:
        """Do as `generate_many` without blocking the event loop; ``tick`` is called in another thread.

        If it is cancelled, calls on their way are finished and cached, and no more are sent.
        """
        return await self._abatch([self._generation(request) for request in requests], stage, tick)

    async def achoose_many(
        self, requests: Sequence[ChoiceRequest], *, stage: str, tick: Tick | None = None
    ) -> list[Choice | LLMError]:
        """Do as `choose_many` without blocking the event loop; see `agenerate_many`."""
        return await self._abatch([self._choice(request) for request in requests], stage, tick)

    # --- one call ---

    def _generation(self, request: Request) -> _Call[Generation]:
        check_request(request.messages, request.max_tokens, request.temperature)
        options: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "temperature": float(request.temperature),
            "seed": request.seed,
        }
        if request.schema is not None:
            options["schema"] = request.schema
        key = None
        if request.temperature == 0 or request.seed is not None:
            key = replies.key_of(self._identity, "generate", {"messages": request.messages, **options})
        send = lambda: self.llm.generate(request.messages, **options)  # noqa: E731
        return _Call(Generation, key, send, _n_chars(request.messages))

    def _choice(self, request: ChoiceRequest) -> _Call[Choice]:
        check_choice(request.messages, request.labels, request.n_votes)
        options = {"n_votes": request.n_votes, "seed": request.seed}
        asked = {"messages": request.messages, "labels": list(request.labels), **options}
        key = replies.key_of(self._identity, "choose", asked)
        engine = self.llm
        if isinstance(engine, Chooser):
            send = lambda: engine.choose(request.messages, request.labels, **options)  # noqa: E731
            return _Call(Choice, key, send, _n_chars(request.messages), labels=request.labels)
        votes = lambda: vote(self, request.messages, request.labels, **options)  # noqa: E731
        return _Call(Choice, key, votes, composed=True)

    def _serve(self, call: _Call[Reply], halt: Halt | None = None) -> Reply:
        known = None if call.composed else self._cached(call)
        if known is not None:
            self._record(known.usage)
            return known
        halt = halt or current()  # the votes of a choice belong to the batch that the choice is in
        if halt is not None and halt.reason is not None:
            raise halt.reason
        if call.composed:
            return call.send()
        with self._gate:
            reply = self._send(call)
        if self.cache is not None and call.key is not None:
            self.cache.put(call.key, replies.written(reply), reply.usage)
        self._record(reply.usage)
        return reply

    def _cached(self, call: _Call[Reply]) -> Reply | None:
        if self.cache is None or call.key is None:
            return None
        text = self.cache.get(call.key)
        reply = None if text is None else replies.read(call.kind, text)
        of_others = isinstance(reply, Choice) and reply.probabilities.keys() != set(call.labels)
        return None if of_others else reply

    def _send(self, call: _Call[Reply]) -> Reply:
        """Send a call within the budget, and price it."""
        if self.budget is not None:
            self.budget.take()
        spent = Usage(calls=1)
        try:
            reply = call.send()
            used = replace(reply.usage, calls=max(1, reply.usage.calls))
            used = replace(used, money=self._prices.of(used))
            n_written = len(reply.text) if isinstance(reply, Generation) else 0
            spent = guessed(used, call.n_chars, n_written, self._prices)
            return replace(reply, usage=used)
        except LLMError:
            self._record(spent)
            raise
        except Exception:  # such as a model that is not there: nothing was sent
            spent = Usage()
            raise
        finally:
            if self.budget is not None:
                self.budget.settle(spent)

    def _record(self, used: Usage) -> None:
        notes = () if self.cache is None else self.cache.notes
        usage.record(used, notes, own=self._meter)

    # --- many ---

    async def _abatch(
        self, calls: Sequence[_Call[Reply]], stage: str, tick: Tick | None
    ) -> list[Reply | LLMError]:
        halt = Halt()
        try:
            return await asyncio.to_thread(self._batch, calls, stage, tick, halt)
        finally:  # without effect if it is done
            halt.stop(LLMError("The batch was cancelled."))

    def _batch(
        self, calls: Sequence[_Call[Reply]], stage: str, tick: Tick | None, halt: Halt
    ) -> list[Reply | LLMError]:
        places: dict[bytes | int, list[int]] = {}
        for place, call in enumerate(calls):
            places.setdefault(place if call.key is None else call.key, []).append(place)
        results: dict[int, Reply | LLMError] = {}
        pool = ThreadPoolExecutor(min(self.n_concurrent, max(1, len(places))), "veridical-llm")
        try:
            with usage.stage(stage), halt.around():
                sent: dict[Future[Reply | LLMError], list[int]] = {
                    pool.submit(copy_context().run, self._try, calls[same[0]], halt): same
                    for same in places.values()
                }
            for future in as_completed(sent):
                for place in sent[future]:
                    reply = future.result()
                    again = place != sent[future][0] and not isinstance(reply, LLMError)
                    results[place] = replace(reply, usage=Usage()) if again else reply  # type: ignore[type-var]
                    if tick is not None:
                        tick()
        except BaseException as error:
            if not isinstance(error, Exception):
                halt.stop(LLMError("The batch was interrupted."))
            raise
        finally:  # after an error, too: calls on their way are finished and cached
            pool.shutdown(wait=True, cancel_futures=True)
        return [results[place] for place in range(len(calls))]

    def _try(self, call: _Call[Reply], halt: Halt) -> Reply | LLMError:
        """Make one call of a batch; the error, if it is only this call's."""
        try:
            reply = self._serve(call, halt)
        except BudgetError:
            raise
        except UnreachableError as error:
            halt.unreached(error)
            return error
        except LLMError as error:
            halt.reached()
            return error
        if not reply.usage.cached_calls:
            halt.reached()
        return reply


def manage(llm: LLM) -> ManagedLLM:
    """Return the model as it is if it is managed, else with accounts and a limit on calls at once."""
    return llm if isinstance(llm, ManagedLLM) else ManagedLLM(llm)


def _n_chars(messages: Sequence[Message]) -> int:
    return sum(len(message.content) for message in messages)
