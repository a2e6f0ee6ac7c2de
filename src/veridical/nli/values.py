"""What a sentence says that can be compared: quantities, dates, names, words, negation and denial."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from veridical.nli.lexicon import (
    CLAUSE_END,
    DENIED_NEXT,
    DISPUTE,
    HEDGES,
    NEGATIONS,
    STOPWORDS,
    stem,
)

Verdict = Literal["same", "differs", "apart"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = r"(?P<{}>January|February|March|April|May|June|July|August|September|October|November|December|" \
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"  # fmt: skip
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATE = re.compile(
    "|".join(
        (
            rf"\b(?P<iso_y>{_YEAR})-(?P<iso_m>0[1-9]|1[0-2])(?:-(?P<iso_d>[0-2]\d|3[01]))?\b(?!-)",
            rf"\b(?P<a_d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH.format('a_m')},?(?:\s+(?P<a_y>{_YEAR})\b)?",
            rf"\b{_MONTH.format('b_m')}\s+(?P<b_d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+(?P<b_y>{_YEAR})\b)?",
            rf"\b{_MONTH.format('c_m')},?\s+(?P<c_y>{_YEAR})\b",
            rf"\b(?P<r_a>{_YEAR})\s?[-–—]\s?(?P<r_b>{_YEAR}|\d{{2}})\b(?!\d)",
            r"\b(?P<dec>1\d{2}0|20\d0)s\b",
            r"\b(?P<cent>\d{1,2})(?:st|nd|rd|th)[\s-]centur(?:y|ies)\b",
            rf"(?<![\d.,$€£¥-])(?P<y>{_YEAR})(?![\d%]|[.,]\d|\s*(?:people|men|metres|meters|miles|km|kg|feet)\b)",
        )
    )
)

_SMALL = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
    )
}
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
    "b": 1e9, "trillion": 1e12, "tn": 1e12, "dozen": 12.0,
}  # fmt: skip
#: unit -> (dimension, factor to the dimension's base unit)
_UNITS: dict[str, tuple[str, float]] = {
    name: (dimension, factor)
    for dimension, table in {
        "length": {
            "mm millimetre millimeter millimetres millimeters": 1e-3,
            "cm centimetre centimeter centimetres centimeters": 1e-2,
            "metre meter metres meters": 1.0,
            "km kilometre kilometer kilometres kilometers kms": 1e3,
            "inch inches": 0.0254,
            "foot feet ft": 0.3048,
            "yard yards yd": 0.9144,
            "mile miles mi": 1609.344,
        },
        "mass": {
            "mg milligram milligrams": 1e-6,
            "g gram grams": 1e-3,
            "kg kilogram kilograms kilos": 1.0,
            "lb lbs pound pounds": 0.45359237,
            "ounce ounces oz": 0.028349523,
            "tonne tonnes ton tons": 1e3,
        },
        "time": {
            "second seconds sec secs": 1.0,
            "minute minutes min mins": 60.0,
            "hour hours hr hrs": 3600.0,
            "day days": 86400.0,
            "week weeks": 604800.0,
            "month months": 2629800.0,
            "year years yr yrs": 31557600.0,
            "decade decades": 315576000.0,
            "century centuries": 3155760000.0,
        },
        "speed": {"mph": 0.44704, "kph kmh": 0.27777778},
        "power": {"watt watts w": 1.0, "kw kilowatt kilowatts": 1e3, "mw megawatt megawatts": 1e6},
        "memory": {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    }.items()
    for names, factor in table.items()
    for name in names.split()
}
_CURRENCIES = {
    "$": "usd", "us$": "usd", "dollar": "usd", "dollars": "usd", "usd": "usd", "€": "eur", "euro": "eur",
    "euros": "eur", "eur": "eur", "£": "gbp", "gbp": "gbp", "¥": "jpy", "yen": "jpy", "rupees": "inr",
}  # fmt: skip
_BELOW = frozenset("under below most maximum max within".split())
_ABOVE = frozenset("over above least minimum min exceeding exceeds exceeded beyond".split())
_ABOUT = frozenset(
    "about around approximately approx roughly nearly almost circa some estimated close near".split()
)

_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.])-)?(?P<cur>US\$|[$€£¥])?\s?(?P<num>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<ord>(?:st|nd|rd|th)\b)?\s?(?P<pct>%|percent\b|per\s+cent\b)?(?:-?(?P<suffix>[A-Za-z]+))?"
)
_WORD_NUMBER = re.compile(
    r"\b(?:(?P<tens>{tens})(?:[\s-](?P<unit>{units}))?|(?P<small>{small})|(?P<ordw>{ords})|(?P<scale>dozen)|"
    r"(?P<a>an?)\s(?=hundred\b|thousand\b|million\b|billion\b))\b".format(
        tens="|".join(_TENS),
        units="|".join(list(_SMALL)[1:10]),
        small="|".join(sorted(_SMALL, key=len, reverse=True)),
        ords="|".join(_ORDINALS),
    ),
    re.IGNORECASE,
)
_LARGEST = 1e30
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")
_LAST_WORD = re.compile(r"(\w+)\s+\Z")
_AFTER = re.compile(r"[\s-]*([A-Za-z]+)")
_HAS_NUMBER_WORD = re.compile(
    "|".join([*_TENS, *_SMALL, *_ORDINALS, "dozen", "hundred", "thousand", "million", "billion"]),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it was meant: the interval [low, high] in the base unit of its ``kind``.

    ``kind`` is ``percent``, ``money:CUR``, ``ordinal``, a dimension such as ``length`` (SI base units) or
    ``count:NOUN`` with the stem of the word that follows, empty where none does.
    """

    low: float
    high: float
    kind: str
    denied: bool = False


@dataclass(frozen=True, slots=True)
class When:
    """A date at whatever precision it was given: years ``first`` to ``last``, and month and day if known."""

    first: int | None
    last: int | None
    month: int | None = None
    day: int | None = None
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a sentence says which two sentences can be compared by.

    ``words`` are the stems of its content words, ``denied`` those within a clause that the sentence denies;
    ``names`` are capitalised words in lower case.
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


def compare_quantities(left: Quantity, right: Quantity) -> Verdict:
    """Say whether two quantities agree (``same``), clash (``differs``) or are of different things (``apart``).

    Counts of different nouns are apart; a bare number agrees with any count of equal size but clashes with none.
    """
    if left.kind != right.kind:
        bare = "count:" in (left.kind, right.kind)
        counts = left.kind.startswith("count:") and right.kind.startswith("count:")
        if not (bare and counts and _overlap(left, right)):
            return "apart"
        return "same"
    return "same" if _overlap(left, right) else "differs"


def _overlap(left: Quantity, right: Quantity) -> bool:
    return left.low <= right.high and right.low <= left.high


def compare_dates(left: When, right: When) -> Verdict:
    """Say whether two dates can be the same moment (``same``), cannot (``differs``) or share no part (``apart``).

    A year agrees with any day in it, a decade with any of its years.
    """
    shared = False
    if left.first is not None and right.first is not None:
        if left.first > (right.last or right.first) or right.first > (left.last or left.first):
            return "differs"
        shared = True
    for a, b in ((left.month, right.month), (left.day, right.day)):
        if a is not None and b is not None:
            if a != b:
                return "differs"
            shared = True
    return "same" if shared else "apart"


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
    dates = _dates(sentence, denied, taken) if any(c.isdigit() for c in sentence) else ()
    quantities = _quantities(sentence, denied, taken)
    return _words(sentence, denied, quantities, dates)


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


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


def _dates(
    sentence: str, denied: list[tuple[int, int]], taken: list[tuple[int, int]]
) -> tuple[When, ...]:
    found = []
    for match in _DATE.finditer(sentence):
        got = {key: value for key, value in match.groupdict().items() if value is not None}
        when = _when(got)
        if when is None:
            continue
        first, last, month, day = when
        taken.append(match.span())
        found.append(When(first, last, month, day, _inside(match.start(), denied)))
    return tuple(found)


def _when(got: dict[str, str]) -> tuple[int | None, int | None, int | None, int | None] | None:
    if "iso_y" in got:
        year = int(got["iso_y"])
        return year, year, int(got["iso_m"]), int(got["iso_d"]) if "iso_d" in got else None
    for key in ("a", "b", "c"):
        if f"{key}_m" in got:
            day = int(got[f"{key}_d"]) if f"{key}_d" in got else None
            if day is not None and not 1 <= day <= 31:
                return None
            year_or_none = int(got[f"{key}_y"]) if f"{key}_y" in got else None
            return year_or_none, year_or_none, _MONTHS[got[f"{key}_m"].lower()], day
    if "r_a" in got:
        first, tail = int(got["r_a"]), got["r_b"]
        last = int(tail) if len(tail) == 4 else first // 100 * 100 + int(tail)
        return first, max(first, last), None, None
    if "dec" in got:
        first = int(got["dec"])
        return first, first + (99 if first % 100 == 0 else 9), None, None
    if "cent" in got:
        last = int(got["cent"]) * 100
        return last - 100, last, None, None
    year = int(got["y"])
    return year, year, None, None


def _quantities(
    sentence: str, denied: list[tuple[int, int]], taken: list[tuple[int, int]]
) -> tuple[Quantity, ...]:
    found = []
    if any(c.isdigit() for c in sentence):
        for match in _NUMBER.finditer(sentence):
            if _inside(match.start("num"), taken) or (match.start("num") and _glued(sentence, match)):
                continue
            value = float(match["num"].replace(",", ""))
            if value > _LARGEST:
                continue  # no measurement, and infinity is in no interval
            end = match.end("suffix") if match["suffix"] else match.end()
            scale, kind = _scale_and_kind(sentence, match, end)
            found.append(_quantity(sentence, match.start(), value, scale, kind, match["num"], denied))
    if _HAS_NUMBER_WORD.search(sentence):
        found.extend(_word_numbers(sentence, denied))
    return tuple(found)


def _glued(sentence: str, match: re.Match[str]) -> bool:
    before = sentence[match.start("num") - 1]
    return before.isalpha() or before == "_"


def _scale_and_kind(sentence: str, match: re.Match[str], end: int) -> tuple[float, str]:
    if match["ord"]:
        return 1.0, "ordinal"
    if match["pct"]:
        return 1.0, "percent"
    word = (match["suffix"] or "").lower()
    if not word:
        following = _AFTER.match(sentence, end)
        word, end = (following[1].lower(), following.end()) if following else ("", end)
    return _read_unit(sentence, word, end, _CURRENCIES.get((match["cur"] or "").lower()))


def _read_unit(sentence: str, word: str, end: int, currency: str | None) -> tuple[float, str]:
    scale = 1.0
    while word in _SCALES and (len(word) > 2 or currency):
        scale *= _SCALES[word]
        following = _AFTER.match(sentence, end)
        word, end = (following[1].lower(), following.end()) if following else ("", end)
    if currency or word in _CURRENCIES:
        return scale, f"money:{currency or _CURRENCIES[word]}"
    if word in ("percent", "per"):
        return scale, "percent"
    if word in _UNITS:
        dimension, factor = _UNITS[word]
        return scale * factor, dimension
    if word in STOPWORDS or not word:
        return scale, "count:"
    return scale, f"count:{stem(word)}"


def _quantity(
    sentence: str,
    start: int,
    value: float,
    scale: float,
    kind: str,
    digits: str,
    denied: list[tuple[int, int]],
) -> Quantity:
    before = [token.lower() for token in re.findall(r"[A-Za-z]+", sentence[max(0, start - 24) : start])[-2:]]
    size = value * scale
    # A rounded number stands for all that round to it; exact small counts stand for themselves.
    slack = abs(size) * (0.1 if _ABOUT.intersection(before[-1:]) else 0.005)
    decimals = len(digits.partition(".")[2])
    if decimals or (scale >= 1e3 and kind.startswith(("count:", "money:"))):
        slack = max(slack, 0.49 * 10.0**-decimals * scale)
    if kind == "ordinal":
        slack = 0.0
    low, high = size - slack, size + slack
    if "than" in before and "more" in before or _ABOVE.intersection(before):
        high = float("inf")
    elif ("than" in before and ("less" in before or "fewer" in before)) or _BELOW.intersection(before):
        low = float("-inf")
    elif before[-2:] == ["up", "to"]:
        low = 0.5 * size  # "up to" is said of what was nearly reached
    return Quantity(low, high, kind, _inside(start, denied))


def _word_numbers(sentence: str, denied: list[tuple[int, int]]) -> list[Quantity]:
    found = []
    for match in _WORD_NUMBER.finditer(sentence):
        if match["ordw"]:
            kind, value, scale = "ordinal", float(_ORDINALS[match["ordw"].lower()]), 1.0
        else:
            value = _spelled(match)
            before = _LAST_WORD.search(sentence, 0, match.start())
            if match["scale"] and before and (before[1].lower() in _SMALL or before[1].isdigit()):
                continue  # read with the number before it
            following = _AFTER.match(sentence, match.end())
            word, end = (following[1].lower(), following.end()) if following else ("", match.end())
            if value == 1 and match["a"] is None and word not in _SCALES and word not in _UNITS:
                continue  # "one" is a pronoun more often than a number
            scale, kind = _read_unit(sentence, word, end, None)
        found.append(_quantity(sentence, match.start(), value, scale, kind, str(int(value)), denied))
    return found


def _spelled(match: re.Match[str]) -> float:
    if match["tens"]:
        unit = _SMALL[match["unit"].lower()] if match["unit"] else 0
        return float(_TENS[match["tens"].lower()] + unit)
    if match["small"]:
        return float(_SMALL[match["small"].lower()])
    return 12.0 if match["scale"] else 1.0


def _words(
    sentence: str,
    denied_spans: list[tuple[int, int]],
    quantities: tuple[Quantity, ...],
    dates: tuple[When, ...],
) -> Facts:
    words: list[str] = []
    names: set[str] = set()
    denied: set[str] = set()
    n_tokens = n_negations = n_hedges = n_mid_names = 0
    for match in _TOKEN.finditer(sentence):
        token = match[0]
        lower = token.lower()
        n_tokens += 1
        if lower.endswith(("n't", "n’t")) or lower in NEGATIONS:
            n_negations += 1
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
        if denied_spans and _inside(match.start(), denied_spans):
            denied.add(root)
    return Facts(
        words=frozenset(words),
        pairs=frozenset(zip(words, words[1:], strict=False)),
        names=frozenset(names),
        denied=frozenset(denied),
        quantities=quantities,
        dates=dates,
        n_tokens=n_tokens,
        n_negations=n_negations,
        n_hedges=n_hedges,
        n_disputes=len(DISPUTE.findall(sentence)),
        n_mid_names=n_mid_names,
    )
