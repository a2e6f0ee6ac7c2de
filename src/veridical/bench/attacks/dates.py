"""Dates of passages, as attacks read and write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

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
