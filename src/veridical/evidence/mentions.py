"""Cut an English sentence into words and what they join: names, quoted titles, dates, numbers and asides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from veridical.nli.dates import read_dates
from veridical.nli.lexicon import STOPWORDS, word_list

Kind = Literal["word", "name", "quoted", "date", "number", "phrase", "aside", "possessive", "mark"]

NAMED = frozenset({"name", "quoted"})
THINGS = frozenset({"name", "quoted", "date", "number", "phrase"})
"""What a triple can end in."""

PREPOSITIONS = frozenset(
    word_list(
        """in at on by for with from to of as between against during near under until till since into onto
        over through within without after before behind beside alongside about across along around among
        towards toward upon via per outside inside beyond below above than"""
    )
)
PRONOUNS = frozenset(word_list("he she it they him her them his its their i we you"))
POSSESSIVE = frozenset(word_list("his her its their"))
RELATIVE = frozenset(word_list("who which whose that where whom"))
ARTICLES = frozenset(("a", "an", "the"))
BE = frozenset(("is", "was", "are", "were"))
_AUXILIARY = BE | frozenset(
    word_list("has had have will would can could may might did does do became becomes remained remains")
)
_IRREGULAR = frozenset(
    word_list(
        """won wrote made took led began gave held went came met left found sold built sang grew fell rose
        ran saw sent spent stood taught told thought wore beat bore bought brought broke chose drew drove
        fought kept lost married died said shot rode sought known written born set given taken drawn sung worn
        chosen seen shown broken begun driven fallen struck plays play"""
    )
)
_OPENERS = frozenset(
    word_list(
        """although despite following however later soon then upon today tomorrow yesterday currently
        meanwhile moreover furthermore instead besides like unlike along together according due throughout
        among many several some much none once since unless whether though thus therefore hence still yet even
        often another others including excluding featuring starring directed written produced released founded
        located recorded launched created composed inspired published named built established introduced"""
    )
)
_JOINING = frozenset(
    word_list("of de la le van von der den di da del della du des dos el al bin ibn ben y zu ter")
)
_BODIES = frozenset(
    word_list(
        """award awards prize medal institute center centre society foundation council committee department
        ministry school association academy campaign museum office secretary minister fund court"""
    )
)
_BEHIND = frozenset(("jr", "jr.", "sr", "sr.", "inc", "inc.", "ltd", "ltd."))
_RANKS = frozenset(
    word_list(
        """king queen prince princess duke duchess marquess marchioness earl count countess viscount
        viscountess baron baroness lord lady archduke archduchess emperor empress"""
    )
)
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)")
_SHORTENED = frozenset(
    word_list("st dr mr mrs ms jr sr mt ft lt col gen capt sgt rev prof bros hon gov sen maj adm")
)
_FEW = frozenset(
    word_list(
        """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundreds thousands
        millions"""
    )
)
_NO_FIRST_NAME = STOPWORDS | PREPOSITIONS | _OPENERS | _FEW
_NO_NOUN = (STOPWORDS | PREPOSITIONS | _OPENERS) | frozenset(
    word_list(
        """last next early late alone together first second later again today now ago only once twice each
        per million billion thousand"""
    )
)
_NOUNS = frozenset(word_list("family assembly supply monopoly anomaly butterfly building painting king ring"))
_MOST_QUOTED_WORDS = 12
_MOST_NAME_ITEMS = 14
_AS_VERB = re.compile(r"(?<![sue])s\Z|(?<!i)es\Z")
_TOKEN = re.compile(
    r"""(?P<aside>\([^()]{0,400}\)|\[[^\[\]]{0,400}\])
    |(?P<quoted>"[^"\n]{1,120}"|“[^“”\n]{1,120}”)
    |(?P<possessive>['’]s\b)
    |(?P<number>(?:[$€£¥]\s?)?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?%)?(?!-?[^\W\d_]|\d))
    |(?P<word>(?:[^\W\d_]\.)+(?=[\s,)]|$)|[^\W_]+(?:['’](?!s\b)[^\W_]+|[.&/‐-][^\W_]+|[\u0300-\u036f]+[^\W_]*)*)
    |(?P<mark>[^\w\s]|_)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of a sentence, at [start, end) of it; ``lower`` is its text in small letters."""

    kind: Kind
    text: str
    start: int
    end: int
    lower: str

    def reaches(self, other: Item, sentence: str, kind: Kind) -> Item:
        """The stretch from here to the end of a later piece."""
        return piece(sentence, self.start, other.end, kind)


def piece(sentence: str, start: int, end: int, kind: Kind) -> Item:
    """The piece at [start, end) of a sentence."""
    text = sentence[start:end]
    return Item(kind, text, start, end, text.lower())


def read(sentence: str, known: re.Pattern[str] | None = None) -> list[Item]:
    """Cut a sentence.

    Parameters
    ----------
    sentence
        One sentence; the time taken grows linearly with it.
    known
        Finds a name that capitals would not give away, such as the title of the document.

    Returns
    -------
    list of Item
        In order, without overlap.

    Notes
    -----
    Names are runs of words with a capital, with what joins them ("University of the Arts"). A word with a
    capital before a common noun ("a German film", "the Chelsea striker") is not taken for a name.
    """
    items = _numbers(_names(_tokens(sentence, _taken(sentence, known)), sentence), sentence)
    return [_as_word(items, place) for place in range(len(items))]


def is_verb(item: Item | None) -> bool:
    """Whether a word reads like a verb in the past or like an auxiliary."""
    if item is None or item.kind != "word":
        return False
    lower = item.lower
    return lower in _AUXILIARY or lower in _IRREGULAR or (lower.endswith("ed") and len(lower) > 4)


def is_participle(item: Item, following: Item | None) -> bool:
    """Whether a word begins a phrase like "directed by", "starring Ann Lee" or "set in"."""
    if item.kind != "word" or following is None:
        return False
    if item.lower.endswith("ing") and following.lower == "of":
        return False  # "a recording of"
    opens = following.kind in THINGS or following.lower in PREPOSITIONS or following.lower in ARTICLES
    verbal = item.lower.endswith(("ed", "ing")) or item.lower in _IRREGULAR
    return opens and verbal and len(item.lower) > 2


def is_made_adjective(items: Sequence[Item], place: int) -> bool:
    """Whether a word reads like the first of "mixed doubles" or "listed old houses"."""
    end = place
    while (
        end < min(len(items) - 1, place + 3) and items[end].kind == "word" and items[end].lower.endswith("ed")
    ):
        end += 1
    return end > place and is_noun(items[end])


def is_noun(item: Item | None) -> bool:
    """Whether a word may be a common noun or an adjective; by what it is not."""
    if item is None or item.kind != "word" or not item.lower.replace("-", "").isalpha():
        return False
    if item.text[0].isupper():
        return False
    lower = item.lower
    if lower in _NO_NOUN or is_verb(item):
        return False
    return lower in _NOUNS or not lower.endswith(("ing", "ly"))


def _taken(sentence: str, known: re.Pattern[str] | None) -> list[Item]:
    """Dates, and the name that is known."""
    places: list[tuple[int, int]] = []
    if any(char.isdigit() for char in sentence):
        read_dates(sentence, (), places)
    found = [piece(sentence, start, end, "date") for start, end in places]
    if known is not None:
        found += [piece(sentence, *match.span(), "name") for match in known.finditer(sentence)]
    return sorted(found, key=lambda item: (item.start, -item.end))


def _tokens(sentence: str, taken: Sequence[Item]) -> list[Item]:
    found: list[Item] = []
    position, waiting = 0, list(reversed(taken))
    while match := _TOKEN.search(sentence, position):
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        start, end = match.span()
        while waiting and waiting[-1].start < position:
            waiting.pop()
        if waiting and waiting[-1].start < end and kind not in ("aside", "quoted"):
            item = waiting.pop()
            found.append(item)
            position = item.end
            continue
        if kind == "quoted" and len(match[0].split()) > _MOST_QUOTED_WORDS:
            kind, end = "mark", start + 1  # speech, not a title
        if kind == "word" and end == len(sentence) and match[0].count(".") == 1:
            end -= match[0].endswith(".")  # the sentence's own
        found.append(_tidy(piece(sentence, start, end, kind), sentence))
        position = end
    return found


def _tidy(item: Item, sentence: str) -> Item:
    """Take the quotation marks off."""
    if item.kind != "quoted":
        return item
    inside = item.text[1:-1]
    bare = inside.strip(" ,.")
    if not bare:
        return replace(item, kind="mark")
    start = item.start + 1 + inside.find(bare)
    return piece(sentence, start, start + len(bare), "quoted")


def _names(items: Sequence[Item], sentence: str) -> list[Item]:
    found: list[Item] = []
    place = 0
    while place < len(items):
        first = not any(item.kind not in ("mark", "possessive") for item in found)
        if not (_begins_name(items, place, first=first) or _begins_with_year(items, place)):
            found.append(items[place])
            place += 1
            continue
        last = _end_of_name(items, place)
        found.append(items[place].reaches(items[last], sentence, "name"))
        place = last + 1
    return found


def _begins_name(items: Sequence[Item], place: int, *, first: bool) -> bool:
    item = items[place]
    following = items[place + 1] if place + 1 < len(items) else None
    if item.kind == "name":
        return True
    if item.kind != "word" or item.lower in PRONOUNS:
        return False
    if item.text[0].isdigit():
        return item.lower.endswith(("th", "st", "nd", "rd")) and following is not None and _capital(following)
    if not item.text[0].isupper():
        return False
    if item.lower == "the" or (not first and item.lower in STOPWORDS):
        return following is not None and _capital(following)
    if not first:
        return True
    opens = item.lower in _NO_FIRST_NAME
    return not (opens or item.lower.endswith("ly") or is_participle(item, following))


def _begins_with_year(items: Sequence[Item], place: int) -> bool:
    """Whether a name begins here as in "the 1908 Summer Games"."""
    item = items[place]
    is_year = item.kind in ("date", "number") and item.text.isdigit() and len(item.text) == 4
    follows = place > 0 and items[place - 1].lower == "the" and place + 1 < len(items)
    return is_year and follows and _capital(items[place + 1])


def _capital(item: Item) -> bool:
    if item.kind == "word" and item.lower[:2] in ("d'", "d’", "l'", "l’"):
        return item.text[2].isupper()
    return item.kind == "name" or (item.kind == "word" and item.text[0].isupper())


def _end_of_name(items: Sequence[Item], place: int) -> int:
    """The last item of the name that begins at ``place``."""
    last, limit = place, min(len(items), place + _MOST_NAME_ITEMS)
    while (more := _next_of_name(items, last)) is not None and more < limit:
        last = more
    return last


def _next_of_name(items: Sequence[Item], last: int) -> int | None:
    """The item with which a name goes on after ``last``; None where it ends."""

    def at(place: int) -> Item | None:
        return items[place] if place < len(items) else None

    here, one, two = items[last], at(last + 1), at(last + 2)
    if one is None:
        return None
    if _capital(one) and (one.lower not in PRONOUNS or one.text == "I"):
        return last + 1
    if one.kind in ("number", "date") and here.kind == "word" and one.text.isdigit() and len(one.text) < 5:
        return last + 1
    if two is None:
        return None
    if one.kind == "quoted" and len(one.text.split()) < 3 and _capital(two) and here.kind != "mark":
        return last + 2  # Jo "Red" Moe
    if one.text == "." and here.lower in _SHORTENED and _capital(two):
        return last + 2
    if one.text in ("-", "‐", "–") and one.start == here.end and _capital(two):
        return last + 2
    if one.text in ("&", "/") and _capital(two):
        return last + 2
    if one.text == "," and _follows_name(two, at(last + 3)):
        return last + 2
    joins = one.lower in _JOINING or (one.lower == "for" and here.lower in _BODIES)
    if joins and one.kind == "word":
        after = last + 2
        while after < len(items) and after < last + 4 and items[after].lower in (*_JOINING, "the"):
            after += 1
        if after < len(items) and _capital(items[after]):
            return after
    return None


def _follows_name(item: Item, following: Item | None) -> bool:
    """Whether a name goes on behind a comma with this: "Jr.", "2nd Earl of March", "Duke of York"."""
    if item.lower in _BEHIND:
        return True
    if following is None:
        return False
    if _ORDINAL.fullmatch(item.lower) is not None:
        return _capital(following)
    return item.lower in _RANKS and _capital(item) and following.lower in ("of", "de", "von", "to")


def _numbers(items: Sequence[Item], sentence: str) -> list[Item]:
    """Give each number the nouns that it counts; a year before a noun is part of that noun's phrase."""
    found: list[Item] = []
    place = 0
    while place < len(items):
        item = items[place]
        counts = item.kind == "number" or (item.kind == "word" and item.lower in _FEW)
        last = place
        if counts:
            while last < place + 3 and last + 1 < len(items) and _counted(items, last + 1):
                last += 1
            if last > place or item.kind == "number":
                found.append(item.reaches(items[last], sentence, "number"))
                place = last + 1
                continue
        found.append(item)
        place += 1
    return found


def _counted(items: Sequence[Item], place: int) -> bool:
    scales = ("million", "billion", "thousand", "hundred", "percent")
    return is_noun(items[place]) or items[place].lower in scales or is_made_adjective(items, place)


def _as_word(items: Sequence[Item], place: int) -> Item:
    """Take a name or a year that only says what kind of thing follows for a word."""
    item = items[place]
    following = items[place + 1] if place + 1 < len(items) else None
    if item.kind not in ("name", "date", "number") or following is None:
        return item
    if place == 0 and " " in item.text.removeprefix("The "):
        return item
    year = item.text.isdigit() and len(item.text) == 4
    if item.kind != "name":
        kind_follows = year and (is_noun(following) or following.kind == "name")
    else:
        # What ends in "s" may be the verb of the name before it, but seldom so behind "the ten".
        before = items[place - 1] if place else None
        counted = before is not None and (before.lower in ARTICLES or before.lower in _FEW)
        kind_follows = is_noun(following) and (counted or not _AS_VERB.search(following.lower))
    return replace(item, kind="word") if kind_follows else item
