"""Knowledgeable-R1 (arXiv 2506.05154): a model that was trained to weigh passages against what it knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from veridical.answer.chains_answer import read_answer
from veridical.answer.context import escape
from veridical.bench.systems.answering import numbered, say
from veridical.bench.systems.base import About, Reply, Task, nearest
from veridical.bench.systems.replies import tagged
from veridical.bench.systems.weights import Trained
from veridical.evidence.reliability import FloatArray

WEIGHTS = "knowledgeable-r1-7b"
MAX_TOKENS = 1024


class KnowledgeableR1(Trained):
    """Think between think tags, answer between answer tags, by the trained weights (one call).

    Where a reply has no answer tag there is no answer, as in the published evaluation. Differs in the words
    of the task, which are our own and which a trained model may take amiss. How it was trained is no part of
    answering; `advantages` shows the one formula of it that is its own.

    Parameters
    ----------
    tools
        With the weights ``knowledgeable-r1-7b``: a GGUF file, or a language model.
    top_k
        Passages in the prompt.
    """

    name = "knowledgeable_r1"
    about = About(
        "Knowledgeable-R1",
        "arXiv 2506.05154",
        differs="own words for the task, which the weights were not trained with",
        needs=frozenset({"weights"}),
        weights=WEIGHTS,
    )

    def answer(self, task: Task) -> Reply:
        """Answer by thinking aloud; see `System.answer`."""
        said = say(
            replace(self.tools, llm=self._llm),
            "bench_knowledgeable",
            stage="answer",
            max_tokens=MAX_TOKENS,
            passages=numbered([task.pool[place] for place in nearest(task, self.top_k)]) or "(none)",
            question=escape(task.question).strip(),
        )
        found = tagged(said.text, "answer")
        text = "" if found is None else read_answer(found)
        thought = tagged(said.text.partition("<answer>")[0], "think")
        ranking = tuple(range(len(task.pool)))
        return Reply(text, ranking, usage=said.usage, detail={"thought": thought or ""})


def advantages(rewards: Sequence[float]) -> FloatArray:
    """Normalise the rewards of one group: ``(r - mean) / (s + 1e-6)``, s the sample standard deviation.

    Training takes them twice: among the replies that were written with passages (or without them), and among
    all replies to a question, so that a reply can be better than its own kind and worse than the other.

    Parameters
    ----------
    rewards
        At least two.

    Returns
    -------
    numpy.ndarray
        Shape (n,), summing to 0.
    """
    values = np.asarray(rewards, dtype=np.float64)
    result: FloatArray = (values - values.mean()) / (values.std(ddof=1) + 1e-6)
    return result
