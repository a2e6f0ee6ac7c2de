"""What the words around a number make of it: a year, the label of a port or a room, or a plain number."""

from __future__ import annotations

import re

from veridical.nli.lexicon import STOPWORDS, stem
from veridical.nli.units import CURRENCIES, SCALES, UNITS

_REACH = 48  # characters looked at on either side

_NUMBER_WORD = r"(?:\b[Nn]o\.|\bNo\b|\b[Nn]umbers?\b|\b[Nn]r\b\.?|#)"
_LABEL = re.compile(
    r"\b(?P<word>ports?|rooms?|extensions?|ext|models?|pages?|pp?|versions?|codes?|ids?|pins?|flights?|routes?|"
    r"highways?|chapters?|sections?|channels?|units?|serials?|zips?|suites?|apartments?|apt|bus(?:es)?|gates?|"
    r"lots?|articles?|buildings?|errors?|issues?|tickets?|orders?|items?|figures?|tables?|platforms?|lockers?|"
    r"accounts?|invoices?|parts?|bays?|trains?|rfc|iso)\b\.?"
    r"(?:\s*(?:number|numbers|no\.?|nr\.?|id|code)?)"
    r"(?P<link>\s*[:=#(\"“]?\s*|\s+(?:is|was|are|were|be|has\s+been)\s+(?:now\s+|still\s+|set\s+to\s+)?|"
    r"\s+(?:(?:is|was|were|has\s+been)\s+)?(?:changed|moved|switched|set)\s+(?:from\s+)?(?:\d+\s+)?(?:to\s+)?|"
    r"\s+\d+\s*(?:,|to|and|or|,\s*and)\s+)\Z",
    re.IGNORECASE,
)
_NUMBERED = re.compile(rf"{_NUMBER_WORD}\s*\Z")
_NEXT = re.compile(r"[\s-]*([A-Za-z]+)")

_STRONG = re.compile(
    r"(?:\b(?:in|since|until|till|during|years?|late|early|mid|circa|ca?\.|between|before|after|throughout|"
    r"as\s+of|born|died|spring|summer|autumn|fall|winter|christmas|easter|anno|season|(?:later|earlier)\s+than)"
    r"[\s-]+|\b(?:b|d|est|fl)\.\s*)\Z",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:\b(?:the|this|that|his|her|its|their|our|a|an)|['’]s)\s+\Z", re.IGNORECASE)
_WEAK = re.compile(
    r"(?:\b(?:by|from|to|and|or|of|on|for|through|about|around)\s+|[(,\[/–—-]\s*)\Z", re.IGNORECASE
)
_MEASURED = re.compile(
    r"\b(?:population|total|distance|sum|number|value|length|height|weight|width|depth|area|altitude|elevation|"
    r"speed|rate|price|cost|score|average|maximum|minimum|limit|capacity|attendance|crowd|more|less|fewer)"
    r"\s+(?:was\s+|is\s+)?(?:of|to|from|by|about|around)\s+\Z",
    re.IGNORECASE,
)
_OPEN_BRACKET = re.compile(r"\([^()]{0,24}\Z")
_BEGINS = re.compile(r"\s+(?:saw|was|marked|brought|witnessed|began|ended)\b")
_COUNTED = frozenset(
    ["people", "men", "women", "children", "feet", "police", "cattle", "metre", "meter", "mile"]
)


def label_before(sentence: str, start: int, end: int) -> str | None:
    """What kind of thing a number names, where it names one: ``port`` in "port 1194", "the port is 1194".

    Parameters
    ----------
    start, end
        Where the number stands.

    Returns
    -------
    str or None
        Stem of the word; empty for a bare "No. 5" or "#5"; None where the number counts or measures.
    """
    before = sentence[max(0, start - _REACH) : start]
    match = _LABEL.search(before)
    if match:
        direct = not match["link"].strip(' :=#("“')
        following = _NEXT.match(sentence, end)
        word = following[1] if following else ""
        if (direct and not _counts(word)) or not word or word.lower() in STOPWORDS:
            named = match["word"].lower()
            return stem(named[:-1] if named.endswith("s") and named != "bus" else named)
    return "" if _NUMBERED.search(before) else None


def is_year(sentence: str, start: int, end: int) -> bool:
    """Whether a bare four-digit number from 1000 to 2099 is a year, by its neighbours.

    "in 1932", "the 1932 film", "(1932)", "between 1932 and 1954"; not "port 1932", "1932 seats", "1932 kg",
    nor a number for which no word speaks.
    """
    before = sentence[max(0, start - _REACH) : start]
    if sentence.strip() == sentence[start:end]:
        return True  # an answer, most likely
    if label_before(sentence, start, end) is not None or _MEASURED.search(before):
        return False
    following = _NEXT.match(sentence, end)
    word = following[1] if following else ""
    noun = word.lower()
    if noun in UNITS or noun in CURRENCIES or noun in SCALES:
        return False
    value = int(sentence[start:end])
    counts = _counts(word)
    if _STRONG.search(before):
        return not (counts and value % 100 == 0)
    if _NAMED.search(before):
        return bool(word) and not (counts and value % 100 == 0 and value not in (1900, 2000))
    if _WEAK.search(before) or (_OPEN_BRACKET.search(before) and sentence[end : end + 1] in "),;-–"):
        return not counts
    return not before.strip("\"'“‘ ") and _BEGINS.match(sentence, end) is not None


def _counts(word: str) -> bool:
    """Whether a word after a number looks like what is counted: a plural in lower case."""
    if not word or not word[0].islower() or word in STOPWORDS:
        return False
    return word in _COUNTED or (word.endswith("s") and not word.endswith("ss"))


_HEDGE = re.compile(
    r"\b(?:may|might|could|rumou?red|unclear|uncertain|likely|said\s+to|[Pp]erhaps|[Mm]aybe|[Pp]ossibly|"
    r"[Pp]robably|[Rr]eportedly|[Aa]llegedly|[Aa]pparently|[Ss]upposedly|[Pp]urportedly|[Ss]eemingly|"
    r"[Pp]resumably)\b"
)
_HEDGE_HINTS = (
    "may", "might", "could", "erhaps", "bably", "ssibly", "edly", "arently", "ingly", "umably", "umo", "unc",
    "likely", "said to",
)  # fmt: skip
_CLAUSE = re.compile(r"[.;:!?,\n](?!\d)|\b(?:and|but|because|while|however)\b", re.IGNORECASE)


def hedged_spans(sentence: str) -> list[tuple[int, int]]:
    """Stretches [start, end) from a word such as "may" or "reportedly" to the end of its clause."""
    if not any(hint in sentence for hint in _HEDGE_HINTS):
        return []
    spans = []
    for cue in _HEDGE.finditer(sentence):
        stop = _CLAUSE.search(sentence, cue.end())
        spans.append((cue.end(), stop.start() if stop else len(sentence)))
    return spans
