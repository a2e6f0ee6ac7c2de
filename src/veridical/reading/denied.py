"""Answers that a passage names only to deny or to set aside: "B, not A", "while A is often named, B"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from veridical.nli.align import sentence_spans
from veridical.nli.lexicon import CLAUSE_END, DENIED_NEXT, stem
from veridical.nli.values import facts_of
from veridical.reading.base import ReadAnswer, Reading

#: How much of an answer's probability a cue takes away: that it is not so, or that it is beside the point.
DENIED, SET_ASIDE = 0.9, 0.5
#: A longer sentence is a table or a list, and is not searched for what it denies: patterns need bounds.
MOST_CHARS = 1000

_CLAIMED_NEXT = re.compile(
    r"\b(?:(?:(?:mis)?conceptions?|notions?|ideas?|myths?|rumou?rs?|assumptions?|suggestions?|beliefs?|claims?|"
    r"claimed|allegations?|speculations?|assertions?)\s+that|"
    r"(?:no|little|lacks?|without|insufficient)\s+(?:\w+\s+)?(?:evidence|proof|basis)\s+(?:that|of|for)|"
    r"(?:misconceptions?|myths?)\s+(?:of|about))\b",
    re.IGNORECASE,
)
_SAID_NOT_SO = re.compile(
    r"\W*(?:(?!(?:and|or|if|when|that|which|who|i|you|we|they|he|she|it|people)\b)[\w'’]+,?\s+){0,4}?"
    r"(?:(?:is|was|are|were|be|been|has|have|had|did|does|do|could|would|can|will)\s+(?:\w+\s+)?(?:not|never)\b(?!\s+(?:only|just|merely|until))|"
    r"(?:cannot|never)\b|\w+n['’]t\b(?!\s+(?:only|just|merely|until))|"
    r"(?:is|was|are|were|has\s+been|have\s+been)\s+(?:\w+\s+){0,2}(?:incorrect|inaccurate|false|wrong|mistaken|"
    r"erroneous|untrue|debunked|disproven|disproved|refuted|misconceptions?|myths?)\b|"
    r"lacks?\b|fell\s+short|falls?\s+short)",
    re.IGNORECASE,
)
_CONCEDED = re.compile(
    r"(?:\A|[;:]\s|\s[-–—]\s)\W*(?:(?:while|whereas|although|though|even\s+though|despite|in\s+spite\s+of|unlike|"
    r"contrary\s+to|as\s+opposed\s+to)\s+(?!\w+ing\b))",
    re.IGNORECASE,
)
_SET_AGAINST = re.compile(
    r"(?:\b(?:rather\s+than|instead\s+of|as\s+opposed\s+to|contrary\s+to|(?:and|but)\s+not)|"
    r"(?<=[,;]\s)not|(?<=[,;][\"”’]\s)not)\b(?!\s+(?:only|just|until))",
    re.IGNORECASE,
)
_STILL_SO = re.compile(r"\s+(?:only|just|merely|until|till)\b", re.IGNORECASE)
_IN_CONTRAST = re.compile(r"\A\W*(?:in\s+contrast|by\s+contrast|on\s+the\s+other\s+hand|conversely)\b", re.I)
_NEGATED = re.compile(r"\b(?:not|never|cannot|except)\b|n['’]t\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")
_COMMA = re.compile(r",(?!\d)")


def denial(text: str, start: int, end: int, *, question: str = "") -> float:
    """How far a passage denies what stands at a place.

    Parameters
    ----------
    text
        The passage.
    start, end
        Characters of the answer, ``0 <= start < end <= len(text)``.
    question
        What it answers. One that asks for what is not so ("what does not work?") is answered by a denial.

    Returns
    -------
    float
        ``DENIED`` where its clause is denied ("not A", "rather than A", "the myth that A", "A was never"),
        ``SET_ASIDE`` where it is conceded or contrasted ("while A is often named", "in contrast, A"), else 0.
    """
    for span in sentence_spans(text):
        if span.start < end and start < span.end:
            a, b = max(start, span.start) - span.start, min(end, span.end) - span.start
            if b - a < (end - start) / 2:
                continue
            if _NEGATED.search(question) or len(span.text) > MOST_CHARS:
                return 0.0
            denied, aside = _scopes(span.text)
            if any(_mostly_in(a, b, scope) for scope in denied) or _SAID_NOT_SO.match(span.text, b):
                return DENIED
            return SET_ASIDE if any(_mostly_in(a, b, scope) for scope in aside) else 0.0
    return 0.0


@lru_cache(maxsize=32_768)
def word_denials(sentence: str) -> Mapping[str, float]:
    """How far a sentence denies its words: each word's stem, and the least denial of its mentions."""
    searched = len(sentence) <= MOST_CHARS
    denied, aside = _scopes(sentence) if searched else ((), ())
    found: dict[str, float] = {}
    for match in _TOKEN.finditer(sentence):
        word = stem(match[0].lower().removesuffix("'s").removesuffix("’s"))
        start, end = match.span()
        level = 0.0
        if any(_mostly_in(start, end, scope) for scope in denied) or (
            searched and _SAID_NOT_SO.match(sentence, end)
        ):
            level = DENIED
        elif any(_mostly_in(start, end, scope) for scope in aside):
            level = SET_ASIDE
        found[word] = min(level, found.get(word, 1.0))
    return MappingProxyType(found)


def undenied(text: str, reading: Reading, *, question: str = "") -> Reading:
    """The reading with less weight on answers that the passage denies; see ``denial``.

    An answer that the passage sets against another in any of its sentences ("B, not A") is denied wherever
    else it stands. What answers lose goes to the others in proportion, and is left unassigned where there is
    none: a passage that only denies an answer does not answer.
    """
    losses = [a.probability * _level(text, a, question) for a in reading.answers]
    lost = sum(losses)
    if not lost:
        return reading
    kept = [a.probability - loss for a, loss in zip(reading.answers, losses, strict=True)]
    free = sum(k for k, loss in zip(kept, losses, strict=True) if not loss)
    gain = 1.0 + lost / free if free else 1.0
    found = [
        ReadAnswer(a.text, a.start, a.end, min(1.0, k if loss else k * gain))
        for a, k, loss in zip(reading.answers, kept, losses, strict=True)
    ]
    return Reading(tuple(sorted(found, key=lambda a: -a.probability)), reading.no_answer)


def _level(text: str, answer: ReadAnswer, question: str) -> float:
    here = denial(text, answer.start, answer.end, question=question)
    if here == DENIED or _NEGATED.search(question):
        return here
    words = facts_of(answer.text).words
    words = (words - facts_of(question).words) or words
    against = words and any(words <= _set_against(span.text) for span in sentence_spans(text))
    return DENIED if against else here


@lru_cache(maxsize=32_768)
def _set_against(sentence: str) -> frozenset[str]:
    """Stems of the words that a sentence names only as what something else is not."""
    if len(sentence) > MOST_CHARS:
        return frozenset()
    scopes = [(cue.start(), _clause_end(sentence, cue.end())) for cue in _SET_AGAINST.finditer(sentence)]
    if not scopes:
        return frozenset()
    inside: set[str] = set()
    outside: set[str] = set()
    for match in _TOKEN.finditer(sentence):
        word = stem(match[0].lower().removesuffix("'s").removesuffix("’s"))
        (inside if any(_mostly_in(*match.span(), scope) for scope in scopes) else outside).add(word)
    return frozenset(inside - outside)


def _mostly_in(start: int, end: int, scope: tuple[int, int]) -> bool:
    """Whether more of an answer than not lies in a scope whose cue stands before it."""
    return scope[0] < start and 2 * (min(end, scope[1]) - start) >= end - start


@lru_cache(maxsize=16_384)
def _scopes(sentence: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Where a sentence denies, and where it concedes or contrasts."""
    denied = tuple(
        (cue.start(), _clause_end(sentence, cue.end()))
        for pattern in (DENIED_NEXT, _CLAIMED_NEXT)
        for cue in pattern.finditer(sentence)
        if not _STILL_SO.match(sentence, cue.end())
    )
    if _IN_CONTRAST.match(sentence):
        return denied, ((0, len(sentence)),)
    aside = []
    for cue in _CONCEDED.finditer(sentence):
        comma = _COMMA.search(sentence, cue.end())
        aside.append((cue.start(), comma.start() if comma else len(sentence)))
    return denied, tuple(aside)


def _clause_end(sentence: str, at: int) -> int:
    stop = CLAUSE_END.search(sentence, at)
    while stop and _within_number(sentence, stop.start()):
        stop = CLAUSE_END.search(sentence, stop.end())
    return stop.start() if stop else len(sentence)


def _within_number(sentence: str, at: int) -> bool:
    return sentence[at] in ".," and sentence[at - 1 : at].isdigit() and sentence[at + 1 : at + 2].isdigit()
