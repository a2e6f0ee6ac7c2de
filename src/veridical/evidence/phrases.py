"""Phrases that are one thing: what something is ("is an American drummer"), and places ("in Lom, Ohio")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from veridical.evidence.mentions import (
    ARTICLES,
    BE,
    NAMED,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    Item,
    is_made_adjective,
    is_noun,
    is_participle,
    is_verb,
    read,
)
from veridical.nli.lexicon import STOPWORDS, word_list

ADVERBS = frozenset(
    word_list("also then later best well not still originally currently once probably formerly now perhaps")
)
_SAYS_WHAT = BE | frozenset(("became", "become", "becomes", "remained", "remains", "as", "being"))
_LOOSE = ADVERBS | ARTICLES | frozenset(("and", "or", "of", "very", "most"))
_NO_NOUN = STOPWORDS | PREPOSITIONS
_WHERE = frozenset(("in", "at", "near", "from", "of", "to"))
_MOST_ITEMS = 14
_COORDINATE = re.compile(r",|\band\b|\bor\b|\bof\b")
_PEOPLE = re.compile(
    r"(?:er|or|ist|ian|man|woman|ess|eer|wright|king|queen|prince|poet|bishop|pope|monk|nun|saint|athlete|"
    r"coach|judge|chef|model|priest|nurse|critic|scholar|duke|count|earl|noble|person|guard|pilot|spy|rabbi|"
    r"sultan|diplomat|soldier|astronaut|actress|composer|host|politician|teacher|entrepreneur|general)\Z"
)
_NO_PEOPLE = frozenset(
    word_list(
        """river computer number paper newspaper theater chapter order corner tower water tournament center
        power letter thriller weather motor border harbor chamber member cover single-player mother-ship
        helicopter cruiser tanker steamer sector factor error minor major door floor color"""
    )
)


def cut(sentence: str, known: re.Pattern[str] | None = None) -> list[Item]:
    """Cut a sentence as `mentions.read` does, with what things are said to be as phrases."""
    items = _places(read(sentence, known), sentence)
    found: list[Item] = []
    place = 0
    while place < len(items):
        begin = _after_opening(items, place)
        end = _end(items, begin) if begin else 0
        if not begin or end <= begin:
            found.append(items[place])
            place += 1
            continue
        found += items[place:begin]
        found.append(items[begin].reaches(items[end - 1], sentence, "phrase"))
        place = end
    return found


def nouns_of(phrase: str) -> list[str]:
    """The nouns by which "the film" can mean what a phrase describes: the last of each of its parts.

    Examples
    --------
    >>> nouns_of("German film director, screenwriter and producer")
    ['director', 'screenwriter', 'producer']
    """
    parts = (part.split() for part in _COORDINATE.split(phrase.lower()))
    return [part[-1] for part in parts if part]


def are_people(nouns: Sequence[str]) -> bool:
    """Whether the first of these nouns is one for people, by its ending or by a short list."""
    return bool(nouns) and nouns[0] not in _NO_PEOPLE and _PEOPLE.search(nouns[0]) is not None


def _places(items: Sequence[Item], sentence: str) -> list[Item]:
    """Take the town and the country of "in Lom, Norway" for one name, but not the first two of a list."""
    found: list[Item] = []
    place = 0
    while place < len(items):
        before = items[place - 1].lower if place else ""
        if items[place].kind == "name" and before in _WHERE and _is_town(items, place):
            found.append(items[place].reaches(items[place + 2], sentence, "name"))
            place += 3
            continue
        found.append(items[place])
        place += 1
    return found


def _is_town(items: Sequence[Item], place: int) -> bool:
    if place + 2 >= len(items) or items[place + 1].text != "," or items[place + 2].kind != "name":
        return False
    one, two, three = (items[n] if n < len(items) else None for n in range(place + 3, place + 6))
    if one is None or one.lower in PREPOSITIONS or one.kind == "aside":
        return True
    if one.lower not in (",", "and", "or"):
        return one.kind == "mark"
    if two is not None and two.lower in ("and", "or"):
        two = three
        return two is None or two.kind not in NAMED
    # A name behind a second comma is one more of a list, unless it does something.
    return two is None or two.kind not in NAMED or (one.text == "," and is_verb(three))


def _after_opening(items: Sequence[Item], place: int) -> int:
    """Where a noun phrase may begin that is opened at ``place`` ("is a", ", the"); 0 where none does."""
    item = items[place]
    after = place + 1
    if item.kind == "word" and item.lower in _SAYS_WHAT:
        while after < len(items) and items[after].lower in ADVERBS:
            after += 1
    elif not (item.text == "," and place and items[place - 1].kind in (*NAMED, "aside")):
        return 0
    if after < len(items) and items[after].lower in ARTICLES:
        return after + 1
    is_one_of = [other.lower for other in items[after : after + 2]] == ["one", "of"]
    return after if is_one_of and item.kind == "word" else 0


def _end(items: Sequence[Item], begin: int) -> int:
    """Where the noun phrase ends that begins at ``begin``; not after it where there is none."""
    end = begin
    limit = min(len(items), begin + _MOST_ITEMS)
    while end < limit and _belongs(items, begin, end):
        end += 1
    if end < limit and items[end].kind == "name":
        is_bare = end == begin and items[begin - 1].lower in ("a", "an")
        end += is_bare or begin < end <= begin + 2  # "is a Western", "was the last Emperor of India"
    while end > begin and _hangs(items[end - 1]):
        end -= 1
    if end == begin + 1 and items[begin].kind != "word" and items[begin - 1].lower not in ("a", "an"):
        return begin
    return end


def _hangs(item: Item) -> bool:
    """Whether a phrase cannot end in this."""
    loose = item.lower in _LOOSE
    return item.kind in ("mark", "possessive") or loose or item.lower.endswith("ly")


def _belongs(items: Sequence[Item], begin: int, place: int) -> bool:
    item = items[place]
    one = items[place + 1] if place + 1 < len(items) else None
    if item.kind == "word":
        return _word_belongs(items, begin, place)
    if item.kind in ("name", "date", "number"):
        goes_on = one is not None and one.kind == "word" and one.lower not in _NO_NOUN
        return goes_on and (not is_verb(one) or is_made_adjective(items, place + 1))
    if item.kind == "possessive":
        return True
    if item.kind == "mark" and one is not None:
        if item.text in "-–'’/" and item.end == one.start:
            return True
        behind = place + 1 + (item.text == "," and one.lower in ("and", "or"))
        return item.text in ",-" and _is_listed(items, behind)
    return False


def _is_listed(items: Sequence[Item], place: int) -> bool:
    """Whether a phrase goes on with this behind a comma or "and"."""
    if place >= len(items) or not (is_noun(items[place]) or is_made_adjective(items, place)):
        return False
    return not is_participle(items[place], items[place + 1] if place + 1 < len(items) else None)


def _word_belongs(items: Sequence[Item], begin: int, place: int) -> bool:
    item, lower = items[place], items[place].lower
    one = items[place + 1] if place + 1 < len(items) else None
    if lower in RELATIVE or lower in PRONOUNS or lower in ("but", "while", "when", "not", "because"):
        return False
    if lower == "of":  # "a kind of cheese", but not "the capital of Peru"
        if one is not None and one.lower in ARTICLES:
            one = items[place + 2] if place + 2 < len(items) else None
        return one is not None and one.kind == "word" and not one.text[0].isupper()
    if lower in PREPOSITIONS:
        return False
    if lower in ("and", "or"):
        return _is_listed(items, place + 1)
    if place == begin:
        return True
    return not is_participle(item, one) and not (is_verb(item) and not is_noun(one))
