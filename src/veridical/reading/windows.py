"""From the logits of a span model to answers: windows of long passages, probabilities, and the best spans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.reading.base import MAX_ANSWERS, NOTHING, ReadAnswer, Reading

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_LEAST = 0.01
_CLOSING = ",;:!?"


@dataclass(frozen=True, slots=True)
class Window:
    """A run of one passage's tokens, as a model is given it together with the question.

    Attributes
    ----------
    pair
        Number of the (question, passage) pair.
    ids, type_ids
        Token ids and segments, special tokens included.
    tokens
        Where the passage's tokens stand in ``ids``.
    starts, ends
        Character offsets of those tokens in the passage.
    opens, closes
        Whether a word begins or ends with the token.
    """

    pair: int
    ids: Sequence[int]
    type_ids: Sequence[int]
    tokens: IntArray
    starts: IntArray
    ends: IntArray
    opens: npt.NDArray[np.bool_]
    closes: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How logits become probabilities: fitted constants, and the longest span in tokens."""

    temperature: float = 1.0
    null_bias: float = 0.0
    max_span: int = 32


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of one passage by character offsets, each with its log-odds against "no answer"."""

    starts: IntArray
    ends: IntArray
    log_odds: FloatArray


def windows_of(pair: int, encoding: Any, passage: str) -> list[Window]:
    """Turn what a tokenizer made of (question, passage), overflowing parts included, into windows."""
    found = []
    for part in (encoding, *encoding.overflowing):
        tokens = [i for i, sequence in enumerate(part.sequence_ids) if sequence == 1]
        if not tokens:
            continue
        words = [part.word_ids[i] for i in tokens]
        places = [part.offsets[i] for i in tokens]
        changes = np.array([a != b or a is None for a, b in itertools.pairwise(words)], dtype=bool)
        found.append(
            Window(
                pair,
                part.ids,
                part.type_ids,
                np.array(tokens, dtype=np.int64),
                np.array([start for start, _ in places], dtype=np.int64),
                np.array([end for _, end in places], dtype=np.int64),
                np.concatenate([[not _joined(passage, places[0][0])], changes]),
                np.concatenate([changes, [not _joined(passage, places[-1][1])]]),
            )
        )
    return found


def _joined(text: str, place: int) -> bool:
    """Whether a word runs across a place, which is where a window may have cut it."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def window_spans(window: Window, start_logits: FloatArray, end_logits: FloatArray, how: Decoding) -> Spans:
    """Score all spans of whole words of one window.

    Parameters
    ----------
    start_logits, end_logits
        Shape (n_tokens_of_the_window,). The first token (``[CLS]``) stands for "no answer".

    Returns
    -------
    Spans
        ``log_odds`` is (start + end - null - null_bias) / temperature, where null is the first token's sum.
    """
    n = len(window.tokens)
    reach = min(how.max_span, n)
    nothing = start_logits[0] + end_logits[0] + how.null_bias
    begin = np.where(window.opens, start_logits[window.tokens], -np.inf)
    finish = np.where(window.closes, end_logits[window.tokens], -np.inf)
    padded = np.concatenate([finish, np.full(reach - 1, -np.inf)])
    band = begin[:, None] + np.lib.stride_tricks.sliding_window_view(padded, reach)
    first, length = np.nonzero(np.isfinite(band))
    log_odds = (band[first, length] - nothing) / how.temperature
    starts, ends = window.starts[first], window.ends[first + length]
    real = ends > starts  # a normaliser may leave tokens that stand for no character
    return Spans(starts[real], ends[real], log_odds[real])


def merge(parts: Sequence[Spans]) -> Spans:
    """Join the windows of one passage; a span that two of them saw keeps the larger log-odds."""
    if len(parts) == 1:
        return parts[0]
    starts = np.concatenate([part.starts for part in parts])
    ends = np.concatenate([part.ends for part in parts])
    log_odds = np.concatenate([part.log_odds for part in parts])
    order = np.lexsort((-log_odds, ends, starts))
    starts, ends, log_odds = starts[order], ends[order], log_odds[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
    return Spans(starts[first], ends[first], log_odds[first])


def probabilities(spans: Spans) -> tuple[FloatArray, float]:
    """Softmax over all spans and "no answer" (log-odds 0): a probability for each span, and for none."""
    top = max(0.0, float(spans.log_odds.max(initial=0.0)))
    weights = np.exp(spans.log_odds - top)
    total = float(weights.sum()) + float(np.exp(-top))
    return weights / total, float(np.exp(-top)) / total


def reading_of(passage: str, parts: Sequence[Spans], n_answers: int = MAX_ANSWERS) -> Reading:
    """Choose the answers of one passage.

    Annotators and models disagree about where an answer begins and ends far more than about where it is. So
    the first answer is the likeliest span, and it stands for all spans that overlap it: their probabilities
    are added up. The next comes from what is left. (The span with the largest expected overlap instead of the
    likeliest gains no F1 and loses five points of exact match.)

    Returns
    -------
    Reading
        Spans of at least 1% (and the first in any case), without white space or closing punctuation.
    """
    spans = merge(parts) if parts else None
    if spans is None or not len(spans.starts):
        return NOTHING
    weights, nothing = probabilities(spans)
    left = np.ones(len(weights), dtype=bool)  # not claimed by an answer so far, and overlapping none
    answers: list[ReadAnswer] = []
    while len(answers) < n_answers and left.any():
        chosen = int(np.argmax(np.where(left, weights, -1.0)))
        start, end = int(spans.starts[chosen]), int(spans.ends[chosen])
        near = left & (spans.starts < end) & (spans.ends > start)
        mass = min(1.0, float(weights[near].sum()))
        if answers and mass < _LEAST:
            break
        left &= ~near
        start, end = trimmed(passage, start, end)
        if any(char.isalnum() for char in passage[start:end]):
            answers.append(ReadAnswer(passage[start:end], start, end, mass))
    answers.sort(key=lambda answer: -answer.probability)
    return _bounded(answers, nothing)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Move the ends of a span inwards past white space, commas and a full stop (but not that of ``U.S.``)."""
    while start < end and (text[start].isspace() or text[start] in _CLOSING):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in _CLOSING):
        end -= 1
    last = text[start:end].rpartition(" ")[2]
    if last.endswith(".") and last.count(".") == 1 and end - start > 1:
        end -= 1
    return start, end


def _bounded(answers: Sequence[ReadAnswer], nothing: float) -> Reading:
    """Keep the sum at most 1 in whatever order it is taken, which rounding may have lifted by a hair."""
    total = nothing + sum(answer.probability for answer in answers)
    most = 1 - 1e-12
    if total <= most:
        return Reading(tuple(answers), nothing)
    scale = most / total
    scaled = [ReadAnswer(a.text, a.start, a.end, a.probability * scale) for a in answers]
    return Reading(tuple(scaled), nothing * scale)
