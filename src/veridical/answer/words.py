"""Words, values and literal search, as the rest of this package compares texts by them."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{_CJK}]|[^\W\d_{_CJK}]+(?:['’][^\W\d_{_CJK}]+)?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w’'-]+")
_ELLIPSIS = re.compile(r"\.{3,}|…")
_MAX_QUOTE_CHARS = 10_000

_FUNCTION_WORDS = (
    "a about after again all also am an and any are as at be been before being between both but by "
    "can could did do does doing down during each for from further had has have having he her here "
    "him his how i if in into is it its itself just may me might more most must my no nor not now of "
    "off on once only or other our out over own said same she should so some such than that the their "
    "them then there these they this those through to too under until up us very was we were what "
    "when where which while who whom whose why will with would yes you your according document "
    "documents passage source sources states say says "
)
_STOPWORDS = frozenset(_FUNCTION_WORDS.split())

_FOLD = {
    ord(odd): plain
    for plain, odds in {"'": "‘’‚`´", '"': "“”„«»", "-": "‐‑‒–—−", "(": "[{<‹【（", ")": "]}>›】）"}.items()
    for odd in odds
}


def words(text: str) -> list[str]:
    """Content words in order: folded, without function words, common English endings taken off."""
    found = (_stem(match.casefold()) for match in _WORD.findall(text))
    return [word for word in found if word and word not in _STOPWORDS]


@functools.lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """Take off the commonest endings, so that "closes" meets "closed"; both sides go through this."""
    if word[0].isdigit():
        return word.replace(",", "")
    word = word.partition("'")[0].partition("’")[0]
    for ending, least, put in (("ies", 5, "y"), ("ing", 6, ""), ("ed", 5, ""), ("es", 5, ""), ("s", 4, "")):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return (word[: -len(ending)] + put).rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def weight(word: str) -> float:
    """How much a shared word counts: numbers twice, as two sentences rarely share one by chance."""
    return 2.0 if word[0].isdigit() else 1.0


def covered(wanted: Collection[str], given: Collection[str]) -> float:
    """The share of ``wanted`` words, by weight, that ``given`` holds; 0 where nothing is wanted."""
    total = sum(weight(word) for word in wanted)
    return sum(weight(word) for word in wanted if word in given) / total if total else 0.0


def values(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a sentence commits itself to: its numbers, and its capitalised names (not a first word)."""
    numbers = frozenset(number.replace(",", "") for number in _NUMBER.findall(text))
    return numbers, frozenset(_stem(name.casefold()) for name in _NAME.findall(text))


def _folded(text: str) -> tuple[str, list[int]]:
    """Fold case, quotation marks, dashes, brackets and runs of white space; keep each character's origin."""
    out: list[str] = []
    origin: list[int] = []
    for place, char in enumerate(text):
        if char.isspace() or unicodedata.category(char) in {"Cc", "Cf"}:
            if out and out[-1] != " ":
                out.append(" ")
                origin.append(place)
            continue
        for piece in char.translate(_FOLD).casefold():
            out.append(piece)
            origin.append(place)
    return "".join(out), origin


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Find where ``text`` says ``quote`` literally.

    Case, white space and the style of quotation marks, dashes and brackets are forgiven, as is punctuation
    at the quote's ends; an ellipsis inside it stands for anything. A quote of more than 10,000 characters is
    longer than any passage, and not looked for.

    Returns
    -------
    (start, end) or None
        ``text[start:end]`` is what was found.
    """
    if len(quote) > _MAX_QUOTE_CHARS:
        return None
    folded, origin = _folded(text)
    first: int | None = None
    at = last = 0
    for piece in _ELLIPSIS.split(quote):
        wanted = _folded(piece)[0].strip(" .,;:!?\"'")
        if not wanted:
            continue
        found = folded.find(wanted, at)
        if found < 0:
            return None
        first = origin[found] if first is None else first
        at = found + len(wanted)
        last = origin[at - 1] + 1
    return None if first is None else (first, last)
