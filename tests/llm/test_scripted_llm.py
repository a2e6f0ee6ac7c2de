from __future__ import annotations

import pytest

from veridical.errors import LLMError
from veridical.llm.base import Generation, Message
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.llm_contract import LLMContract
from veridical.types import Usage

HELLO = (Message("user", "hello"),)


class TestScriptedKeepsTheContract(LLMContract):
    def make(self):
        return ScriptedLLM(lambda messages: "Red is a colour of the rainbow.")

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
