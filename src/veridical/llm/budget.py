"""How much a language model may cost: calls, tokens and money, and what they are priced at."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace

from veridical.errors import BudgetError, InputError
from veridical.types import Usage

_PER = 1_000_000
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Prices:
    """Money for a million tokens of prompt, and of reply; in any currency, 0 or more.

    Raises
    ------
    InputError
        If one is negative or not a number.
    """

    prompt: float = 0.0
    completion: float = 0.0

    def __post_init__(self) -> None:
        for value in (self.prompt, self.completion):
            if not 0.0 <= value < math.inf:
                raise InputError(f"The price of a million tokens is {value}.", "Pass 0 or more.")

    def of(self, usage: Usage) -> float:
        """What this usage costs. Tokens that the server reused are priced like all others."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / _PER


def guessed(used: Usage, n_asked: int, n_written: int, prices: Prices) -> Usage:
    """Fill in tokens and money from the numbers of characters, where the server does not count tokens.

    For a budget only: a limit that a silent server never reaches would be none.
    """
    if used.prompt_tokens or used.completion_tokens:
        return used
    tokens = (-(-n // _CHARS_PER_TOKEN) for n in (n_asked, n_written))
    guess = replace(used, prompt_tokens=next(tokens), completion_tokens=next(tokens))
    return replace(guess, money=prices.of(guess))


class Budget:
    """Lets calls through until one of its limits is reached. Safe for threads.

    A call is counted before it is sent; what the engine sends besides (retries, and votes where it has no
    log-probabilities), tokens and money are counted when it is done. So the calls that are on their way
    when a limit is reached can overrun it, by what they cost.

    Parameters
    ----------
    max_calls, max_tokens, max_money
        0 or more; ``None`` for no limit. Tokens are those of prompts and replies together. With
        ``max_calls=0`` only what is cached is answered.

    Raises
    ------
    InputError
        If a limit is negative or not a number.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_money: float | None = None,
    ) -> None:
        limits = {"max_calls": max_calls, "max_tokens": max_tokens, "max_money": max_money}
        for name, limit in limits.items():
            if limit is not None and not 0 <= limit < math.inf:
                raise InputError(f"{name} is {limit}.", "Pass 0 or more, or None for no limit.")
        self.max_calls, self.max_tokens, self.max_money = max_calls, max_tokens, max_money
        self._lock = threading.Lock()
        self._used = Usage()

    @property
    def used(self) -> Usage:
        """What was counted so far, calls on their way included."""
        with self._lock:
            return self._used

    def take(self) -> None:
        """Count a call that is about to be sent.

        Raises
        ------
        BudgetError
            If a limit is reached; nothing is counted then.
        """
        with self._lock:
            over = self._over()
            if over is not None:
                raise BudgetError(*over)
            self._used += Usage(calls=1)

    def settle(self, usage: Usage) -> None:
        """Count what a call that was taken has cost in all; ``Usage()`` if it was not sent in the end."""
        with self._lock:
            self._used += usage + Usage(calls=-1)

    def _over(self) -> tuple[str, str] | None:
        used = self._used
        n_tokens = used.prompt_tokens + used.completion_tokens
        for name, limit, amount, variable in (
            ("calls", self.max_calls, used.calls, "VERIDICAL_LLM_MAX_CALLS"),
            ("tokens", self.max_tokens, n_tokens, "VERIDICAL_LLM_MAX_TOKENS"),
            ("money", self.max_money, used.money, "VERIDICAL_LLM_MAX_COST"),
        ):
            if limit is not None and amount >= limit:
                spent = f"{used.calls:,} calls, {n_tokens:,} tokens" + f", {used.money:.4g}" * bool(
                    used.money
                )
                return (
                    f"The language model's budget of {name} is used up: {amount:,.6g} of {limit:,.6g} "
                    f"(in all {spent}).",
                    f"What was done is kept: raise {variable} and run the same again, and it goes on.",
                )
        return None
