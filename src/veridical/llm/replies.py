"""Requests as cache keys, and replies as the text that is cached."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from veridical.llm.base import Choice, Generation, Likely, Scored
from veridical.types import Usage, plain

FORMAT = 1
"""Part of every key: replies that were kept in another form are not found any more."""

Reply = TypeVar("Reply", Generation, Choice, Scored, Likely)


def key_of(identity: str, call: str, request: Mapping[str, Any]) -> bytes:
    """Return the SHA-256 of a whole request, 32 bytes.

    Parameters
    ----------
    identity
        What the replies of the model depend on besides the request.
    call
        ``generate``, ``choose``, ``logprob`` or ``next_tokens``.
    request
        Every argument of the call, messages included.
    """
    whole = json.dumps([FORMAT, call, identity, plain(request)], sort_keys=True, default=repr)
    return hashlib.sha256(whole.encode("ascii")).digest()


def written(reply: Generation | Choice | Scored | Likely) -> str:
    """Return a reply as a line of JSON. Time is left out: what comes from the cache takes none."""
    values = reply.to_dict()
    del values["seconds"]
    return json.dumps(values)


def read(kind: type[Reply], text: str) -> Reply | None:
    """Read a reply back, as one that was not paid for; ``None`` if this is not what `written` wrote."""
    try:
        values = json.loads(text)
        reply = _READERS[kind](values)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
        return None
    return reply if isinstance(reply, kind) else None


_CACHED = Usage(cached_calls=1)
_MOST_OFF = 1e-6
"""How far from one the probabilities of a choice may sum to."""


def _generation(values: Any) -> Generation:
    text = _text(values["text"])
    if not text.strip():
        raise ValueError(text)
    return Generation(text, _CACHED, _text(values["finish_reason"]), 0.0)


def _choice(values: Any) -> Choice:
    mode = values["mode"]
    if mode not in ("logprobs", "votes"):
        raise ValueError(mode)
    probabilities = {_text(label): float(value) for label, value in values["probabilities"].items()}
    total = sum(probabilities.values())
    if min(probabilities.values()) < 0.0 or not math.isclose(total, 1.0, abs_tol=_MOST_OFF):
        raise ValueError(total)
    unseen = tuple(_text(label) for label in values["unseen"])
    return Choice(probabilities, mode, _CACHED, 0.0, n_votes=int(values["n_votes"]), unseen=unseen)


def _scored(values: Any) -> Scored:
    return Scored(float(values["logprob"]), int(values["n_tokens"]), _CACHED, 0.0)


def _likely(values: Any) -> Likely:
    return Likely(tuple((_text(text), float(value)) for text, value in values["tokens"]), _CACHED, 0.0)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value))
    return value


_READERS: Mapping[type, Callable[[Any], Generation | Choice | Scored | Likely]] = {
    Generation: _generation,
    Choice: _choice,
    Scored: _scored,
    Likely: _likely,
}
