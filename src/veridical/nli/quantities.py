"""Numbers as sentences give them, with scale and unit, compared within their rounding."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from veridical.nli.cues import label_before
from veridical.nli.dates import Places, Verdict, inside
from veridical.nli.lexicon import STOPWORDS, stem, word_list
from veridical.nli.units import CURRENCIES, SCALES, UNITS

_SMALL = {
    word: value
    for value, word in enumerate(
        word_list(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
            sixteen seventeen eighteen nineteen"""
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(word_list("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        word_list("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"),
        start=1,
    )
}
_BELOW = frozenset(["under", "below", "most", "maximum", "max", "within"])
_ABOVE = frozenset(["over", "above", "least", "minimum", "min", "exceeding", "exceeds", "exceeded", "beyond"])
_ABOUT = frozenset(
    [
        "about",
        "around",
        "approximately",
        "approx",
        "roughly",
        "nearly",
        "almost",
        "circa",
        "some",
        "estimated",
        "close",
        "near",
    ]
)

_NUMBER = re.compile(
    r"(?=[-\d$€£¥U])(?P<sign>(?<![\w.])-)?(?:(?P<cur>US\$|[$€£¥])\s?)?(?P<num>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
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
_DIGIT = re.compile(r"\d")
_LAST_WORD = re.compile(r"(\w+)\s+\Z")
_AFTER = re.compile(r"[\s-]*([A-Za-z]+)")
_NUMBER_WORDS = (*_TENS, *_SMALL, *_ORDINALS, "dozen", "hundred", "thousand", "million", "billion")
_HAS_NUMBER_WORD = re.compile(
    rf"\b(?=[{''.join(sorted({word[0] for word in _NUMBER_WORDS}))}])(?:{'|'.join(_NUMBER_WORDS)})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it was meant: the interval [low, high] in the base unit of its ``kind``.

    ``kind`` is ``percent``, ``money:CUR``, ``ordinal``, a dimension such as ``length`` (SI base units),
    ``count:NOUN`` with the stem of the word that follows, empty where none does, or ``label:THING`` where the
    number names a thing, such as a port or a room.
    """

    low: float
    high: float
    kind: str
    denied: bool = False
    hedged: bool = False


def compare_quantities(left: Quantity, right: Quantity) -> Verdict:
    """Say whether two quantities agree (``same``), clash (``differs``) or measure other things (``apart``).

    Counts of different nouns are apart, and so are labels of different things; a bare number agrees with an
    equal count but clashes with none.
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


def read_quantities(
    sentence: str, denied: Places, taken: Places, hedged: Places = ()
) -> tuple[Quantity, ...]:
    """Find the numbers of a sentence, but for those that stand in ``taken``."""
    found = _digit_numbers(sentence, denied, taken)
    if _HAS_NUMBER_WORD.search(sentence):
        found.extend(_word_numbers(sentence, denied))
    return tuple(
        replace(quantity, hedged=True) if hedged and inside(start, hedged) else quantity
        for start, quantity in found
    )


def _digit_numbers(sentence: str, denied: Places, taken: Places) -> list[tuple[int, Quantity]]:
    found: list[tuple[int, Quantity]] = []
    if _DIGIT.search(sentence):
        for match in _NUMBER.finditer(sentence):
            if inside(match.start("num"), taken) or (match.start("num") and _glued(sentence, match)):
                continue
            value = float(match["num"].replace(",", ""))
            if value > _LARGEST:
                continue  # no measurement, and infinity is in no interval
            label = None if match["cur"] or match["ord"] or match["pct"] else _label(sentence, match)
            if label is not None:
                named = Quantity(value, value, f"label:{label}", inside(match.start(), denied))
                found.append((match.start(), named))
                continue
            end = match.end("suffix") if match["suffix"] else match.end()
            scale, kind = _scale_and_kind(sentence, match, end)
            quantity = _quantity(sentence, match.start(), value, scale, kind, match["num"], denied)
            found.append((match.start(), quantity))
    return found


def _label(sentence: str, match: re.Match[str]) -> str | None:
    if (match["suffix"] or "").lower() in UNITS:
        return None
    return label_before(sentence, match.start("num"), match.end("num"))


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
    return _read_unit(sentence, word, end, CURRENCIES.get((match["cur"] or "").lower()))


def _read_unit(sentence: str, word: str, end: int, currency: str | None) -> tuple[float, str]:
    scale = 1.0
    while word in SCALES and (len(word) > 2 or currency):
        scale *= SCALES[word]
        following = _AFTER.match(sentence, end)
        word, end = (following[1].lower(), following.end()) if following else ("", end)
    if currency or word in CURRENCIES:
        return scale, f"money:{currency or CURRENCIES[word]}"
    if word in ("percent", "per"):
        return scale, "percent"
    if word in UNITS:
        dimension, factor = UNITS[word]
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
    denied: Places,
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
    if ("than" in before and "more" in before) or _ABOVE.intersection(before):
        high = float("inf")
    elif ("than" in before and ("less" in before or "fewer" in before)) or _BELOW.intersection(before):
        low = float("-inf")
    elif before[-2:] == ["up", "to"]:
        low = 0.5 * size  # "up to" is said of what was nearly reached
    return Quantity(low, high, kind, inside(start, denied))


def _word_numbers(sentence: str, denied: Places) -> list[tuple[int, Quantity]]:
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
            if value == 1 and match["a"] is None and word not in SCALES and word not in UNITS:
                continue  # "one" is a pronoun more often than a number
            scale, kind = _read_unit(sentence, word, end, None)
        quantity = _quantity(sentence, match.start(), value, scale, kind, str(int(value)), denied)
        found.append((match.start(), quantity))
    return found


def _spelled(match: re.Match[str]) -> float:
    if match["tens"]:
        unit = _SMALL[match["unit"].lower()] if match["unit"] else 0
        return float(_TENS[match["tens"].lower()] + unit)
    if match["small"]:
        return float(_SMALL[match["small"].lower()])
    return 12.0 if match["scale"] else 1.0
