"""What a sentence says that can be compared: quantities, dates, names, words, negation and denial."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from veridical.nli.cues import hedged_spans
from veridical.nli.dates import When, compare_dates, inside, read_dates
from veridical.nli.denial import denied_spans
from veridical.nli.lexicon import DISPUTE, HEDGES, NEGATIONS, STOPWORDS, stem
from veridical.nli.names import TITLES, other_names
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

_NEGATED_VERB = re.compile(r"(?:\b(?:is|was|are|were)\s+not|n['’]t)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a sentence says which two sentences can be compared by.

    ``sequence`` are the stems of its content words in order and ``words`` the same as a set; ``denied`` are
    those within a clause that the sentence denies, and only there; ``names`` are capitalised words, without
    titles and single initials; ``known`` are ``words`` and those of its names' other names. A "not" that
    opens a denied clause is no negation of the sentence.
    """

    sequence: tuple[str, ...]
    words: frozenset[str]
    known: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    names: frozenset[str]
    denied: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: tuple[When, ...]
    n_tokens: int
    n_negations: int
    n_hedges: int
    n_disputes: int


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
    denied, hedged = denied_spans(sentence), hedged_spans(sentence)
    taken: list[tuple[int, int]] = []
    dates = read_dates(sentence, denied, taken, hedged) if _DIGIT.search(sentence) else ()
    quantities = read_quantities(sentence, denied, taken, hedged)
    return _words(sentence, denied, quantities, dates)


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
    n_tokens = n_negations = n_hedges = 0
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
        if lower in STOPWORDS or (len(token) == 1 and sentence[match.end() : match.end() + 1] == "."):
            continue
        root = stem(lower)
        if token[0].isupper() and root not in TITLES:
            names.add(root)
        words.append(root)
        (denied if denied_spans and inside(match.start(), denied_spans) else asserted).add(root)
    own = frozenset(words)
    others = other_names(sentence) if names else frozenset()
    return Facts(
        sequence=tuple(words),
        words=own,
        known=own if others <= own else own | others,
        pairs=frozenset(pairwise(words)),
        names=frozenset(names),
        denied=frozenset(denied - asserted),
        quantities=quantities,
        dates=dates,
        n_tokens=n_tokens,
        n_negations=n_negations,
        n_hedges=n_hedges,
        n_disputes=len(DISPUTE.findall(sentence)),
    )
