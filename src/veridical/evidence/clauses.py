"""Read the triples off one English sentence: what it is about, what it names, and the words between."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from veridical.evidence.asides import read_aside
from veridical.evidence.mentions import (
    ARTICLES,
    NAMED,
    POSSESSIVE,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    THINGS,
    Item,
    is_noun,
    is_verb,
)
from veridical.nli.lexicon import STOPWORDS, word_list

MOST_RELATION_WORDS = 8
_MOST_REST_WORDS = 12
_ENOUGH_REST_WORDS = 6
_MOST_LEAD_ITEMS = 30
_MOST_HEADS = 3
_JOINERS = frozenset(("and", "or", "&", "/", ",", "as", "well"))
_CLAUSE_OPENERS = frozenset(
    word_list("and but while whereas when although though that because as after before where since if")
)
_SUBJECTS = PRONOUNS - POSSESSIVE
_THESE = frozenset(("the", "this", "these"))
_DROPPED = frozenset(("and", "but", "or", "also", "then"))
_ABOUT = frozenset(("c", "c.", "ca", "ca.", "circa"))

Pieces = tuple[str, str, str]


@dataclass(frozen=True)
class Subject:
    """What a passage is about, as far as its sentences can be read by it.

    Attributes
    ----------
    name
        What it is called; empty if that is not known.
    nouns
        What it was said to be ("film", "band"), so that "the film" means it.
    is_person
        Whether dates behind its name are those of a life.
    called
        Whether some name means it.
    """

    name: str = ""
    nouns: Collection[str] = ()
    is_person: bool = False
    called: Callable[[str], bool] = lambda _: False

    def head(self, item: Item) -> str:
        """What to call a thing that a sentence names."""
        return self.name if self.name and self.called(item.text) else " ".join(item.text.split())


def subject_of(items: Sequence[Item]) -> Item | None:
    """The name that a sentence begins with, if it does."""
    begin = _first(items)
    return items[begin] if begin < len(items) and items[begin].kind in NAMED else None


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
    yield from _Reading(subject, heads).read(items[after:])


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
    return heads[0], _joined(relation), _joined(tail)


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
    if item.lower in PRONOUNS:
        return own or (item.text,), place + 1
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
    while after + 1 < len(items) and items[after].lower in _JOINERS and not joined:
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
    leads = first in PREPOSITIONS or first in _CLAUSE_OPENERS or first in STOPWORDS or first.endswith("ly")
    if not (leads or is_verb(items[begin]) or first.endswith("ing")):
        return begin
    for place in range(begin + 1, min(len(items), begin + _MOST_LEAD_ITEMS)):
        before, item = items[place - 1], items[place]
        following = items[place + 1] if place + 1 < len(items) else None
        is_subject = item.lower in PRONOUNS or item.lower in _THESE or _is_subject(item, following)
        if before.text == "," and is_subject:
            return place
        stands_free = before.kind in THINGS and (item.lower in _SUBJECTS or _is_subject(item, following))
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
    if opens in _CLAUSE_OPENERS and len(lead) > 2 and _has_subject(lead[1:3]):
        own, after = _heads(lead, 1, subject)
        yield from _Reading(subject, own or heads).read(lead[after:])
        return
    reading = _Reading(subject, heads)
    if opens in PREPOSITIONS:
        reading.base = [item.text for item in _verb(main)]
    yield from reading.read(lead)


def _has_subject(items: Sequence[Item]) -> bool:
    return items[0].lower in _SUBJECTS or (items[0].kind in NAMED and items[1].kind == "word")


def _verb(items: Sequence[Item]) -> list[Item]:
    """The first words of a clause up to a preposition, an article or a thing; at most four."""
    found: list[Item] = []
    for item in items[:4]:
        if item.kind != "word" or item.lower in PREPOSITIONS | ARTICLES:
            break
        found.append(item)
    return found


@dataclass
class _Reading:
    """Where the reading of a clause has come to.

    ``base`` is its verb with the object, which a later "in 1990" belongs to, and ``verb`` the verb alone.
    ``last`` is the thing read last; ``relation`` and ``heads_of_last`` are those of its triple; ``said_of``
    is what a clause with "who" or "which" is about.
    """

    subject: Subject
    heads: tuple[str, ...]
    base: list[str] = field(default_factory=list)
    verb: list[str] = field(default_factory=list)
    last: Item | None = None
    relation: list[str] = field(default_factory=list)
    heads_of_last: tuple[str, ...] = ()
    said_of: tuple[str, ...] = ()

    def read(self, items: Sequence[Item]) -> Iterator[Pieces]:
        gap: list[Item] = []
        for place, item in enumerate(items):
            following = items[place + 1] if place + 1 < len(items) else None
            if item.kind == "aside":
                owner = self._owner()
                if owner and all(part.kind == "mark" for part in gap):
                    yield from read_aside(item, owner, self._lives(owner))
            elif item.kind not in THINGS:
                gap.append(item)
            elif self._is_new_subject(gap, item, following):
                self.heads, self.base, self.verb = (self.subject.head(item),), [], []
                self.last, gap = None, []
            else:
                yield from self._tail(gap, item, items[place + 1 :])
                gap = []

    def _owner(self) -> str:
        """What an aside is about."""
        if self.last is None or self.last.kind == "phrase" or not self.relation:
            return self.heads[0]
        return self.subject.head(self.last) if self.last.kind in NAMED else ""

    def _lives(self, name: str) -> bool:
        return self.subject.is_person and name == self.subject.name

    def _is_new_subject(self, gap: Sequence[Item], item: Item, following: Item | None) -> bool:
        """Whether a clause of its own begins here: ", and Ann was"."""
        opens = bool(gap) and (gap[-1].lower in _CLAUSE_OPENERS or gap[-1].text == ";")
        if item.kind not in NAMED or not opens or not is_verb(following) or following is None:
            return False
        is_passive = following.lower.endswith("ed") and gap[-1].lower in ("and", "as")
        return self.last is None or len(gap) > 1 or not is_passive

    def _tail(self, gap: list[Item], item: Item, after: Sequence[Item]) -> Iterator[Pieces]:
        heads, words = self._joining(gap, item)
        tail = " ".join(item.text.split())
        words = words if item.kind == "phrase" else _without_articles(words)
        if item.kind == "date" and not words:
            words = self.verb
        elif words and not self.base and all(word.lower() in PREPOSITIONS for word in words):
            words = [part.text for part in _verb(after)] + words
        self._remember(words, heads, item)
        if not words:
            return
        for head in heads:
            if head and tail.casefold() != head.casefold() and self.subject.head(item) != head:
                yield head, _joined(_short(words)), tail

    def _joining(self, gap: list[Item], item: Item) -> tuple[tuple[str, ...], list[str]]:
        """The heads of a thing, and the words that join them to it."""
        last = self.last
        if last is not None and gap and all(part.lower in _JOINERS for part in gap):
            return self.heads_of_last, self.relation if _alike(last, item) else []
        if last is not None and last.kind in NAMED and _is_possession(gap):
            return (self.subject.head(last),), _words(gap[1:])
        if gap and (gap[0].text in (",", ";") or gap[0].kind == "possessive"):
            self.said_of = ()
        own = self._own_head(gap)
        if own and any(part.lower in RELATIVE for part in gap):
            self.said_of = own
        restart = max((n + 1 for n in range(len(gap)) if _restarts(gap, n)), default=0)
        if restart:
            self.base, self.verb = [], []
            if gap[restart - 1].lower in _SUBJECTS and self.subject.name:
                self.heads, self.said_of = (self.subject.name,), ()
        heads = own or self.said_of or self.heads
        words = _words(gap[restart:])
        opens = next((part.lower for part in gap if part.kind == "word" and part.lower not in _DROPPED), "")
        if restart == 0 and not own and opens in PREPOSITIONS and words and words[0].lower() == opens:
            return heads, self._with_base(words)
        return heads, words

    def _own_head(self, gap: Sequence[Item]) -> tuple[str, ...]:
        """The thing read last, where what follows is said of it and not of the subject."""
        last = self.last
        if last is None or last.kind not in NAMED or not gap:
            return ()
        lowered = [part.lower for part in gap]
        follows = lowered[0] == "," and len(lowered) > 1
        is_agent = bool(self.relation) and "by" in (word.lower() for word in self.relation)
        if not follows and is_agent and lowered[0] in ("that", "which"):
            return ()
        into = lowered[follows:]
        relative = into[0] in RELATIVE or (len(into) > 1 and into[0] in PREPOSITIONS and into[1] in RELATIVE)
        apposed = follows and lowered[1] in ARTICLES
        modified = not follows and not is_agent and lowered[0].endswith("ed") and "by" in lowered
        credited = last.kind == "quoted" and lowered[0] == "by" and not is_agent
        return (self.subject.head(last),) if relative or apposed or modified or credited else ()

    def _with_base(self, words: list[str]) -> list[str]:
        for base in (self.base, self.verb, self.verb[:3]):
            if base and len(base) + len(words) <= MOST_RELATION_WORDS:
                return [*base, *words]
        return words

    def _remember(self, words: list[str], heads: tuple[str, ...], item: Item) -> None:
        listed = words == self.relation and self.last is not None
        self.last, self.relation, self.heads_of_last = item, words, heads
        if listed or heads != self.heads or not words:
            return
        extends = bool(self.base) and words[: len(self.base)] == self.base
        if extends or (words[0].lower() in PREPOSITIONS and self.base):
            return
        ends = words[-1].lower() in PREPOSITIONS
        self.verb = [*words]
        while len(self.verb) > 1 and self.verb[-1].lower() in PREPOSITIONS | ARTICLES:
            self.verb.pop()
        self.base = list(self.verb) if ends or item.kind == "date" else [*words, *item.text.split()]


def _restarts(gap: Sequence[Item], place: int) -> bool:
    """Whether the words after this one are a clause with a subject of their own."""
    lower = gap[place].lower
    if lower in RELATIVE:
        return True
    begins = place == 0 or gap[place - 1].kind == "mark" or gap[place - 1].lower in _CLAUSE_OPENERS | RELATIVE
    return lower in _SUBJECTS and begins


def _is_possession(gap: Sequence[Item]) -> bool:
    """Whether a gap is that of "Ann's elder brother Bob"."""
    if not 1 < len(gap) < 5 or gap[0].kind != "possessive":
        return False
    return all(is_noun(item) for item in gap[1:])


def _alike(left: Item, right: Item) -> bool:
    return left.kind == right.kind or (left.kind in NAMED and right.kind in NAMED)


def _words(gap: Sequence[Item]) -> list[str]:
    """The words of a gap: without what opens it, and from its last comma on if words follow that."""
    cut = 0
    for place, item in enumerate(gap):
        if item.kind == "mark" and any(
            part.kind == "word" and part.lower not in STOPWORDS for part in gap[place + 1 :]
        ):
            cut = place + 1
    words: list[str] = []
    for item in gap[cut:]:
        if item.kind == "possessive" and words:
            words[-1] += item.text
        elif item.kind == "word":
            words.append(item.text)
    while words and words[0].lower() in _DROPPED:
        words = words[1:]
    return [word for word in words if word.lower() not in _ABOUT]


def _without_articles(words: list[str]) -> list[str]:
    while words and words[-1].lower() in ARTICLES:
        words = words[:-1]
    return words[1:] if len(words) > 1 and words[0].lower() in ARTICLES else words


def _short(words: list[str]) -> list[str]:
    """At most as many words as a relation may have: the last, from a clause's beginning on where one fits."""
    if len(words) <= MOST_RELATION_WORDS:
        return words
    words = words[-MOST_RELATION_WORDS:]
    for place, word in enumerate(words[:-2]):
        if word.lower() in ("and", "but", "to"):
            return words[place + 1 :]
    return words


def _joined(words: Sequence[str]) -> str:
    return " ".join(words)


__all__ = ["MOST_RELATION_WORDS", "Subject", "rest_of", "subject_of", "triples_of"]
