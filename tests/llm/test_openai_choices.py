"""Choices by an OpenAI-compatible server: its log-probabilities where it gives them, else votes."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from veridical.errors import InputError, LLMError
from veridical.llm.base import FLOOR, Message
from veridical.llm.openai_ import OpenAILLM
from veridical.testing.llm_contract import ChooserContract
from veridical.testing.llm_server import Fault, completion, likely

ASK = (Message("user", "A, B or C?"),)
LABELS = ("A", "B", "C")
UNIT = [("A", 2.0), (" A", 1.0), ("B", 1.5), (" B", 0.5), ("C", 0.0), (" C", -1.0)]


def chosen(top):
    return Fault(completion("A", logprobs=likely(top)))


def voted(*texts):
    return [Fault(completion(text)) for text in texts]


class TestAServerThatVotesKeepsTheContract(ChooserContract):
    @pytest.fixture(autouse=True)
    def _serve(self, server):
        server.usual = Fault(completion("B."))
        self.url = server.url

    def make(self):
        return OpenAILLM(self.url, "tiny")


def test_spellings_are_summed_and_renormalised_over_the_labels(server, llm):
    server.faults = [chosen([("The", 3.0), *UNIT, ("Also", 4.0)])]
    choice = llm.choose(ASK, LABELS)
    assert list(choice.probabilities.values()) == pytest.approx([0.5741, 0.3482, 0.0777], abs=5e-5)
    assert (choice.mode, choice.n_votes, choice.unseen) == ("logprobs", 0, ())
    assert choice.usage.calls == 1


def test_it_is_one_forward_pass_with_as_many_likely_tokens_as_servers_give(server, llm):
    server.faults = [chosen(UNIT)]
    llm.choose(ASK, LABELS)
    (request,) = server.requests
    assert request["max_tokens"] == 1
    assert (request["temperature"], request["logprobs"], request["top_logprobs"]) == (0.0, True, 20)


def test_a_label_that_is_not_listed_has_the_floor(server, llm):
    server.faults = [chosen([("B", -0.1), ("A", -3.0)])]
    choice = llm.choose(ASK, LABELS)
    assert choice.unseen == ("C",)
    assert choice.probabilities["C"] == FLOOR
    ratio = choice.probabilities["B"] / choice.probabilities["A"]
    assert ratio == pytest.approx(math.exp(2.9))
    assert sum(choice.probabilities.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("limit", [10, 5])
def test_a_server_that_lists_fewer_is_asked_for_fewer_from_then_on(server, llm, waits, limit):
    refusal = {"error": {"message": f"top_logprobs must be at most {limit}", "param": "top_logprobs"}}
    server.faults = [Fault(refusal, status=400)] * (1 if limit == 10 else 2) + [chosen(UNIT)] * 2
    assert llm.choose(ASK, LABELS).mode == "logprobs"
    assert llm.choose(ASK, LABELS).usage.calls == 1
    assert [request["top_logprobs"] for request in server.requests][-2:] == [limit, limit]
    assert waits == []


NONE = {
    "refused by name": Fault({"error": {"message": "logprobs is not supported by this model"}}, status=400),
    "not allowed": Fault({"error": {"message": "You are not allowed to request logprobs"}}, status=403),
    "an inner error": Fault({"error": {"message": "logprobs need logits_all"}}, status=500),
    "no field": Fault(completion("B")),
    "null": Fault(completion("B", logprobs=None)),
    "of another form": Fault(completion("B", logprobs={"tokens": ["B"], "token_logprobs": [-0.1]})),
    "no likely tokens": Fault(
        completion("B", logprobs={"content": [{"token": "B", "logprob": -0.1, "top_logprobs": []}]})
    ),
}


@pytest.mark.parametrize("fault", NONE.values(), ids=NONE.keys())
def test_a_server_without_log_probabilities_votes_and_is_not_asked_for_them_again(server, llm, waits, fault):
    server.faults = [fault, *voted("B", "B.", "(B)", "**A**", "I say C"), *voted("B", "B")]
    first = llm.choose(ASK, LABELS)
    assert (first.mode, first.n_votes, first.unseen) == ("votes", 4, ("C",))
    assert first.probabilities["B"] == pytest.approx((1 - FLOOR) * 3 / 4)
    assert first.probabilities["C"] == FLOOR
    assert first.usage.calls == 6
    second = llm.choose(ASK, LABELS, n_votes=2)
    assert (second.mode, second.usage.calls, second.unseen) == ("votes", 2, ("A", "C"))
    assert ["logprobs" in request for request in server.requests] == [True] + [False] * 7
    assert waits == []


UNUSABLE = {
    "an empty list": {"content": []},
    "no number": likely([("A", "high"), ("B", None), ("C", True)]),
    "not finite": likely([("A", float("nan")), ("B", float("-inf"))]),
    "longer words": likely([("Also", -0.1), ("Because", -2.0), ("A.", -3.0), ("a", -3.5)]),
    "odd entries": {
        "content": [{"top_logprobs": ["A", None, 3, {"token": 5, "logprob": -1.0}, {"token": "A"}]}]
    },
    "parts of characters": {"content": [{"top_logprobs": [{"token": "A", "bytes": [197], "logprob": -1.0}]}]},
}


@pytest.mark.parametrize("logprobs", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_where_no_label_is_seen_it_comes_to_votes_this_time(server, llm, logprobs):
    server.faults = [Fault(completion("B", logprobs=logprobs)), *voted(*"BBA"), chosen(UNIT)]
    assert llm.choose(ASK, LABELS, n_votes=3).mode == "votes"
    assert llm.choose(ASK, LABELS).mode == "logprobs"


def test_bytes_say_what_a_token_is_where_its_name_does_not(server, llm):
    top = [
        {"token": "token_id:32", "bytes": [65], "logprob": -0.1},
        {"token": "token_id:425", "bytes": [32, 66], "logprob": -2.0},
        {"token": "▁C", "bytes": None, "logprob": -3.0},
        {"token": "ĠC", "logprob": -4.0},
    ]
    server.faults = [Fault(completion("A", logprobs={"content": [{"top_logprobs": top}]}))]
    choice = llm.choose(ASK, LABELS)
    assert choice.unseen == ()
    assert choice.probabilities["C"] / choice.probabilities["A"] == pytest.approx(
        (math.exp(-3) + math.exp(-4)) / math.exp(-0.1)
    )


def test_a_label_is_not_read_out_of_one_that_it_begins(server, llm):
    server.faults = [chosen([("AB", -0.1), ("A", -3.0)])]
    probabilities = llm.choose(ASK, ("A", "AB")).probabilities
    assert probabilities["AB"] / probabilities["A"] == pytest.approx(math.exp(2.9))


def test_the_text_itself_is_not_read_when_there_are_probabilities(server, llm):
    server.faults = [Fault(completion(None, "length", logprobs=likely([("C", -0.1), ("A", -2.0)])))]
    choice = llm.choose(ASK, LABELS)
    assert max(choice.probabilities, key=choice.probabilities.__getitem__) == "C"


def test_when_no_vote_is_a_label_it_is_an_error_and_no_draw(server, llm):
    server.faults = [chosen([("The", -0.1)]), *voted("The first.", "Also A", "I think B", "", "", "", "no")]
    with pytest.raises(LLMError, match="None of 5 sampled replies") as caught:
        llm.choose(ASK, LABELS)
    assert caught.value.hint


def test_votes_are_sampled_at_temperature_one_with_seeds_of_their_own(server, llm):
    server.usual = Fault(completion("A"))
    llm.choose(ASK, LABELS, seed=2)
    seeds = sorted(request["seed"] for request in server.requests[1:])
    assert seeds == [10, 11, 12, 13, 14]
    assert {request["temperature"] for request in server.requests[1:]} == {1.0}


def test_votes_are_asked_for_at_once(server):
    llm = OpenAILLM(server.url, "tiny")
    server.usual = Fault(completion("A"))
    llm.choose(ASK, LABELS, n_votes=1)
    server.usual = Fault(completion("A"), hang_s=1.0)
    llm.choose(ASK, LABELS, n_votes=5)
    assert server.n_at_once > 1


def test_a_server_at_its_limit_is_waited_for(server, llm, waits):
    server.faults = [Fault({"error": "slow"}, 429, {"Retry-After": "4"}), chosen(UNIT)]
    choice = llm.choose(ASK, LABELS)
    assert (choice.mode, choice.usage.calls, waits) == ("logprobs", 2, [4.0])


def test_a_server_that_dies_between_two_votes_is_an_error(server, llm):
    server.usual = Fault(drop=True)
    server.faults = [Fault(completion("B")), *voted("A", "A")]
    with pytest.raises(LLMError, match="after 3 tries"):
        llm.choose(ASK, LABELS)


def test_a_reply_torn_off_is_asked_for_again(server, llm):
    server.faults = [Fault(completion("A", logprobs=likely(UNIT)), torn=True), chosen(UNIT)]
    assert llm.choose(ASK, LABELS).usage.calls == 2


def test_threads_learn_together_that_there_are_no_log_probabilities(server):
    refusal = Fault({"error": {"message": "unsupported: logprobs"}}, status=400, hang_s=0.1)
    server.rule = lambda request: refusal if "logprobs" in request else None
    server.usual = Fault(completion("B"))
    llm = OpenAILLM(server.url, "tiny", max_retries=0)
    with ThreadPoolExecutor(3) as pool:
        choices = list(pool.map(lambda _: llm.choose(ASK, LABELS, n_votes=2), range(3)))
    assert [choice.mode for choice in choices] == ["votes"] * 3
    assert {choice.usage.calls for choice in choices} <= {2, 3}


def test_a_text_cannot_be_scored_and_the_error_says_what_can(llm):
    with pytest.raises(LLMError, match="how probable") as caught:
        llm.logprob(ASK, "Red")
    assert "GGUF" in caught.value.hint
    with pytest.raises(InputError):
        llm.logprob(ASK, "")
