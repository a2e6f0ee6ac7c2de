"""What a server has shown that it does not take, learnt from its refusals and kept for the next requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LIMITS = (20, 10, 5)
"""How many likely tokens are asked for: as many as servers commonly give, then less."""
_UNKNOWN = re.compile(
    r"unsupported|not support|unknown|unrecogni|not allowed|not available|unavailable", re.I
)
_PLAIN = re.compile(r"\b(max_tokens|temperature|seed)\b")
_SCHEMA = re.compile(r"response_format|json.?schema|structured output", re.I)


def refused(status: int, parameter: str, said: str) -> str:
    """Return the parameter that an error is about, or nothing.

    ``top_logprobs`` means that fewer may do; ``logprobs`` that there are none.
    """
    text = f"{parameter} {said}"
    unknown = _UNKNOWN.search(said) is not None
    if "logprobs" in text and status not in {401, 408, 409, 429}:  # some answer 403 or 500 to it
        return "logprobs" if unknown or status >= 500 else "top_logprobs"
    if status not in {400, 422}:
        return ""
    if _SCHEMA.search(text):  # also a schema that this server cannot turn into a grammar
        return "response_format"
    found = _PLAIN.search(text)
    return found.group(1) if found and unknown else ""


class Dialect:
    """The form in which one server takes requests. Calls of several threads may learn at once."""

    def __init__(self) -> None:
        self._tokens_field = "max_tokens"
        self._unwanted: frozenset[str] = frozenset()
        self.n_top = _LIMITS[0]
        """How many likely tokens to ask for; 0 where the server gives none."""

    def form(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Write a request, as we would put it to any server, the way that this one takes it."""
        formed = {key: value for key, value in request.items() if key not in self._unwanted}
        if "max_tokens" in formed and self._tokens_field != "max_tokens":
            formed[self._tokens_field] = formed.pop("max_tokens")
        if "top_logprobs" in formed:
            formed["top_logprobs"] = self.n_top
        return formed

    def learn(self, parameter: str, sent: Mapping[str, Any]) -> bool:
        """Do without a parameter of a request that was refused; ``False`` if that changes nothing.

        It goes by what was sent, since another call may have learnt the same in the meantime.
        """
        if parameter == "max_tokens" and "max_tokens" in sent:
            self._tokens_field = "max_completion_tokens"
            return True
        if parameter in {"temperature", "seed", "response_format"} and parameter in sent:
            self._unwanted = self._unwanted | {parameter}
            return True
        if parameter in {"logprobs", "top_logprobs"} and "top_logprobs" in sent:
            fewer = [limit for limit in _LIMITS if limit < sent["top_logprobs"]]
            none = parameter == "logprobs" or not fewer
            self.n_top = min(self.n_top, 0 if none else fewer[0])
            return True
        return False
