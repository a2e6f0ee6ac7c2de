"""An OpenAI-compatible server on the loopback interface that answers, and misbehaves, to order."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-very-secret-0123456789"
"""An API key to look for where it must not be."""


def completion(
    text: str | None = "Red.",
    finish_reason: str = "stop",
    n_tokens: int = 1,
    *,
    logprobs: object = None,
    n_cached: int | None = None,
) -> dict[str, Any]:
    """Return the body of a chat completion with one choice; its prompt has 5 tokens."""
    usage: dict[str, Any] = {"prompt_tokens": 5, "completion_tokens": n_tokens, "total_tokens": 5 + n_tokens}
    if n_cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": n_cached}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": finish_reason, "message": message, "logprobs": logprobs}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}


def likely(top: Iterable[tuple[str, object]]) -> dict[str, Any]:
    """Return a choice's ``logprobs`` of one token: the first of the likeliest ones, each with its value."""
    entries = [
        {"token": token, "logprob": value, "bytes": list(token.encode("utf-8"))} for token, value in top
    ]
    return {"content": [{**entries[0], "top_logprobs": entries}]}


class Fault:
    """One way to answer a request.

    Parameters
    ----------
    body
        Bytes as they are, or what is sent as JSON.
    status, headers
        Of the reply.
    hang_s
        Seconds until anything is sent.
    drop
        Close the connection without a reply.
    torn
        Close it after 30 bytes of the body.
    trickle_s
        Seconds between the bytes of the body.
    """

    def __init__(
        self,
        body: object = None,
        status: int = 200,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        hang_s: float = 0.0,
        drop: bool = False,
        torn: bool = False,
        trickle_s: float = 0.0,
    ) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.headers, self.hang_s = status, dict(headers), hang_s
        self.drop, self.torn, self.trickle_s = drop, torn, trickle_s


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Write nothing to the terminal: clients that go away are part of the tests."""


class ScriptedServer:
    """Answers with its faults in turn, then with a good completion for ever; keeps the requests.

    Attributes
    ----------
    faults
        What comes next; may be added to at any time.
    usual
        What comes when there is no fault left.
    rule
        Asked first, with each request; what it returns is the answer, unless it is ``None``.
    requests, headers
        Bodies and headers received, by lower-case name.
    n_at_once
        The most requests that were there at the same time.
    url
        The base URL to give a client.
    """

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        self.faults = list(faults)
        self.usual = Fault(completion())
        self.rule: Callable[[Mapping[str, Any]], Fault | None] = lambda _: None
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.n_at_once = self._n_here = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                """Write nothing to the terminal."""

            def do_POST(self) -> None:
                """Answer one request."""
                with contextlib.suppress(OSError):  # the client may have gone
                    server._answer(self)

        self._http = _Quiet(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def close(self) -> None:
        """Stop, and free the port."""
        self._http.shutdown()
        self._http.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        with self._lock:
            self.requests.append(json.loads(body))
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            fault = self.rule(self.requests[-1])
            if fault is None:
                fault = self.faults.pop(0) if self.faults else self.usual
            self._n_here += 1
            self.n_at_once = max(self.n_at_once, self._n_here)
        time.sleep(fault.hang_s)
        with self._lock:
            self._n_here -= 1
        if fault.drop:
            handler.close_connection = True
            handler.connection.close()
            return
        handler.send_response(fault.status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(fault.body)))
        for name, value in fault.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if fault.torn:
            handler.wfile.write(fault.body[:30])
            handler.close_connection = True
        elif not fault.trickle_s:
            handler.wfile.write(fault.body)
        else:
            for byte in fault.body:
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
                time.sleep(fault.trickle_s)
