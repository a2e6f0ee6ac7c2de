"""Triples that passages state: how they are written, read from a model's reply, and traced to a sentence.

ReliableRAG takes its triples from an extractor of the kind that TRACE uses: a language model lists
``<head; relation; tail>`` for one passage at a time. A reply is read tolerantly, and only what the passage
bears out is kept, since what a model makes up is no evidence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from veridical.corpus.split import sentences
from veridical.errors import InputError
from veridical.nli.lexicon import STOPWORDS, stem, word_list
from veridical.types import Record

MAX_TRIPLES = 100
"""The most triples that are read from one reply: a passage of 120 words holds about ten."""

FAILED = "the extractor failed: "
"""How the problem of an extraction begins that can be tried again."""

_MAX_CHARS = 100_000  # of a reply; many times what 512 tokens can hold
_MAX_PIECE = 500  # characters of a head, relation or tail; more is no phrase
_ENTITY = re.compile(r"&(lt|gt|amp|quot|apos|#39|#60|#62);")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "#39": "'", "#60": "<", "#62": ">"}
_WIDE = str.maketrans("＜﹤〈⟨＞﹥〉⟩；﹔", "<<<<>>>>;;")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_BRACKETED = re.compile(r"<([^<>]*)(>|(?=<))")
_JSON_MARK = re.compile(r'[{}"\n]|\\.')
_KEYS = (("head", "subject"), ("relation", "predicate"), ("tail", "object"))
_QUOTES = {'"': '"', "“": "”", "`": "`"}
_EDGES = ".,;:!?()[]{}\"'“”‘’«»"
_TOKEN = re.compile(r"[^\W_]+")
_PRONOUNS = frozenset(word_list("he she it they him her them his its their this that"))

Pieces = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Found(Record):
    """A triple of a passage; ``text[start:end]`` is the sentence that says it (characters of the passage)."""

    head: str
    relation: str
    tail: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Extraction(Record):
    """What an extractor found in one passage, in the order in which it was found.

    ``problem`` says why there are no triples, or fewer than could be: the passage was cut, nothing of the
    reply was usable, or the extractor failed.
    """

    triples: tuple[Found, ...]
    problem: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the extractor gave nothing at all, so that trying again may help; never to be stored."""
        return self.problem is not None and self.problem.startswith(FAILED)


@runtime_checkable
class Extractor(Protocol):
    """Finds the triples that passages state. Constructors are light."""

    @property
    def name(self) -> str:
        """Identifies what was found: it changes whenever the same passage could give other triples."""
        ...

    def extract(
        self, passages: Sequence[tuple[str, str]], *, tick: Callable[[], object] | None = None
    ) -> list[Extraction]:
        """Find triples.

        Parameters
        ----------
        passages
            Pairs (title, text). A title may be empty. No passage changes what is found in another.
        tick
            Called once for each passage that is done.

        Returns
        -------
        list of Extraction
            One a passage, in order. What fails on one passage is its ``problem``, and the others go on.
        """
        ...


def written(head: str, relation: str, tail: str) -> str:
    """Write a triple as prompts and embeddings have it: ``<head; relation; tail>``."""
    return f"<{head}; {relation}; {tail}>"


def parse(text: str) -> list[Pieces]:
    """Read the triples of a reply.

    Every ``<...>`` is split at semicolons from the right, at most twice, so that a head may hold semicolons;
    what has not three pieces is skipped. Where a brace comes before any bracket, JSON objects with the keys
    head, relation and tail are read instead. Numbered lists, code fences, HTML escapes and full-width signs
    do no harm. A bracket that is not closed counts if the next triple begins on another line; the last one
    never does, as it was cut where the model ran out of tokens.

    Parameters
    ----------
    text
        What a model wrote. Only its first 100,000 characters are read.

    Returns
    -------
    list of (head, relation, tail)
        Not empty each, without line breaks, at most 500 characters; in order, without repetitions (case
        aside), at most ``MAX_TRIPLES``. Time grows linearly with the text. Nothing is raised.

    Examples
    --------
    >>> parse("1. <Leo Harris; deal; A; B> 2. <a; b>")
    [('Leo Harris; deal', 'A', 'B')]
    """
    text = text[:_MAX_CHARS]
    plain = _plain(text)
    readings = [_distinct(_bracketed(plain)), _distinct(_from_json(text))]
    if "{" in plain.partition("<")[0]:
        readings.reverse()
    return readings[0] or readings[1]


def repair_head(head: str, title: str, text: str) -> str:
    """Return the head, or the title where the head names nothing in the passage.

    A head that is not the title and does not occur in the text (case and white space aside) is replaced by
    the title, as TRACE has it. So is one that is only a pronoun: it does occur, but stands for somebody, and
    a triple is read away from its passage. Without a title the head stays.
    """
    subject, name = _folded(head), _tidy(title)[:_MAX_PIECE].rstrip()
    if not name or subject == _folded(title) or (subject not in _PRONOUNS and subject in _folded(text)):
        return head
    return name


def locate(relation: str, tail: str, said: Sequence[str], *, start: int = 0) -> int:
    """Find the sentence that says a relation and its tail.

    It is the one in which most of the words of ``relation tail`` occur, within longer words too, which makes
    up for endings ("found" in "founded"). Of several the first that holds the whole tail; then the first from
    ``start`` on, as models list triples in the order of the text; then the first.

    Parameters
    ----------
    relation, tail
        Of the triple.
    said
        The sentences, at least one.
    start
        Where the reading has come to. TRACE looks at no sentence before it; here it only settles ties, so
        that one triple placed too far down cannot misplace those that follow.

    Raises
    ------
    InputError
        If there is no sentence.
    """
    if not said:
        raise InputError("There is no sentence to look in.", "Pass at least one.")
    return _located(relation, tail, [_folded(sentence) for sentence in said], start)[0]


def ground(
    title: str, text: str, triples: Iterable[Pieces], *, shown: int | None = None
) -> tuple[Found, ...]:
    """Keep the triples that a passage bears out: repair their heads and find their sentences.

    Parameters
    ----------
    title, text
        The passage.
    triples
        As `parse` gives them.
    shown
        Only sentences that begin within so many characters are looked in; all by default.

    Returns
    -------
    tuple of Found
        In order, without repetitions. A triple is left out if neither its head nor its tail has a content
        word in common with title and text, be it made up, copied from an example or from the instructions; if
        its head has none and there is no title to take its place; or if no word of its relation and tail is
        in any sentence, so that none can be cited for it.
    """
    spans = [span for span in sentences(text) if shown is None or span.start < shown]
    said, passage = [_folded(span.text) for span in spans], _folded(f"{title} {text}")
    words = frozenset(map(stem, _TOKEN.findall(passage)))
    kept: dict[Pieces, Found] = {}
    start = 0
    for head, relation, tail in triples:
        names_something = _shares(head, words, passage)
        if not said or not (names_something or (_shares(tail, words, passage) and title.strip())):
            continue
        place, n_words = _located(relation, tail, said, start)
        if not n_words:
            continue
        start = place if place == start + 1 else start
        found = Found(repair_head(head, title, text), relation, tail, spans[place].start, spans[place].end)
        kept.setdefault(_key(found.head, relation, tail), found)
    return tuple(kept.values())


def _plain(text: str) -> str:
    """Undo HTML escapes and full-width or escaped signs."""
    text = _ENTITY.sub(lambda match: _ENTITIES[match.group(1)], text)
    return text.translate(_WIDE).replace("\\<", "<").replace("\\>", ">")


def _bracketed(text: str) -> Iterator[Sequence[str]]:
    for match in _BRACKETED.finditer(text):
        inside, closing = match.groups()
        if not closing:
            inside, line_break, _ = inside.partition("\n")
            if not line_break:
                continue
        yield inside.rsplit(";", 2)


def _from_json(text: str) -> Iterator[Sequence[str]]:
    """Read every innermost object, so that a list that was cut gives what is whole of it."""
    opened, quoted = -1, False
    for mark in _JSON_MARK.finditer(text):
        sign = mark.group()
        if sign == "\n":
            quoted = False  # no JSON string runs over a line, so this mends a stray quotation mark
        elif sign == '"':
            quoted = not quoted
        elif sign == "{" and not quoted:
            opened = mark.start()
        elif sign == "}" and not quoted and opened >= 0:
            yield _object(text[opened : mark.end()])
            opened = -1


def _object(text: str) -> Sequence[str]:
    """The pieces of one JSON object; none if it is something else."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return ()
    fields = {str(key).lower(): item for key, item in value.items()}
    pieces = [next((fields[key] for key in keys if key in fields), None) for keys in _KEYS]
    return [piece for piece in pieces if isinstance(piece, str)]


def _distinct(found: Iterable[Sequence[str]]) -> list[Pieces]:
    """Tidy the pieces, skip what is not three of them, and take each triple once."""
    kept: dict[Pieces, Pieces] = {}
    for pieces in found:
        tidied = [_tidy(piece) for piece in pieces]
        if len(tidied) != 3 or not all(0 < len(piece) <= _MAX_PIECE for piece in tidied):
            continue
        head, relation, tail = tidied
        kept.setdefault(_key(head, relation, tail), (head, relation, tail))
        if len(kept) == MAX_TRIPLES:
            break
    return list(kept.values())


def _tidy(piece: str) -> str:
    """One line without quotation marks around, control characters, or the half characters no store takes."""
    piece = " ".join(_UNPRINTABLE.sub(" ", piece).split())
    if len(piece) > 1 and _QUOTES.get(piece[0]) == piece[-1]:
        piece = piece[1:-1].strip()
    return piece


def _key(head: str, relation: str, tail: str) -> Pieces:
    return _folded(head), _folded(relation), _folded(tail)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _located(relation: str, tail: str, said: Sequence[str], start: int) -> tuple[int, int]:
    """Place of the sentence and number of words in it, see `locate`; ``said`` is folded."""
    stripped = (word.strip(_EDGES) for word in _folded(f"{relation} {tail}").split())
    words = [word for word in stripped if word]
    phrase = _folded(tail).strip(_EDGES)
    counts = [sum(word in sentence for word in words) for sentence in said]
    place = max(range(len(said)), key=lambda i: (counts[i], phrase in said[i], i >= start, -i))
    return place, counts[place]


def _shares(piece: str, words: frozenset[str], passage: str) -> bool:
    """Whether a content word of the piece is a word of the passage; within a run where no spaces are set."""
    return any(
        stem(token) in words or (not token.isascii() and token in passage)
        for token in _TOKEN.findall(_folded(piece))
        if token not in STOPWORDS
    )
