"""A client of the ``openai`` package whose calls end in time and in size, whatever the server sends."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import OpenAI

MAX_BODY = 16 * 1024 * 1024
MAX_ERROR_BODY = 256 * 1024
_READABLE = {"", "identity", "gzip", "deflate"}


class LateError(Exception):
    """The call was not done within its time."""


class TooLargeError(Exception):
    """The reply is larger than ``MAX_BODY`` bytes."""


class RequestError(Exception):
    """The client cannot send this request, or cannot make sense of the reply."""


class LostError(Exception):
    """The connection could not be made, or was lost; ``made`` tells which."""

    def __init__(self, reason: object, *, made: bool) -> None:
        super().__init__(reason)
        self.made = made


class RefusedError(Exception):
    """The server answered with a status that is no success; its body, cut at ``MAX_ERROR_BODY``."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status, self.headers, self.body = status, headers, body


class BoundedClient:
    """Chat completions over connections of its own; for one call at a time.

    The HTTP library limits how long one read may take, not the call, and reads the body of an error to its
    end. So each call runs in a thread of its own, and whoever waits for it closes the connection when the
    time is up: nothing the thread does after that can succeed, and nobody waits for it.
    """

    def __init__(self, base_url: str, api_key: str) -> None:
        import openai

        self._ends = float("inf")
        # Redirects are not followed: they would take the prompt to an address that nobody chose.
        http = openai.DefaultHttpxClient(
            event_hooks={"request": [self._watch], "response": [self._check]}, follow_redirects=False
        )
        client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0, http_client=http)
        # The client takes these two from variables that are meant for one provider.
        client.organization = client.project = None
        self._client: OpenAI = client

    def close(self) -> None:
        """Close the connections, also under a call that runs."""
        self._client.close()

    def chat(self, request: Mapping[str, Any], limit_s: float) -> bytes:
        """Send one request and return the body of the reply.

        Raises
        ------
        LateError, TooLargeError, RequestError, LostError, RefusedError
            After any but the last, the client is closed and of no more use.
        """
        self._ends = time.monotonic() + limit_s
        done = threading.Event()
        outcome: list[bytes | Exception] = []

        def work() -> None:
            try:
                outcome.append(self._chat(request, limit_s))
            except Exception as error:  # handed to the one who waits
                outcome.append(error)
            finally:
                done.set()

        threading.Thread(target=work, name="veridical-llm-call", daemon=True).start()
        usable = False
        try:
            if not done.wait(limit_s) or not outcome:
                raise LateError
            result = outcome[0]
            usable = isinstance(result, (bytes, RefusedError))
            if isinstance(result, Exception):
                raise result from None
            return result
        finally:
            if not usable:
                self.close()

    def _chat(self, request: Mapping[str, Any], limit_s: float) -> bytes:
        import openai

        body = bytearray()
        create = self._client.chat.completions.with_streaming_response.create
        try:
            with create(
                **request, timeout=limit_s, extra_headers={"Accept-Encoding": "identity"}
            ) as response:
                for chunk in response.iter_bytes():
                    body += chunk
                    if time.monotonic() > self._ends:
                        raise LateError
                    if len(body) > MAX_BODY:
                        raise TooLargeError
        except openai.APITimeoutError:
            raise LateError from None
        except openai.APIConnectionError as error:
            # Some versions of the client wrap what a hook raises.
            if isinstance(error.__cause__, (RefusedError, RequestError, LateError)):
                raise error.__cause__ from None
            raise LostError(error.__cause__ or error, made=False) from None
        except (openai.OpenAIError, UnicodeEncodeError) as error:  # half a character cannot be sent
            raise RequestError(str(error)) from None
        except _transport_errors() as error:
            if "timeout" in type(error).__name__.lower():
                raise LateError from None
            raise LostError(error, made=True) from None
        return bytes(body)

    def _watch(self, request: Any) -> None:
        """Have a call that is late stop at its next step, such as a connection that came about at last."""

        def stop_if_late(event: str, info: object) -> None:
            del info
            step, _, stage = event.rpartition(".")
            # Closing is what a late call is to do; there is nobody who would catch an error from it.
            if stage == "complete" and not step.endswith("closed") and time.monotonic() > self._ends:
                raise LateError

        request.extensions["trace"] = stop_if_late

    def _check(self, response: Any) -> None:
        """Read what a server says that refuses, up to a size; the client itself would read it all."""
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in _READABLE:  # such as one packed twice, which grows without measure
            raise RequestError("the reply has an encoding that was not asked for")
        if 200 <= response.status_code < 300:
            return
        body = bytearray()
        try:
            for chunk in response.iter_bytes():
                body += chunk
                if time.monotonic() > self._ends:
                    raise LateError
                if len(body) > MAX_ERROR_BODY:
                    break
        except _transport_errors():  # the status is known, and says more than a torn body
            pass
        raise RefusedError(response.status_code, dict(response.headers), bytes(body[:MAX_ERROR_BODY]))


def _transport_errors() -> tuple[type[Exception], ...]:
    """What the HTTP library raises while a body is read; the client's version decides which library."""
    import openai._base_client as base

    http = getattr(base, "httpx2", None) or getattr(base, "httpx", None)
    return (http.HTTPError, http.StreamError) if http is not None else (OSError,)
