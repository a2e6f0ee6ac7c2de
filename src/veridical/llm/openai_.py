"""A language model behind any OpenAI-compatible server, with retries that are bounded in number and time."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from veridical.errors import InputError, LLMError
from veridical.llm.base import Generation, Message, check_request
from veridical.llm.retry import RetryPolicy, retry_after_s
from veridical.types import Usage

if TYPE_CHECKING:
    from veridical.llm.bounded import BoundedClient

_SHOWN = 300
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
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
_DOWN = "Check that the server runs and that VERIDICAL_LLM_BASE_URL is right."
_SLOW = "Raise the time limit (VERIDICAL_LLM_TIMEOUT), or use a smaller model."
_MALFORMED = "Check that VERIDICAL_LLM_BASE_URL is an OpenAI-compatible server (most end in /v1)."
_MOVED = "Redirects are not followed: set VERIDICAL_LLM_BASE_URL to the address itself."
_AGAIN = "The trouble is the server's: try again later."


class _TryError(Exception):
    """One try that failed: what happened, what the reader can do, and whether trying again can help."""

    def __init__(
        self, what: str, hint: str, *, retry: bool, wait_s: float | None = None, refused: str = ""
    ) -> None:
        super().__init__(what)
        self.what, self.hint, self.retry, self.wait_s, self.refused = what, hint, retry, wait_s, refused


class OpenAILLM:
    """Chat completions of an OpenAI-compatible server.

    Parameters
    ----------
    base_url
        Such as ``http://127.0.0.1:8080/v1``.
    model
        The model's name on that server.
    api_key
        Sent as a bearer token, and shown nowhere: not in ``repr``, messages or logs.
    timeout_s
        Seconds one try may take, from sending to the last byte.
    max_retries
        Tries after the first, on status 408, 409, 429 and 5xx, on timeouts, on lost connections, and on
        replies that cannot be used. ``Retry-After`` is honoured.
    total_timeout_s
        Seconds that all tries and waits may take together; twice ``timeout_s`` by default.
    retry
        The whole policy, instead of ``max_retries`` and ``total_timeout_s``.
    sleep
        Called with seconds between tries; tests replace it.
    jitter_seed
        Fixes the random part of the waits.

    Raises
    ------
    InputError
        If the URL is not http(s), a name is empty, the key cannot be sent, or a limit is out of range.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        timeout_s: float = 60.0,
        max_retries: int = 3,
        total_timeout_s: float | None = None,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        jitter_seed: int | None = None,
    ) -> None:
        if not model.strip():
            raise InputError("The language model has no name.", "Set VERIDICAL_LLM_MODEL.")
        if not 0.0 < timeout_s < float("inf"):
            raise InputError(f"timeout_s is {timeout_s}.", "Pass a finite number of seconds above 0.")
        self._base_url, self._shown_url = _check_url(base_url)
        self._model = model.strip()
        self._key = _check_key(api_key)
        self._timeout_s = timeout_s
        total_s = 2 * timeout_s if total_timeout_s is None else total_timeout_s
        self._retry = retry or RetryPolicy(max_retries=max_retries, total_s=total_s)
        self._sleep = sleep
        self._random = random.Random(jitter_seed)  # noqa: S311 - spreads waits, guards nothing
        self._lock = threading.Lock()
        self._idle: list[BoundedClient] = []
        self._tokens_field = "max_tokens"
        self._unwanted: set[str] = set()

    def __repr__(self) -> str:
        return (
            f"OpenAILLM(base_url={self._shown_url!r}, model={self._model!r}, timeout_s={self._timeout_s:g})"
        )

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self._model

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Generation:
        """Ask the server; see :class:`veridical.llm.base.LLM`."""
        check_request(messages, max_tokens, temperature)
        began = time.monotonic()
        deadline = began + self._retry.total_s
        n_sent, n_failed = 0, 0
        while True:
            request = self._request(messages, max_tokens, temperature, seed, schema)
            try:
                n_sent += 1
                return self._try(request, deadline, began, n_sent)
            except _TryError as failure:
                if failure.refused and self._do_without(failure.refused):
                    continue
                n_failed += 1
                stop = self._pause(failure, n_failed, deadline)
                if stop is not None:
                    raise self._error(failure, n_sent, time.monotonic() - began, stop) from None

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()

    def _pause(self, failure: _TryError, n_failed: int, deadline: float) -> str | None:
        """Wait before the next try, or say why there is none."""
        if not failure.retry or n_failed > self._retry.max_retries:
            return ""
        wait = self._retry.wait_s(n_failed, self._random.random(), failure.wait_s)
        if time.monotonic() + wait >= deadline:
            asked = f"; the server asks to wait {failure.wait_s:.0f} s" if failure.wait_s else ""
            return f" (gave up: the limit for all tries is {self._retry.total_s:g} s{asked})"
        self._sleep(wait)
        return None

    def _error(self, failure: _TryError, n_sent: int, seconds: float, stop: str) -> LLMError:
        tries = "1 try" if n_sent == 1 else f"{n_sent} tries"
        return LLMError(
            self._scrub(
                f"The language model {self._model!r} at {self._shown_url} gave no answer after {tries} "
                f"in {seconds:.1f} s: {failure.what}{stop}."
            ),
            failure.hint,
        )

    def _scrub(self, text: str) -> str:
        """Servers echo keys in their complaints; ours must not pass that on."""
        return text.replace(self._key, "***") if self._key else text

    def _request(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float,
        seed: int | None,
        schema: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            self._tokens_field: max_tokens,
            "temperature": temperature,
        }
        if seed is not None:
            request["seed"] = seed
        if schema is not None:
            form = {"name": "reply", "strict": True, "schema": dict(schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return {key: value for key, value in request.items() if key not in self._unwanted}

    def _do_without(self, parameter: str) -> bool:
        """Drop or rename a parameter that the server does not know; ``False`` if that was done before."""
        if parameter == "max_tokens" and self._tokens_field == "max_tokens":
            self._tokens_field = "max_completion_tokens"
            return True
        if parameter in {"temperature", "seed"} and parameter not in self._unwanted:
            self._unwanted = self._unwanted | {parameter}
            return True
        return False

    def _try(self, request: dict[str, Any], deadline: float, began: float, n_sent: int) -> Generation:
        text, finish_reason, tokens = _read(self._fetch(request, deadline), self._key)
        return Generation(
            text=text,
            usage=Usage(calls=n_sent, prompt_tokens=tokens[0], completion_tokens=tokens[1]),
            finish_reason=finish_reason,
            seconds=time.monotonic() - began,
        )

    def _fetch(self, request: dict[str, Any], deadline: float) -> bytes:
        """Send one request and return the body, within the limits whatever the server does."""
        from veridical.llm import bounded

        limit = max(0.001, min(self._timeout_s, deadline - time.monotonic()))
        client = self._take()
        try:
            body = client.chat(request, limit)
        except bounded.RefusedError as error:
            self._put_back(client)
            raise _status_failure(error.status, error.headers, error.body, self._key) from None
        except bounded.LateError:
            raise _TryError(f"no complete reply within {limit:g} s", _SLOW, retry=True) from None
        except bounded.TooLargeError:
            raise _TryError("the reply is larger than 16 MiB", _MALFORMED, retry=False) from None
        except bounded.LostError as error:
            what = "the connection was lost" if error.made else "no connection"
            raise _TryError(f"{what} ({error})", _DOWN, retry=True) from None
        except bounded.RequestError as error:
            raise _TryError(f"the request failed ({error})", _MALFORMED, retry=False) from None
        self._put_back(client)
        return body

    def _take(self) -> BoundedClient:
        """Take a client that no other call uses, so that one that is late can be cut off by itself."""
        from veridical.llm.bounded import BoundedClient

        with self._lock:
            return self._idle.pop() if self._idle else BoundedClient(self._base_url, self._key or "none")

    def _put_back(self, client: BoundedClient) -> None:
        with self._lock:
            self._idle.append(client)


def _check_url(base_url: str) -> tuple[str, str]:
    """Return the URL to use and the URL to show, which has no user name, password or query."""
    url = base_url.strip().rstrip("/")
    try:
        if not _PRINTABLE.fullmatch(url):
            raise ValueError
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        good, shown = False, ""
    if not good:
        raise InputError(
            "The language model's base URL is not an http or https URL.",
            "Set VERIDICAL_LLM_BASE_URL to something like http://127.0.0.1:8080/v1, in plain ASCII.",
        )
    return url, shown


def _check_key(api_key: str | None) -> str:
    """Return the key without white space around it; the error does not show a key that cannot be one."""
    key = (api_key or "").strip()
    if key and not _PRINTABLE.fullmatch(key):
        raise InputError(
            "The language model's API key holds a character that no key has (white space, a control "
            "character, or one outside ASCII).",
            "Set VERIDICAL_LLM_API_KEY to the key alone, on one line.",
        )
    return key


def _status_failure(status: int, headers: Mapping[str, str], raw: bytes, key: str) -> _TryError:
    refused = ""
    text = raw.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = text
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    said = _said(body) or text
    if status in {400, 422}:
        found = re.search(r"\b(max_tokens|temperature|seed)\b", f"{_parameter(body)} {said}")
        refused = (
            found.group(1)
            if found and re.search(r"unsupported|not support|unknown|unrecogni", said, re.I)
            else ""
        )
    quota = status == 429 and isinstance(body, Mapping) and body.get("code") == "insufficient_quota"
    retry = (status in _RETRIED or status >= 500) and not quota
    hint = _HINTS.get(status, _AGAIN if status >= 500 else _MALFORMED)
    if 300 <= status < 400:
        hint, said = _MOVED, f"it points to {headers.get('location') or 'no other address'}"
    what = f"status {status}" + (f", {_short(said, key)}" if said.strip() else "")
    return _TryError(what, hint, retry=retry, wait_s=retry_after_s(headers), refused=refused)


def _said(body: object) -> str:
    """Find the message in an error body, which comes in several shapes."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, Mapping) and isinstance(inner.get("message"), str):
            return str(inner["message"])
    return body if isinstance(body, str) else ""


def _parameter(body: object) -> str:
    return str(body.get("param") or "") if isinstance(body, Mapping) else ""


def _short(text: str, key: str) -> str:
    """Fit text of the server on a line, without the key: a key that is cut would not be found any more."""
    line = " ".join((text.replace(key, "***") if key else text).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + " ..."


def _read(raw: bytes, key: str) -> tuple[str, str, tuple[int, int]]:
    """Take text, finish reason and token counts out of a reply, and trust nothing in it."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        shown = _short(raw.decode("utf-8", "replace"), key) or "nothing"
        raise _TryError(f"the reply is not JSON (it reads: {shown})", _MALFORMED, retry=True) from None
    if not isinstance(body, dict):
        raise _TryError("the reply is not a JSON object", _MALFORMED, retry=True)
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        said = f"; it says: {_short(_said(body), key)}" if "error" in body else ""
        raise _TryError(f"the reply holds no choices{said}", _MALFORMED, retry=True)
    content = message.get("content")
    finish_reason = first.get("finish_reason")
    finish_reason = finish_reason if isinstance(finish_reason, str) and finish_reason else "stop"
    if not isinstance(content, str) or not content.strip():
        cut = finish_reason == "length"
        hint = "It used up its tokens before it answered: raise max_tokens." if cut else _AGAIN
        raise _TryError(
            f"the reply is empty (finish reason: {_short(finish_reason, key)})", hint, retry=not cut
        )
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return (
        content.strip(),
        finish_reason,
        (_count(usage, "prompt_tokens"), _count(usage, "completion_tokens")),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
