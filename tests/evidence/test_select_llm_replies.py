"""Choices of a language model that come back: summed, voted, failed, or gone on with."""

from __future__ import annotations

import math

import numpy as np
import pytest
from choosing import HOP, Choosing, Voting, by_text, selector_of

from veridical.errors import BudgetError, LLMError, UnreachableError
from veridical.evidence.selectors import Step
from veridical.llm.budget import Budget
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ManagedLLM
from veridical.llm.openai_ import OpenAILLM
from veridical.testing.llm_server import Fault, ScriptedServer, completion, likely
from veridical.testing.selector_contract import (
    BORN,
    FIRST,
    OTHERS,
    QUESTION,
    RIVER,
)


@pytest.fixture
def server(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    running = ScriptedServer()
    yield running
    running.close()


def test_spellings_of_a_letter_are_summed_and_what_is_no_letter_is_left_out(server):
    top = [
        ("The", 3.0),
        ("A", 2.0),
        ("B", 1.5),
        (" A", 1.0),
        (" B", 0.5),
        ("C", 0.0),
        (" C", -1.0),
        ("Z", 2.5),
    ]
    server.usual = Fault(completion("A", logprobs=likely(top)))
    selector = selector_of(OpenAILLM(server.url, "tiny"))
    [chances] = selector.select([Step(QUESTION, 1, (), (BORN, RIVER))])
    np.testing.assert_allclose(chances, [0.5741, 0.3482, 0.0777], atol=5e-5)
    assert selector.notes == ()
    assert [request["max_tokens"] for request in server.requests] == [1]


def test_a_server_without_probabilities_votes_and_the_notes_say_so(server):
    server.faults = [
        Fault(completion("B", logprobs=None)),
        *(Fault(completion(x)) for x in ("B", "A.", "B", "B", "no")),
    ]
    selector = selector_of(OpenAILLM(server.url, "tiny", max_retries=0), n_votes=5)
    [chances] = selector.select([Step(QUESTION, 1, (), (BORN, RIVER))])
    assert chances[1] > chances[0] > chances[2] > 0
    assert chances.sum() == pytest.approx(1.0)
    assert selector.notes == (
        "the language model gives no probabilities: they are shares of 5 sampled replies a choice",
    )


def test_a_model_that_only_writes_votes_and_the_shares_are_the_probabilities():
    selector = selector_of(Voting("BBAB"), n_votes=4)
    [chances] = selector.select([Step(QUESTION, 1, (), (BORN, RIVER))])
    assert chances[1] / chances[0] == pytest.approx(3.0)
    assert math.isclose(chances[2], 1e-4, rel_tol=1e-3)
    assert any("shares of 4 sampled replies" in note for note in selector.notes)


def test_a_choice_that_fails_stops_its_chain_and_no_other_and_the_notes_say_so():
    def weigh(text, chain):
        if chain == BORN:
            raise LLMError("the server is down", "Start it.")
        return by_text(text, chain)

    selector = selector_of(Choosing(weigh))
    first, second, third = selector.select(HOP)
    assert first.tolist() == [1.0, *[0.0] * len(HOP[0].options)]
    assert 0 < second[0] < 1 and 0 < third[0] < 1
    (note,) = selector.notes
    assert (
        note
        == "at hop 2 the language model failed on 1 of 3 choices, where the chain stops: the server is down"
    )


def test_if_all_choices_fail_it_is_an_error_and_no_chain_is_made_up():
    def weigh(text, chain):
        raise LLMError("the server is down", "Start it.")

    with pytest.raises(LLMError, match="the server is down"):
        selector_of(Choosing(weigh)).select(HOP)


def test_a_reply_that_is_no_letter_is_no_choice():
    with pytest.raises(LLMError, match="None of 3 sampled replies"):
        selector_of(Voting(["The answer"] * 3), n_votes=3).select([FIRST])


def test_nobody_there_is_an_error_even_if_others_were_chosen():
    def weigh(text, chain):
        if chain == OTHERS[1]:
            raise UnreachableError("nobody answers", "Start the server.")
        return 1.0

    with pytest.raises(UnreachableError, match="nobody answers"):
        selector_of(Choosing(weigh)).select(HOP)


def test_notes_are_those_of_the_last_search():
    def weigh(text, chain):
        if chain == BORN:
            raise LLMError("the server is down", "Start it.")
        return 1.0

    selector = selector_of(Choosing(weigh))
    selector.select([FIRST])
    selector.select(HOP)
    assert len(selector.notes) == 1
    selector.select([Step(QUESTION, 3, (OTHERS[0], BORN), (RIVER,))])
    assert len(selector.notes) == 1, "they are of all hops"
    selector.select([FIRST])
    assert selector.notes == ()


def test_when_the_budget_runs_out_the_same_steps_go_on_where_they_ended(tmp_path):
    llm, cache = Choosing(by_text), ReplyCache(tmp_path / "replies.sqlite")
    with pytest.raises(BudgetError):
        selector_of(ManagedLLM(llm, cache=cache, budget=Budget(max_calls=2))).select(HOP)
    managed = ManagedLLM(llm, cache=cache, budget=Budget(max_calls=1))
    rows = selector_of(managed).select(HOP)
    assert len(llm.calls) == 3
    used = managed.usage_by_stage()["select"]
    assert (used.calls, used.cached_calls) == (1, 2)
    for row, again in zip(rows, selector_of(Choosing(by_text)).select(HOP), strict=True):
        np.testing.assert_array_equal(row, again)
