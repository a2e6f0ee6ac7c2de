"""Outdated versions: what was once said, beside what holds now."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np

from veridical.bench.attacks.base import Attack, counted
from veridical.bench.attacks.dates import days_of, written_like
from veridical.bench.attacks.substitution import altered_copies
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
        dates = [passage.date for passage in question.labelled("factual")]
        days = days_of(dates)
        if not days:
            return []
        found = []
        for copy in altered_copies(question, self.n):
            earlier = timedelta(days=int(rng.integers(_YEAR, self.n_years * _YEAR + 1)))
            when = written_like(min(days) - earlier, dates)
            found.append(replace(copy, id=f"{copy.id}-old", label="outdated", date=when))
        return found
