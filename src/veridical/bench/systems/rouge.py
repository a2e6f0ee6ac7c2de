"""ROUGE-L, the share of words in common order, and the filter that TrustRAG makes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from veridical.errors import MissingExtraError

_WORD = re.compile(r"[a-z0-9]+")
_LEAST_STEMMED = 4  # letters; shorter words stay as they are, as in the reference implementation


def rouge_l(left: str, right: str) -> float:
    """Return the F-measure of the longest common subsequence of stemmed words.

    ``2 L / (m + n)`` for texts of m and n words with L in common order, which is the harmonic mean of L / m
    and L / n. Words are runs of letters a to z and digits, in small letters, stemmed by Porter's algorithm.
    Without a word it is 0. The time taken grows with m n.

    Raises
    ------
    MissingExtraError
        If the stemmer is not installed.

    Examples
    --------
    >>> rouge_l("a b c d", "a b x y")
    0.5
    """
    a, b = _words(left), _words(right)
    if not a or not b:
        return 0.0
    # One row of the usual table at a time as the bits of a number (Hyyrö 2004): a bit is 0 where the length
    # grows by one, so that there are as many as the whole subsequence is long.
    places: dict[str, int] = {}
    for place, word in enumerate(b):
        places[word] = places.get(word, 0) | 1 << place
    whole = row = (1 << len(b)) - 1
    for word in a:
        meets = row & places.get(word, 0)
        row = ((row + meets) | (row - meets)) & whole
    return 2 * (len(b) - row.bit_count()) / (len(a) + len(b))


def overlapping(texts: Sequence[str], above: float) -> frozenset[int]:
    """Return the places of texts that repeat each other: of each pair of ROUGE-L above ``above``, both.

    A text is compared with the later ones until the first that it repeats, and if it is not out by then, with
    the first text that ever was, which is what puts the third of three alike out.
    """
    out: set[int] = set()
    first: str | None = None
    for place, text in enumerate(texts):
        if place in out:
            continue
        later = range(place + 1, len(texts))
        like = next((other for other in later if rouge_l(text, texts[other]) > above), None)
        if like is not None:
            out |= {place, like}
            first = text if first is None else first
        elif first is not None and rouge_l(text, first) > above:
            out.add(place)
    return frozenset(out)


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    words = _WORD.findall(text.lower())
    stemmed = iter(_stemmer().stemWords([word for word in words if len(word) >= _LEAST_STEMMED]))
    return tuple(next(stemmed) if len(word) >= _LEAST_STEMMED else word for word in words)


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]
    try:
        import snowballstemmer
    except ImportError as error:
        raise MissingExtraError("bench", "ROUGE-L") from error
    return snowballstemmer.stemmer("porter")
