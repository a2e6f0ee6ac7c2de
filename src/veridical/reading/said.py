"""What a short answer says, in a form that can be compared: words, initials, dates, numbers, yes or no."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from veridical.nli.dates import When, read_dates
from veridical.nli.lexicon import NEGATIONS, STOPWORDS, stem, word_list
from veridical.nli.quantities import Quantity, read_quantities
from veridical.nli.units import CURRENCIES, SCALES, UNITS

MOST_CHARS = 300

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*[+#]*|\d+(?:[.,:]\d+)*|[$€£¥%]")
_DOTTED = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]\.\s?){2,}(?![^\W\d_]\b)|(?<![^\W\d_])(?:[^\W\d_]\.){2,}")
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐‑–](?=[^\W\d_])")
_ASIDE = re.compile(r"\s*[,(;:]|\s[-–—]\s|(?<=[^\W\d_]{4})[.!?][\"']*\s")
_DENIED = re.compile(
    r"(?:[,;\"'”)]\s*(?:and\s+|but\s+)?not|\s(?:and|but)\s+not|[,;]?[\"'”]?\s+(?:rather\s+than|instead\s+of|"
    r"as\s+opposed\s+to|contrary\s+to))\s[^.,;]*",
    re.IGNORECASE,
)
_SPACED = re.compile(r"\s+(?=[,.;])")
_NUMBER_SIGN = re.compile(r"\bNo\.\s?(?=\d)", re.IGNORECASE)
_LISTED = re.compile(r"\b(?:and|or)\b|&")
_SPREAD = re.compile(r"\bto\b|\bor\b|\d\s*[-–—]\s*\d", re.IGNORECASE)

#: Words that stand for another one, in full.
_SHORT = {
    "st": "saint", "ste": "saint", "mt": "mount", "ft": "fort", "univ": "university", "dept": "department",
    "govt": "government", "intl": "international", "natl": "national", "assn": "association", 
    "bros": "brothers",
    "&": "and", "vs": "versus", "jr": "junior", "sr": "senior", "approx": "approximately", "ave": "avenue",
    "blvd": "boulevard", "rd": "road", "hwy": "highway", "theatre": "theater",
    "centre": "center", "colour": "color",
    "ok": "yes", "yeah": "yes", "yep": "yes", "nope": "no", "grey": "gray", "tv": "television", "pm": "p.m",
    "am": "a.m",
}  # fmt: skip
#: Whole answers that are known by several names.
_KNOWN = {
    "usa": "united states", "us": "united states", "united states of america": "united states",
    "america": "united states", "uk": "united kingdom", "great britain": "united kingdom",
    "britain": "united kingdom", "ussr": "soviet union", "uae": "united arab emirates",
    "eu": "european union", "un": "united nations",
}  # fmt: skip
TITLES = frozenset(
    word_list(
        """mr mrs ms miss dr doctor prof professor sir dame lord lady president king queen prince princess
        emperor empress pope general colonel captain major sergeant admiral senator governor mayor minister
        chancellor reverend rev hon justice judge coach"""
    )
)
#: Words that say of what kind a named thing is, and seldom which one.
GENERIC = frozenset(
    stem(word)
    for word in word_list(
        """city town village county state province region district republic kingdom river lake mount mountain
        island islands isle sea ocean bay street road avenue university college school company corporation
        corp inc ltd llc co plc group club football band film movie book novel song album series season team
        party language people person war area airport station junior senior color year"""
    )
)
#: Words that make another place or thing of the name that they stand before.
_MAKERS = frozenset(
    word_list(
        """new north south east west northern southern eastern western central upper lower greater lesser
        great little big old san santa los las el la saint fort port mount lake"""
    )
)
_UNDOERS = frozenset(word_list("vice deputy assistant acting former ex co non anti half step pseudo"))
#: Words that say where in a country something lies.
WITHIN = frozenset(
    word_list(
        """north south east west northern southern eastern western central northeast northwest southeast
        southwest northeastern northwestern southeastern southwestern upper lower coast coastal border part
        region area centre center middle heart inland interior"""
    )
)
_PARTICLES = frozenset(word_list("van von der den de del della da di du dos la le el al bin ibn ben st"))
_HEDGES = frozenset(
    word_list(
        """about around approximately roughly nearly almost circa some estimated over under early late mid
        just only exactly total least most probably likely perhaps around"""
    )
)
_SMALL_NUMBERS = {
    word: str(value)
    for value, word in enumerate(
        word_list(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
            sixteen seventeen eighteen nineteen twenty"""
        )
    )
}
_ORDINALS = {
    word: str(value)
    for value, word in enumerate(
        word_list(
            """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
            fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
        ),
        start=1,
    )
}
_OTHER_NUMBERS = frozenset(
    word_list(
        """thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen k m
        bn percent per cent bc bce ad ce"""
    )
)
_ROMAN = {
    numeral: str(value)
    for value, numeral in enumerate(
        word_list("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX"), start=1
    )
}
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
_YES = frozenset(["yes", "true", "correct"])
_NO = frozenset(["no", "false", "incorrect"])
_ERAS = {"bc": "bc", "bce": "bc", "ad": "ad", "ce": "ad"}
_BELOW_ZERO = re.compile(r"(?:(?<!\S)[-−–]|\b(?:minus|negative)\s)(?=\d)", re.IGNORECASE)
_METRES = re.compile(r"(?<=\d)\sm\b(?!\.)")
_PER_HOUR = re.compile(
    r"\b(?:(?P<mi>miles|mi)|kilomet(?:re|er)s|kms?)\s*(?:per|an|/)\s*(?:hour|hr?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Word:
    """One content word: ``stem`` to compare by, ``plain`` as written in lower case without accents."""

    stem: str
    plain: str
    is_name: bool
    is_acronym: bool


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, read once.

    Attributes
    ----------
    key
        The whole answer, normalised; equal keys are equal answers.
    words
        Content words in order, without articles, numbers, dates, hedges and negations; titles are left out
        where a name follows.
    stems
        The set of their stems.
    head
        Stems of the part before the first comma, bracket or dash; empty where there is none, or in a list.
    numbers
        Numbers as written, roman and spelled ones included, without those of ``dates``.
    polarity
        +1 for yes, -1 for no or a negated answer, 0 for any other.
    """

    key: str
    words: tuple[Word, ...]
    stems: frozenset[str]
    head: frozenset[str]
    dates: tuple[When, ...]
    quantities: tuple[Quantity, ...]
    numbers: frozenset[str]
    polarity: int
    bare_yes_no: bool
    era: str
    half_day: str
    below_zero: bool
    all_names: bool
    is_list: bool

    @property
    def has_values(self) -> bool:
        """Whether it holds a date or a number."""
        return bool(self.dates or self.numbers or self.quantities)


def one_line(text: str) -> str:
    """An answer on one line, cut to `MOST_CHARS`: longer ones are no answers, and patterns need bounds."""
    return " ".join(text[: 4 * MOST_CHARS].split())[:MOST_CHARS]


@lru_cache(maxsize=65_536)
def said(text: str) -> Said:
    """Read an answer; never fails, whatever the text. Of one longer than `MOST_CHARS` the rest is ignored."""
    plain = asserted(_SPACED.sub("", _without_accents(one_line(text))))
    plain = _NUMBER_SIGN.sub("number ", plain)
    plain = _DOTTED.sub(lambda match: re.sub(r"[.\s]", "", match[0]) + " ", plain)
    plain = _HYPHEN.sub(" ", plain)
    if any(char.isdigit() for char in plain):
        plain = _METRES.sub(" metres", _PER_HOUR.sub(lambda match: "mph" if match["mi"] else "kmh", plain))
    taken: list[tuple[int, int]] = []
    dates = read_dates(plain, (), taken)
    quantities = read_quantities(plain, (), taken)
    tokens = list(_TOKEN.finditer(plain))
    words, numbers, flags = _sorted_out(tokens, taken)
    if not dates:
        dates = _lone_month(tokens)
        if dates:
            words = [word for word in words if word.plain not in _MONTHS]
    if len(quantities) > 1 and not _SPREAD.search(plain):
        quantities = _summed(quantities)
    below_zero = bool(_BELOW_ZERO.search(plain))
    key = _once(_key(match[0] for match in tokens))
    stems = frozenset(word.stem for word in words)
    return Said(
        key=f"-{key}" if below_zero else _known().get(key, key),
        words=tuple(words),
        stems=stems,
        head=_head(plain, words, stems),
        dates=dates,
        quantities=quantities,
        numbers=frozenset(numbers),
        polarity=_polarity(flags),
        bare_yes_no=bool(flags & {"yes", "no"}) and not words and not numbers and not dates,
        era=next((_ERAS[flag] for flag in ("bc", "bce", "ad", "ce") if flag in flags), ""),
        below_zero=below_zero,
        half_day=next((flag for flag in ("a.m", "p.m") if flag in flags), ""),
        all_names=bool(words) and all(word.is_name for word in words),
        is_list=bool(_LISTED.search(plain)) or plain.count(",") > 1,
    )


def makes_another(word: str, who: bool) -> bool:
    """Whether a word in front makes another name of a name, as in New York or Vice President."""
    return word in _UNDOERS or (word in _MAKERS and not who)


def asserted(text: str) -> str:
    """Return a text without what it denies ("X, not Y"), if it says anything else."""
    kept = _DENIED.sub(" ", one_line(text)) if len(text) > 8 else text
    return kept if any(char.isalnum() for char in kept) else text


def _once(key: str) -> str:
    """A text that says the same twice over, as titles and first lines do, said once."""
    words = key.split(" ")
    half = len(words) // 2
    return " ".join(words[:half]) if half and words[:half] == words[half:] else key


def _without_accents(text: str) -> str:
    text = unicodedata.normalize("NFKD", text.replace("’", "'").replace("‘", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in text if not unicodedata.combining(c)))


def _key(tokens: Iterable[str]) -> str:
    return " ".join(_key_word(token) for token in tokens if token.lower() not in ("a", "an", "the"))


@cache
def _known() -> dict[str, str]:
    return {_key(name.split()): _key(full.split()) for name, full in _KNOWN.items()}


def _is_unit(word: str) -> bool:
    return word in UNITS or word in CURRENCIES or word in SCALES


def _key_word(token: str) -> str:
    low = token.casefold().removesuffix("'s").replace("'", "")
    low = _SMALL_NUMBERS.get(low, _SHORT.get(low, low))
    if low == "percent":
        return "%"
    if low[0].isdigit():
        return low.replace(",", "")
    return stem(low) if len(low) > 4 else low.removesuffix("s") if len(low) > 3 else low


def _sorted_out(
    tokens: list[re.Match[str]], taken: list[tuple[int, int]]
) -> tuple[list[Word], set[str], set[str]]:
    """Tell the content words of an answer from its numbers and from little words that turn it round."""
    words: list[Word] = []
    numbers: set[str] = set()
    flags: set[str] = set()
    for place, match in enumerate(tokens):
        part = match[0]
        if any(start <= match.start() < end for start, end in taken):
            continue
        if part in "$€£¥%":
            continue
        if part[0].isdigit():
            numbers.add(_plain_number(part))
            continue
        low = part.casefold().removesuffix("'s").replace("'", "")
        low = _SHORT.get(low, low)
        last = place == len(tokens) - 1
        if place and _is_roman(part, tokens[place - 1][0], last):
            numbers.add(_ROMAN[part.upper()])
        elif low in _SMALL_NUMBERS and (low != "one" or last):
            numbers.add(_SMALL_NUMBERS[low])
        elif low in _ORDINALS:
            numbers.add(_ORDINALS[low])
        elif low in _YES or low in _NO or low in _ERAS or low in ("a.m", "p.m"):
            flags.add("yes" if low in _YES else "no" if low in _NO else low)
        elif low in NEGATIONS or part.lower().endswith("n't"):
            flags.add("not")
        elif part.isupper() and 2 <= len(part) <= 5:
            words.append(Word(low, low, is_name=True, is_acronym=True))
        elif _is_unit(low) and (numbers or (place and tokens[place - 1][0].lower() in ("one", "dozen"))):
            continue
        elif low not in STOPWORDS and low not in _OTHER_NUMBERS and low not in _HEDGES:
            particle = low in _PARTICLES and not last and tokens[place + 1][0][0].isupper()
            words.append(Word(stem(low), low, part[0].isupper() or particle, is_acronym=False))
        elif part[0].isupper() and place and low not in ("the", "a", "an", "of", "and", "in", "on", "for"):
            words.append(Word(low, low, is_name=True, is_acronym=False))
    return _without_titles(words), numbers, flags


def _is_roman(part: str, before: str, last: bool) -> bool:
    """Whether a word is a roman numeral: in capitals after a name, in lower case last or longer than one."""
    if part.upper() not in _ROMAN:
        return False
    return before[0].isupper() if part.isupper() else part.islower() and (last or len(part) > 1)


def _without_titles(words: list[Word]) -> list[Word]:
    while len(words) > 1 and words[0].plain in TITLES and words[1].is_name:
        words = words[1:]
    seen: set[str] = set()
    return [word for word in words if not (word.stem in seen or seen.add(word.stem))]  # type: ignore[func-returns-value]


def _plain_number(token: str) -> str:
    token = re.sub(r",(?=\d{3}\b)", "", token)
    whole, dot, decimals = token.partition(".")
    if dot and decimals.isdigit() and not decimals.strip("0"):
        return whole.lstrip("0") or "0"
    return token.lstrip("0") or "0"


def _lone_month(tokens: list[re.Match[str]]) -> tuple[When, ...]:
    """A month with neither day nor year, as in "in June"; "may" must be written as a name."""
    found = [_MONTHS[t[0].lower()] for t in tokens if t[0].lower() in _MONTHS and t[0][0].isupper()]
    others = [t[0] for t in tokens if t[0].lower() not in _MONTHS and t[0].lower() not in STOPWORDS]
    return (When(None, None, found[0]),) if len(found) == 1 and len(others) <= 1 else ()


def _summed(quantities: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
    """Add up what is given in two units, as in "5 feet 11 inches"."""
    kinds = {quantity.kind for quantity in quantities}
    if len(kinds) == 1 and kinds <= {"length", "mass", "time"}:
        low, high = sum(q.low for q in quantities), sum(q.high for q in quantities)
        return (Quantity(low, high, quantities[0].kind),)
    return quantities


def _head(plain: str, words: list[Word], stems: frozenset[str]) -> frozenset[str]:
    cut = _ASIDE.search(plain)
    if cut is None or cut.start() == 0 or _LISTED.search(plain, cut.start()):
        return frozenset()
    before = {stem(m[0].casefold().removesuffix("'s")) for m in _TOKEN.finditer(plain, 0, cut.start())}
    before |= {m[0].casefold() for m in _TOKEN.finditer(plain, 0, cut.start())}
    head = frozenset(word.stem for word in words if word.stem in before)
    return head if head != stems else frozenset()


def _polarity(flags: set[str]) -> int:
    if "not" in flags or "no" in flags:
        return -1
    return 1 if "yes" in flags else 0
