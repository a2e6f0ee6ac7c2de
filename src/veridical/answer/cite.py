"""Read an answer's citations, and check each one in code: known marker, text really there (decision 11)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from veridical.answer.context import Context, ContextEntry
from veridical.answer.words import covered, find_quote, words
from veridical.corpus.split import sentences
from veridical.types import Citation, Passage, Record, Span

ATTACH_FROM = 0.5
"""The least share of a claim's words that a sentence must hold to be attached to it in code."""

_NUMBERS = r"\d{1,6}(?:\s*[-–]\s*\d{1,6})?"
_MARKER = re.compile(
    rf"[\[【]\s*\^?(?:(?:documents?|docs?\.?|passages?)\s*)?"
    rf"({_NUMBERS}(?:\s*(?:[,;&]|\band\b)\s*{_NUMBERS})*)\s*(?:†[^\]】\n]{{0,40}})?[\]】]",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"([^"\n]{3,600})"|“([^”\n]{3,600})”|«([^»\n]{3,600})»')
_MOST_IN_RANGE = 20
_LEAST_QUOTED_WORDS = 3
_LEAST_CLAIM_WORDS = 2


@dataclass(frozen=True, slots=True)
class Cited(Record):
    """An answer as it may be shown, with the citations that hold and those that were dropped.

    ``bare`` is the answer without any markers; ``n_markers`` counts those that the model wrote.
    """

    text: str
    bare: str
    citations: tuple[Citation, ...]
    dropped: tuple[Citation, ...]
    n_markers: int


@dataclass(frozen=True, slots=True)
class _Group:
    """One ``[1, 2]``: its numbers, and where it stood in the text without markers."""

    numbers: tuple[int, ...]
    at: int
    opens_line: bool


def read_citations(text: str, context: Context, *, question: str = "") -> Cited:
    """Find the markers of an answer, tie each to a sentence of its passage, and drop what fails.

    Parameters
    ----------
    text
        What the model wrote. It may mark with ``[1]``, ``[1, 2]``, ``[1-3]``, ``[1][3]``, ``【1】`` or
        ``[document 1]``.
    context
        What the model was shown.
    question
        Chooses the sentence for claims without words of their own ("Yes [1].").

    Returns
    -------
    Cited
        ``text`` with the markers of dropped citations removed and the others written ``[1, 2]``. A marker
        is tied to the words the model quoted, if any, else to the passage's sentence that shares most with
        the claim. It is dropped if no such passage was shown, if a quotation of three words or more is not
        in it, or if it shares no word with a claim that has words to share.
    """
    clean, groups = _take_out(text)
    places = sentences(clean)
    kept: dict[Citation, None] = {}
    dropped: dict[Citation, None] = {}
    markers: list[list[int]] = []
    for group, claim in zip(groups, _claims(clean, groups, places), strict=True):
        valid: list[int] = []
        for number, citation in _judge(group.numbers, claim, context, question):
            (kept if citation.valid else dropped).setdefault(citation)
            if citation.valid and number not in valid:
                valid.append(number)
        markers.append(valid)
    n_markers = sum(len(group.numbers) for group in groups)
    return Cited(_put_back(clean, groups, markers), clean.strip(), tuple(kept), tuple(dropped), n_markers)


def attach_citations(text: str, context: Context, *, question: str = "") -> Cited:
    """Find, in code, the sentences that an answer without markers leans on, and add their markers.

    Every sentence of the answer gets the passage sentence that holds most of its words (at least
    ``ATTACH_FROM`` of them, and then those of the question). Near ties go to the more trusted document.
    Sentences that nothing holds get no marker.
    """
    places = sentences(text)
    asked = set(words(question))
    kept: dict[Citation, None] = {}
    groups, markers = [], []
    for place in places:
        found = _supporter(place.text, context, asked)
        if found is None:
            continue
        entry, sentence = found
        kept.setdefault(_citation(entry, sentence.start, sentence.end))
        end = place.end
        while end > place.start + 1 and text[end - 1] in ".!?。":
            end -= 1
        groups.append(_Group((entry.marker,), end, False))
        markers.append([entry.marker])
    return Cited(_put_back(text, groups, markers), text.strip(), tuple(kept), (), 0)


def check(citation: Citation, passages: Mapping[int, Passage]) -> str | None:
    """Say what is wrong with a citation, or ``None`` if it holds.

    Parameters
    ----------
    citation
        With ``start`` and ``end`` as offsets into the document.
    passages
        The passages that were in the context, by id.
    """
    passage = passages.get(citation.passage_id) if citation.passage_id is not None else None
    if passage is None:
        return "no such passage was in the context"
    if citation.document_id != passage.document_id:
        return "the passage belongs to another document"
    if citation.start is None or citation.end is None or not citation.quote:
        return "it quotes nothing"
    if not passage.start <= citation.start < citation.end <= passage.end:
        return "the place lies outside the passage"
    if passage.text[citation.start - passage.start : citation.end - passage.start] != citation.quote:
        return "the quoted text is not at that place"
    return None


def cite_sentence(entry_marker: int, passage: Passage, sentence: Span) -> Citation:
    """Cite a sentence, given with offsets into ``passage.text``; it is checked like the rest."""
    start = passage.start + sentence.start
    citation = Citation(
        f"[{entry_marker}]",
        passage.document_id,
        passage.id,
        sentence.text,
        start,
        start + len(sentence.text),
        True,
    )
    return _checked(citation, passage)


def _checked(citation: Citation, passage: Passage) -> Citation:
    problem = check(citation, {passage.id: passage})
    if problem is None:
        return citation
    return _failed(citation.marker, problem, citation.document_id, citation.passage_id, citation.quote)


def _citation(entry: ContextEntry, start: int, end: int) -> Citation:
    return cite_sentence(entry.marker, entry.passage, Span(entry.passage.text[start:end], start, end))


def _failed(
    marker: str, problem: str, document_id: int | None = None, passage_id: int | None = None, quote: str = ""
) -> Citation:
    return Citation(marker, document_id, passage_id, quote, None, None, False, problem)


def _take_out(text: str) -> tuple[str, list[_Group]]:
    """Return the text without markers, and the markers with their places in it."""
    pieces: list[str] = []
    groups: list[_Group] = []
    length = last = 0
    for match in _MARKER.finditer(text):
        piece = text[last : match.start()]
        opens = not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" \t-*•")
        piece = piece if opens else piece.rstrip(" \t")
        pieces.append(piece)
        length += len(piece)
        groups.append(_Group(tuple(_numbers(match.group(1))), length, opens))
        last = match.end()
    pieces.append(text[last:])
    return "".join(pieces), groups


def _numbers(listed: str) -> Iterable[int]:
    seen: dict[int, None] = {}
    for match in re.finditer(_NUMBERS, listed):
        low, *rest = (int(number) for number in re.findall(r"\d+", match.group()))
        high = rest[0] if rest else low
        inside = range(low, high + 1) if low <= high <= low + _MOST_IN_RANGE else (low, high)
        seen.update(dict.fromkeys(inside))
    return seen


def _claims(clean: str, groups: Sequence[_Group], places: Sequence[Span]) -> list[str]:
    """The words that each group of markers vouches for: back to the last marker of its sentence."""
    claims: list[str] = []
    last = 0
    for group in groups:
        sentence = _sentence_of(group, clean, places)
        if sentence is None:
            claims.append("")
            continue
        claim = clean[max(sentence.start, last) : min(group.at, sentence.end)]
        long_enough = len(words(claim)) >= _LEAST_CLAIM_WORDS
        claims.append(claim if long_enough else sentence.text)
        last = group.at if long_enough else last
    return claims


def _sentence_of(group: _Group, clean: str, places: Sequence[Span]) -> Span | None:
    after = [place for place in places if place.start >= group.at]
    before = [place for place in places if place.start < group.at]
    follows = group.opens_line and after and "\n" not in clean[group.at : after[0].start]
    if before and not follows:
        return before[-1]
    return after[0] if after else None


def _judge(
    numbers: Sequence[int], claim: str, context: Context, question: str
) -> Iterable[tuple[int, Citation]]:
    quotes = [next(filter(None, groups)) for groups in _QUOTED.findall(claim)]
    long_quotes = [quote for quote in quotes if len(words(quote)) >= _LEAST_QUOTED_WORDS]
    entries = {number: context.entry(number) for number in numbers}
    found = {
        number: place
        for number, entry in entries.items()
        if entry is not None and (place := _first_quote(long_quotes, entry)) is not None
    }
    for number in numbers:
        entry = entries[number]
        if entry is None:
            problem = f"no passage [{number}] was in the context"
            yield number, _failed(f"[{number}]", problem, quote=" ".join(claim.split()))
        elif number in found:
            yield number, _citation(entry, *found[number])
        elif long_quotes and not found:
            problem = "the quoted text is not in the passage"
            yield (
                number,
                _failed(f"[{number}]", problem, entry.document.id, entry.passage.id, quote=long_quotes[0]),
            )
        else:
            yield number, _by_overlap(entry, claim, question)


def _first_quote(quotes: Sequence[str], entry: ContextEntry) -> tuple[int, int] | None:
    for quote in quotes:
        place = find_quote(quote, entry.passage.text)
        if place is not None:
            return place
    return None


def _by_overlap(entry: ContextEntry, claim: str, question: str) -> Citation:
    claimed, asked = set(words(claim)), set(words(question))
    best = max(
        _shown_sentences(entry),
        key=lambda s: (covered(claimed, s[1]), covered(asked, s[1]), -len(s[1])),
        default=None,
    )
    if best is not None and (not claimed or covered(claimed, best[1]) > 0):
        return _citation(entry, best[0].start, best[0].end)
    problem = "the passage shares no word with the claim"
    quote = " ".join(claim.split())
    return _failed(f"[{entry.marker}]", problem, entry.document.id, entry.passage.id, quote)


def _shown_sentences(entry: ContextEntry) -> list[tuple[Span, frozenset[str]]]:
    """The sentences that the model saw the beginning of, with their words."""
    return [item for item in _sentence_words(entry.passage.text) if entry.shows(item[0].start)]


@functools.lru_cache(maxsize=128)
def _sentence_words(text: str) -> tuple[tuple[Span, frozenset[str]], ...]:
    return tuple((span, frozenset(words(span.text))) for span in sentences(text))


def _supporter(claim: str, context: Context, asked: set[str]) -> tuple[ContextEntry, Span] | None:
    claimed = set(words(claim)) or set(claim.casefold().split())
    # A word of the question is no evidence that this answer to it is right.
    telling = claimed - asked or claimed
    found: list[tuple[float, float, int, ContextEntry, Span]] = []
    for entry in context.entries:
        for span, held in _shown_sentences(entry):
            share = covered(telling, held)
            if share >= ATTACH_FROM:
                fit = share + 0.5 * covered(asked, held) + 0.25 * covered(claimed, held)
                trust = 0.5 if entry.trust is None else entry.trust
                found.append((round(fit, 1), trust, -entry.marker, entry, span))
    if not found:
        return None
    best = max(found, key=lambda item: (item[0], item[1], item[2], -item[4].start))
    return best[3], best[4]


def _put_back(clean: str, groups: Sequence[_Group], markers: Sequence[Sequence[int]]) -> str:
    """Write the valid markers back to their places, each with one space before it."""
    pieces: list[str] = []
    last = 0
    for group, numbers in zip(groups, markers, strict=True):
        pieces.append(clean[last : group.at])
        last = group.at
        if numbers:
            before = "" if not pieces[-1] or pieces[-1][-1].isspace() or group.opens_line else " "
            pieces.append(f"{before}[{', '.join(map(str, numbers))}]")
    pieces.append(clean[last:])
    return "".join(pieces).strip()
