"""Read what stands in brackets behind a name: dates of a life, other names, the year of a work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from veridical.evidence.mentions import ARTICLES, PREPOSITIONS, THINGS, Item, read

BORN, DIED, IN = "born", "died", "in"
"""Words that a relation may have though no passage says them: they are what brackets and a dash mean."""

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
        The owner is the head. Dates alone are joined to it by ``IN``, and those of a life, with the places
        beside them, by ``BORN`` and ``DIED``; everything else by the words that stand before it.
    """
    inside = aside.text[1:-1]
    items = read(inside)
    dash = _dash_between_dates(items)
    if dash is not None and lives:
        for word, part in ((BORN, _last_part(items[:dash])), (DIED, items[dash + 1 :])):
            yield from ((owner, word, _tidy(item.text)) for item in part if item.kind in ("date", "name"))
    elif dash is not None:
        begin = next(item for item in reversed(items[:dash]) if item.kind == "date")
        end = next(item for item in items[dash + 1 :] if item.kind == "date")
        yield owner, IN, _tidy(inside[begin.start : end.end])
    if dash is not None:
        items = items[: dash - len(_last_part(items[:dash]))]
    yield from _said(items, owner, lives)


def _dash_between_dates(items: Sequence[Item]) -> int | None:
    """The place of a dash with a date before it, and one after it, as in "1 May 1900, Rome – 2 June 1960"."""
    for place, item in enumerate(items):
        if item.lower in _DASHES and item.kind in ("mark", "word"):
            before = any(other.kind == "date" for other in _last_part(items[:place]))
            if before and any(other.kind == "date" for other in items[place + 1 : place + 4]):
                return place
    return None


def _last_part(items: Sequence[Item]) -> Sequence[Item]:
    """What stands from the last date on, and before a dash, with the place of birth if that is given."""
    first = next((n for n in range(len(items) - 1, -1, -1) if items[n].kind == "date"), len(items))
    return items[first:]


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
        if years and len(words) < 2 and lives:
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
