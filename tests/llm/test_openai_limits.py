"""Whatever a server does, a call ends in time and in size, and the key is not shown."""

from __future__ import annotations

import contextlib
import gzip
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from veridical.errors import InputError, LLMError
from veridical.llm.base import Message
from veridical.llm.openai_ import OpenAILLM
from veridical.llm.retry import RetryPolicy
from veridical.testing.llm_server import KEY, Fault, completion

ASK = (Message("user", "Name a colour."),)


def test_a_server_that_hangs_is_given_up_within_the_limit(server):
    llm = OpenAILLM(server.url, "tiny", timeout_s=0.2, max_retries=1, sleep=lambda _: None)
    server.faults = [Fault(completion(), hang_s=1.0)] * 2
    with pytest.raises(LLMError, match=r"no complete reply within 0\.") as caught:
        llm.generate(ASK, max_tokens=8)
    assert "VERIDICAL_LLM_TIMEOUT" in caught.value.hint


def test_a_server_that_trickles_is_given_up_although_every_read_is_in_time(server):
    llm = OpenAILLM(server.url, "tiny", timeout_s=0.3, max_retries=0)
    server.faults = [Fault(completion(), trickle_s=0.02)]
    with pytest.raises(LLMError, match="no complete reply"):
        llm.generate(ASK, max_tokens=8)


def test_all_tries_together_end_at_the_total_limit(server):
    policy = RetryPolicy(max_retries=1000, first_wait_s=0.01, max_wait_s=0.01, total_s=0.4)
    llm = OpenAILLM(server.url, "tiny", retry=policy)
    server.faults = [Fault({"error": "down"}, status=503)] * 1000
    with pytest.raises(LLMError, match="limit for all tries"):
        llm.generate(ASK, max_tokens=8)
    assert len(server.requests) < 1000


def test_the_key_is_nowhere_to_be_seen(server, llm, caplog):
    caplog.set_level(logging.DEBUG)
    server.faults = [Fault({"error": {"message": f"Incorrect key {KEY}"}}, status=401)]
    with pytest.raises(LLMError) as caught:
        llm.generate(ASK, max_tokens=8)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    for text in (repr(llm), str(caught.value), caplog.text):
        assert KEY not in text


def test_the_environment_of_another_provider_is_not_sent_along(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-for-somebody-else")
    OpenAILLM(server.url, "tiny").generate(ASK, max_tokens=8)
    assert "somebody-else" not in str(server.headers)


def test_a_password_in_the_url_is_not_shown():
    llm = OpenAILLM("http://user:hunter2@127.0.0.1:9/v1", "tiny", max_retries=0)
    with pytest.raises(LLMError) as caught:
        llm.generate(ASK, max_tokens=8)
    assert "hunter2" not in repr(llm) + str(caught.value)


class RawServer:
    """Accepts connections, reads one request of each, and lets ``answer`` write bytes to the socket."""

    def __init__(self, answer):
        self.sent_all = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        self.answer = answer
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):  # closed at the end of the test
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5.0)
            connection.recv(65536)
            self.answer(connection)
            self.sent_all.set()


LATE_REPLY = (b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n", b"\r\n")


def repeated(connection, piece, seconds, pause_s):
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        connection.sendall(piece)
        time.sleep(pause_s)


def trickle_headers(connection):
    connection.sendall(LATE_REPLY[0])
    repeated(connection, b"x: y\r\n", 1.5, 0.05)
    connection.sendall(LATE_REPLY[1])


def continue_for_long(connection):
    repeated(connection, b"HTTP/1.1 100 Continue\r\n\r\n", 1.5, 0.05)
    connection.sendall(b"".join(LATE_REPLY))


def trickle_an_error(connection):
    connection.sendall(b"HTTP/1.1 500 Oh\r\ncontent-length: 30\r\n\r\n")
    repeated(connection, b".", 1.5, 0.05)


@pytest.mark.parametrize("answer", [trickle_headers, continue_for_long, trickle_an_error])
def test_the_time_limit_holds_in_every_phase_of_a_reply(answer, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    server = RawServer(answer)
    llm = OpenAILLM(server.url, "tiny", timeout_s=0.3, max_retries=0)
    with pytest.raises(LLMError, match="no complete reply within 0"):
        llm.generate(ASK, max_tokens=8)
    server.listener.close()


def test_a_call_that_is_late_takes_no_other_call_with_it(server):
    llm = OpenAILLM(server.url, "tiny", timeout_s=0.4, max_retries=0)
    server.faults = [Fault(completion(), hang_s=1.0), Fault(completion(), hang_s=0.2)]
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(llm.generate, ASK, max_tokens=8)
        while not server.requests:
            time.sleep(0.01)
        time.sleep(0.25)
        other = pool.submit(llm.generate, ASK, max_tokens=8)
        assert slow.exception() is not None
        assert other.result().text == "Red."


@pytest.mark.parametrize("status", [b"500 Oh", b"302 Found\r\nlocation: /v2", b"401 No"])
def test_an_error_without_end_is_not_read_to_its_end(status, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")

    def much(connection):
        connection.sendall(b"HTTP/1.1 " + status + b"\r\ncontent-length: 67108864\r\n\r\n")
        for _ in range(64):
            connection.sendall(b"e" * 1048576)

    server = RawServer(much)
    llm = OpenAILLM(server.url, "tiny", timeout_s=10.0, max_retries=0)
    with pytest.raises(LLMError, match=f"status {status[:3].decode()}"):
        llm.generate(ASK, max_tokens=8)
    llm.close()
    assert not server.sent_all.wait(0.2)
    server.listener.close()


def test_a_reply_packed_in_a_way_nobody_asked_for_is_refused(server, llm):
    packed = gzip.compress(gzip.compress(b"[" * 1000))
    server.faults = [Fault(packed, headers={"content-encoding": "gzip, gzip"})]
    with pytest.raises(LLMError, match="encoding"):
        llm.generate(ASK, max_tokens=8)


def test_a_redirect_is_not_followed_and_the_address_is_named(server, llm):
    server.faults = [Fault(b"", status=307, headers={"location": "http://elsewhere.example/v1"})]
    with pytest.raises(LLMError, match="elsewhere") as caught:
        llm.generate(ASK, max_tokens=8)
    assert "VERIDICAL_LLM_BASE_URL" in caught.value.hint


@pytest.mark.parametrize("status", [200, 401, 500])
@pytest.mark.parametrize("form", ["{}", '{{"error": {{"message": "{}"}}}}'])
def test_a_key_at_the_place_where_a_message_is_cut_is_not_shown_in_part(server, status, form):
    text = "x" * (300 - len(KEY) // 2) + KEY
    server.faults = [Fault(form.format(text).encode(), status=status)]
    llm = OpenAILLM(server.url, "tiny", KEY, max_retries=0)
    with pytest.raises(LLMError) as caught:
        llm.generate(ASK, max_tokens=8)
    assert KEY[:5] not in str(caught.value)


@pytest.mark.parametrize("odd", ["sk-secret\n1", "sk-secret\0", "sk-secret\u00e9", "sk secret"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(odd):
    with pytest.raises(InputError, match="API key") as caught:
        OpenAILLM("http://127.0.0.1:9/v1", "tiny", odd)
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(caught.value)
