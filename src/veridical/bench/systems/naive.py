"""Naive LLM: what the model knows, without passages."""

from __future__ import annotations

from veridical.bench.systems.answering import closed
from veridical.bench.systems.base import About, Reply, Task, Tools


class Naive:
    """Answer from what the model knows (one call): the compared system of both papers that retrieves nothing.

    Differs from the published setting in its room for an answer, 40 tokens in place of 25, as all systems
    here have it.

    Parameters
    ----------
    tools
        With a language model.
    """

    name = "naive"
    about = About("Naive LLM", "compared system of both papers", needs=frozenset({"llm"}))

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    def answer(self, task: Task) -> Reply:
        """Answer without passages; see `System.answer`."""
        said = closed(self.tools, task.question)
        return Reply(said.text, (), usage=said.usage)
