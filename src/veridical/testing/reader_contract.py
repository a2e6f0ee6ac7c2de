"""What every ``Reader`` has to keep, as tests: subclass ``ReaderContract`` and give it a fixture ``reader``.

class TestMyReader(ReaderContract):
    @pytest.fixture
    def reader(self):
        return MyReader()
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from veridical.reading.base import MAX_ANSWERS, Reader, Reading
from veridical.testing.nli_contract import ODD_TEXTS

QUESTION = "When was the Halden bridge opened?"
PASSAGES: list[str] = [
    "The Halden bridge was opened in 1932. It is 503 metres long and carries two roads.",
    "Ore is shipped from the western harbour. Trains reach it at night, when the line is free.",
    "It took six years to build the bridge at Halden, which the mayor opened in May 1954, a year late.",
    "The orchestra gave its first concert in Vienna.",
    "Short.",
]
LONG = "The line from the mines to the coast was rebuilt in sections, one each summer. " * 60


class ReaderContract:
    """Tests for a backend. They ask for the fixture ``reader``: a fresh reader."""

    #: How far a probability may move with the batch that a passage is read in.
    batch_tolerance = 1e-6

    def test_it_is_a_reader_with_a_stable_name(self, reader: Reader) -> None:
        _require(isinstance(reader, Reader), "it must have name, read() and read_pairs()")
        _require(bool(reader.name) and reader.name == reader.name, "its name must be there and stay")

    def test_no_passages_give_no_readings(self, reader: Reader) -> None:
        _require(list(reader.read(QUESTION, [])) == [], "read(question, []) must be []")
        _require(list(reader.read_pairs([])) == [], "read_pairs([]) must be []")

    def test_spans_are_of_the_passage_and_do_not_overlap(self, reader: Reader) -> None:
        _check(PASSAGES, reader.read(QUESTION, PASSAGES))

    def test_spans_point_into_long_passages_too(self, reader: Reader) -> None:
        passages = [LONG, LONG + PASSAGES[0], PASSAGES[2] + " " + LONG]
        _check(passages, reader.read(QUESTION, passages))

    def test_readings_keep_the_order_of_the_passages(self, reader: Reader) -> None:
        forward = reader.read(QUESTION, PASSAGES)
        backward = reader.read(QUESTION, PASSAGES[::-1])
        for a, b in zip(forward, backward[::-1], strict=True):
            self._same(a, b)

    def test_a_passage_is_read_the_same_alone_and_beside_others(self, reader: Reader) -> None:
        together = reader.read(QUESTION, PASSAGES)
        for passage, expected in zip(PASSAGES, together, strict=True):
            self._same(reader.read(QUESTION, [passage])[0], expected)

    def test_pairs_are_read_as_single_questions_are(self, reader: Reader) -> None:
        pairs = [(QUESTION, PASSAGES[0]), ("What is shipped from the harbour?", PASSAGES[1])]
        for (question, passage), reading in zip(pairs, reader.read_pairs(pairs), strict=True):
            self._same(reading, reader.read(question, [passage])[0])

    def test_odd_texts_do_not_break_it(self, reader: Reader) -> None:
        passages = [*ODD_TEXTS, *(f"{odd} {PASSAGES[0]}" for odd in ODD_TEXTS)]
        _check(passages, reader.read(QUESTION, passages))
        for odd in ODD_TEXTS:
            _check(PASSAGES[:1], reader.read(odd, PASSAGES[:1]))

    def test_a_passage_or_question_without_words_answers_nothing(self, reader: Reader) -> None:
        readings = [*reader.read(QUESTION, ["", "  \n", "... !"]), *reader.read("?", PASSAGES[:1])]
        for reading in readings:
            _require(not reading.answers and reading.no_answer >= 0.5, f"nothing was said, yet {reading}")

    def _same(self, a: Reading, b: Reading) -> None:
        gap = abs(a.no_answer - b.no_answer)
        _require(gap <= self.batch_tolerance, f"no_answer moved by {gap}: {a} and {b}")
        if self.batch_tolerance == 0:
            _require(a == b, f"{a} and {b}")


class TrainedReaderContract(ReaderContract):
    """What can be asked only of a reader that has learnt, or been scripted, to read."""

    def test_it_finds_the_answer(self, reader: Reader) -> None:
        best = reader.read(QUESTION, PASSAGES[:1])[0].best
        _require(best is not None and "1932" in best.text, f"it was 1932: {best}")

    def test_it_reads_a_passage_that_says_otherwise_as_readily(self, reader: Reader) -> None:
        said, clash = reader.read(QUESTION, [PASSAGES[0], PASSAGES[0].replace("1932", "1954")])
        _require(clash.best is not None and "1954" in clash.best.text, f"it says 1954: {clash}")
        _require(clash.no_answer < 0.5, f"a different answer is an answer: {said} and {clash}")

    def test_a_passage_about_something_else_answers_less(self, reader: Reader) -> None:
        answering, other = reader.read(QUESTION, PASSAGES[:2])
        _require(other.no_answer > answering.no_answer, f"{other} and {answering}")
        _require(other.no_answer > 0.5, f"ore and trains answer nothing: {other}")

    def test_an_answer_at_the_end_of_a_long_passage_is_found(self, reader: Reader) -> None:
        best = reader.read(QUESTION, [LONG + PASSAGES[0]])[0].best
        _require(best is not None and "1932" in best.text, f"it was 1932: {best}")


def _check(passages: Sequence[str], readings: Sequence[Reading]) -> None:
    _require(len(readings) == len(passages), f"{len(passages)} passages gave {len(readings)} readings")
    for passage, reading in zip(passages, readings, strict=True):
        parts = [reading.no_answer, *(answer.probability for answer in reading.answers)]
        _require(all(math.isfinite(p) and 0 <= p <= 1 for p in parts), f"not probabilities: {reading}")
        _require(sum(parts) <= 1 + 1e-9, f"they sum to {sum(parts)}: {reading}")
        _require(len(reading.answers) <= MAX_ANSWERS, f"more than {MAX_ANSWERS} answers: {reading}")
        _require(sorted(parts[1:], reverse=True) == parts[1:], f"not the most probable first: {reading}")
        for answer in reading.answers:
            inside = passage[answer.start : answer.end]
            _require(
                inside == answer.text and answer.text.strip() == answer.text != "", f"{answer}: {inside!r}"
            )
        places = sorted((answer.start, answer.end) for answer in reading.answers)
        for (_, end), (start, _) in pairwise(places):
            _require(end <= start, f"answers overlap: {reading}")


def _require(condition: bool, message: str) -> None:
    """Fail as a test does, without ``assert``, which runs optimised away."""
    if not condition:
        raise AssertionError(message)


__all__ = ["LONG", "PASSAGES", "QUESTION", "ReaderContract", "TrainedReaderContract"]
