"""Find the triples of English passages without a language model, sentence by sentence.

The head is what the sentence is about: the name that it begins with, or the passage's title where that is a
pronoun or nothing; the tail is a name, a date, a number or what something is said to be; the relation is the
words between them. Rules read the surface only, so a sentence of many clauses gives some triples that join
the wrong things, and a language other than English gives few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from veridical.corpus.split import is_heading, sentences
from veridical.evidence.clauses import Pieces, Subject, rest_of, subject_of, triples_of
from veridical.evidence.mentions import NAMED, Item
from veridical.evidence.phrases import are_people, cut, nouns_of
from veridical.evidence.triples import Extraction, Found
from veridical.nli.lexicon import word_list
from veridical.nli.names import TITLES
from veridical.types import Span

MOST_PER_SENTENCE = 12
MOST_PER_PASSAGE = 60

_MOST_CHARS = 1500  # of a sentence that are looked at
_MOST_PIECE = 200
_SUFFIX = re.compile(r"\s*\([^()]*\)\s*\Z")
_WORD = re.compile(r"[^\W_]+")
_SURROGATE = re.compile(r"[\ud800-\udfff\x00-\x08\x0e-\x1f\x7f-\x9f]")
_PERSONAL = re.compile(r"\b(?:he|she|his|her|him)\b", re.IGNORECASE)
_FIELD = re.compile(r"\A[-*•·]?\s*(?P<key>[^\W\d_][\w /'’-]{1,40}):\s+(?P<value>\S.{0,150})\Z", re.DOTALL)
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
        are the passage's or its title's, but for `asides.BORN`, `asides.DIED` and `asides.IN`.
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
    said = [
        (span, cut(_SURROGATE.sub(" ", span.text[:_MOST_CHARS]), known))
        for span in sentences(text)
        if not is_heading(span.text)
    ]
    subject = _subject(name, text, said)
    for span, items in said:
        for number, pieces in enumerate(_of_sentence(span, items, subject)):
            if number >= MOST_PER_SENTENCE:
                break
            yield Found(*pieces, span.start, span.end)


def _of_sentence(span: Span, items: Sequence[Item], subject: Subject) -> Iterator[Pieces]:
    value = _FIELD.match(span.text)
    if value is not None and subject.name:
        pieces = subject.name, _tidy(value["key"]), _tidy(value["value"]).rstrip(".")
        if _is_whole(pieces):
            yield pieces
            return
    found = [pieces for pieces in triples_of(items, subject) if _is_whole(pieces)]
    if not found:
        rest = rest_of(items, subject)
        found = [rest] if rest is not None and _is_whole(rest) else []
    yield from found


def _is_whole(pieces: Pieces) -> bool:
    return all(0 < len(piece) <= _MOST_PIECE and _WORD.search(piece) is not None for piece in pieces)


def _subject(name: str, text: str, said: Sequence[tuple[Span, Sequence[Item]]]) -> Subject:
    """What a passage is about: its title, or else the name that its first sentence begins with."""
    opening = said[0][1] if said else ()
    first = subject_of(opening)
    if not name and first is not None:
        name = _tidy(first.text)
    phrase = next((item.text for item in opening if item.kind == "phrase"), "")
    nouns = nouns_of(phrase)
    is_person = are_people(nouns) if nouns else _PERSONAL.search(text) is not None
    own = _key(name)
    also = _key(first.text) if first is not None and _is_introduced(own, first, opening) else None
    return Subject(name, _GENERIC.union(nouns), is_person, _caller(own, also))


def _is_introduced(own: frozenset[str], first: Item, opening: Sequence[Item]) -> bool:
    """Whether a passage begins with a longer form of its title, or says that it is better known by it."""
    if not own.isdisjoint(_key(first.text)):
        return True
    recent: set[str] = set()
    for item in opening:
        if item.kind in NAMED and _key(item.text) <= own and not recent.isdisjoint(_KNOWN):
            return True
        recent = set() if item.kind in NAMED else recent | {item.lower}
    return False


def _caller(own: frozenset[str], also: frozenset[str] | None) -> Callable[[str], bool]:
    """Whether a name means what the title means: one of the two has all words of the other.

    ``also`` is the name that the passage begins with, which may be a longer form of the title.
    """

    def called(other: str) -> bool:
        words = _key(other)
        return bool(words) and bool(own) and (words <= own or own <= words or words == also)

    return called


def _key(name: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(name.casefold())) - _SMALL
    return words - _TITLES or words


def _pattern(name: str) -> re.Pattern[str] | None:
    words = name.split()
    if not words or len(name) > _MOST_PIECE or not (name[0].isalnum() and name[-1].isalnum()):
        return None
    return re.compile(r"\b" + r"\s+".join(map(re.escape, words)) + r"\b", re.IGNORECASE)


def _tidy(text: str) -> str:
    return " ".join(_SURROGATE.sub(" ", text).split())
