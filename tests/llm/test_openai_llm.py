"""The client against a real server on the loopback interface that misbehaves to order."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from veridical.errors import EmptyReplyError, InputError, LLMError, UnreachableError
from veridical.llm.base import Message
from veridical.llm.budget import Budget, Prices
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ManagedLLM
from veridical.llm.openai_ import OpenAILLM
from veridical.testing.llm_contract import ChooserContract, LLMContract
from veridical.testing.llm_server import KEY, Fault, completion, likely

ASK = (Message("system", "Be short."), Message("user", "Name a colour."))


class TestOpenAIKeepsTheContract(LLMContract, ChooserContract):
    secret = KEY

    @pytest.fixture(autouse=True)
    def _serve(self, server):
        self.server = server
        top = likely([("B", -0.2), (" B", -2.5), ("A", -2.6), ("C", -4.0), ("The", -5.0)])
        server.usual = Fault(completion("B", logprobs=top))

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


def test_prompt_tokens_that_the_server_had_in_its_cache_are_counted(server, llm):
    server.faults = [
        Fault(completion(n_cached=4)),
        Fault(completion(n_cached=9)),
        Fault(completion(n_cached=-1)),
    ]
    reused = [llm.generate(ASK, max_tokens=8).usage.reused_tokens for _ in range(3)]
    assert reused == [4, 5, 0]  # no more than the prompt's five


SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


def test_a_schema_is_sent_as_the_form_of_the_reply(server, llm):
    llm.generate(ASK, max_tokens=8, schema=SCHEMA)
    assert server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
    }


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Unrecognized request argument supplied: response_format"},
        {"message": "Invalid parameter", "param": "response_format"},
        {"message": "JSON schema conversion failed: unsupported keyword"},
        {"message": "This response_format type is unavailable now"},
    ],
)
def test_a_server_that_takes_no_schema_is_asked_without_it_from_then_on(server, llm, waits, error):
    server.faults = [Fault({"error": error}, status=400)]
    assert llm.generate(ASK, max_tokens=8, schema=SCHEMA).text == "Red."
    llm.generate(ASK, max_tokens=8, schema=SCHEMA)
    assert ["response_format" in request for request in server.requests] == [True, False, False]
    assert waits == []


def test_calls_on_their_way_learn_together_what_a_server_does_not_take(server):
    refusal = Fault({"error": {"message": "Unsupported parameter", "param": "max_tokens"}}, 400, hang_s=0.1)
    server.rule = lambda request: refusal if "max_tokens" in request else None
    llm = OpenAILLM(server.url, "tiny", max_retries=0)
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(lambda _: llm.generate(ASK, max_tokens=8).text, range(4)))
    assert texts == ["Red."] * 4
    assert 1 <= sum("max_tokens" in request for request in server.requests) <= 4
    assert sum("max_completion_tokens" in request for request in server.requests) == 4


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault({"error": "no"}, status=401), UnreachableError),
        (Fault({"error": "no"}, status=403), UnreachableError),
        (Fault(drop=True), UnreachableError),
        (Fault(completion(), hang_s=0.5), UnreachableError),
        (Fault(completion("")), EmptyReplyError),
        (Fault({"error": "too long"}, status=400), LLMError),
        (Fault({"error": "broken"}, status=500), LLMError),
    ],
)
def test_the_error_tells_nobody_there_from_no_reply_from_other_trouble(server, fault, kind):
    server.faults = [fault]
    with pytest.raises(LLMError) as caught:
        OpenAILLM(server.url, "tiny", timeout_s=0.2, max_retries=0).generate(ASK, max_tokens=8)
    assert type(caught.value) is kind


def test_what_replies_depend_on_is_the_address_and_the_model():
    identities = {
        OpenAILLM(f"http://user:hunter2@{host}/v1", model, KEY).identity
        for host in "ab"
        for model in ("x", "y")
    }
    assert len(identities) == 4
    assert not any("hunter2" in identity or KEY in identity for identity in identities)


def test_counts_beyond_any_model_are_no_counts(server, llm, tmp_path):
    # An integer of JSON has no limit, but a database and a sum of money do.
    for n, digits in enumerate(("9" * 30, "9" * 400)):
        body = json.dumps(completion()).replace('"prompt_tokens": 5', f'"prompt_tokens": {digits}')
        server.faults = [Fault(body.encode())]
        with ReplyCache(tmp_path / f"{n}.db") as cache:
            managed = ManagedLLM(llm, cache=cache, budget=Budget(max_money=1.0), prices=Prices(1.0, 1.0))
            assert managed.generate(ASK, max_tokens=8).usage.prompt_tokens == 0
            assert cache.report().n_replies == 1


def test_half_characters_from_a_server_go_no_further(server, llm):
    server.faults = [Fault(completion("a \ud800 b")), Fault({"error": "no \udfff"}, status=400)]
    assert llm.generate(ASK, max_tokens=8).text == "a \ufffd b"
    with pytest.raises(LLMError, match="no \ufffd"):
        llm.generate(ASK, max_tokens=8)


def test_a_prompt_with_half_a_character_is_refused_and_not_sent(server, llm):
    with pytest.raises(LLMError, match="the request failed"):
        llm.generate([Message("user", "a \ud800 b")], max_tokens=8)
    assert server.requests == []


def test_a_wait_without_measure_is_told_in_few_words(server, llm):
    server.faults = [Fault({"error": "slow down"}, status=429, headers={"Retry-After": "1e300"})]
    with pytest.raises(LLMError, match="asks to wait") as caught:
        llm.generate(ASK, max_tokens=8)
    assert len(caught.value.message) < 250
