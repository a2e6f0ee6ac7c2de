"""What a benchmark has read once is not read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from veridical.bench import cache
from veridical.reading.base import NOTHING, ReadAnswer, Reading


class Counting:
    """A reader that answers with the passage's first word and counts what it is asked."""

    name = "counting-1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        self.asked += pairs
        found = [passage.split()[:1] for _, passage in pairs]
        return [
            Reading((ReadAnswer(words[0], 0, len(words[0]), 0.75),), 0.25) if words else NOTHING
            for words in found
        ]


def test_readings_come_in_order_and_each_pair_is_read_once(tmp_path: Path) -> None:
    reader = Counting()
    pairs = [("who?", "Ann ran."), ("who?", ""), ("who?", "Ann ran."), ("who?", "Böb sat.")]
    found = cache.readings(tmp_path, reader, pairs)
    assert [reading.best and reading.best.text for reading in found] == ["Ann", None, "Ann", "Böb"]
    assert sorted(reader.asked) == sorted(set(pairs))
    assert cache.readings(tmp_path, reader, [*pairs, ("why?", "Ann ran.")])[:4] == found
    assert len(reader.asked) == 4


def test_a_line_that_was_cut_off_is_read_again(tmp_path: Path) -> None:
    reader = Counting()
    found = cache.readings(tmp_path, reader, [("who?", "Ann ran.")])
    path = tmp_path / "readings-counting-1.jsonl"
    path.write_text(path.read_text("ascii")[:-5], "ascii")
    assert cache.readings(tmp_path, reader, [("who?", "Ann ran.")]) == found
    assert len(reader.asked) == 2
    assert cache.readings(tmp_path, reader, [("who?", "Ann ran.")]) == found


def test_two_runs_that_share_a_table_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    ours, theirs = cache.Table(path, 2), cache.Table(path, 2)
    ours.put(["a"], np.ones((1, 2), dtype=np.float32))
    theirs.put(["b"], np.zeros((1, 2), dtype=np.float32))
    assert cache.Table(path, 2).get(["a", "b"]).tolist() == [[1, 1], [0, 0]]
    assert theirs.missing(["a", "b", "c"]) == [2]
