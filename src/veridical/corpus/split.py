"""Cut text into sentences and passages that know their place: ``text[start:end] == span.text``, always.

Lines are looked at first, since a heading, a list item, a table row or an empty line ends a sentence whatever
the punctuation says. What remains is running text, which ``sentencex`` cuts. It sees at most ``_CHUNK``
characters at a time and only plain white space, as it is quadratic in unclosed quotation marks and stops
at some Unicode spaces, and a hostile document may hold either.

A *word* here is a run of at most 40 characters without white space, or one Chinese, Japanese or Korean
character, so that limits in words hold for text without spaces, too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from veridical.errors import InputError
from veridical.types import Span

MAX_SENTENCE_WORDS = 200
DEFAULT_PASSAGE_WORDS = 120

_CHUNK = 4000
_MAX_WORD = 40
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]|[^\s{_CJK}]{{1,{_MAX_WORD}}}")
_ODD = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\xa0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_LIST_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪·–—]\s+|\d{1,3}[.)]\s+|[a-zA-Z]\)\s+|\(\w{1,3}\)\s+)\S")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_RULE = re.compile(r"\s*([=\-_*~`#])\1{2,}")

_ENUMERATOR = re.compile(r"[-*+•]?\s*\(?\d{1,3}[.)]\Z")
_BEFORE_NUMBER = re.compile(
    r"(?:^|[\s(])(?:approx|eqs?|figs?|secs?|ch|chap|vols?|nos?|arts?|pp?|vs|ca?|max|min|ver|temp|tel|ext)\.\Z",
    re.I,
)
_BEFORE_LOWER = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Z]|var|subsp|spp?|lbs?|oz|LLC|Inc|Ltd|Corp|Co|Jr|Sr|dept|est|approx|etc|cf|vs)\.\Z"
)
_SENTENCE_END = re.compile(r"[.!?。！？…]+[\"'”’)\]]*(?=\s|\Z)|(?<=[。！？])")
_HAND_BROKEN_WIDTH = 120

Place = tuple[int, int]


def n_words(text: str) -> int:
    """Count words as the limits of this module do (see the module's docstring)."""
    return sum(1 for _ in _WORD.finditer(text))


def is_heading(text: str) -> bool:
    """Whether a sentence, as `sentences` cuts it, reads like a heading: a few words without end or value.

    At most 7 words, no full stop, question mark or the like at the end, no digit and no colon in it.
    """
    bare = text.rstrip("\"'”’)]* ")
    ends = bare.endswith((".", "!", "?", "…", "。", "！", "？", ";"))
    return not ends and n_words(text) < 8 and not any(char.isdigit() or char == ":" for char in text)


def sentences(text: str) -> list[Span]:
    """Cut ``text`` into sentences.

    Parameters
    ----------
    text
        Any text. Headings, list items, table rows and empty lines end a sentence; single line breaks inside
        a paragraph do not, unless they were plainly made by hand.

    Returns
    -------
    list of Span
        In order, without overlap, without white space at either end, together covering every character
        of ``text`` that is not white space. Offsets are in characters. None has more than
        ``MAX_SENTENCE_WORDS`` words: a longer one is cut between words.
    """
    shadow = _SURROGATE.sub("?", _ODD.sub(" ", text))
    places: list[Place] = []
    for start, end in _blocks(text):
        pieces = (piece for chunk in _chunks(shadow, start, end) for piece in _segment(shadow, *chunk))
        stripped = (place for piece in pieces if (place := _strip(text, *piece)))
        for place in _rejoin(text, stripped):
            places.extend(_cut(text, place, MAX_SENTENCE_WORDS))
    return [Span(text[a:b], a, b) for a, b in places]


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Characters of the sentence of ``text`` that holds [start, end), of several where it runs across."""
    over = [place for place in _sentence_places(text) if place[0] < end and place[1] > start]
    return (min(start, over[0][0]), max(end, over[-1][1])) if over else (start, end)


@lru_cache(maxsize=4096)
def _sentence_places(text: str) -> tuple[Place, ...]:
    return tuple((span.start, span.end) for span in sentences(text))


def passages(text: str, *, n_words: int = DEFAULT_PASSAGE_WORDS) -> list[Span]:
    """Cut ``text`` into passages of whole sentences, about ``n_words`` words each.

    Parameters
    ----------
    text
        Any text; empty or blank text has no passages.
    n_words
        Size aimed at, at least 1. Sentences are added while they fit. A tail shorter than a quarter of this
        is joined to the passage before it, and only a sentence of more than twice this is cut.

    Returns
    -------
    list of Span
        In order, without overlap, covering every character that is not white space;
        ``text[span.start:span.end] == span.text``.

    Raises
    ------
    InputError
        If ``n_words`` is below 1.
    """
    if n_words < 1:
        raise InputError(f"n_words must be at least 1, got {n_words}.")
    units = [
        place
        for sentence in sentences(text)
        for place in _cut(text, (sentence.start, sentence.end), n_words, tolerance=2)
    ]
    return [Span(text[a:b], a, b) for a, b in _pack(text, units, n_words)]


def _pack(text: str, units: Sequence[Place], limit: int) -> list[Place]:
    """Join neighbouring units greedily up to ``limit`` words; a short tail goes to its predecessor."""
    least = limit / 4
    packed: list[tuple[int, int, int]] = []  # start, end, words
    for start, end in units:
        size = n_words(text[start:end])
        if packed and (packed[-1][2] + size <= limit or packed[-1][2] < least):
            first, _, total = packed[-1]
            packed[-1] = (first, end, total + size)
        else:
            packed.append((start, end, size))
    if len(packed) > 1 and packed[-1][2] < least:
        _, end, _ = packed.pop()
        packed[-1] = (packed[-1][0], end, 0)
    return [(start, end) for start, end, _ in packed]


def _blocks(text: str) -> Iterator[Place]:
    """Yield stretches of running text: what no line says is the end of a sentence."""
    paragraph: list[Place] = []
    position = 0
    for line in text.splitlines(keepends=True):
        if line.isspace():
            yield from _paragraph_blocks(text, paragraph)
            paragraph = []
        else:
            paragraph.append((position, position + len(line)))
        position += len(line)
    yield from _paragraph_blocks(text, paragraph)


def _paragraph_blocks(text: str, lines: Sequence[Place]) -> Iterator[Place]:
    if not lines:
        return
    start = lines[0][0]
    width = max(len(text[a:b].rstrip()) for a, b in lines)
    for (a, b), (c, d) in itertools.pairwise(lines):
        if _breaks(text[a:b].rstrip(), text[c:d].rstrip(), width):
            yield start, b
            start = c
    yield start, lines[-1][1]


def _breaks(line: str, following: str, width: int) -> bool:
    """Whether the end of ``line`` is the end of a sentence, although it may have no full stop."""
    if _stands_alone(line) or _stands_alone(following) or _LIST_ITEM.match(following):
        return True
    first = following.split(maxsplit=1)[0]
    if first[0].islower() or line[-1] in ",;-–—(&/":
        return False
    # A break made by a wrapping editor comes where the next word would not have fitted.
    return width > _HAND_BROKEN_WIDTH or len(line) + 1 + len(first) <= 0.8 * width


def _stands_alone(line: str) -> bool:
    """Whether a line is a heading, a table row or a rule."""
    if _HEADING.match(line) or _RULE.match(line):
        return True
    return " | " in line or line.lstrip().startswith("|")


def _chunks(text: str, start: int, end: int) -> Iterator[Place]:
    """Cut a block into chunks that are small enough to segment, at white space where there is any."""
    while end - start > _CHUNK:
        space = text.rfind(" ", start + _CHUNK // 2, start + _CHUNK)
        middle = space + 1 if space >= 0 else start + _CHUNK
        yield start, middle
        start = middle
    yield start, end


def _segment(shadow: str, start: int, end: int) -> Iterator[Place]:
    """Yield the sentences of running text, white space included."""
    block = shadow[start:end]
    pieces = _sentencex(block)
    if pieces is None:
        ends = [match.end() for match in _SENTENCE_END.finditer(block)]
        yield from _between(start, [start + e for e in ends], end)
        return
    position = start
    for piece in pieces:
        yield position, position + len(piece)
        position += len(piece)


def _sentencex(block: str) -> list[str] | None:
    """Segment with ``sentencex``; None where it fails or does not give back what it was given."""
    import sentencex

    try:
        pieces = list(sentencex.segment("en", block))
    except BaseException as error:  # its panics are not derived from Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)):
            raise
        return None
    return pieces if "".join(pieces) == block else None


def _between(start: int, cuts: Sequence[int], end: int) -> Iterator[Place]:
    for cut in cuts:
        if start < cut < end:
            yield start, cut
            start = cut
    yield start, end


def _strip(text: str, start: int, end: int) -> Place | None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    return (start + left, start + right) if left < right else None


def _rejoin(text: str, places: Iterator[Place]) -> Iterator[Place]:
    """Undo cuts after list numbers, after abbreviations (by what follows), and before mere punctuation."""
    held: Place | None = None
    for place in places:
        if held is None:
            held = place
        elif _belong_together(text[held[0] : held[1]], text[place[0] : place[1]]):
            held = (held[0], place[1])
        else:
            yield held
            held = place
    if held is not None:
        yield held


def _belong_together(left: str, right: str) -> bool:
    if _ENUMERATOR.fullmatch(left) or not any(c.isalnum() for c in right):
        return True
    if right[0].isdigit():
        return _BEFORE_NUMBER.search(left) is not None
    return right[0].islower() and _BEFORE_LOWER.search(left) is not None


def _cut(text: str, place: Place, limit: int, *, tolerance: int = 1) -> list[Place]:
    """Cut a stretch of more than ``tolerance * limit`` words into even parts of at most ``limit`` words."""
    start, end = place
    words = [match.start() for match in _WORD.finditer(text, start, end)]
    if len(words) <= tolerance * limit:
        return [place]
    n_parts = -(-len(words) // limit)
    cuts = [_to_space(text, words[i * len(words) // n_parts], start) for i in range(1, n_parts)]
    parts = (_strip(text, a, b) for a, b in _between(start, cuts, end))
    return [part for part in parts if part]


def _to_space(text: str, cut: int, start: int) -> int:
    """Move a cut inside a long token, such as a URL, to the token's beginning, unless that is far away."""
    for i in range(cut, max(start, cut - 4 * _MAX_WORD), -1):
        if text[i - 1].isspace():
            return i
        if re.match(f"[{_CJK}]", text[i - 1]):
            return cut
    return cut
