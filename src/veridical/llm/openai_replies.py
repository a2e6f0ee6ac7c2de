"""What a server's replies say, read without trusting anything in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from veridical.errors import EmptyReplyError, LLMError, UnreachableError
from veridical.llm.dialect import refused
from veridical.llm.labels import read_top
from veridical.llm.retry import retry_after_s
from veridical.types import Usage

_SHOWN = 300
_MOST_TOKENS = 10**9
_HALF = re.compile(r"[\ud800-\udfff]")  # JSON can escape half a character; nothing can encode it
_RETRIED = {408, 409, 429}
_WHERE = (
    "Check the base URL (VERIDICAL_LLM_BASE_URL; most end in /v1) and the model's name (VERIDICAL_LLM_MODEL)."
)
_HINTS = {
    400: "The server refused the request; see what it said above (too long a prompt is a common cause).",
    401: "Check the API key (VERIDICAL_LLM_API_KEY).",
    403: "Check the API key (VERIDICAL_LLM_API_KEY) and what it may use.",
    404: _WHERE,
    413: "The prompt is too long for this server: pass fewer passages.",
    429: "The server is at its limit: wait or ask less often; a quota, if it names one, must be raised.",
}
MALFORMED = "Check that VERIDICAL_LLM_BASE_URL is an OpenAI-compatible server (most end in /v1)."
_MOVED = "Redirects are not followed: set VERIDICAL_LLM_BASE_URL to the address itself."
_AGAIN = "The trouble is the server's: try again later."


class TryError(Exception):
    """One try that failed: what happened, what the reader can do, and whether trying again can help.

    ``refused`` is the parameter that the server does not take, ``kind`` the error if nothing helps.
    """

    def __init__(
        self,
        what: str,
        hint: str,
        *,
        retry: bool,
        wait_s: float | None = None,
        refused: str = "",
        kind: type[LLMError] = LLMError,
    ) -> None:
        super().__init__(what)
        self.what, self.hint, self.retry, self.wait_s = what, hint, retry, wait_s
        self.refused, self.kind = refused, kind


def status_failure(status: int, headers: Mapping[str, str], raw: bytes, key: str) -> TryError:
    """Turn a status that is no success into a failure that says what the server said."""
    text = raw.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = text
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    said = _said(body) or text
    parameter = str(body.get("param") or "") if isinstance(body, Mapping) else ""
    quota = status == 429 and isinstance(body, Mapping) and body.get("code") == "insufficient_quota"
    retry = (status in _RETRIED or status >= 500) and not quota
    hint = _HINTS.get(status, _AGAIN if status >= 500 else MALFORMED)
    if 300 <= status < 400:
        hint, said = _MOVED, f"it points to {headers.get('location') or 'no other address'}"
    what = f"status {status}" + (f", {_short(said, key)}" if said.strip() else "")
    return TryError(
        what,
        hint,
        retry=retry,
        wait_s=retry_after_s(headers),
        refused=refused(status, parameter, said),
        kind=UnreachableError if status in {401, 403} else LLMError,
    )


def read_text(raw: bytes, key: str) -> tuple[str, str, Usage]:
    """Return text, finish reason and what it cost (without calls).

    Raises
    ------
    TryError
        The reply is malformed or empty.
    """
    first, usage = _first(raw, key)
    message = first.get("message")
    if not isinstance(message, dict):
        raise TryError("the reply holds no message", MALFORMED, retry=True)
    content = message.get("content")
    finish_reason = first.get("finish_reason")
    finish_reason = finish_reason if isinstance(finish_reason, str) and finish_reason else "stop"
    if not isinstance(content, str) or not content.strip():
        cut = finish_reason == "length"
        hint = "It used up its tokens before it answered: raise max_tokens." if cut else _AGAIN
        what = f"the reply is empty (finish reason: {_short(finish_reason, key)})"
        raise TryError(what, hint, retry=not cut, kind=EmptyReplyError)
    return _HALF.sub("\ufffd", content.strip()), finish_reason, usage


def read_likely(raw: bytes, key: str) -> tuple[list[tuple[str, float]] | None, Usage]:
    """Return the likeliest first tokens, as :func:`veridical.llm.labels.read_top` does, and the cost.

    Raises
    ------
    TryError
        The reply is malformed. It may hold no text.
    """
    first, usage = _first(raw, key)
    return read_top(first.get("logprobs")), usage


def _first(raw: bytes, key: str) -> tuple[dict[str, Any], Usage]:
    """Return the first of a reply's choices and what it cost."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        shown = _short(raw.decode("utf-8", "replace"), key) or "nothing"
        raise TryError(f"the reply is not JSON (it reads: {shown})", MALFORMED, retry=True) from None
    if not isinstance(body, dict):
        raise TryError("the reply is not a JSON object", MALFORMED, retry=True)
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        said = f"; it says: {_short(_said(body), key)}" if "error" in body else ""
        raise TryError(f"the reply holds no choices{said}", MALFORMED, retry=True)
    return first, read_usage(body.get("usage"))


def read_usage(usage: object) -> Usage:
    """Read a reply's ``usage``; what is missing or odd in it counts as 0, and calls are not in it."""
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("prompt_tokens_details")
    n_prompt = _count(usage, "prompt_tokens")
    reused = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(
        prompt_tokens=n_prompt,
        completion_tokens=_count(usage, "completion_tokens"),
        reused_tokens=min(reused, n_prompt),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 <= value <= _MOST_TOKENS else 0


def _said(body: object) -> str:
    """Find the message in an error body, which comes in several shapes."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    return body if isinstance(body, str) else ""


def _short(text: str, key: str) -> str:
    """Fit text of the server on a line, without the key: a key that is cut would not be found any more."""
    text = _HALF.sub("\ufffd", text.replace(key, "***") if key else text)
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + " ..."
