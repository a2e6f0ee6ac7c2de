"""A language model that is down, slow or malformed: bounded retries, a clear error, the evidence shown."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from veridical import Veridical
from veridical.cli.app import run
from veridical.errors import LLMError
from veridical.pipeline import facade, models
from veridical.testing.fakes import FakeReader, HashEncoder, ScriptedNLI

QUESTION = "Which port is that of the gateway?"


def reply(text: str) -> bytes:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


class Server:
    """Answers every request with what ``answer`` makes of the request's body."""

    def __init__(self, answer: Callable[[dict[str, Any]], tuple[int, bytes]]) -> None:
        self.requests: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                status, data = answer(body)
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client has given up

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


class ServedModels(models.Models):
    """Real settings and a real client, on a fake encoder."""

    encoder = HashEncoder()  # type: ignore[assignment]

    def nli(self, spec: str) -> ScriptedNLI:
        return ScriptedNLI()

    def reader(self, spec: str) -> FakeReader:
        return FakeReader()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(answer: Callable[[dict[str, Any]], tuple[int, bytes]]) -> Server:
        servers.append(Server(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(facade, "Models", ServedModels)
    monkeypatch.setenv("VERIDICAL_LLM_MODEL", "test-model")
    monkeypatch.setenv("VERIDICAL_LLM_API_KEY", "sk-secret-value")
    monkeypatch.setenv("VERIDICAL_LLM_RETRIES", "1")
    monkeypatch.setenv("VERIDICAL_LLM_TIMEOUT", "1")
    (tmp_path / "a.txt").write_text("The port of the gateway is 443 for all of the staff.")
    with Veridical.open(tmp_path / "kb") as v:
        v.ingest(tmp_path / "a.txt")
        v.build()
    return tmp_path / "kb"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def slow(_: dict[str, Any]) -> tuple[int, bytes]:
    time.sleep(1.5)
    return 200, reply("late")


FAULTS: dict[str, Callable[[dict[str, Any]], tuple[int, bytes]]] = {
    "no json": lambda _: (200, b"<html>hello</html>"),
    "no choices": lambda _: (200, b'{"choices": []}'),
    "wrong types": lambda _: (200, b'{"choices": [{"message": {"content": 7}}]}'),
    "empty": lambda _: (200, reply("  ")),
    "only marks": lambda _: (200, reply("[1] [2]")),
    "error 500": lambda _: (500, b'{"error": {"message": "the boiler burst"}}'),
    "error 401": lambda _: (401, b'{"error": {"message": "bad key sk-secret-value"}}'),
    "slow": slow,
}


@pytest.mark.parametrize("fault", [*FAULTS, "down"])
def test_a_server_at_fault_is_named_and_the_evidence_is_shown(
    kb: Path,
    serve: Callable[..., Server],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fault: str,
) -> None:
    server = None if fault == "down" else serve(FAULTS[fault])
    monkeypatch.setenv(
        "VERIDICAL_LLM_BASE_URL", server.url if server else f"http://127.0.0.1:{free_port()}/v1"
    )
    capfd.readouterr()
    with pytest.raises(SystemExit) as left:
        run(["ask", QUESTION, "--kb", str(kb)])
    shown = " ".join("".join(capfd.readouterr()).split())
    assert left.value.code == LLMError.exit_code
    assert "No answer" in shown
    assert "test-model" in shown or "language model" in shown
    assert "a.txt" in shown
    assert "Traceback" not in shown
    assert "sk-secret-value" not in shown
    if server:
        assert 1 <= len(server.requests) <= 2


def test_a_failed_answer_in_json_holds_the_evidence(
    kb: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VERIDICAL_LLM_BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    monkeypatch.setenv("VERIDICAL_LLM_RETRIES", "0")
    capfd.readouterr()
    with pytest.raises(SystemExit) as left:
        run(["ask", QUESTION, "--kb", str(kb), "--json"])
    answer = json.loads(capfd.readouterr().out)
    assert left.value.code == 7
    assert (answer["status"], answer["text"]) == ("failed", "")
    assert [hit["document"]["key"] for hit in answer["hits"]] == ["a.txt"]


def test_a_server_that_works_answers_from_labelled_evidence_and_costs_are_told(
    kb: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(lambda _: (200, reply("It is 443 [1].")))
    monkeypatch.setenv("VERIDICAL_LLM_BASE_URL", server.url)
    with Veridical.open(kb) as v:
        answer = v.ask(QUESTION)
        assert (answer.status, answer.text, answer.generator) == ("answered", "It is 443 [1].", "test-model")
        assert [(c.marker, c.valid) for c in answer.citations] == [("[1]", True)]
        assert (answer.usage.calls, answer.usage.prompt_tokens) == (1, 7)
        v.feedback("a.txt", "bad")
        v.ask(QUESTION)
    prompts = ["\n".join(m["content"] for m in body["messages"]) for body in server.requests]
    assert "The port of the gateway is 443" in prompts[0]
    assert prompts[0] != prompts[1]
    assert "LOW" in prompts[1]


def test_a_server_that_recovers_is_asked_again(
    kb: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([(503, b"{}"), (200, reply("It is 443 [1]."))])
    server = serve(lambda _: next(answers))
    monkeypatch.setenv("VERIDICAL_LLM_BASE_URL", server.url)
    with Veridical.open(kb) as v:
        assert v.ask(QUESTION).status == "answered"
    assert len(server.requests) == 2
