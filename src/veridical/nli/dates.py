"""Dates as sentences give them, compared at the precision that they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from veridical.nli.cues import is_year, label_before

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
_BC = r"(?:BCE?\b|B\.\s?C\.(?:\s?E\.)?)"
_AD = r"(?:AD\b|CE\b|A\.\s?D\.|C\.\s?E\.)"
_DATE = re.compile(
    r"(?=[\dJFMASONDC])(?:"
    + "|".join(
        (
            rf"\b(?P<iso_y>{_YEAR})-(?P<iso_m>0[1-9]|1[0-2])(?:-(?P<iso_d>[0-2]\d|3[01]))?\b(?!-)",
            rf"\b(?P<a_d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('a_m')},?(?:\s+(?P<a_y>{_YEAR})\b)?",
            rf"\b{_MONTH.format('b_m')}\s+(?P<b_d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+(?P<b_y>{_YEAR})\b)?",
            rf"\b{_MONTH.format('c_m')},?\s+(?P<c_y>{_YEAR})\b",
            rf"\b(?P<r_a>{_YEAR})\s?[-–—]\s?(?P<r_b>{_YEAR}|\d{{2}})\b(?!\d)",
            r"\b(?P<dec>1\d{2}0|20\d0)s\b",
            rf"\b(?P<cent>\d{{1,2}})(?:st|nd|rd|th)[\s-]centur(?:y|ies)\b(?:\s?(?P<cent_bc>{_BC}))?",
            rf"(?<![\d.,$€£¥])(?P<bc>\d{{1,4}})\s?{_BC}",
            rf"(?<![\d.,$€£¥])(?P<ad>\d{{1,4}})\s?{_AD}|{_AD}\s?(?P<ad_y>\d{{1,4}})\b",
            rf"(?<![\d.,$€£¥])(?<![\d\s]-)(?P<y>{_YEAR})(?![\d%]|[.,]\d)\b",
        )
    )
    + ")"
)


@dataclass(frozen=True, slots=True)
class When:
    """A date at whatever precision it was given: years ``first`` to ``last``, and month and day if known.

    Years before Christ are negative.
    """

    first: int | None
    last: int | None
    month: int | None = None
    day: int | None = None
    denied: bool = False
    hedged: bool = False


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


def read_dates(
    sentence: str, denied: Places, taken: list[tuple[int, int]], hedged: Places = ()
) -> tuple[When, ...]:
    """Find the dates of a sentence, and note in ``taken`` where they stand."""
    found = []
    for match in _DATE.finditer(sentence):
        got = {key: value for key, value in match.groupdict().items() if value is not None}
        if ("y" in got or "r_a" in got) and not _meant_as_year(sentence, match):
            continue
        when = _when(got)
        if when is None:
            continue
        first, last, month, day = when
        taken.append(match.span())
        at = match.start()
        found.append(When(first, last, month, day, inside(at, denied), inside(at, hedged)))
    return tuple(found)


def _meant_as_year(sentence: str, match: re.Match[str]) -> bool:
    if match["r_a"]:
        return label_before(sentence, match.start(), match.end()) is None
    return is_year(sentence, match.start("y"), match.end("y"))


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
    first, last = _years(got)
    return first, last, None, None


def _years(got: dict[str, str]) -> tuple[int, int]:
    if "r_a" in got:
        first, tail = int(got["r_a"]), got["r_b"]
        last = int(tail) if len(tail) == 4 else first // 100 * 100 + int(tail)
        return first, max(first, last)
    if "dec" in got:
        first = int(got["dec"])
        return first, first + (99 if first % 100 == 0 else 9)
    if "cent" in got:
        last = int(got["cent"]) * 100
        return (-last, 99 - last) if "cent_bc" in got else (last - 100, last)
    year = -int(got["bc"]) if "bc" in got else int(got.get("y") or got.get("ad") or got["ad_y"])
    return year, year
