"""A server that answers to order, and a client of it that does not really wait."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from veridical.llm.openai_ import OpenAILLM
from veridical.testing.llm_server import KEY, ScriptedServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server of the test's own."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    running = ScriptedServer()
    yield running
    running.close()


@pytest.fixture
def waits() -> list[float]:
    """The seconds that the client would have waited between tries."""
    return []


@pytest.fixture
def llm(server: ScriptedServer, waits: list[float]) -> OpenAILLM:
    """A client of the server with two retries."""
    return OpenAILLM(server.url, "tiny", KEY, timeout_s=5.0, max_retries=2, sleep=waits.append)
