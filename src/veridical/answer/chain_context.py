"""Put chains of triples into a context: the triples themselves (TBS), or the passages behind them (SBS).

ReliableRAG, section "context construction". Either way each line knows the triples behind it, and so the
sentence and the document of each, by which an answer can be cited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from veridical.answer.context import DEFAULT_BUDGET_TOKENS, escape, token_quarters
from veridical.answer.words import words
from veridical.corpus.split import sentence_around, sentences
from veridical.errors import InputError
from veridical.types import Chain, Passage, Record, Span, Trace, Triple

ContextKind = Literal["tbs", "sbs"]
KINDS: tuple[ContextKind, ...] = ("tbs", "sbs")

_LEAST_CHARS = 120  # of a passage that has to be cut; less of it says nothing
_YES_OR_NO = {"yes", "no"}
_EDGES = " .,;:!?\"'“”"

Finds = Callable[[str], tuple[int, int] | None]
"""Says where a text holds something, if it does."""


@dataclass(frozen=True, slots=True)
class ContextLine(Record):
    """One line, numbered from 1: its text, as yet not escaped, and the triples behind it, first seen first.

    ``passage`` is the passage that the line shows; ``None`` where it shows a triple.
    """

    number: int
    text: str
    triples: tuple[Triple, ...]
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class ChainContext(Record):
    """The lines that an answer is made from, most telling first; none where the chains hold no triple.

    ``first_chain`` holds the triples of the most confident chain that has any.
    """

    kind: ContextKind
    lines: tuple[ContextLine, ...]
    first_chain: tuple[Triple, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The lines as they stand in a prompt: numbered, escaped, one a line."""
        return "\n".join(f"{line.number}. {escape(line.text).strip()}" for line in self.lines)


@dataclass(frozen=True, slots=True)
class Place(Record):
    """A sentence of a passage that an answer leans on; the span has offsets into the document."""

    passage_id: int
    sentence: Span


def triple_context(trace: Trace, *, budget_tokens: int = DEFAULT_BUDGET_TOKENS) -> ChainContext:
    """Write down the triples of the chains, chain by chain, each once (TBS).

    A triple is written ``head relation tail``. Those that differ in case or white space alone are one.

    Parameters
    ----------
    trace
        Its chains are used as they are, most confident first.
    budget_tokens
        About how many tokens the lines may take; those of the least confident chains are left out.

    Raises
    ------
    InputError
        If the budget is below 1.
    """
    _check(budget_tokens)
    distinct: dict[str, Triple] = {}
    for triple in _occurrences(trace, trace.chains):
        distinct.setdefault(spoken(triple).casefold(), triple)
    budget, lines = 4 * budget_tokens, list[ContextLine]()
    for triple in distinct.values():
        text = spoken(triple)
        budget -= token_quarters(f"{len(lines) + 1}. {text}\n")
        if lines and budget < 0:
            break
        lines.append(ContextLine(len(lines) + 1, text, (triple,)))
    return ChainContext("tbs", tuple(lines), _first(trace), _left_out(len(distinct) - len(lines), "triple"))


def source_context(
    trace: Trace,
    passages: Mapping[int, tuple[str, Passage]],
    *,
    budget_tokens: int = DEFAULT_BUDGET_TOKENS,
) -> ChainContext:
    """Write down the passages that the chains were taken from, those that most triples vote for first (SBS).

    Parameters
    ----------
    trace
        Its chains are used as they are; see `passage_votes`.
    passages
        Passage id to its document's title and the passage; others are left out.
    budget_tokens
        About how many tokens the lines may take. A passage is cut where the budget ends, and left out where
        hardly anything of it would stay; the first one always stays.

    Raises
    ------
    InputError
        If the budget is below 1.
    """
    _check(budget_tokens)
    behind: dict[int, dict[int, Triple]] = {}
    for triple in _occurrences(trace, trace.chains):
        behind.setdefault(triple.passage_id, {}).setdefault(triple.id, triple)
    voted = [i for i in passage_votes(trace) if i in passages]
    budget, lines = 4 * budget_tokens, list[ContextLine]()
    for passage_id in voted:
        title, passage = passages[passage_id]
        before = f"{' '.join(title.split())}, " if title.strip() else ""
        room = budget - token_quarters(f"{len(lines) + 1}. {before}\n")
        shown = _cut(passage.text, room)
        if len(shown) < len(passage.text) and lines and len(shown) < _LEAST_CHARS:
            break
        lines.append(ContextLine(len(lines) + 1, before + shown, tuple(behind[passage_id].values()), passage))
        budget = room - token_quarters(shown)
        if len(shown) < len(passage.text):
            break
    return ChainContext("sbs", tuple(lines), _first(trace), _left_out(len(voted) - len(lines), "passage"))


def passage_votes(trace: Trace) -> dict[int, int]:
    """Count how often each passage is behind a triple of the chains, most often first.

    Every occurrence of a triple is a vote, also where chains share it. Of equals the one seen first is first.
    """
    votes: dict[int, int] = {}
    for triple in _occurrences(trace, trace.chains):
        votes[triple.passage_id] = votes.get(triple.passage_id, 0) + 1
    return dict(sorted(votes.items(), key=lambda item: -item[1]))


def places_behind(answer: str, context: ChainContext, *, most: int = 3) -> tuple[list[Place], bool]:
    """Find the sentences that an answer leans on, those of the first lines first, and whether they say it.

    They are those of the lines that hold the answer word for word (case and white space aside), else those
    of the lines that hold all its content words: of a triple its sentence, of a passage the sentence in it.
    A triple's tail alone says nothing: words that only the tail has have to be in the sentence as well.
    Where no line does, they are those of the most confident chain.

    Parameters
    ----------
    answer
        What was answered.
    context
        What it was answered from.
    most
        The most sentences of lines that hold the answer; a chain is always given as a whole.

    Returns
    -------
    (places, said)
        ``said`` is false where no line holds the answer. Of *yes* and *no*, which no line could hold, it is
        true, and the places are those of the chain.
    """
    chain = list(dict.fromkeys(Place(t.passage_id, t.sentence) for t in context.first_chain))
    if answer.strip(_EDGES).casefold() in _YES_OR_NO:
        return chain, bool(chain)
    wanted = frozenset(words(answer))
    for holds in (_verbatim(answer), _by_words(answer)):
        found = (
            [] if holds is None else [p for line in context.lines for p in _places_in(line, holds, wanted)]
        )
        if found:
            return list(dict.fromkeys(found))[:most], True
    return chain, False


def spoken(triple: Triple) -> str:
    """Write a triple without separators, on one line: ``head relation tail``."""
    return " ".join(f"{triple.head} {triple.relation} {triple.tail}".split())


def _check(budget_tokens: int) -> None:
    if budget_tokens < 1:
        raise InputError("A context without room was asked for.", "Pass a limit of 1 or more.")


def _occurrences(trace: Trace, chains: Sequence[Chain]) -> list[Triple]:
    """The triples of chains, with repetitions."""
    known = {triple.id: triple for triple in trace.triples}
    return [known[i] for chain in chains for i in chain.triples]


def _first(trace: Trace) -> tuple[Triple, ...]:
    chain = next((chain for chain in trace.chains if chain.triples), None)
    return () if chain is None else tuple(_occurrences(trace, [chain]))


def _left_out(n: int, what: str) -> tuple[str, ...]:
    return (f"{n} {what}{'s' * (n != 1)} of the chains did not fit into the context",) if n else ()


def _cut(text: str, quarters: int) -> str:
    """As much of a text as fits, never nothing."""
    if token_quarters(text) <= quarters:
        return text
    length = 0
    for length, char in enumerate(text, 1):  # noqa: B007 - the last one is what is wanted
        quarters -= token_quarters(char)
        if quarters < 0:
            break
    return text[: max(1, length - 1)]


def _verbatim(answer: str) -> Finds | None:
    """Finds an answer between word boundaries, also where it begins or ends with a sign."""
    pieces = answer.strip(_EDGES).split()
    if not pieces:
        return None
    inside = r"\s+".join(map(re.escape, pieces))
    pattern = re.compile(rf"(?<!\w){inside}(?!\w)", re.IGNORECASE)

    def find(text: str) -> tuple[int, int] | None:
        match = pattern.search(text)
        return None if match is None else match.span()

    return find


def _by_words(answer: str) -> Finds | None:
    """Finds the sentence that holds every content word of an answer."""
    wanted = set(words(answer))
    if not wanted:
        return None

    def find(text: str) -> tuple[int, int] | None:
        for place in sentences(text):
            if wanted <= set(words(place.text)):
                return place.start, place.end
        return None

    return find


def _places_in(line: ContextLine, find: Finds, wanted: frozenset[str]) -> list[Place]:
    if line.passage is None:
        borne_out = [
            t for t in line.triples if wanted <= set(words(f"{t.head} {t.relation} {t.sentence.text}"))
        ]
        return [Place(t.passage_id, t.sentence) for t in borne_out] if find(line.text) else []
    passage = line.passage
    place = find(passage.text)
    if place is None:
        return []
    own = [t.sentence for t in line.triples if find(t.sentence.text)]
    if own:
        return [Place(passage.id, own[0])]
    start, end = sentence_around(passage.text, *place)
    return [Place(passage.id, Span(passage.text[start:end], passage.start + start, passage.start + end))]
