"""Questions that tests attack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from veridical.bench.datasets.questions import LabelledPassage, Question

FAIR = Question(
    "fair",
    "Where was the fair of 1900 held?",
    ("Paris", "Paris, France"),
    (
        LabelledPassage(
            "f1",
            "The fair of 1900 drew many people. It was held in Paris. It closed in autumn.",
            "factual",
            title="The fair in Paris",
            source="https://fair.example/a",
            date="2020/03/01",
        ),
        LabelledPassage(
            "f2",
            "Palaces were built for the fair. Visitors came by train.",
            "factual",
            title="World fairs",
            source="https://world.example/b",
            date="2020/05/01",
        ),
        LabelledPassage(
            "f3", "In 1900 Paris was full of visitors.", "factual", title="Visitors", date="2020/04/01"
        ),
        LabelledPassage("f4", "The fair was held in Lyon.", "misinformation", title="Lyon"),
    ),
    wrong_answer="Lyon",
)


def without(question: Question = FAIR, **fields: Any) -> Question:
    """The question whose passages have these fields instead of their own."""
    return replace(question, passages=tuple(replace(p, **fields) for p in question.passages))


def planted(question: Question) -> list[LabelledPassage]:
    """What is not true of a question's passages."""
    return [passage for passage in question.passages if passage.label != "factual"]
