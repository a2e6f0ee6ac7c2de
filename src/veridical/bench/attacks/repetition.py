"""Repetition: one fake, many times, so that a count of voices is turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from veridical.bench.attacks.base import Attack, counted, create
from veridical.bench.datasets.questions import LabelledPassage, Question


class Repetition(Attack):
    """The first fake of another attack, word for word, n times.

    Parameters
    ----------
    n
        Copies a question, the first one included.
    of
        The attack that makes the fake; one that needs no language model.
    """

    def __init__(self, *, n: int = 10, of: str = "substitution") -> None:
        self.n = counted(n, "copies")
        self.of = create(of)

    def plant(self, question: Question, rng: np.random.Generator) -> Sequence[LabelledPassage]:
        """See `Attack.plant`."""
        fakes = self.of.plant(question, rng)[:1]
        return [replace(fake, id=f"{fake.id}-{copy}") for fake in fakes for copy in range(self.n)]
