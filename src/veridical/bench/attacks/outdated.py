"""Outdated versions: what was once said, beside what holds now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import numpy as np

from veridical.bench.attacks.base import Attack, counted
from veridical.bench.attacks.dates import dated_copies
from veridical.bench.datasets.questions import LabelledPassage, Question

_YEAR = 365


class Outdated(Attack):
    """Older versions: a data set's own outdated passages, or altered copies dated before every true passage.

    A question without outdated passages of its own, and of whose true passages none bears a date that can be
    read, is left alone.

    Parameters
    ----------
    n
        Passages a question.
    n_years
        A copy is dated one to so many years before the earliest true passage.
    """

    dated = True

    def __init__(self, *, n: int = 1, n_years: int = 5) -> None:
        self.n = counted(n, "old versions")
        self.n_years = counted(n_years, "years")

    def plant(self, question: Question, rng: np.random.Generator) -> list[LabelledPassage]:
        """See `Attack.plant`."""
        own = question.labelled("outdated")[: self.n]
        if own:
            return list(own)

        def earlier(days: Sequence[date]) -> date:
            return min(days) - timedelta(days=int(rng.integers(_YEAR, self.n_years * _YEAR + 1)))

        return [
            replace(copy, id=f"{copy.id}-old", label="outdated")
            for copy in dated_copies(question, self.n, earlier)
        ]
