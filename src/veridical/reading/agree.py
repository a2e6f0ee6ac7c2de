"""Whether two answers to one question mean the same."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from veridical.nli.dates import When, compare_dates
from veridical.nli.lexicon import KINDS, OPPOSITES, STOPWORDS, stem, word_list
from veridical.nli.quantities import Quantity, compare_quantities
from veridical.reading.said import GENERIC, WITHIN, Said, Word, makes_another, one_line, said

#: Agreement at or above which two answers count as one, and at or below which as two.
SAME, DIFFERENT = 0.75, 0.3

_EXACT_KINDS = ("count:", "ordinal", "label:")
_NEARLY = 0.95
_GENERIC_WEIGHT = 0.5
_UNCLEAR, _MORE = 0.6, 0.7
_ROUNDING = 1e-9
_PEOPLE = frozenset(
    word_list(
        """person people man woman actor actress singer artist painter author writer poet composer musician
        rapper comedian scientist physicist chemist mathematician inventor explorer president minister king
        queen emperor politician leader general player footballer boxer golfer athlete sportsman cricketer
        jockey driver director philosopher"""
    )
)
_DOUBLED = re.compile(r"(.)\1")
_COUNTRIES = frozenset(word_list("country nation state province county continent"))


def agreement(left: str, right: str, *, question: str = "") -> float:
    """Say how far two answers mean the same.

    What an answer denies ("X, not Y") is no part of it. Compared are, in order: the normalised texts; yes
    against no, and a negated answer against the plain one; dates at the precision that they share; numbers,
    exactly where bare and within their rounding where they have a unit or a scale; then names and words, with
    initials, acronyms, titles and surnames. What one says beyond the other counts by its share,
    ``0.2 + 0.8 shared / all`` (in words), unless it is an aside ("Paris, France"), the rest of a person's
    name, or said in the question already.

    Parameters
    ----------
    left, right
        Answers, a few words each. Order makes no difference.
    question
        The question that both answer, if there is one.

    Returns
    -------
    float
        In [0, 1]: 1 if they mean the same, 0 if they differ, between if it is unclear or one contains the
        other. An answer agrees with itself; an empty one with nothing.

    Examples
    --------
    >>> agreement("12 May 1932", "in 1932"), agreement("1194", "6666")
    (0.95, 0.0)
    """
    left, right = one_line(left), one_line(right)
    if left > right:
        left, right = right, left
    return _agreement(left, right, question)


@lru_cache(maxsize=262_144)
def _agreement(left: str, right: str, question: str) -> float:
    a, b = said(left), said(right)
    if not left.strip() or not right.strip():
        return 0.0
    if left == right or (a.key and a.key.replace(" ", "") == b.key.replace(" ", "")):
        return 1.0
    if not a.key or not b.key:
        return 0.0
    asked = _asked(question)
    if a.bare_yes_no or b.bare_yes_no:
        return _yes_no(a, b)
    if _opposed(a, b):
        return 0.0
    return _values_and_words(a, b, asked) * _turned(a, b)


@lru_cache(maxsize=4096)
def _asked(question: str) -> frozenset[str]:
    """Stems of the question's content words, and what it asks for, if that is a person or a country."""
    words = [word.strip("?.,!'\"").lower() for word in question.split()]
    found = {stem(word) for word in words if word and word not in STOPWORDS}
    kinds = {
        word
        for before, *near in zip(words, words[1:], words[2:], [*words[3:], ""], strict=False)
        if before in ("what", "which")
        for word in near
    }
    if {"who", "whom", "whose"}.intersection(words) or not kinds.isdisjoint(_PEOPLE):
        found.add("?who")
    elif not kinds.isdisjoint(_COUNTRIES):
        found.add("?country")
    return frozenset(found)


def _yes_no(a: Said, b: Said) -> float:
    """One of the two is a bare yes or no."""
    if a.bare_yes_no and b.bare_yes_no:
        return float(a.polarity == b.polarity)
    long, short = (a, b) if b.bare_yes_no else (b, a)
    if long.polarity:
        return _NEARLY if long.polarity == short.polarity else 0.0
    return 0.5 if short.polarity > 0 else DIFFERENT


def _opposed(a: Said, b: Said) -> bool:
    """Whether they stand on two sides of zero, of the era's beginning or of noon."""
    eras = a.era and b.era and a.era != b.era
    halves = a.half_day and b.half_day and a.half_day != b.half_day
    return bool(eras or halves or (a.below_zero != b.below_zero and a.numbers and b.numbers))


def _turned(a: Said, b: Said) -> float:
    """0 where one of two answers denies what the other says, 1 where what it denies may be something else."""
    if (a.polarity < 0) == (b.polarity < 0):
        return 1.0
    denying, other = (a, b) if a.polarity < 0 else (b, a)
    return float(len(denying.stems - other.stems) > 1 and bool(other.stems))


def _values_and_words(a: Said, b: Said, asked: frozenset[str]) -> float:
    if not (a.has_values and b.has_values):
        return _words(a, b, asked, extra=2 * (a.has_values + b.has_values))
    values = _values(a, b)
    if values == 0 or not (a.words and b.words):
        return values * _rest(a, b, asked)
    return min(values, max(_words(a, b, asked), DIFFERENT))


def _rest(a: Said, b: Said, asked: frozenset[str]) -> float:
    """How much remains of an agreement in value where one of the two says something else besides."""
    more = [word for word in (*a.words, *b.words) if word.stem not in asked]
    weight = sum(_GENERIC_WEIGHT if word.stem in GENERIC else 1.0 for word in more)
    return 1.0 if weight <= 1 else 0.2 + 0.8 * 3 / (2 + weight)


def _values(a: Said, b: Said) -> float:
    if a.dates and b.dates:
        few, many = sorted((a.dates, b.dates), key=len)
        worst = min(max(_dates(x, y) for y in many) for x in few)
        others = _numbers_agree(a, b) if a.numbers and b.numbers else 1.0
        return min(worst, others, _MORE if len(few) < len(many) else 1.0)
    if a.dates or b.dates:
        dated, other = (a, b) if a.dates else (b, a)
        years = {str(when.first) for when in dated.dates if when.first == when.last and when.month is None}
        return _NEARLY if years & other.numbers else 0.0
    return _numbers_agree(a, b)


def _dates(a: When, b: When) -> float:
    verdict = compare_dates(a, b)
    if verdict != "same":
        return 0.0 if verdict == "differs" else DIFFERENT
    if a == b:
        return 1.0
    if a.first is None or b.first is None:
        return _NEARLY if a.month == b.month else DIFFERENT
    widths = sorted(((a.last or a.first) - a.first + 1, (b.last or b.first) - b.first + 1))
    if widths[1] == widths[0]:
        return _NEARLY if a.first == b.first else _UNCLEAR
    return 0.8 if widths[1] <= 10 * widths[0] else _UNCLEAR


def _numbers_agree(a: Said, b: Said) -> float:
    """Compare numbers: 0 unless each number of the side with fewer has its like on the other."""
    few, many = sorted((a, b), key=lambda side: len(side.quantities) or len(side.numbers))
    if not few.quantities or not many.quantities:
        return 1.0 if a.numbers == b.numbers else 0.9 if a.numbers & b.numbers else 0.0
    worst = min(max(_quantities(x, y, a, b) for y in many.quantities) for x in few.quantities)
    whole = len(few.quantities) == len(many.quantities)
    return worst if whole else min(worst, _MORE)


def _quantities(x: Quantity, y: Quantity, a: Said, b: Said) -> float:
    bare = x.kind.startswith(_EXACT_KINDS), y.kind.startswith(_EXACT_KINDS)
    open_ended = math.isinf(x.low + x.high) or math.isinf(y.low + y.high)
    middles = (x.low + x.high) / 2, (y.low + y.high) / 2
    size = max(abs(middles[0]), abs(middles[1]))
    gap = 1.0 if open_ended else abs(middles[0] - middles[1]) / (size or 1.0)
    if x.kind != y.kind and not all(bare):
        if any(bare):  # "5 km" and "5": the unit is taken as understood, the number must be the same
            return 0.9 if a.numbers & b.numbers or gap < _ROUNDING else 0.0
        return 0.0
    if gap < _ROUNDING:
        return 1.0
    if (math.isinf(x.high) and math.isinf(y.high)) or (math.isinf(x.low) and math.isinf(y.low)):
        return float(math.isclose(x.low, y.low) and math.isclose(x.high, y.high))  # "over 13", "over 24"
    if all(bare) and not (_is_loose(x) or _is_loose(y)):
        return 0.0
    if compare_quantities(Quantity(x.low, x.high, ""), Quantity(y.low, y.high, "")) != "same":
        return 0.0
    return _NEARLY if gap <= 0.05 else _UNCLEAR


def _is_loose(quantity: Quantity) -> bool:
    """Whether a number was rounded or hedged: wider than the half percent that any number is given."""
    if math.isinf(quantity.low + quantity.high):
        return True
    size, width = abs(quantity.low + quantity.high) / 2, quantity.high - quantity.low
    return width > 0.15 * size or (size >= 1000 and width > 0.0101 * size)


def _words(a: Said, b: Said, asked: frozenset[str], extra: float = 0.0) -> float:
    shared = a.stems & b.stems
    left = [word for word in a.words if word.stem not in shared]
    right = [word for word in b.words if word.stem not in shared]
    matched, doubt = float(len(shared)), 1.0
    # Initials, acronyms and spellings of a word all share its first letter.
    if left and right and not {w.plain[0] for w in left}.isdisjoint(w.plain[0] for w in right):
        left, right, gained, doubt = _matched_otherwise(a, b, left, right)
        matched += gained
    if not matched:
        return 0.0
    if not left and not right:
        return doubt if not extra else doubt * _UNCLEAR
    if left and right:
        return doubt * _overlap(left, right, matched)
    small, big, more = (a, b, right) if not left else (b, a, left)
    return doubt * _contained(small, big, more, matched, asked, extra)


def _contained(
    small: Said, big: Said, more: list[Word], matched: float, asked: frozenset[str], extra: float
) -> float:
    """One says all that the other says, and ``more``."""
    new = [word for word in more if big.is_list or word.stem not in asked]
    if not extra:
        if not new or (big.head and big.head == small.stems):
            return _NEARLY
        if "?country" in asked and all(word.plain in WITHIN or word.stem in big.head for word in new):
            return 0.85  # "southern France", "Lyon, France"
        if not big.is_list and not any(word.stem in GENERIC for word in new):
            named = _part_of_name(small, big, "?who" in asked)
            if named is not None:
                return named
    weight = extra + sum(_GENERIC_WEIGHT if word.stem in GENERIC else 1.0 for word in new)
    return 0.2 + 0.8 * matched / (matched + weight)


def _part_of_name(small: Said, big: Said, who: bool) -> float | None:
    """A surname or a given name against the full name; None where neither is likely."""
    if len(big.words) > 4 or big.head or not (who or (big.all_names and small.all_names)):
        return None
    if any(makes_another(word.plain, who) for word in big.words if word.stem not in small.stems):
        return DIFFERENT
    first, last = big.words[0].stem in small.stems, big.words[-1].stem in small.stems
    if first and last:
        return _NEARLY  # only middle names are missing
    if last:
        return _NEARLY if who else 0.85
    if first and (len(small.words) > 1 or who):
        return 0.85
    return 0.65 if first else None


def _overlap(left: list[Word], right: list[Word], matched: float) -> float:
    """Both say something that the other does not."""
    if any(word.is_name for word in left) and any(word.is_name for word in right):
        return 0.0
    kinds = {KINDS[word.stem] for word in left if word.stem in KINDS}
    for word in right:
        if KINDS.get(word.stem) in kinds and word.stem in KINDS:
            return 0.0
        if any(other.stem in OPPOSITES.get(word.stem, ()) for other in left):
            return 0.0
    return _UNCLEAR * 2 * matched / (2 * matched + len(left) + len(right))


def _matched_otherwise(
    a: Said, b: Said, left: list[Word], right: list[Word]
) -> tuple[list[Word], list[Word], float, float]:
    """Match left-over words by acronym, initial or spelling.

    Returns
    -------
    tuple
        What is still left on either side, how many words were matched, and how sure that is.
    """
    for short, long, turned in ((left, right, False), (right, left, True)):
        for word in short:
            run = _acronym_of(word, long)
            if run:
                rest = [other for other in short if other is not word], [w for w in long if w not in run]
                kept = (rest[1], rest[0]) if turned else rest
                return kept[0], kept[1], float(len(run)), _NEARLY
    gained, doubt = 0.0, 1.0
    open_right = list(right)
    open_left = []
    for word in left:
        found = next((other for other in open_right if _initial(word, other) or _initial(other, word)), None)
        sure = _NEARLY
        if found is None:
            found = next((other for other in open_right if _spelt_alike(word.plain, other.plain)), None)
            sure = 0.8
        if found is None:
            open_left.append(word)
        else:
            open_right.remove(found)
            gained, doubt = gained + 1, min(doubt, sure)
    if gained and not open_left and not open_right and not (a.stems & b.stems) and doubt == _NEARLY:
        return left, right, 0.0, 1.0  # initials alone say nothing
    return open_left, open_right, gained, doubt


def _acronym_of(word: Word, long: list[Word]) -> list[Word]:
    """The run of capitalised words whose initials ``word`` is; empty if there is none."""
    if not word.is_acronym:
        return []
    n = len(word.plain)
    for start in range(len(long) - n + 1):
        run = long[start : start + n]
        if all(w.is_name for w in run) and "".join(w.plain[0] for w in run) == word.plain:
            return run
    return []


def _initial(short: Word, long: Word) -> bool:
    """Whether one is the initial, or the initials, of a given name."""
    if not (short.is_name and long.is_name) or len(long.plain) < 3:
        return False
    return short.plain[0] == long.plain[0] and (
        len(short.plain) == 1 or (short.is_acronym and len(short.plain) == 2)
    )


def _spelt_alike(a: str, b: str) -> bool:
    """Whether two longer words look like two spellings of one: one letter apart, or only in vowels."""
    if a[0] != b[0] or min(len(a), len(b)) < 5 or abs(len(a) - len(b)) > 2:
        return False
    if _DOUBLED.sub(r"\1", a) == _DOUBLED.sub(r"\1", b):
        return True
    if min(len(a), len(b)) < 6:
        return False
    bones = ["".join(c for c in word if c not in "aeiouy") for word in (a, b)]
    if bones[0] == bones[1] and len(bones[0]) >= 4:
        return True
    return min(len(a), len(b)) >= 7 and _one_edit(a, b)


def _one_edit(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    if len(b) - len(a) > 1:
        return False
    i = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    return a[i + (len(a) == len(b)) :] == b[i + 1 :]
