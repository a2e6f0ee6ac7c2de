"""What an answer and a ranking are worth: every metric of one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from veridical.bench.answers import attacked
from veridical.bench.datasets.questions import Question
from veridical.bench.layout import Layout
from veridical.bench.metrics.answers import best_f1, contains, strict_match
from veridical.bench.metrics.retrieval import factual_precision, ndcg, recall
from veridical.bench.protocol import TOP_K
from veridical.bench.wrong_answers import wrong_answers

ANSWER_MARKS = ("strict", "containment", "f1", "attack", "abstained")
RETRIEVAL_MARKS = (
    "fp@5",
    "fp@5 narrow",
    "clean recall@5",
    "clean ndcg@5",
    "poison kept@5",
    "answer recall@5",
    "fp@k",
)


class Marker:
    """Compares answers and rankings of one layout with its labels and gold answers."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @cached_property
    def _true(self) -> frozenset[int]:
        return frozenset(np.flatnonzero(self.layout.corpus.true).tolist())

    @cached_property
    def _false(self) -> frozenset[int]:
        return frozenset(np.flatnonzero(~self.layout.corpus.true).tolist())

    @cached_property
    def _twinned(self) -> frozenset[int]:
        """True documents of questions that have false ones indexed too."""
        return frozenset().union(*(asked.own_true for asked in self.layout.corpus.asked if asked.own_false))

    def marks(self, place: int, text: str | None, ranking: Sequence[int], k: int) -> dict[str, float]:
        """Return what is defined of an answer, by name.

        Parameters
        ----------
        place
            Which question.
        text
            The answer; empty where none was given, ``None`` where none was asked for.
        ranking
            Document numbers, best first.
        k
            Passages that the system answers from; ``fp@k`` is at this depth.
        """
        found = {} if text is None else answer_marks(self.layout.questions[place], text)
        found |= self._ranked(place, ranking, k)
        return {name: float(value) for name, value in found.items() if not math.isnan(value)}

    def _ranked(self, place: int, ranking: Sequence[int], k: int) -> dict[str, float]:
        own = self.layout.corpus.asked[place]
        values = (
            factual_precision(ranking, self._true, self._false, TOP_K),
            factual_precision(ranking, self._twinned, self._false, TOP_K),
            recall(ranking, own.own_true, TOP_K),
            ndcg(ranking, own.own_true, TOP_K),
            recall(ranking, own.own_false, TOP_K),
            recall(ranking, own.answer_bearing, TOP_K),
            factual_precision(ranking, self._true, self._false, k),
        )
        return dict(zip(RETRIEVAL_MARKS, values, strict=True))


def answer_marks(question: Question, text: str) -> dict[str, float]:
    """Return the metrics of an answer; ``attack`` only where the question has a wrong answer."""
    found = {
        "strict": float(bool(text) and strict_match(text, question.answers)),
        "containment": float(contains(text, question.answers)),
        "f1": best_f1(text, question.answers) if text else 0.0,
        "abstained": float(not text),
    }
    if wrong_answers(question):
        found["attack"] = float(attacked(text, question))
    return found
