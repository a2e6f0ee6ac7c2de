"""Dates as sentences give them, compared at the precision that they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["same", "differs", "apart"]
Places = Sequence[tuple[int, int]]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = r"(?P<{}>January|February|March|April|May|June|July|August|September|October|November|December|" \
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"  # fmt: skip
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATE = re.compile(
    "|".join(
        (
            rf"\b(?P<iso_y>{_YEAR})-(?P<iso_m>0[1-9]|1[0-2])(?:-(?P<iso_d>[0-2]\d|3[01]))?\b(?!-)",
            rf"\b(?P<a_d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('a_m')},?(?:\s+(?P<a_y>{_YEAR})\b)?",
            rf"\b{_MONTH.format('b_m')}\s+(?P<b_d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+(?P<b_y>{_YEAR})\b)?",
            rf"\b{_MONTH.format('c_m')},?\s+(?P<c_y>{_YEAR})\b",
            rf"\b(?P<r_a>{_YEAR})\s?[-–—]\s?(?P<r_b>{_YEAR}|\d{{2}})\b(?!\d)",
            r"\b(?P<dec>1\d{2}0|20\d0)s\b",
            r"\b(?P<cent>\d{1,2})(?:st|nd|rd|th)[\s-]centur(?:y|ies)\b",
            rf"(?<![\d.,$€£¥-])(?P<y>{_YEAR})(?![\d%]|[.,]\d|\s*(?:people|men|metres|meters|miles|km|kg|feet)\b)",
        )
    )
)


@dataclass(frozen=True, slots=True)
class When:
    """A date at whatever precision it was given: years ``first`` to ``last``, and month and day if known."""

    first: int | None
    last: int | None
    month: int | None = None
    day: int | None = None
    denied: bool = False


def compare_dates(left: When, right: When) -> Verdict:
    """Say whether two dates can be one moment (``same``), cannot (``differs``) or share no part (``apart``).

    A year agrees with any day in it, a decade with any of its years.
    """
    shared = False
    if left.first is not None and right.first is not None:
        if left.first > (right.last or right.first) or right.first > (left.last or left.first):
            return "differs"
        shared = True
    for a, b in ((left.month, right.month), (left.day, right.day)):
        if a is not None and b is not None:
            if a != b:
                return "differs"
            shared = True
    return "same" if shared else "apart"


def inside(position: int, spans: Places) -> bool:
    """Whether a position lies in one of the stretches [start, end)."""
    return any(start <= position < end for start, end in spans)


def read_dates(sentence: str, denied: Places, taken: list[tuple[int, int]]) -> tuple[When, ...]:
    found = []
    for match in _DATE.finditer(sentence):
        got = {key: value for key, value in match.groupdict().items() if value is not None}
        when = _when(got)
        if when is None:
            continue
        first, last, month, day = when
        taken.append(match.span())
        found.append(When(first, last, month, day, inside(match.start(), denied)))
    return tuple(found)


def _when(got: dict[str, str]) -> tuple[int | None, int | None, int | None, int | None] | None:
    if "iso_y" in got:
        year = int(got["iso_y"])
        return year, year, int(got["iso_m"]), int(got["iso_d"]) if "iso_d" in got else None
    for key in ("a", "b", "c"):
        if f"{key}_m" in got:
            day = int(got[f"{key}_d"]) if f"{key}_d" in got else None
            if day is not None and not 1 <= day <= 31:
                return None
            year_or_none = int(got[f"{key}_y"]) if f"{key}_y" in got else None
            return year_or_none, year_or_none, _MONTHS[got[f"{key}_m"].lower()], day
    if "r_a" in got:
        first, tail = int(got["r_a"]), got["r_b"]
        last = int(tail) if len(tail) == 4 else first // 100 * 100 + int(tail)
        return first, max(first, last), None, None
    if "dec" in got:
        first = int(got["dec"])
        return first, first + (99 if first % 100 == 0 else 9), None, None
    if "cent" in got:
        last = int(got["cent"]) * 100
        return last - 100, last, None, None
    year = int(got["y"])
    return year, year, None, None
