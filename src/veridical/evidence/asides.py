"""Read what stands in brackets behind a name: dates of a life, other names, the year of a work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from veridical.evidence.mentions import ARTICLES, PREPOSITIONS, THINGS, Item, read

BORN, DIED, IN = "born", "died", "in"
"""Words that a relation may have though no passage says them: they are what a dash in brackets means."""

_DASHES = frozenset(("-", "–", "—", "−", "to", "‐"))
_RANGE = re.compile(r"\A(\d{4})\s?[-–—]\s?(\d{4}|\d{2})\Z")
_ABOUT = frozenset(("c", "c.", "ca", "ca.", "circa", ".", "about"))

Pieces = tuple[str, str, str]


def read_aside(aside: Item, owner: str, lives: bool) -> Iterator[Pieces]:
    """Read the triples of what stands in brackets.

    Parameters
    ----------
    aside
        With its brackets.
    owner
        The name that it follows.
    lives
        Whether that is a person, so that "1888 – 1961" are birth and death.

    Yields
    ------
    (head, relation, tail)
        The owner is the head. Dates alone are joined to it by ``IN``, and those of a life by ``BORN`` and
        ``DIED``; everything else by the words that stand before it.
    """
    items = read(aside.text[1:-1])
    span = _span_of_dates(items)
    if span is not None:
        first, last = span
        begin, end = items[first], items[last]
        if lives:
            yield owner, BORN, begin.text
            yield owner, DIED, end.text
        else:
            yield owner, IN, _tidy(aside.text[1:-1][begin.start : end.end])
        items = items[:first]
    yield from _said(items, owner, lives)


def _span_of_dates(items: Sequence[Item]) -> tuple[int, int] | None:
    """The places of two dates with a dash between them."""
    for place, item in enumerate(items):
        if item.kind != "date":
            continue
        after = place + 1
        while after < len(items) and items[after].lower in _ABOUT | _DASHES:
            after += 1
        dashed = any(other.lower in _DASHES for other in items[place + 1 : after])
        if dashed and after < len(items) and items[after].kind == "date":
            return place, after
    return None


def _said(items: Sequence[Item], owner: str, lives: bool) -> Iterator[Pieces]:
    verb: list[str] = []
    words: list[str] = []
    for item in items:
        if item.kind == "word" and item.lower not in _ABOUT | {"and"}:
            words.append(item.text)
        elif item.text == ";":
            verb, words = [], []
        if item.kind not in THINGS:
            continue
        years = _RANGE.match(item.text) if item.kind == "date" else None
        if years and not words and lives:
            yield owner, BORN, years[1]
            yield owner, DIED, years[2]
        elif words or verb:
            spoken = words if not verb or (words and words[0].lower() not in PREPOSITIONS) else verb + words
            relation = " ".join(word for word in spoken[-6:] if word.lower() not in ARTICLES)
            yield owner, relation, _tidy(item.text)
            verb = spoken if spoken[-1].lower() not in PREPOSITIONS else spoken[:-1]
        elif item.kind == "date":
            yield owner, IN, _tidy(item.text)
        words = []


def _tidy(text: str) -> str:
    return " ".join(text.split())
