"""Votes: which replies count, and what they make."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.errors import BudgetError, EmptyReplyError, InputError, LLMError
from veridical.llm.base import FLOOR, Generation, Message
from veridical.llm.scripted import ScriptedLLM
from veridical.llm.voting import ballot, vote
from veridical.types import Usage

ASK = (Message("user", "A, B or C?"),)
LABELS = ("A", "B", "C")


@pytest.mark.parametrize(
    "reply", ["B", " B\n", "B.", "(B)", "**B**", "[B]", '"B"', "`B`", "B)", "**B.**", "B:", "“B”", "<B>"]
)
def test_a_label_with_signs_around_it_is_a_vote(reply):
    assert ballot(reply, LABELS) == "B"


@pytest.mark.parametrize(
    "reply",
    ["Bad", "b", "A B", "B or C", "I", "A good question", "Answer: B", "B. Paris", "", "...", "AB", "B1"],
)
def test_a_reply_that_says_more_or_something_else_is_none(reply):
    assert ballot(reply, LABELS) is None


def test_a_label_that_is_made_of_signs_can_be_voted_for():
    assert ballot("?", ("?", "!")) == "?"
    assert ballot("C++.", ("C", "C++")) == "C++"


@given(st.text(max_size=12), st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=4))
def test_a_vote_is_always_for_one_of_the_labels(reply, labels):
    assert ballot(reply, labels) in {None, *labels}


def test_shares_of_the_votes_that_count():
    llm = ScriptedLLM(["B", "(A)", "none of them", "B.", "B"])
    choice = vote(llm, ASK, LABELS)
    assert (choice.mode, choice.n_votes, choice.unseen) == ("votes", 4, ("C",))
    assert choice.probabilities == pytest.approx({"A": (1 - FLOOR) / 4, "B": (1 - FLOOR) * 3 / 4, "C": FLOOR})
    assert choice.usage == Usage(calls=5, prompt_tokens=20, completion_tokens=7)


def test_an_empty_reply_is_no_vote_and_other_trouble_is_an_error():
    empty = EmptyReplyError("Nothing was written.")
    assert vote(ScriptedLLM(["A", empty, "A"]), ASK, LABELS, n_votes=3).n_votes == 2
    for error in (LLMError("down"), BudgetError("used up")):
        with pytest.raises(type(error), match=error.message):
            vote(ScriptedLLM(["A", error, "A"]), ASK, LABELS, n_votes=3)


@pytest.mark.parametrize("replies", [["no"] * 3, [EmptyReplyError("nothing")] * 3])
def test_no_vote_at_all_is_an_error_that_says_what_was_read(replies):
    with pytest.raises(LLMError, match=r"None of 3 .* A, B, C") as caught:
        vote(ScriptedLLM(replies), ASK, LABELS, n_votes=3)
    assert caught.value.hint


class Sampler:
    """Remembers how it was asked, and by how many at once."""

    name = "sampler"

    def __init__(self):
        self.seeds, self.options = [], set()
        self.barrier = threading.Barrier(3, timeout=10)

    def generate(self, messages, *, max_tokens, temperature=0.0, seed=None, schema=None):
        self.seeds.append(seed)
        self.options.add((temperature, schema))
        self.barrier.wait()
        return Generation("A", Usage(calls=1), "stop", 0.0)


def test_samples_have_seeds_of_their_own_and_may_be_on_their_way_together():
    sampler = Sampler()
    vote(sampler, ASK, LABELS, n_votes=3, seed=0, n_concurrent=3)
    vote(sampler, ASK, LABELS, n_votes=3, seed=1, n_concurrent=8)
    assert sorted(sampler.seeds) == [0, 1, 2, 3, 4, 5]
    assert sampler.options == {(1.0, None)}


@pytest.mark.parametrize("wrong", [{"labels": ("A",)}, {"n_votes": 0}, {"messages": ()}])
def test_votes_that_make_no_sense_are_refused(wrong):
    llm = ScriptedLLM(["A"])
    with pytest.raises(InputError):
        vote(llm, **({"messages": ASK, "labels": LABELS} | wrong))
    assert llm.calls == []
