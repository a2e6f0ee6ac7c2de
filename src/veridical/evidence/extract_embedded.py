"""Find the triples of English passages without a language model, sentence by sentence.

The head is what the sentence is about: the name that it begins with, or the passage's title where that is a
pronoun or nothing; the tail is a name, a date, a number or what something is said to be; the relation is the
words between them. Rules read the surface only, so a sentence of many clauses gives some triples that join
the wrong things, and a language other than English gives few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from veridical.corpus.split import is_heading, sentences
from veridical.evidence.clauses import rest_of, somebody_in, subject_of, triples_of
from veridical.evidence.joins import Pieces, Subject
from veridical.evidence.mentions import NAMED, Item
from veridical.evidence.phrases import are_people, cut, nouns_of
from veridical.evidence.triples import Extraction, Found
from veridical.nli.lexicon import word_list
from veridical.nli.names import TITLES
from veridical.types import Span

MOST_PER_SENTENCE = 12
CALLED = "called"
"""Joins a title to another form of it, and need not be a word of the passage."""
MOST_PER_PASSAGE = 60

_MOST_CHARS = 1500  # of a sentence that are looked at
_MOST_PIECE = 200
_SUFFIX = re.compile(r"\s*\([^()]*\)\s*\Z")
_WORD = re.compile(r"[^\W_]+")
_SURROGATE = re.compile(r"[\ud800-\udfff\x00-\x08\x0e-\x1f\x7f-\x9f]")
_PERSONAL = re.compile(r"\b(?:he|she|his|her|him)\b", re.IGNORECASE)
_FIELD = re.compile(
    r"\A[-*•·]?\s*(?P<key>[^\W\d_][\w/'’-]*(?:\s[\w/'’-]+){0,2}):\s+(?P<value>\S.{0,150})\Z", re.DOTALL
)
_GENERIC = frozenset(
    word_list("film movie album song book novel band group series show company team club city town game")
)
_KNOWN = frozenset(("known", "called", "credited", "named"))
_TITLES = TITLES | frozenset(word_list("baronet baron baroness sheikh lord lady sir"))
_SMALL = frozenset(word_list("the a an of and in on at for to"))


class EmbeddedExtractor:
    """The built-in rules, for English: a few thousand sentences a second, always with the same result."""

    @property
    def name(self) -> str:
        """Changes whenever the rules do."""
        return "embedded-1"

    def extract(
        self, passages: Sequence[tuple[str, str]], *, tick: Callable[[], object] | None = None
    ) -> list[Extraction]:
        """Find the triples of each (title, text).

        A passage has at most ``MOST_PER_PASSAGE`` of them, and a sentence ``MOST_PER_SENTENCE``. All words
        are the passage's or its title's, but for ``CALLED``, `asides.BORN`, `asides.DIED` and `asides.IN`.
        """
        found = []
        for title, text in passages:
            found.append(Extraction(tuple(_distinct(_of_passage(title, text)))))
            if tick is not None:
                tick()
        return found


def _distinct(found: Iterator[Found]) -> list[Found]:
    kept: dict[tuple[str, str, str], Found] = {}
    for triple in found:
        kept.setdefault((triple.head.casefold(), triple.relation.casefold(), triple.tail.casefold()), triple)
        if len(kept) >= MOST_PER_PASSAGE:
            break
    return list(kept.values())


def _of_passage(title: str, text: str) -> Iterator[Found]:
    name = _tidy(_SUFFIX.sub("", title)) or _tidy(title)
    known = _pattern(name)
    said = [(span, cut(_readable(span.text), known)) for span in sentences(text) if not is_heading(span.text)]
    subject = _subject(name, text, said)
    yield from _full_name(said, subject)
    for span, items in said:
        for number, pieces in enumerate(_of_sentence(span, items, subject)):
            if number >= MOST_PER_SENTENCE:
                break
            yield Found(*pieces, span.start, span.end)
        subject = replace(subject, somebody=somebody_in(items, subject))


def _full_name(said: Sequence[tuple[Span, Sequence[Item]]], subject: Subject) -> Iterator[Found]:
    """What else a passage calls its title where it begins: "Ada Maria Moe" for "Ada Moe"."""
    first = subject_of(said[0][1]) if said else None
    if first is None or not subject.called(first.text):
        return
    if not set(_words(first.text)) <= set(_words(subject.name)):
        pieces = subject.name, CALLED, _tidy(first.text)
        if _is_whole(pieces):
            yield Found(*pieces, said[0][0].start, said[0][0].end)


def _readable(text: str) -> str:
    """A sentence as it is read: no longer than that, and out of the brackets that it stands in."""
    text = _SURROGATE.sub(" ", text[:_MOST_CHARS])
    bare = text.rstrip(" .")
    if bare.startswith("(") and bare.find(")") == len(bare) - 1:
        return f" {bare[1:-1]}"
    return text


def _of_sentence(span: Span, items: Sequence[Item], subject: Subject) -> Iterator[Pieces]:
    value = _FIELD.match(span.text)
    if value is not None and subject.name:
        pieces = subject.name, _tidy(value["key"]), _tidy(value["value"]).rstrip(".")
        if _is_whole(pieces):
            yield pieces
            return
    found = [pieces for pieces in map(_on_one_line, triples_of(items, subject)) if _is_whole(pieces)]
    if not found:
        rest = rest_of(items, subject)
        found = [_on_one_line(rest)] if rest is not None and _is_whole(rest) else []
    yield from found


def _on_one_line(pieces: Pieces) -> Pieces:
    head, relation, tail = pieces
    return _tidy(head), _tidy(relation), _tidy(tail)


def _is_whole(pieces: Pieces) -> bool:
    return all(0 < len(piece) <= _MOST_PIECE and _WORD.search(piece) is not None for piece in pieces)


def _subject(name: str, text: str, said: Sequence[tuple[Span, Sequence[Item]]]) -> Subject:
    """What a passage is about: its title, or else the name that its first sentence begins with."""
    opening = said[0][1] if said else ()
    first = subject_of(opening)
    if not name and first is not None:
        name = _tidy(first.text)
    own = _words(name)
    also = _words(first.text) if first is not None and _is_introduced(own, first, opening) else ()
    called = _caller(name, also, is_person=False)
    about = next((item.text for item in opening if item.kind == "phrase"), "")
    nouns = nouns_of(about) if first is None or called(first.text) else []
    if nouns:
        is_person = are_people(nouns)
    else:  # a person, if "Lee" stands for "Ada Lee"
        names = {item.text for _, items in said for item in items if item.kind == "name"}
        is_person = any(_words(other) == own[-1:] for other in names) and _PERSONAL.search(text) is not None
    called = _caller(name, also, is_person=is_person)
    return Subject(name, _GENERIC.union(nouns), is_person, name if is_person else "", called)


def _is_introduced(own: Sequence[str], first: Item, opening: Sequence[Item]) -> bool:
    """Whether a passage begins with another form of its title, or says that it is better known by it.

    Another form shares two words with it, or one if dates of a life follow; and it has no other number.
    """
    words = set(_words(first.text))
    numbers = [{word for word in name if word[0].isdigit()} for name in (words, own)]
    dated = [item for item in opening[:3] if item.kind == "aside" and any(c.isdigit() for c in item.text)]
    if len(words.intersection(own)) >= (1 if dated else 2) and (numbers[0] == numbers[1] or not all(numbers)):
        return True
    recent: set[str] = set()
    for item in opening:
        if item.kind in NAMED and set(_words(item.text)) <= set(own) and not recent.isdisjoint(_KNOWN):
            return True
        recent = set() if item.kind in NAMED else recent | {item.lower}
    return False


def _caller(name: str, also: tuple[str, ...], *, is_person: bool) -> Callable[[str], bool]:
    """Whether a name means what the title means.

    It does if it is a part of the title with its last word ("Lee" for "Ada Lee"; of a person with the first
    as well), if it is the title with words put in ("Ada B. Lee"), and if the passage begins with it
    (``also``); but the 2nd Earl is not the 3rd.
    """
    own, own_rank = _words(name), _rank(name)

    def called(other: str) -> bool:
        words = _words(other)
        if not words or not own or _differ(_rank(other), own_rank):
            return False
        if words in (own, also):
            return True
        if set(words) < set(own):
            return words[-1] == own[-1] or (is_person and words[0] == own[0])
        return len(own) > 1 and set(own) < set(words) and words[-1] == own[-1]

    return called


def _rank(name: str) -> frozenset[str]:
    """The words behind a name's comma, if they tell a rank by its number."""
    words = frozenset(_WORD.findall(name.partition(",")[2].casefold()))
    return words if any(word[0].isdigit() for word in words) else frozenset()


def _differ(left: frozenset[str], right: frozenset[str]) -> bool:
    return bool(left) and bool(right) and not (left <= right or right <= left)


@lru_cache(maxsize=16_384)
def _words(name: str) -> tuple[str, ...]:
    """The words that tell a name from others, in order; of "Kent, Ohio" those before the comma."""
    words = tuple(word for word in _WORD.findall(name.partition(",")[0].casefold()) if word not in _SMALL)
    return tuple(word for word in words if word not in _TITLES) or words


def _pattern(name: str) -> re.Pattern[str] | None:
    words = name.split()
    if not words or len(name) > _MOST_PIECE or not (name[0].isalnum() and name[-1].isalnum()):
        return None
    return re.compile(r"\b" + r"\s+".join(map(re.escape, words)) + r"\b", re.IGNORECASE)


def _tidy(text: str) -> str:
    return " ".join(_SURROGATE.sub(" ", text).split())
