"""AstuteRAG: memory first, then one consolidation of memory and passages."""

from __future__ import annotations

from collections.abc import Sequence

from veridical.bench.systems.astute import AstuteRAG
from veridical.bench.systems.base import Reply, Task, Tools
from veridical.llm.managed import manage
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.system_contract import QUESTION, pool

GROUPS = "Group 1: [1], [3], 1932, 80%\nGroup 2: [2], 1954, 20%\nFinal answer: 1932\nConfidence: 80%"


def asked(replies: Sequence[str]) -> tuple[Reply, ScriptedLLM]:
    llm = ScriptedLLM(replies)
    return AstuteRAG(Tools(llm=manage(llm)), top_k=3).answer(Task(QUESTION, pool())), llm


def test_two_calls_give_the_answer_of_the_best_group_and_how_sure_it_is() -> None:
    reply, llm = asked(["The bridge at Halden was opened in 1932.", GROUPS])
    assert (reply.text, reply.probability) == ("1932", 0.8)
    assert reply.usage.calls == len(llm.calls) == 2
    assert reply.detail["memory"] == "The bridge at Halden was opened in 1932."


def test_memory_is_one_passage_more_that_says_where_it_is_from() -> None:
    _, llm = asked(["The bridge at Halden was opened in 1932.", GROUPS])
    shown = llm.calls[1][-1].content
    assert "[4] The bridge at Halden was opened in 1932. (source: your memory)" in shown
    assert shown.count("(source: retrieved)") == 3


def test_passages_are_not_shown_to_memory() -> None:
    _, llm = asked(["It was 1932.", GROUPS])
    assert "503 metres" not in "".join(message.content for message in llm.calls[0])


def test_a_model_that_does_not_know_adds_nothing() -> None:
    reply, llm = asked(["I don't know.", "Final answer: 1954"])
    assert "your memory" not in llm.calls[1][-1].content
    assert (reply.text, reply.probability) == ("1954", None)
