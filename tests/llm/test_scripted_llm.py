from __future__ import annotations

import pytest

from veridical.errors import EmptyReplyError, LLMError
from veridical.llm.base import FLOOR, Choice, Generation, Message
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.llm_contract import ChooserContract, LLMContract
from veridical.types import Usage

HELLO = (Message("user", "hello"),)


class TestScriptedKeepsTheContract(LLMContract, ChooserContract):
    def make(self):
        return ScriptedLLM(lambda messages: "Red is a colour of the rainbow.")

    def make_chooser(self):
        return ScriptedLLM(lambda messages: {"A": 1.0, "B": 3.0} if len(messages) == 1 else "B")

    def test_several_threads_may_choose_at_once(self):
        self.make_chooser = lambda: ScriptedLLM(lambda messages: "B")
        super().test_several_threads_may_choose_at_once()

    def make_failing(self):
        return (
            ScriptedLLM([]),
            ScriptedLLM([""]),
            ScriptedLLM([LLMError("The server is down.", "Start it.")]),
        )


def test_replies_come_in_order_and_conversations_are_kept():
    llm = ScriptedLLM(["one", "two"])
    assert [llm.generate(HELLO, max_tokens=5).text for _ in range(2)] == ["one", "two"]
    assert llm.calls == [HELLO, HELLO]


def test_a_function_sees_the_messages():
    llm = ScriptedLLM(lambda messages: messages[-1].content.upper())
    assert llm.generate(HELLO, max_tokens=5).text == "HELLO"


def test_any_exception_can_be_scripted():
    with pytest.raises(TimeoutError):
        ScriptedLLM([TimeoutError()]).generate(HELLO, max_tokens=5)


def test_a_whole_generation_can_be_scripted():
    generation = Generation("x", Usage(calls=1), "length", 0.5)
    assert ScriptedLLM([generation]).generate(HELLO, max_tokens=5) is generation


def test_a_long_reply_is_cut_at_max_tokens_and_says_so():
    generation = ScriptedLLM(["one two three"]).generate(HELLO, max_tokens=2)
    assert (generation.text, generation.finish_reason) == ("one two", "length")


def test_weights_are_normalised_and_labels_without_any_have_the_floor():
    llm = ScriptedLLM([{"A": 1.0, "B": 3.0, "C": 0.0}])
    choice = llm.choose(HELLO, ("A", "B", "C", "D"))
    rest = 1 - 2 * FLOOR
    assert choice.probabilities == pytest.approx({"A": rest / 4, "B": rest * 3 / 4, "C": FLOOR, "D": FLOOR})
    assert (choice.mode, choice.unseen) == ("logprobs", ("C", "D"))
    assert choice.usage == Usage(calls=1, prompt_tokens=1, completion_tokens=1)
    assert llm.calls == [HELLO]


@pytest.mark.parametrize("reply", ["B", "(B)", Generation("B.", Usage(calls=1), "stop", 0.0)])
def test_a_text_that_is_one_label_has_all_the_probability(reply):
    assert ScriptedLLM([reply]).choose(HELLO, ("A", "B")).probabilities == {"A": FLOOR, "B": 1 - FLOOR}


def test_a_whole_choice_can_be_scripted():
    choice = Choice({"A": 0.25, "B": 0.75}, "votes", Usage(calls=5), 0.5, n_votes=4)
    assert ScriptedLLM([choice]).choose(HELLO, ("A", "B")) is choice


@pytest.mark.parametrize("reply", ["A ship", {}, {"A": 0.0}, {"A": 1.0, "Z": 1.0}, "Z", ""])
def test_a_reply_that_is_no_choice_is_an_error(reply):
    with pytest.raises(LLMError, match="no choice among A, B"):
        ScriptedLLM([reply]).choose(HELLO, ("A", "B"))


def test_a_choice_is_no_text_and_an_empty_text_is_told_apart():
    with pytest.raises(LLMError, match="a choice"):
        ScriptedLLM([{"A": 1.0}]).generate(HELLO, max_tokens=5)
    with pytest.raises(EmptyReplyError):
        ScriptedLLM([" "]).generate(HELLO, max_tokens=5)


def test_a_used_up_script_and_a_scripted_error_are_raised_by_a_choice_too():
    llm = ScriptedLLM([LLMError("down", "Start it.")])
    for message in ("down", "no reply to call 2"):
        with pytest.raises(LLMError, match=message):
            llm.choose(HELLO, ("A", "B"))
