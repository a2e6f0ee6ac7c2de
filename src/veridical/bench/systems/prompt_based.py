"""Prompt-based: each passage is shown with how truthful a judge finds it."""

from __future__ import annotations

from collections.abc import Sequence

from veridical.bench.systems.answering import from_passages
from veridical.bench.systems.base import TOP_K, About, Reply, Retrieved, Task, Tools, nearest

PROMPT = "bench_prompt_based"


class PromptBased:
    """Answer from the top k passages by similarity, each with its score (ReliableRAG's and CrAM's baseline).

    One call; the judgements are made beforehand. Differs from both papers in its words, which are the same
    for every model; and from CrAM in its order, which is the retriever's and not by ascending score.

    Parameters
    ----------
    tools
        With a language model.
    top_k
        Passages in the prompt.
    """

    name = "prompt_based"
    about = About(
        "Prompt-based",
        "compared system of ReliableRAG and CrAM",
        differs="own words, the same for every model; passages stay in the retriever's order",
        needs=frozenset({"llm", "credibility"}),
    )

    def __init__(self, tools: Tools, *, top_k: int = TOP_K) -> None:
        self.tools, self.top_k = tools, top_k

    def answer(self, task: Task) -> Reply:
        """Answer from the nearest passages and their scores; see `System.answer`."""
        shown = [task.pool[place] for place in nearest(task, self.top_k)]
        said = from_passages(self.tools, task.question, shown, prompt=PROMPT, notes=scores(shown))
        return Reply(said.text, tuple(range(len(task.pool))), said.probability, said.usage)


def scores(passages: Sequence[Retrieved]) -> list[str]:
    """Say how truthful each passage was found."""
    return [
        f"truthfulness score: {'unknown' if own.credibility is None else f'{own.credibility:g} of 10'}"
        for own in passages
    ]
