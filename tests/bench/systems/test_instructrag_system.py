"""InstructRAG: two examples, documents in reverse, and an answer behind a rationale."""

from __future__ import annotations

import pytest

from veridical.bench.systems.base import Task, Tools
from veridical.bench.systems.instructrag import InstructRAG, as_asked
from veridical.llm.base import Generation
from veridical.llm.managed import manage
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.system_contract import QUESTION, FakeLLM, fake_tools, pool
from veridical.types import Usage


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who built it", "who built it?"),
        ("Who built it?", "who built it?"),
        ("  US president in 1990? ", "uS president in 1990?"),
        ("", "?"),
    ],
)
def test_the_question_begins_small_and_ends_with_its_mark(question: str, asked: str) -> None:
    assert as_asked(question) == asked


def test_the_best_document_stands_last_and_two_examples_stand_before() -> None:
    llm = FakeLLM()
    InstructRAG(fake_tools(llm), top_k=3).answer(Task(QUESTION, pool()))
    system, user = (message.content for message in llm.calls[0])
    assert system.count("Example\nQuestion:") == 2
    assert system.count("\nAnswer: ") == 2
    places = [user.index(text) for text in ("A History: ", "News: ", "Halden Bridge: ")]
    assert places == sorted(places)
    assert user.index("[1] A History") < user.index("[3] Halden Bridge")
    assert "Question: halden Bridge was opened when?" in user


def test_the_answer_is_the_last_line_and_the_rationale_is_kept() -> None:
    said = "Documents [1] and [3] agree on 1932, while [2] says 1954.\nAnswer: 1932"
    llm = ScriptedLLM(lambda _: Generation(said, Usage(calls=1), "stop", 0.0))
    reply = InstructRAG(Tools(llm=manage(llm))).answer(Task(QUESTION, pool()))
    assert reply.text == "1932"
    assert reply.detail["rationale"] == said
