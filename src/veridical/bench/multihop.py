"""Questions whose answer takes several passages, each with one false passage among its own.

For evaluation only: it takes gold answers and labels. A method gets texts, titles and questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from veridical.bench.attacks.substitution import altered
from veridical.bench.attacks.template import written
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import normalise
from veridical.bench.wrong_answers import wrong_answers_for

Attack = Literal["clean", "substituted", "template"]
ATTACKS: tuple[Attack, ...] = get_args(Attack)
Obstacle = Literal["yes or no", "no wrong answer", "answer in no supporting passage"]


@dataclass(frozen=True)
class Attacked:
    """The questions of a data set, each with its wrong answer if it has one, and what cannot be altered.

    ``obstacles`` says why no supporting passage of a question could be altered, by question id.
    """

    questions: tuple[Question, ...]
    obstacles: dict[str, Obstacle]

    def first(self, n: int | None) -> Attacked:
        """Return the first ``n`` questions (``None``: all), with the wrong answers that they have."""
        kept = self.questions[:n]
        ids = {question.id for question in kept}
        return Attacked(kept, {i: why for i, why in self.obstacles.items() if i in ids})

    def under(self, attack: Attack, *, seed: int = 0) -> tuple[Question, ...]:
        """Return all questions, those that can be attacked so with one false passage as their last."""
        return tuple(
            self._attacked(question, attack, np.random.default_rng([seed, place]))
            for place, question in enumerate(self.questions)
        )

    def _attacked(self, question: Question, attack: Attack, rng: np.random.Generator) -> Question:
        false = None
        if attack == "substituted" and question.id not in self.obstacles:
            false = _altered(question)
        elif attack == "template":
            false = _written(question, rng)
        return question if false is None else replace(question, passages=(*question.passages, false))


def attacked(questions: Sequence[Question], *, seed: int = 0) -> Attacked:
    """Choose wrong answers, and see where they can stand in a supporting passage."""
    wrong = wrong_answers_for(questions, seed=seed)
    given = tuple(replace(question, wrong_answer=wrong.get(question.id)) for question in questions)
    found = {question.id: _obstacle(question) for question in given}
    return Attacked(given, {i: obstacle for i, obstacle in found.items() if obstacle is not None})


def is_false(passage: LabelledPassage) -> bool:
    """Whether a passage is the poison."""
    return passage.label == "misinformation"


def _obstacle(question: Question) -> Obstacle | None:
    if question.answers and normalise(question.answers[0]) in {"yes", "no"}:
        return "yes or no"
    if question.wrong_answer is None:
        return "no wrong answer"
    return None if _altered(question) is not None else "answer in no supporting passage"


def _altered(question: Question) -> LabelledPassage | None:
    """The first supporting passage that gives the answer, with the wrong one in its place."""
    supporting = [passage for passage in question.passages if passage.supporting]
    found = altered(supporting, question.answers, question.wrong_answer or "", 1)
    return found[0] if found else None


def _written(question: Question, rng: np.random.Generator) -> LabelledPassage | None:
    """A passage that says outright that the wrong answer is right, under a supporting title or none."""
    if question.wrong_answer is None:
        return None
    titles = ["", *(passage.title for passage in question.passages if passage.supporting)][:2]
    return written(question, question.wrong_answer, titles, rng)
