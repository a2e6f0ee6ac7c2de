"""The client against a real server on the loopback interface that misbehaves to order."""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from veridical.errors import InputError, LLMError
from veridical.llm.base import Message
from veridical.llm.openai_ import OpenAILLM
from veridical.llm.retry import RetryPolicy
from veridical.testing.llm_contract import LLMContract

KEY = "sk-very-secret-0123456789"
ASK = (Message("system", "Be short."), Message("user", "Name a colour."))


def completion(text="Red.", finish_reason="stop", n_tokens=1):
    return {
        "id": "1",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text}}
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": n_tokens, "total_tokens": 5 + n_tokens},
    }


class Fault:
    """One way to answer a request."""

    def __init__(self, body=None, status=200, headers=(), hang_s=0.0, drop=False, torn=False, trickle_s=0.0):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.headers, self.hang_s = status, dict(headers), hang_s
        self.drop, self.torn, self.trickle_s = drop, torn, trickle_s


class Server:
    """Answers with its faults in turn, then with a good completion for ever; keeps the requests."""

    def __init__(self):
        self.faults: list[Fault] = []
        self.requests: list[dict] = []
        self.headers: list[dict[str, str]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                server.requests.append(json.loads(body))
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                fault = server.faults.pop(0) if server.faults else Fault(completion())
                with contextlib.suppress(OSError):  # the client may have gone
                    server.answer(self, fault)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    @staticmethod
    def answer(handler, fault):
        time.sleep(fault.hang_s)
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
            return
        if not fault.trickle_s:
            handler.wfile.write(fault.body)
            return
        for byte in fault.body:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(fault.trickle_s)

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    running = Server()
    yield running
    running.close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def llm(server, waits):
    return OpenAILLM(server.url, "tiny", KEY, timeout_s=5.0, max_retries=2, sleep=waits.append)


class TestOpenAIKeepsTheContract(LLMContract):
    secret = KEY

    @pytest.fixture(autouse=True)
    def _serve(self, server):
        self.server = server

    def make(self):
        return OpenAILLM(self.server.url, "tiny", KEY)

    def make_failing(self):
        def broken(*faults, **options):
            self.server.faults = list(faults)
            return OpenAILLM(self.server.url, "tiny", KEY, max_retries=0, **options)

        yield broken(Fault({"error": {"message": f"Bad key {KEY}"}}, status=401))
        yield broken(Fault({"error": "boom"}, status=500))
        yield broken(Fault(b"<html>not an API</html>"))
        yield broken(Fault(completion(""), status=200))
        yield broken(Fault(completion(), hang_s=0.3), timeout_s=0.1)
        yield OpenAILLM("http://127.0.0.1:9/v1", "tiny", KEY, max_retries=0)


GARBAGE = {
    "not JSON": b"<html>a proxy's login page</html>",
    "truncated JSON": json.dumps(completion()).encode()[:-20],
    "nothing at all": b"",
    "not UTF-8": b'{"choices": "\xff\xfe"}',
    "deeply nested": b"[" * 100_000,
    "a list": b"[]",
    "no choices": b"{}",
    "empty choices": b'{"choices": []}',
    "choices null": b'{"choices": null}',
    "choices of text": b'{"choices": ["hello"]}',
    "no message": b'{"choices": [{}]}',
    "message null": b'{"choices": [{"message": null}]}',
    "content null": b'{"choices": [{"message": {"content": null}}]}',
    "content empty": json.dumps(completion("  ")).encode(),
    "content a number": b'{"choices": [{"message": {"content": 5}}]}',
    "an error with status 200": b'{"error": {"message": "overloaded"}}',
}


@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE.keys())
def test_a_reply_that_cannot_be_used_is_asked_for_again(server, llm, body):
    server.faults = [Fault(body)]
    generation = llm.generate(ASK, max_tokens=8)
    assert generation.text == "Red."
    assert generation.usage.calls == 2


@pytest.mark.parametrize("body", GARBAGE.values(), ids=GARBAGE.keys())
def test_when_every_reply_is_unusable_the_error_says_so_and_what_to_do(server, llm, body):
    server.faults = [Fault(body)] * 3
    with pytest.raises(LLMError, match="after 3 tries") as caught:
        llm.generate(ASK, max_tokens=8)
    assert server.url in caught.value.message
    assert caught.value.hint
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_passing_trouble_is_waited_out_with_growing_waits(server, llm, waits, status):
    server.faults = [Fault({"error": "busy"}, status=status)] * 2
    assert llm.generate(ASK, max_tokens=8).text == "Red."
    assert len(waits) == 2
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


@pytest.mark.parametrize(
    ("status", "word"),
    [(400, "refused"), (401, "API key"), (403, "API key"), (404, "model's name"), (413, "fewer")],
)
def test_lasting_trouble_is_not_retried_and_points_to_the_setting(server, llm, status, word):
    server.faults = [Fault({"error": {"message": "no such thing"}}, status=status)]
    with pytest.raises(LLMError, match="no such thing") as caught:
        llm.generate(ASK, max_tokens=8)
    assert word in caught.value.hint
    assert len(server.requests) == 1


def test_an_exhausted_quota_is_not_retried(server, llm):
    body = {"error": {"message": "You have no credit left.", "code": "insufficient_quota"}}
    server.faults = [Fault(body, status=429)]
    with pytest.raises(LLMError, match="no credit"):
        llm.generate(ASK, max_tokens=8)
    assert len(server.requests) == 1


def test_retry_after_is_honoured(server, llm, waits):
    server.faults = [Fault({"error": "slow down"}, status=429, headers={"Retry-After": "4"})]
    llm.generate(ASK, max_tokens=8)
    assert waits == [4.0]


def test_a_retry_after_beyond_the_total_limit_ends_it_at_once(server, llm, waits):
    server.faults = [Fault({"error": "slow down"}, status=429, headers={"Retry-After": "3600"})]
    with pytest.raises(LLMError, match="asks to wait 3600 s"):
        llm.generate(ASK, max_tokens=8)
    assert waits == []


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


def test_a_lost_connection_is_retried(server, llm):
    server.faults = [Fault(drop=True)]
    assert llm.generate(ASK, max_tokens=8).text == "Red."


def test_a_body_cut_off_in_the_middle_is_retried(server, llm):
    server.faults = [Fault(completion(), torn=True)]
    assert llm.generate(ASK, max_tokens=8).text == "Red."
    assert len(server.requests) == 2


def test_a_server_that_is_not_there_is_named_with_the_setting_to_check():
    llm = OpenAILLM("http://127.0.0.1:9/v1", "tiny", max_retries=1, sleep=lambda _: None)
    with pytest.raises(LLMError, match=r"http://127\.0\.0\.1:9/v1") as caught:
        llm.generate(ASK, max_tokens=8)
    assert "VERIDICAL_LLM_BASE_URL" in caught.value.hint


def test_the_request_carries_what_was_asked_for(server, llm):
    llm.generate(ASK, max_tokens=8, temperature=0.5, seed=3)
    assert server.requests == [
        {
            "model": "tiny",
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "Name a colour."},
            ],
            "max_tokens": 8,
            "temperature": 0.5,
            "seed": 3,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_parameter_that_the_server_does_not_know_is_done_without_from_then_on(server, llm, waits):
    server.faults = [
        Fault(
            {"error": {"message": "Unsupported parameter: use another.", "param": "max_tokens"}}, status=400
        ),
        Fault({"error": {"message": "temperature is not supported by this model"}}, status=400),
    ]
    assert llm.generate(ASK, max_tokens=8).text == "Red."
    llm.generate(ASK, max_tokens=8)
    assert server.requests[-1].keys() == {"model", "messages", "max_completion_tokens"}
    assert len(server.requests) == 4
    assert waits == []


def test_a_server_that_refuses_for_ever_is_not_asked_for_ever(server, llm):
    fault = Fault({"error": {"message": "Unsupported parameter", "param": "max_tokens"}}, status=400)
    server.faults = [fault] * 50
    with pytest.raises(LLMError):
        llm.generate(ASK, max_tokens=8)
    assert len(server.requests) == 2


def test_tokens_used_up_before_an_answer_is_said_plainly(server, llm):
    server.faults = [Fault(completion("", finish_reason="length"))]
    with pytest.raises(LLMError) as caught:
        llm.generate(ASK, max_tokens=8)
    assert "max_tokens" in caught.value.hint


def test_odd_token_counts_do_no_harm(server, llm):
    odd = completion() | {"usage": {"prompt_tokens": "many", "completion_tokens": -4}}
    server.faults = [Fault(odd), Fault(completion() | {"usage": None})]
    for _ in range(2):
        usage = llm.generate(ASK, max_tokens=8).usage
        assert (usage.prompt_tokens, usage.completion_tokens) == (0, 0)


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


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://host/v1",
        "http://",
        "http://[::1",
        "http://host\0/v1",
        "http://host/v 1",
        "http://host:99999/v1",
    ],
)
def test_a_url_that_is_none_is_refused_before_any_call(url):
    with pytest.raises(InputError, match="URL"):
        OpenAILLM(url, "tiny")


def test_a_model_without_a_name_is_refused():
    with pytest.raises(InputError, match="name"):
        OpenAILLM("http://127.0.0.1:9/v1", " ")


def test_it_can_be_closed_and_used_again(llm):
    llm.generate(ASK, max_tokens=8)
    llm.close()
    assert llm.generate(ASK, max_tokens=8).text == "Red."


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
