"""Where two sentences part: the values of each that the other puts differently, for showing side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from veridical.nli.dates import When, compare_dates, inside, read_dates
from veridical.nli.lexicon import NEGATIONS, STOPWORDS, stem
from veridical.types import Span

_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:]\d+)*")
_MOST_WORDS = 4  # sentences that part in more words than that part in no single one

Value = TypeVar("Value")


@dataclass(frozen=True)
class _Found(Generic[Value]):
    value: Value
    start: int
    end: int


Place = tuple[int, int]


def clashes(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Find what two sentences say differently.

    Dates that cannot be one moment, numbers and names that only one of them has, each only where the other
    has one of the same kind instead; where there is none of these, the few words, a "not" among them, in
    which they differ.

    Returns
    -------
    tuple of Span, tuple of Span
        Places in each of the sentences, in order, not overlapping; none where nothing stands out.
    """
    found = [_dates(left, right), _numbers(left, right), _names(left, right)]
    ours = [place for mine, _ in found for place in mine]
    theirs = [place for _, other in found for place in other]
    if not ours:
        ours, theirs = _words(left, right)
    return _spans(left, ours), _spans(right, theirs)


def _dates(left: str, right: str) -> tuple[list[Place], list[Place]]:
    return _apart(_dates_of(left), _dates_of(right), lambda a, b: compare_dates(a, b) != "differs")


def _dates_of(sentence: str) -> list[_Found[When]]:
    taken: list[Place] = []
    found = read_dates(sentence, (), taken)
    return [_Found(when, *place) for when, place in zip(found, taken, strict=True)]


def _numbers(left: str, right: str) -> tuple[list[Place], list[Place]]:
    return _apart(_numbers_of(left), _numbers_of(right), lambda a, b: a == b)


def _numbers_of(sentence: str) -> list[_Found[str]]:
    dates = [(found.start, found.end) for found in _dates_of(sentence)]
    return [
        _Found(match[0].replace(",", ""), *match.span())
        for match in _TOKEN.finditer(sentence)
        if match[0][0].isdigit() and not inside(match.start(), dates)
    ]


def _names(left: str, right: str) -> tuple[list[Place], list[Place]]:
    words = [{stem(match[0].lower()) for match in _TOKEN.finditer(text)} for text in (left, right)]
    ours = [name for name in _names_of(left) if name.value not in words[1]]
    theirs = [name for name in _names_of(right) if name.value not in words[0]]
    if not ours or not theirs:
        return [], []
    return [(n.start, n.end) for n in ours], [(n.start, n.end) for n in theirs]


def _names_of(sentence: str) -> list[_Found[str]]:
    dates = [(found.start, found.end) for found in _dates_of(sentence)]
    matches = [match for match in _TOKEN.finditer(sentence) if match[0][0].isupper()]
    return [
        _Found(stem(match[0].lower().removesuffix("'s").removesuffix("’s")), *match.span())
        for match in matches
        if match[0].lower() not in STOPWORDS and not inside(match.start(), dates)
    ]


def _words(left: str, right: str) -> tuple[list[Place], list[Place]]:
    ours, theirs = _content(left), _content(right)
    mine = [word for word in ours if word.value not in {other.value for other in theirs}]
    other = [word for word in theirs if word.value not in {one.value for one in ours}]
    if (not mine and not other) or max(len(mine), len(other)) > _MOST_WORDS:
        return [], []
    return [(w.start, w.end) for w in mine], [(w.start, w.end) for w in other]


def _content(sentence: str) -> list[_Found[str]]:
    return [
        _Found(stem(word), *match.span())
        for match in _TOKEN.finditer(sentence)
        if (word := match[0].lower()) in NEGATIONS or word.endswith(("n't", "n’t")) or word not in STOPWORDS
    ]


def _apart(
    ours: Sequence[_Found[Value]], theirs: Sequence[_Found[Value]], same: Callable[[Value, Value], bool]
) -> tuple[list[Place], list[Place]]:
    """Keep the values that the other side has not, if both sides have such."""
    mine = [a for a in ours if not any(same(a.value, b.value) for b in theirs)]
    other = [b for b in theirs if not any(same(a.value, b.value) for a in ours)]
    if not mine or not other:
        return [], []
    return [(a.start, a.end) for a in mine], [(b.start, b.end) for b in other]


def _spans(text: str, places: Sequence[Place]) -> tuple[Span, ...]:
    """Join neighbours that only spaces part, as in a name of two words."""
    joined: list[Place] = []
    for start, end in sorted(places):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif joined and text[joined[-1][1] : start].isspace():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(Span(text[start:end], start, end) for start, end in joined)
