"""CAG (arXiv 2404.06809): a model that was trained to heed labels of credibility."""

from __future__ import annotations

from dataclasses import replace

from veridical.answer.context import escape
from veridical.bench.systems.answering import say
from veridical.bench.systems.base import About, Reply, Retrieved, Task, nearest
from veridical.bench.systems.replies import final_answer
from veridical.bench.systems.weights import Trained

WEIGHTS = "cag-mistral-7b"
MAX_TOKENS = 128


class CAG(Trained):
    """Answer from passages that begin with High, Middle or Low credibility, by CAG's own weights (one call).

    Scores of a judge (0 to 10) become labels as in ReliableRAG: up to 3 is Low, 7 and more is High, and what
    is between is Middle, the word that CAG was trained with; so is what nobody judged. The labels, and that
    the question comes first, are as published; the words of the task are our own, which a trained model may
    take amiss. The engine has to bring the model's own conversation template.

    Parameters
    ----------
    tools
        With the weights ``cag-mistral-7b``: a GGUF file, or a language model.
    top_k
        Passages in the prompt.
    """

    name = "cag"
    about = About(
        "CAG",
        "arXiv 2404.06809",
        differs="own words for the task, which the weights were not trained with",
        needs=frozenset({"weights", "credibility"}),
        weights=WEIGHTS,
    )

    def answer(self, task: Task) -> Reply:
        """Answer from labelled passages; see `System.answer`."""
        lines = [labelled(task.pool[place]) for place in nearest(task, self.top_k)]
        said = say(
            replace(self.tools, llm=self._llm),
            "bench_cag",
            stage="answer",
            max_tokens=MAX_TOKENS,
            passages="\n\n".join(lines),
            question=escape(task.question).strip(),
        )
        return Reply(final_answer(said.text), tuple(range(len(task.pool))), usage=said.usage)


def label(score: float | None) -> str:
    """Return CAG's label for a score from 0 to 10."""
    if score is None:
        return "Middle"
    return "Low" if score <= 3.0 else "Middle" if score < 7.0 else "High"


def labelled(passage: Retrieved) -> str:
    """Write a passage as CAG reads it."""
    head = f"{passage.title}: " if passage.title else ""
    return f"{label(passage.credibility)} credibility of text: {escape(head + passage.text).strip()}"
