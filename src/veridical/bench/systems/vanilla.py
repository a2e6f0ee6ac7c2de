"""Vanilla RAG: the nearest passages in a prompt."""

from __future__ import annotations

from veridical.bench.systems.answering import from_passages
from veridical.bench.systems.base import TOP_K, About, Reply, Task, Tools, nearest


class Vanilla:
    """Answer from the top k passages by similarity, numbered, or from what the model knows (one call).

    Parameters
    ----------
    tools
        With a language model, or else a reader.
    top_k
        Passages in the prompt.
    """

    name = "vanilla"
    about = About("Vanilla RAG", "compared system of both papers")

    def __init__(self, tools: Tools, *, top_k: int = TOP_K) -> None:
        self.tools, self.top_k = tools, top_k

    def answer(self, task: Task) -> Reply:
        """Answer from the nearest passages; see `System.answer`."""
        places = nearest(task, self.top_k)
        said = from_passages(self.tools, task.question, [task.pool[place] for place in places])
        ranking = tuple(range(len(task.pool)))
        return Reply(said.text, ranking, said.probability, said.usage)
