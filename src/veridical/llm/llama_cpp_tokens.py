"""Probabilities of tokens out of the llama.cpp server."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from veridical.llm.base import FLOOR, Message
from veridical.llm.labels import read_top
from veridical.llm.llama_cpp_server import LlamaServer, RefusedError
from veridical.types import Usage

ALL = 1_000_000
"""More likely tokens than any vocabulary has. Listing all takes about a second, a thousand nothing."""


def likely(
    server: LlamaServer, messages: Sequence[Message], labels: Sequence[str], n_top: int
) -> tuple[list[tuple[str, float]], Usage]:
    """Return the likeliest first tokens, with probabilities of the whole vocabulary, and the cost."""
    # The grammar decides which token is written and changes no probability. Without it a token that is part
    # of a character could be the first, and llama.cpp lists nothing beside such a one.
    grammar = "root ::= " + " | ".join(json.dumps(label, ensure_ascii=False) for label in labels)
    body = server.chat(
        {
            "messages": plain(messages),
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": True,
            "top_logprobs": n_top,
            "grammar": grammar,
        }
    )
    return read_top(_logprobs(body)) or [], usage_of(body)


def all_that_counts(
    top: Sequence[tuple[str, float]], weights: Mapping[str, float], labels: Sequence[str]
) -> bool:
    """Say whether each label was seen, or is certainly below the floor since the list ends below it."""
    if len(weights) == len(labels):
        return True
    highest = max((value for text, value in top if text in weights), default=-math.inf)
    lowest = min((value for _, value in top), default=0.0)
    return lowest - highest < math.log(FLOOR)


def token_logprob(server: LlamaServer, before: Sequence[int], token: int, whole: bool) -> tuple[float, Usage]:
    """Return the log-probability of one token after others: that which the bias makes the model write.

    llama.cpp says nothing of a written token that is part of a character, so in its place a plain one is
    written and the token looked up among all.
    """
    written = token if whole else server.tokens("a", prompt=False)[0][0]
    body = server.complete(
        {
            "prompt": list(before),
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": 1 if whole else ALL,
            "logit_bias": [[written, 1e6]],
        }
    )
    content: Sequence[Mapping[str, Any]] = _logprobs(body).get("content") or ({},)
    for entry in (content[0], *(content[0].get("top_logprobs") or ())):
        if entry.get("id") == token:
            return float(entry["logprob"]), usage_of(body)
    raise RefusedError("llama.cpp gave no log-probability of a token")


def next_tokens(
    server: LlamaServer, before: Sequence[int], n_top: int
) -> tuple[tuple[tuple[str, float], ...], Usage]:
    """Return the likeliest tokens after others, each spelling once, whole characters only; and the cost."""
    # What is written is of no interest, and a plain token is, as llama.cpp lists nothing beside the end of a
    # reply or a part of a character. The bias changes no probability.
    body = server.complete(
        {
            "prompt": list(before),
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": n_top,
            "logit_bias": [[server.tokens("a", prompt=False)[0][0], 1e6]],
        }
    )
    content: Sequence[Mapping[str, Any]] = _logprobs(body).get("content") or ({},)
    found: dict[str, float] = {}
    for entry in content[0].get("top_logprobs") or ():
        text = _spelt(entry)
        if text is not None:
            found[text] = _log_sum(found.get(text, -math.inf), float(entry["logprob"]))
    if not found:
        raise RefusedError("llama.cpp listed no token")
    return tuple(sorted(found.items(), key=lambda item: -item[1])), usage_of(body)


def _spelt(entry: Mapping[str, Any]) -> str | None:
    """Return a token's text; ``None`` for a part of a character."""
    try:
        return bytes(entry["bytes"]).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _log_sum(one: float, other: float) -> float:
    high = max(one, other)
    return high + math.log(math.exp(one - high) + math.exp(other - high))


def _logprobs(body: Mapping[str, Any]) -> Mapping[str, Any]:
    choices: Sequence[Mapping[str, Any]] = body.get("choices") or ({},)
    return choices[0].get("logprobs") or {}


def usage_of(body: Mapping[str, Any]) -> Usage:
    """Read a reply's token counts. The prompt's tokens that were not computed again are in its timings."""
    usage, timings = body.get("usage") or {}, body.get("timings") or {}
    return Usage(
        calls=1,
        prompt_tokens=int(usage.get("prompt_tokens", 0)),
        completion_tokens=int(usage.get("completion_tokens", 0)),
        reused_tokens=int(timings.get("cache_n", 0)),
    )


def plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]
