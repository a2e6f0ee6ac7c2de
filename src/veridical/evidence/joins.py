"""Join what a clause names to what it is about, by the words between."""

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

JOINERS = frozenset(("and", "or", "&", "/", ",", "as", "well"))
CLAUSE_OPENERS = frozenset(
    word_list("and but while whereas when although though that because as after before where since if")
)
SUBJECTS = PRONOUNS - POSSESSIVE
_DROPPED = frozenset(("and", "but", "or", "also", "then"))
_ABOUT = frozenset(("c", "c.", "ca", "ca.", "circa"))
_WHO = RELATIVE - {"where"}
_OF = PREPOSITIONS - {"by"}

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
    somebody
        Whom "he" and "she" mean; empty if nobody is known.
    called
        Whether some name means it.
    """

    name: str = ""
    nouns: Collection[str] = ()
    is_person: bool = False
    somebody: str = ""
    called: Callable[[str], bool] = lambda _: False

    def head(self, item: Item) -> str:
        """What to call a thing that a sentence names."""
        return self.name if self.name and self.called(item.text) else " ".join(item.text.split())


def verb_of(items: Sequence[Item]) -> list[Item]:
    """The first words of a clause up to a preposition, an article or a thing; at most four."""
    found: list[Item] = []
    for item in items[:4]:
        if item.kind != "word" or item.lower in PREPOSITIONS | ARTICLES:
            break
        found.append(item)
    return found


@dataclass
class Clause:
    """Where the reading of a clause has come to.

    ``base`` is its verb with the object, which a later "in 1990" belongs to, and ``verb`` the verb alone.
    ``last`` is the thing read last; ``relation`` and ``heads_of_last`` are those of its triple. In a clause
    with "who" or "which", or an apposition, ``said_of`` is what that is about, and ``outer`` keeps base and
    verb of the clause around it.
    """

    subject: Subject
    heads: tuple[str, ...]
    base: list[str] = field(default_factory=list)
    verb: list[str] = field(default_factory=list)
    last: Item | None = None
    relation: list[str] = field(default_factory=list)
    heads_of_last: tuple[str, ...] = ()
    said_of: tuple[str, ...] = ()
    outer: tuple[list[str], list[str]] | None = None

    def read(self, items: Sequence[Item]) -> Iterator[Pieces]:
        """Read a clause from its verb on."""
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
        opens = bool(gap) and (gap[-1].lower in CLAUSE_OPENERS or gap[-1].text == ";")
        if following is None or following.kind != "word":
            return False
        acts = len(gap) > 1 and gap[0].text == "," and following.lower.endswith("s")
        if item.kind not in NAMED or not opens or not (is_verb(following) or acts):
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
            words = [part.text for part in verb_of(after)] + words
        self._remember(words, heads, item)
        if not words or (len(words) == 1 and words[0].lower() in PREPOSITIONS):
            return  # "of Rome" says nothing by itself
        for head in heads:
            if head and tail.casefold() != head.casefold() and self.subject.head(item) != head:
                yield head, joined(_short(words)), tail

    def _joining(self, gap: list[Item], item: Item) -> tuple[tuple[str, ...], list[str]]:
        """The heads of a thing, and the words that join them to it."""
        last = self.last
        if last is not None and gap and all(part.lower in JOINERS for part in gap):
            return self.heads_of_last, self.relation if _alike(last, item) else []
        if last is not None and not gap and item.kind in NAMED and self.relation:
            return self.heads_of_last, [*self.relation, *last.text.split()]  # "a son of actors Ann and Bo"
        if last is not None and last.kind in NAMED and _is_possession(gap):
            return (self.subject.head(last),), _words(gap[1:])
        if gap and (gap[0].text in (",", ";") or gap[0].kind == "possessive"):
            self._leave()
        own = self._own_head(gap)
        restart = max((n + 1 for n in range(len(gap)) if _restarts(gap, n)), default=0)
        if restart:
            self._leave()
            own = () if gap[restart - 1].lower in SUBJECTS else own
            self.base, self.verb = ([], []) if not own else (self.base, self.verb)
        if own and (restart or item.kind == "phrase"):
            self._enter(own)
        heads = own or self.said_of or self.heads
        words = _words(gap[restart:])
        opens = next((part.lower for part in gap if part.kind == "word" and part.lower not in _DROPPED), "")
        if restart == 0 and not own and opens in PREPOSITIONS and words and words[0].lower() == opens:
            return heads, self._with_base(words)
        return heads, words

    def _enter(self, own: tuple[str, ...]) -> None:
        self.said_of, self.outer = own, (self.base, self.verb)
        self.base, self.verb = [], []

    def _leave(self) -> None:
        if self.outer is not None:
            self.base, self.verb = self.outer
        self.said_of, self.outer = (), None

    def _own_head(self, gap: Sequence[Item]) -> tuple[str, ...]:
        """The thing read last, where what follows is said of it and not of the subject."""
        last = self.last
        if last is None or last.kind not in NAMED or not gap:
            return ()
        lowered = [part.lower for part in gap]
        follows = lowered[0] == "," and len(lowered) > 1
        is_agent = "by" in (word.lower() for word in self.relation)
        if not follows and is_agent and lowered[0] in ("that", "which"):
            return ()
        into = lowered[follows:]
        ends = self.relation[-1].lower() if self.relation else ""
        if not follows and into[0] in _WHO and ends in _OF:
            return ()  # "a member of the Union who"
        relative = into[0] in _WHO or (len(into) > 1 and into[0] in PREPOSITIONS and into[1] in RELATIVE)
        apposed = follows and lowered[1] in ARTICLES
        modified = not follows and not is_agent and lowered[0].endswith("ed") and "by" in lowered
        credited = last.kind == "quoted" and lowered[0] == "by" and not is_agent
        return (self.subject.head(last),) if relative or apposed or modified or credited else ()

    def _with_base(self, words: list[str]) -> list[str]:
        for base in (self.base, self.verb, _without_prepositions(self.verb[:3])):
            if base and len(base) + len(words) <= MOST_RELATION_WORDS:
                return [*base, words[0].lower(), *words[1:]]
        return words

    def _remember(self, words: list[str], heads: tuple[str, ...], item: Item) -> None:
        listed = words == self.relation and self.last is not None
        self.last, self.relation, self.heads_of_last = item, words, heads
        if listed or heads != (self.said_of or self.heads) or not words:
            return
        extends = bool(self.base) and words[: len(self.base)] == self.base
        if extends or (words[0].lower() in PREPOSITIONS and self.base):
            return
        ends = words[-1].lower() in PREPOSITIONS
        self.verb = _without_prepositions(words)
        self.base = list(self.verb) if ends or item.kind == "date" else [*words, *item.text.split()]


def _restarts(gap: Sequence[Item], place: int) -> bool:
    """Whether the words after this one are a clause with a subject of their own."""
    lower = gap[place].lower
    if lower in RELATIVE:
        return True
    begins = place == 0 or gap[place - 1].kind == "mark" or gap[place - 1].lower in CLAUSE_OPENERS | RELATIVE
    return lower in SUBJECTS and begins


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
            words.extend(item.text.split())
    while words and words[0].lower() in _DROPPED:
        words = words[1:]
    while words and words[-1].lower() in ("and", "or", "but"):
        words = words[:-1]
    return [word for word in words if word.lower() not in _ABOUT]


def _without_articles(words: list[str]) -> list[str]:
    while words and words[-1].lower() in ARTICLES:
        words = words[:-1]
    return words[1:] if len(words) > 1 and words[0].lower() in ARTICLES else words


def _without_prepositions(words: Sequence[str]) -> list[str]:
    end = len(words)
    while end > 1 and (words[end - 1].lower() in PREPOSITIONS or words[end - 1].lower() in ARTICLES):
        end -= 1
    return list(words[:end])


def _short(words: list[str]) -> list[str]:
    """At most as many words as a relation may have: the last, from a clause's beginning on where one fits."""
    if len(words) <= MOST_RELATION_WORDS:
        return words
    words = words[-MOST_RELATION_WORDS:]
    for place, word in enumerate(words[:-2]):
        if word.lower() in ("and", "but", "to"):
            return words[place + 1 :]
    return words


def joined(words: Sequence[str]) -> str:
    """Words as one text."""
    return " ".join(words)
