"""What a sentence says that can be compared: quantities, dates, names, words, negation and denial."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from veridical.nli.dates import When, compare_dates, inside, read_dates
from veridical.nli.lexicon import (
    CLAUSE_END,
    DENIED_NEXT,
    DISPUTE,
    HEDGES,
    NEGATIONS,
    STOPWORDS,
    stem,
)
from veridical.nli.quantities import Quantity, compare_quantities, read_quantities

__all__ = [
    "Facts",
    "Quantity",
    "When",
    "compare_dates",
    "compare_quantities",
    "facts_of",
]

_DIGIT = re.compile(r"\d")
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")

_NEGATED_VERB = re.compile(r"(?:\b(?:is|was|are|were)\s+not|n['’]t)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a sentence says which two sentences can be compared by.

    ``words`` are the stems of its content words, ``denied`` those within a clause that the sentence denies,
    and only there; ``names`` are capitalised words in lower case. A "not" that opens such a clause is no
    negation of the sentence.
    """

    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    names: frozenset[str]
    denied: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: tuple[When, ...]
    n_tokens: int
    n_negations: int
    n_hedges: int
    n_disputes: int
    n_mid_names: int = 0


@lru_cache(maxsize=65_536)
def facts_of(sentence: str) -> Facts:
    """Read one sentence.

    Parameters
    ----------
    sentence
        Any text; what cannot be read as a value is simply a word.

    Returns
    -------
    Facts
        Never fails, whatever the text.
    """
    denied = _denied_spans(sentence)
    taken: list[tuple[int, int]] = []
    dates = read_dates(sentence, denied, taken) if _DIGIT.search(sentence) else ()
    quantities = read_quantities(sentence, denied, taken)
    return _words(sentence, denied, quantities, dates)


def _denied_spans(sentence: str) -> list[tuple[int, int]]:
    spans = []
    for cue in DENIED_NEXT.finditer(sentence):
        stop = CLAUSE_END.search(sentence, cue.end())
        while stop and _within_number(sentence, stop.start()):
            stop = CLAUSE_END.search(sentence, stop.end())
        spans.append((cue.end(), stop.start() if stop else len(sentence)))
    return spans


def _within_number(sentence: str, at: int) -> bool:
    return (
        sentence[at] in ".,"
        and at + 1 < len(sentence)
        and at > 0
        and sentence[at - 1].isdigit()
        and sentence[at + 1].isdigit()
    )


def _words(
    sentence: str,
    denied_spans: list[tuple[int, int]],
    quantities: tuple[Quantity, ...],
    dates: tuple[When, ...],
) -> Facts:
    words: list[str] = []
    names: set[str] = set()
    denied: set[str] = set()
    asserted: set[str] = set()
    n_tokens = n_negations = n_hedges = n_mid_names = 0
    # "B, not A" denies A and says B; "is not A" is a negation as well.
    openings = {start for start, _ in denied_spans if not _NEGATED_VERB.search(sentence[:start])}
    for match in _TOKEN.finditer(sentence):
        token = match[0]
        lower = token.lower()
        n_tokens += 1
        if lower.endswith(("n't", "n’t")) or lower in NEGATIONS:
            n_negations += match.end() not in openings
            continue
        lower = lower.removesuffix("'s").removesuffix("’s").replace("’", "'")
        n_hedges += lower in HEDGES
        if lower in STOPWORDS:
            continue
        root = stem(lower)
        if token[0].isupper():
            names.add(root)
            n_mid_names += n_tokens > 1
        words.append(root)
        (denied if denied_spans and inside(match.start(), denied_spans) else asserted).add(root)
    return Facts(
        words=frozenset(words),
        pairs=frozenset(pairwise(words)),
        names=frozenset(names),
        denied=frozenset(denied - asserted),
        quantities=quantities,
        dates=dates,
        n_tokens=n_tokens,
        n_negations=n_negations,
        n_hedges=n_hedges,
        n_disputes=len(DISPUTE.findall(sentence)),
        n_mid_names=n_mid_names,
    )
