"""Read the triples off one English sentence: what it is about, what it names, and the words between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veridical.evidence.joins import (
    CLAUSE_OPENERS,
    JOINERS,
    SUBJECTS,
    Clause,
    Pieces,
    Subject,
    joined,
    verb_of,
)
from veridical.evidence.mentions import (
    ARTICLES,
    NAMED,
    POSSESSIVE,
    PREPOSITIONS,
    PRONOUNS,
    THINGS,
    Item,
    is_noun,
    is_verb,
)
from veridical.nli.lexicon import STOPWORDS

_MOST_REST_WORDS = 12
_ENOUGH_REST_WORDS = 6
_MOST_LEAD_ITEMS = 30
_MOST_HEADS = 3
_PERSONAL = frozenset(("he", "she", "his", "her"))
_THESE = frozenset(("the", "this", "these"))


def subject_of(items: Sequence[Item]) -> Item | None:
    """The name that a sentence begins with, if it does."""
    begin = _first(items)
    return items[begin] if begin < len(items) and items[begin].kind in NAMED else None


def somebody_in(items: Sequence[Item], subject: Subject) -> str:
    """Whom "he" or "she" in the next sentence means, by whom this one is about."""
    if subject.is_person:
        return subject.name
    place = _end_of_lead(items, _first(items))
    if place < len(items) and items[place].kind == "name" and not items[place].lower.startswith("the "):
        return _named_heads(items, place, subject)[0][0]
    return subject.somebody


def triples_of(items: Sequence[Item], subject: Subject) -> Iterator[Pieces]:
    """Read one sentence.

    Parameters
    ----------
    items
        The sentence as `phrases.cut` gives it.
    subject
        What the passage is about: the head where the sentence begins with a pronoun, or names nothing.

    Yields
    ------
    (head, relation, tail)
        In the order of the tails. None is empty, and a relation has at most ``MOST_RELATION_WORDS`` words.
    """
    begin = _first(items)
    cut = _end_of_lead(items, begin)
    heads, after = _heads(items, cut, subject)
    if not heads:
        return
    if cut > begin:
        yield from _of_lead(items[begin:cut], items[after:], heads, subject)
    yield from Clause(subject, heads).read(items[after:])


def rest_of(items: Sequence[Item], subject: Subject) -> Pieces | None:
    """Halve a sentence that names nothing: its first words join what it is about to the others."""
    heads, after = _heads(items, _end_of_lead(items, _first(items)), subject)
    words: list[str] = []
    for item in items[after:]:
        if item.kind == "mark" and item.text in ".;:!?":
            break
        if item.kind == "mark" and item.text in ",–—" and len(words) > _ENOUGH_REST_WORDS:
            break
        if item.kind not in ("mark", "aside"):
            words.append(item.text)
    at = next((n + 1 for n, word in enumerate(words[:4]) if word.lower() in PREPOSITIONS), 1)
    relation, tail = words[:at], words[at : at + _MOST_REST_WORDS]
    while tail and tail[0].lower() in ARTICLES:
        tail = tail[1:]
    if not heads or not any(word.lower() not in STOPWORDS for word in tail):
        return None
    return heads[0], joined(relation), joined(tail)


def _first(items: Sequence[Item]) -> int:
    """Where a sentence begins, behind a bullet or the like."""
    place = 0
    while place < len(items) and items[place].kind in ("mark", "aside"):
        place += 1
    return place


def _heads(items: Sequence[Item], place: int, subject: Subject) -> tuple[tuple[str, ...], int]:
    """What a clause that begins at ``place`` is about, and where its verb begins."""
    own = (subject.name,) if subject.name else ()
    if place >= len(items):
        return own, place
    item = items[place]
    if item.kind in NAMED:
        return _named_heads(items, place, subject)
    if item.lower in POSSESSIVE and place + 2 < len(items) and items[place + 1].kind in NAMED:
        return _named_heads(items, place + 1, subject)
    if item.lower in PRONOUNS:
        if item.lower in _PERSONAL and subject.somebody:
            own = (subject.somebody,)
        return own or (item.text,), place + 1
    if item.lower == "the" and place + 2 < len(items) and items[place + 1].kind in NAMED:
        return _named_heads(items, place + 1, subject)
    if item.lower in _THESE:
        for after in range(place + 1, min(place + 4, len(items))):
            if items[after].lower in subject.nouns:
                has_more = after + 1 < len(items) and items[after + 1].kind == "possessive"
                return own, after + 1 + has_more
        return own, place + 1
    return own, place


def _named_heads(items: Sequence[Item], place: int, subject: Subject) -> tuple[tuple[str, ...], int]:
    """The one name, or the names of a list ("Ann, Bob and Cleo") that a clause begins with."""
    place = _behind_title(items, place)
    listed, after, joined = [subject.head(items[place])], place + 1, False
    while after + 1 < len(items) and items[after].lower in JOINERS and not joined:
        joined = items[after].lower in ("and", "&")
        name = after + 1 + (items[after + 1].lower == "and")
        joined |= name > after + 1
        if name >= len(items) or items[name].kind not in NAMED:
            return tuple(listed[:1]), place + 1
        listed.append(subject.head(items[name]))
        after = name + 1
    if joined and after < len(items) and items[after].kind == "word":
        return tuple(dict.fromkeys(listed[:_MOST_HEADS])), after
    return tuple(listed[:1]), place + 1


def _behind_title(items: Sequence[Item], place: int) -> int:
    """The name itself in "Chelsea striker Bo Lind said"."""
    after = place + 1
    while after < min(len(items), place + 4) and is_noun(items[after]):
        after += 1
    is_title = place + 1 < after < len(items) - 1 and items[after].kind == "name"
    return after if is_title and _is_subject(items[after], items[after + 1]) else place


def _end_of_lead(items: Sequence[Item], begin: int) -> int:
    """Where the main clause begins: behind "In 1990," or "Born in Rome,"; ``begin`` if at once."""
    if begin >= len(items) or items[begin].kind != "word" or items[begin].lower in PRONOUNS | _THESE:
        return begin
    first = items[begin].lower
    leads = first in PREPOSITIONS or first in CLAUSE_OPENERS or first in STOPWORDS or first.endswith("ly")
    if not (leads or is_verb(items[begin]) or first.endswith("ing")):
        return begin
    for place in range(begin + 1, min(len(items), begin + _MOST_LEAD_ITEMS)):
        before, item = items[place - 1], items[place]
        following = items[place + 1] if place + 1 < len(items) else None
        is_subject = item.lower in PRONOUNS or item.lower in _THESE or _is_subject(item, following)
        is_subject |= is_noun(item) and is_verb(following)
        if before.text == "," and is_subject:
            return place
        if first in PREPOSITIONS and is_noun(before) and item.lower in SUBJECTS:
            return place  # "during the war he"
        stands_free = before.kind in THINGS and (item.lower in SUBJECTS or _is_subject(item, following))
        if stands_free and before.kind in ("date", "name") and item.kind != before.kind:
            return place
    return begin


def _is_subject(item: Item, following: Item | None) -> bool:
    if item.kind not in NAMED or following is None:
        return False
    return is_verb(following) or following.kind == "aside" or following.lower.endswith(("ly", "s"))


def _of_lead(
    lead: Sequence[Item], main: Sequence[Item], heads: tuple[str, ...], subject: Subject
) -> Iterator[Pieces]:
    """What stands before the main clause: a clause of its own, or when, where and how it holds."""
    opens = lead[0].lower
    if opens in CLAUSE_OPENERS and len(lead) > 2 and _has_subject(lead[1:3]):
        own, after = _heads(lead, 1, subject)
        yield from Clause(subject, own or heads).read(lead[after:])
        return
    reading = Clause(subject, heads)
    if opens in PREPOSITIONS:
        reading.base = [item.text for item in verb_of(main)]
    yield from reading.read(lead)


def _has_subject(items: Sequence[Item]) -> bool:
    return items[0].lower in SUBJECTS or (items[0].kind in NAMED and items[1].kind == "word")
