"""Killed, cut off or shared between processes, a batch pays for each reply once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from veridical.errors import LLMError, UnreachableError
from veridical.llm.base import Generation, Message
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ManagedLLM, Request
from veridical.llm.openai_ import OpenAILLM
from veridical.testing.llm_server import Fault, ScriptedServer, completion

N = 40
SCRIPT = """
import json, signal, sys
from pathlib import Path

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background has switched off
from veridical.llm.base import Message
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ManagedLLM, Request
from veridical.llm.openai_ import OpenAILLM

url, cache, first, last = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
llm = ManagedLLM(OpenAILLM(url, "tiny", max_retries=0), cache=ReplyCache(cache), n_concurrent=4)
requests = [Request((Message("user", f"question {i}"),), 8) for i in range(first, last)]
replies = llm.generate_many(requests, stage="s")
print(json.dumps([[reply.text for reply in replies], llm.usage_by_stage()["s"].to_dict(), llm.cache.notes]))
"""

Spawn = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    started: list[subprocess.Popen[str]] = []

    def start(server: ScriptedServer, cache: Path, first: int = 0, last: int = N) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SCRIPT, server.url, str(cache), str(first), str(last)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def asked(server: ScriptedServer) -> list[str]:
    return [request["messages"][-1]["content"] for request in server.requests]


def finished(process: subprocess.Popen[str]) -> tuple[list[str], dict[str, int], list[str]]:
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    texts, used, notes = json.loads(out)
    return texts, used, notes


def managed(server: ScriptedServer, cache: ReplyCache, n_concurrent: int = 4) -> ManagedLLM:
    return ManagedLLM(
        OpenAILLM(server.url, "tiny", max_retries=0, timeout_s=5.0), cache=cache, n_concurrent=n_concurrent
    )


def requests(n: int) -> list[Request]:
    return [Request((Message("user", f"question {i}"),), 8) for i in range(n)]


def test_a_killed_batch_goes_on_where_it_was(server: ScriptedServer, spawn: Spawn, tmp_path: Path) -> None:
    server.usual = Fault(completion(), hang_s=0.05)
    path = tmp_path / "c.db"
    process = spawn(server, path)
    while process.poll() is None and len(server.requests) < 15:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -9
    time.sleep(0.1)  # what was on its way arrives
    n_first = len(server.requests)
    assert 15 <= n_first < N
    with ReplyCache(path) as cache:
        n_kept = cache.report().n_replies
    assert n_first - 4 <= n_kept <= n_first  # at most those on their way are lost
    texts, used, notes = finished(spawn(server, path))
    assert texts == ["Red."] * N
    assert (used["calls"], used["cached_calls"]) == (N - n_kept, n_kept)
    assert len(server.requests) == n_first + N - n_kept
    assert notes == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signal of an interrupt")
def test_an_interrupted_process_keeps_also_what_was_on_its_way(
    server: ScriptedServer, spawn: Spawn, tmp_path: Path
) -> None:
    server.usual = Fault(completion(), hang_s=0.4)  # long enough to be interrupted on a busy machine, too
    path = tmp_path / "c.db"
    process = spawn(server, path)
    while process.poll() is None and len(server.requests) < 10:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert 10 <= len(server.requests) < N
    with ReplyCache(path) as cache:
        assert cache.report().n_replies == len(server.requests)


def test_an_interrupt_lets_nothing_be_tried_again(server: ScriptedServer, tmp_path: Path) -> None:
    busy = Fault({"error": "slow down"}, status=429, headers={"Retry-After": "1"})
    slow = Fault(completion(), hang_s=0.2)
    server.rule = lambda sent: slow if sent["messages"][-1]["content"] == "question 3" else busy

    def interrupt() -> None:
        raise KeyboardInterrupt

    with ReplyCache(tmp_path / "c.db") as cache:
        llm = ManagedLLM(OpenAILLM(server.url, "tiny", max_retries=2), cache=cache, n_concurrent=4)
        with pytest.raises(KeyboardInterrupt):
            llm.generate_many(requests(4), stage="s", tick=interrupt)
        assert len(server.requests) == 4
        assert cache.report().n_replies == 1
        busy.status, busy.body = 200, slow.body
        assert all(isinstance(reply, Generation) for reply in llm.generate_many(requests(4), stage="s"))


def test_a_server_that_dies_in_the_middle_costs_no_reply_twice(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.faults = [Fault(completion())] * 12
    server.usual = Fault(drop=True)
    with ReplyCache(tmp_path / "c.db") as cache:
        replies = managed(server, cache).generate_many(requests(100), stage="s")
        n_good = sum(isinstance(reply, Generation) for reply in replies)
        assert n_good == 12
        assert all(isinstance(reply, UnreachableError) for reply in replies if isinstance(reply, LLMError))
        assert len(server.requests) < 12 + 2 * 4 + 3  # it was not hammered for the other 88
        server.usual = Fault(completion())
        begun = len(server.requests)
        replies = managed(server, cache).generate_many(requests(100), stage="s")
    assert all(isinstance(reply, Generation) for reply in replies)
    assert len(server.requests) - begun == 88


def test_a_server_that_refuses_the_key_is_not_asked_for_every_request(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.usual = Fault({"error": {"message": "wrong key"}}, status=401)
    with ReplyCache(tmp_path / "c.db") as cache:
        replies = managed(server, cache, n_concurrent=2).generate_many(requests(50), stage="s")
    assert all(isinstance(reply, LLMError) for reply in replies)
    assert len(server.requests) <= 4


def test_two_processes_share_a_cache_from_its_first_moment_on(
    server: ScriptedServer, spawn: Spawn, tmp_path: Path
) -> None:
    server.usual = Fault(completion(), hang_s=0.01)
    path = tmp_path / "c.db"
    both = [spawn(server, path, 0, 25), spawn(server, path, 25, 50)]
    for process in both:
        texts, _, notes = finished(process)
        assert texts == ["Red."] * 25
        assert notes == []
    n_sent = len(server.requests)
    texts, used, _ = finished(spawn(server, path, 0, 50))
    assert len(texts) == 50
    assert used["cached_calls"] == 50
    assert len(server.requests) == n_sent == len(set(asked(server))) == 50
