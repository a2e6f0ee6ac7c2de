"""What a sentence says that can be compared: quantities, dates, names, words, negation and denial."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from veridical.nli.cues import hedged_spans
from veridical.nli.dates import When, compare_dates, inside, read_dates
from veridical.nli.denial import denied_spans
from veridical.nli.lexicon import KINDS, NEGATING_PREFIXES, NEGATIONS, OPPOSITES, STOPWORDS, stem
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
    opens a denied clause is no negation of the sentence. ``kinds``, ``opposites`` and ``stripped`` are the
    words that are of a kind, with it, that have an opposite, and that begin like a negation, with the rest.
    """

    sequence: tuple[str, ...]
    words: frozenset[str]
    known: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    names: frozenset[str]
    denied: frozenset[str]
    kinds: tuple[tuple[str, str], ...]
    opposites: tuple[str, ...]
    stripped: tuple[tuple[str, str], ...]
    quantities: tuple[Quantity, ...]
    dates: tuple[When, ...]
    n_negations: int


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


@lru_cache(maxsize=200_000)
def _root(token: str) -> str | None:
    """Stem of a word; empty for one that carries no content, None for one that negates."""
    lower = token.lower()
    if lower.endswith(("n't", "n’t")) or lower in NEGATIONS:
        return None
    lower = lower.removesuffix("'s").removesuffix("’s").replace("’", "'")
    return "" if lower in STOPWORDS else stem(lower)


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
    n_negations = 0
    # "B, not A" denies A and says B; "is not A" is a negation as well.
    openings = {start for start, _ in denied_spans if not _NEGATED_VERB.search(sentence[:start])}
    for match in _TOKEN.finditer(sentence):
        token = match[0]
        root = _root(token)
        if root is None:
            n_negations += match.end() not in openings
            continue
        if not root or (len(token) == 1 and sentence[match.end() : match.end() + 1] == "."):
            continue
        if token[0].isupper() and root not in TITLES:
            names.add(root)
        words.append(root)
        if denied_spans:
            (denied if inside(match.start(), denied_spans) else asserted).add(root)
    own = frozenset(words)
    others = other_names(sentence, names) if names else frozenset()
    return Facts(
        sequence=tuple(words),
        words=own,
        known=own if others <= own else own | others,
        pairs=frozenset(pairwise(words)),
        names=frozenset(names),
        denied=frozenset(denied - asserted),
        kinds=tuple((word, KINDS[word]) for word in own if word in KINDS),
        opposites=tuple(word for word in own if word in OPPOSITES),
        stripped=tuple(
            (word, word[len(prefix) :])
            for word in own
            if word.startswith(NEGATING_PREFIXES)
            for prefix in NEGATING_PREFIXES
            if word.startswith(prefix)
        ),
        quantities=quantities,
        dates=dates,
        n_negations=n_negations,
    )
