"""Exclusion: passages that a judge scores low are left out."""

from __future__ import annotations

from veridical.bench.systems.answering import from_passages
from veridical.bench.systems.base import TOP_K, About, Reply, Task, Tools, nearest
from veridical.bench.systems.prompt_based import PROMPT, scores

THRESHOLD = 3.0
"""Passages of this score (0 to 10) or less are left out."""


class Exclusion:
    """Drop those of the top k passages that score 3 or less, and answer from the others (one call).

    Compared system of ReliableRAG, which shows the scores of the others, and of CrAM, which does not. Differs
    in what neither paper says: where nothing is left, the model answers from what it knows, and a reader says
    nothing; a passage that nobody judged stays; copies of one text are judged by place, not by text.

    Parameters
    ----------
    tools
        With a language model, or else a reader, which sees no scores.
    top_k
        Passages that are looked at. What is dropped is not made up for.
    threshold
        The highest score, 0 to 10, that is left out.
    show_scores
        As ReliableRAG does; without them as CrAM does.
    """

    name = "exclusion"
    about = About(
        "Exclusion",
        "compared system of ReliableRAG and CrAM",
        differs="where nothing is left, closed book; a passage that nobody judged stays",
        needs=frozenset({"credibility"}),
    )

    def __init__(
        self, tools: Tools, *, top_k: int = TOP_K, threshold: float = THRESHOLD, show_scores: bool = True
    ) -> None:
        self.tools, self.top_k, self.threshold, self.show_scores = tools, top_k, threshold, show_scores

    def answer(self, task: Task) -> Reply:
        """Answer from what is credible enough; see `System.answer`."""
        ranking = tuple(
            place
            for place, own in enumerate(task.pool)
            if own.credibility is None or own.credibility > self.threshold
        )
        near = nearest(task, self.top_k)
        shown = [task.pool[place] for place in near if place in ranking]
        if self.show_scores:
            said = from_passages(self.tools, task.question, shown, prompt=PROMPT, notes=scores(shown))
        else:
            said = from_passages(self.tools, task.question, shown)
        notes = ("All passages were excluded.",) if near and not shown else ()
        return Reply(said.text, ranking, said.probability, said.usage, notes)
