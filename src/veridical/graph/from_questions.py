"""Relations from questions: passages that are asked the same question agree or clash by what they answer.

Each question of the log has a pool, the passages nearest to it. They are read one by one, and those of
different documents are compared. Everything here is a function of one question and the passages of its pool,
so a change of the corpus touches only the pools that it changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations

import numpy as np
import numpy.typing as npt

from veridical.index.dense import top_rows
from veridical.reading.base import ReadAnswer, Reading
from veridical.reading.compare import COMPARE_VERSION, compare_readings
from veridical.stores.questions import LEAST_SAID, QuestionPair
from veridical.stores.readings import StoredReading

POOL_SIZE = 10
"""How many passages, those with the largest cosines, are asked a question."""
MIN_SIMILARITY = 0.3
"""What is further from a question than this cosine is not asked."""
VERSION = f"{COMPARE_VERSION}/2"
"""Changes whenever the same readings may give other pairs."""
_BLOCK_CELLS = 16_000_000  # cosines held at a time: 128 MB
_BLOCK_ROWS = 20_000  # passages turned into doubles at a time: 61 MB

Float32Array = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Pools = dict[int, dict[int, float]]


def update_pools(
    question_ids: IntArray,
    question_vectors: Float32Array,
    passage_ids: IntArray,
    vectors: Float32Array,
    known: Mapping[int, Mapping[int, float]],
    *,
    up_to: int,
    size: int = POOL_SIZE,
) -> Pools:
    """Bring the pool of every question up to date.

    Exact: the pools are those of a computation from scratch. Only questions that are new, or that lost a
    passage, are compared with all passages; the others only with passages that are new.

    Parameters
    ----------
    question_ids, question_vectors
        Shape (q,), ascending, and unit rows of shape (q, d).
    passage_ids, vectors
        Shape (p,), ascending, and unit rows of shape (p, d).
    known
        Pools as they stand, without passages that have gone.
    up_to
        The largest passage id that the pools have seen. Ids are never used twice.
    size
        Passages in a pool; fewer only where there are fewer. Equal cosines go by lower id.

    Returns
    -------
    dict
        The pools that changed, whole: question id to {passage id: cosine, rounded to 6 places}.
    """
    expected = min(size, len(passage_ids))
    short = np.array([len(known.get(int(i), ())) < expected for i in question_ids], dtype=bool)
    changed: Pools = {}
    block = max(1, _BLOCK_CELLS // max(1, len(passage_ids)))
    redo = np.flatnonzero(short)
    for begin in range(0, len(redo), block):
        rows = redo[begin : begin + block]
        for row, line in zip(rows, _cosines(question_vectors[rows], vectors), strict=True):
            best = top_rows(line, expected)
            changed[int(question_ids[row])] = {int(passage_ids[j]): float(line[j]) for j in best}
    new = np.flatnonzero(passage_ids > up_to)
    rest = np.flatnonzero(~short)
    if not len(new) or not len(rest):
        return changed
    weakest = np.array([min(known[int(question_ids[row])].values()) for row in rest])
    block = max(1, _BLOCK_CELLS // len(new))
    for begin in range(0, len(rest), block):
        rows = rest[begin : begin + block]
        cosines = _cosines(question_vectors[rows], vectors[new])
        for k, j in zip(*np.nonzero(cosines > weakest[begin : begin + block, None]), strict=True):
            question = int(question_ids[rows[k]])
            pool = changed.setdefault(question, dict(known[question]))
            pool[int(passage_ids[new[j]])] = float(cosines[k, j])
    return {question: _nearest(pool, size) for question, pool in changed.items()}


def _cosines(questions: Float32Array, passages: Float32Array) -> FloatArray:
    """Cosines, shape (q, p), rounded so that equal vectors tie however the product is blocked."""
    found = np.empty((len(questions), len(passages)))
    wide = questions.astype(np.float64)
    for begin in range(0, len(passages), _BLOCK_ROWS):
        part = passages[begin : begin + _BLOCK_ROWS].astype(np.float64)
        found[:, begin : begin + _BLOCK_ROWS] = np.round(wide @ part.T, 6)
    return found


def _nearest(pool: Mapping[int, float], size: int) -> dict[int, float]:
    return dict(sorted(pool.items(), key=lambda item: (-item[1], item[0]))[:size])


def pairs_of(
    question_id: int,
    question: str,
    readings: Mapping[int, Reading],
    document_of: Mapping[int, int],
    *,
    reader: str,
    texts: Mapping[int, str] | None = None,
    new: Collection[int] | None = None,
) -> list[QuestionPair]:
    """Compare what the passages of a pool answer, each with each of another document.

    Parameters
    ----------
    readings
        Passage id to what it answers.
    document_of
        Passage id to document id.
    reader
        Name of the reader.
    texts
        Passage id to text. With them it counts what a passage denies, and what it says of the other's answer.
    new
        Only pairs with one of these passages.

    Returns
    -------
    list of QuestionPair
        Only those that say something, by passage ids.
    """
    found = []
    for low, high in combinations(sorted(readings), 2):
        if document_of[low] == document_of[high] or not (new is None or low in new or high in new):
            continue
        if (1.0 - readings[low].no_answer) * (1.0 - readings[high].no_answer) < LEAST_SAID:
            continue  # as a passage that does not answer says nothing of others
        both = None if texts is None else (texts[low], texts[high])
        verdict = compare_readings(question, readings[low], readings[high], texts=both)
        pair = QuestionPair(
            low,
            high,
            question_id,
            question,
            "asked",
            0,
            reader,
            verdict.support,
            verdict.contradiction,
            *place(verdict.left),
            *place(verdict.right),
        )
        if pair.says_something:
            found.append(pair)
    return found


def place(answer: ReadAnswer | None) -> tuple[int | None, int | None]:
    """Start and end of an answer in its passage."""
    return (None, None) if answer is None else (answer.start, answer.end)


def to_store(question_id: int, passage_id: int, reading: Reading) -> StoredReading:
    """A reading as the store keeps it."""
    answers = tuple((a.text, a.start, a.end, a.probability) for a in reading.answers)
    return StoredReading(question_id, passage_id, reading.no_answer, answers)


def from_store(stored: StoredReading) -> Reading:
    """A reading as the reader gave it."""
    return Reading(tuple(ReadAnswer(*answer) for answer in stored.answers), stored.no_answer)
