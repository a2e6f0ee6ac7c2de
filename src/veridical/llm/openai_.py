"""A language model behind any OpenAI-compatible server, with retries that are bounded in number and time."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from veridical.errors import InputError, LLMError, UnreachableError
from veridical.llm.base import Choice, Generation, Message, Scored, check_request
from veridical.llm.dialect import Dialect
from veridical.llm.halt import pause
from veridical.llm.labels import check_choice, check_continuation, masses, shares
from veridical.llm.openai_replies import MALFORMED, TryError, read_likely, read_text, status_failure
from veridical.llm.retry import RetryPolicy
from veridical.llm.voting import vote
from veridical.types import Usage

if TYPE_CHECKING:
    from veridical.llm.bounded import BoundedClient

_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_DOWN = "Check that the server runs and that VERIDICAL_LLM_BASE_URL is right."
_SLOW = "Raise the time limit (VERIDICAL_LLM_TIMEOUT), or use a smaller model."
_AT_ONCE = 8
_Read = TypeVar("_Read")


class _NoLogprobsError(Exception):
    """The server gives no log-probabilities, as is known after ``n_sent`` requests."""

    def __init__(self, n_sent: int) -> None:
        super().__init__(n_sent)
        self.n_sent = n_sent


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
        sleep: Callable[[float], None] = pause,
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
        self._dialect = Dialect()

    def __repr__(self) -> str:
        return (
            f"OpenAILLM(base_url={self._shown_url!r}, model={self._model!r}, timeout_s={self._timeout_s:g})"
        )

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self._model

    @property
    def identity(self) -> str:
        """What its replies depend on besides the request: the address and the model."""
        return f"{self._shown_url} {self._model}"

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
        request = self._request(messages, max_tokens, temperature, seed, schema)
        (text, finish_reason, usage), n_sent = self._send(request, read_text)
        return Generation(text, replace(usage, calls=n_sent), finish_reason, time.monotonic() - began)

    def choose(
        self, messages: Sequence[Message], labels: Sequence[str], *, n_votes: int = 5, seed: int = 0
    ) -> Choice:
        """Choose among labels by the likeliest first tokens; see :class:`veridical.llm.base.Chooser`.

        A server that gives no log-probabilities is asked for votes, and from then on for votes at once. So
        is one that lists no label among its likeliest tokens, this time.
        """
        check_choice(messages, labels, n_votes)
        began = time.monotonic()
        top, spent = self._likely(messages)
        weights = masses(top, labels)
        if weights:
            probabilities, unseen = shares(weights, labels)
            return Choice(probabilities, "logprobs", spent, time.monotonic() - began, unseen=unseen)
        votes = vote(self, messages, labels, n_votes=n_votes, seed=seed, n_concurrent=_AT_ONCE)
        return replace(votes, usage=spent + votes.usage, seconds=time.monotonic() - began)

    def logprob(self, messages: Sequence[Message], continuation: str) -> Scored:
        """Raise `LLMError`: chat servers do not score a text that they are given.

        Raises
        ------
        InputError
            If there is no message, or the continuation is empty.
        LLMError
            Always, otherwise.
        """
        check_continuation(messages, continuation)
        raise LLMError(
            f"The language model {self._model!r} at {self._shown_url} cannot say how probable a given text "
            "is: chat servers give log-probabilities only of what they write themselves.",
            "Use the embedded engine: set VERIDICAL_LLM_MODEL to a GGUF file, and no VERIDICAL_LLM_BASE_URL.",
        )

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for client in idle:
            client.close()

    def _likely(self, messages: Sequence[Message]) -> tuple[list[tuple[str, float]], Usage]:
        """Return the likeliest first tokens, as far as the server says them, and what that cost."""
        request = self._request(messages, 1, 0.0, None, None) | {"logprobs": True, "top_logprobs": True}
        try:
            (top, usage), n_sent = self._send(request, read_likely)
        except _NoLogprobsError as error:
            return [], Usage(calls=error.n_sent)
        if top is None:
            self._dialect.n_top = 0
        return top or [], replace(usage, calls=n_sent)

    def _send(self, request: Mapping[str, Any], read: Callable[[bytes, str], _Read]) -> tuple[_Read, int]:
        """Ask until a reply can be read, within the limits; return it, and how many requests were sent."""
        began = time.monotonic()
        deadline = began + self._retry.total_s
        n_sent, n_failed = 0, 0
        while True:
            if "top_logprobs" in request and not self._dialect.n_top:
                raise _NoLogprobsError(n_sent)
            sent = self._dialect.form(request)
            try:
                n_sent += 1
                return read(self._fetch(sent, deadline), self._key), n_sent
            except TryError as failure:
                if failure.refused and self._dialect.learn(failure.refused, sent):
                    continue
                n_failed += 1
                stop = self._pause(failure, n_failed, deadline)
                if stop is not None:
                    raise self._error(failure, n_sent, time.monotonic() - began, stop) from None

    def _pause(self, failure: TryError, n_failed: int, deadline: float) -> str | None:
        """Wait before the next try, or say why there is none."""
        if not failure.retry or n_failed > self._retry.max_retries:
            return ""
        wait = self._retry.wait_s(n_failed, self._random.random(), failure.wait_s)
        if time.monotonic() + wait >= deadline:
            asked = f"; the server asks to wait {failure.wait_s:.9g} s" if failure.wait_s else ""
            return f" (gave up: the limit for all tries is {self._retry.total_s:g} s{asked})"
        self._sleep(wait)
        return None

    def _error(self, failure: TryError, n_sent: int, seconds: float, stop: str) -> LLMError:
        tries = "1 try" if n_sent == 1 else f"{n_sent} tries"
        return failure.kind(
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
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        if seed is not None:
            request["seed"] = seed
        if schema is not None:
            form = {"name": "reply", "strict": True, "schema": dict(schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return request

    def _fetch(self, request: dict[str, Any], deadline: float) -> bytes:
        """Send one request and return the body, within the limits whatever the server does."""
        from veridical.llm import bounded

        limit = max(0.001, min(self._timeout_s, deadline - time.monotonic()))
        client = self._take()
        try:
            body = client.chat(request, limit)
        except bounded.RefusedError as error:
            self._put_back(client)
            raise status_failure(error.status, error.headers, error.body, self._key) from None
        except bounded.LateError:
            what = f"no complete reply within {limit:g} s"
            raise TryError(what, _SLOW, retry=True, kind=UnreachableError) from None
        except bounded.TooLargeError:
            raise TryError("the reply is larger than 16 MiB", MALFORMED, retry=False) from None
        except bounded.LostError as error:
            what = "the connection was lost" if error.made else "no connection"
            raise TryError(f"{what} ({error})", _DOWN, retry=True, kind=UnreachableError) from None
        except bounded.RequestError as error:
            raise TryError(f"the request failed ({error})", MALFORMED, retry=False) from None
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
