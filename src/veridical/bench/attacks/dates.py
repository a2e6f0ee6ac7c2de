"""Dates of passages, as attacks read and write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date

from veridical.bench.attacks.substitution import altered_copies
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.corpus.fields import iso_date

_SLASHED = re.compile(r"\d{4}/\d{2}/\d{2}")
_WHOLE = 10  # characters of YYYY-MM-DD


def day_of(written: str | None) -> date | None:
    """Read a date; a month or a year stands for its first day. ``None`` for what is not one certain date."""
    found = iso_date(written) if written else None
    if found is None:
        return None
    return date.fromisoformat((found + "-01-01")[:_WHOLE])


def days_of(written: Iterable[str | None]) -> list[date]:
    """Read those of several dates that can be read."""
    return [day for day in map(day_of, written) if day is not None]


def written_like(day: date, others: Iterable[str | None]) -> str:
    """Write a date in the form that other dates have: with slashes, or ISO 8601."""
    if any(other is not None and _SLASHED.fullmatch(other) for other in others):
        return day.strftime("%Y/%m/%d")
    return day.isoformat()


def dated_copies(question: Question, n: int, day: Callable[[Sequence[date]], date]) -> list[LabelledPassage]:
    """Return at most ``n`` altered copies of a question's passages, each with a date of its own.

    ``day`` chooses it, once a copy, by the dates of the true passages. None where no such date can be read.
    """
    dates = [passage.date for passage in question.labelled("factual")]
    days = days_of(dates)
    if not days:
        return []
    return [replace(copy, date=written_like(day(days), dates)) for copy in altered_copies(question, n)]
