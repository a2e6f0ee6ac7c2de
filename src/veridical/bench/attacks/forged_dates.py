"""Forged later dates: false passages that look like the latest news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import numpy as np

from veridical.bench.attacks.base import Attack, counted
from veridical.bench.attacks.dates import dated_copies
from veridical.bench.datasets.questions import LabelledPassage, Question


class ForgedDates(Attack):
    """Altered copies of true passages dated after every true passage, as if they superseded these.

    A question of whose true passages none bears a date that can be read is left alone.

    Parameters
    ----------
    n
        Passages a question.
    n_days
        A copy is dated one to so many days after the latest true passage.
    """

    dated = True

    def __init__(self, *, n: int = 1, n_days: int = 60) -> None:
        self.n = counted(n, "altered passages")
        self.n_days = counted(n_days, "days")

    def plant(self, question: Question, rng: np.random.Generator) -> list[LabelledPassage]:
        """See `Attack.plant`."""

        def later(days: Sequence[date]) -> date:
            return max(days) + timedelta(days=int(rng.integers(1, self.n_days + 1)))

        return [replace(copy, id=f"{copy.id}-late") for copy in dated_copies(question, self.n, later)]
