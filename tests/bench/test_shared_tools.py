"""Nothing is read, encoded or asked twice, and what was asked before is charged at its first price."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from veridical.bench import cache
from veridical.bench.shared import CachedEncoder, CachedReader, PricedCache, priced
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.scripted import ScriptedLLM
from veridical.llm.usage import measure
from veridical.testing.fakes import FakeReader, HashEncoder

PASSAGES = ["The old port was opened in 1901.", "Nothing of the kind.", "The old port: 1999."]


def test_a_pair_is_read_once_in_a_process_and_after_it(tmp_path: Path) -> None:
    first = FakeReader()
    shared = CachedReader(first, tmp_path)
    found = shared.read("When was the old port opened?", PASSAGES)
    assert found == FakeReader().read("When was the old port opened?", PASSAGES)
    assert shared.read("When was the old port opened?", [*PASSAGES, *PASSAGES]) == [*found, *found]
    assert first.n_read == shared.n_read == 3
    second = FakeReader()
    assert CachedReader(second, tmp_path).read("When was the old port opened?", PASSAGES) == found
    assert second.n_read == 0


def test_readings_that_scripts_kept_are_found(tmp_path: Path) -> None:
    pairs = [("When was the old port opened?", passage) for passage in PASSAGES]
    kept = cache.readings(tmp_path, FakeReader(), pairs)
    reader = FakeReader()
    assert CachedReader(reader, tmp_path).read_pairs(pairs) == kept
    assert reader.n_read == 0


def test_a_line_that_was_cut_off_is_read_again(tmp_path: Path) -> None:
    CachedReader(FakeReader(), tmp_path).read("When was the old port opened?", PASSAGES)
    (path,) = tmp_path.glob("readings-*.jsonl")
    path.write_text(path.read_text("ascii")[:-20], "ascii")
    reader = FakeReader()
    CachedReader(reader, tmp_path).read("When was the old port opened?", PASSAGES)
    assert reader.n_read == 1


def test_a_text_is_encoded_once() -> None:
    encoder = HashEncoder()
    shared = CachedEncoder(encoder.encode)
    shared.learn(["known"], np.ones((1, 384), dtype=np.float32))
    found = shared(["known", "new", "new"])
    assert encoder.n_encoded == 1
    assert (found[0] == 1.0).all() and (found[1] == found[2]).all()
    assert shared([]).shape == (0, 384)


def test_a_cached_reply_is_charged_at_what_it_had_cost(tmp_path: Path) -> None:
    class Counting(ScriptedLLM):
        identity = "counting"

    llm = ManagedLLM(Counting(lambda messages: "yes it is"), cache=PricedCache(tmp_path / "replies.db"))
    costs = []
    for _ in range(2):
        with measure() as spent, priced() as saved:
            llm.generate([Message("user", "Is it?")], max_tokens=3)
        total = spent.total + saved.total
        costs.append((total.calls, total.prompt_tokens, total.completion_tokens))
        sent = spent.total.calls
    assert costs[0] == costs[1] == (1, 2, 3)  # a call, two words asked, three answered
    assert sent == 0
