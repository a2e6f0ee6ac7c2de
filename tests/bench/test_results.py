"""Results: intervals over clusters, flat records, and what is kept on disk."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from veridical.bench import cache, results
from veridical.bench.results import Bootstrap, Result
from veridical.types import NLIResult


def test_an_interval_holds_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    held = 0
    for trial in range(100):
        values = rng.normal(1.0, 1.0, 80)
        interval = Bootstrap(range(80), n_draws=400, seed=trial).mean(values)
        held += interval.low <= 1.0 <= interval.high
    assert held >= 87


def test_repeating_each_question_narrows_nothing():
    values = np.random.default_rng(0).normal(size=60)
    once = Bootstrap(range(60), n_draws=2000).mean(values)
    five = Bootstrap(list(range(60)) * 5, n_draws=2000).mean(np.tile(values, 5))
    assert five.value == pytest.approx(once.value)
    assert five.high - five.low == pytest.approx(once.high - once.low, rel=0.15)
    assert five.n == 60


def test_undefined_values_are_skipped_and_counted():
    interval = Bootstrap("abcd").mean([1.0, math.nan, 3.0, math.nan])
    assert interval.value == 2.0
    assert interval.n == 2


def test_nothing_defined_is_nan_on_nothing():
    interval = Bootstrap("ab").mean([math.nan, math.nan])
    assert math.isnan(interval.value)
    assert interval.n == 0


def test_records_are_flat_and_plain_json(tmp_path):
    result = Result("nq", "pure", "plain", "fp@5", 0.5, 0.4, math.nan, 7)
    path = tmp_path / "deep" / "out.json"
    results.write(path, [result], {"commit": "abc", "seeds": "0-4"})
    (row,) = json.loads(path.read_text(encoding="utf-8"))
    assert row["value"] == 0.5
    assert row["high"] is None
    assert row["seeds"] == "0-4"
    assert not any(isinstance(value, dict | list) for value in row.values())


def test_a_folder_without_a_checkout_has_no_commit(tmp_path):
    assert results.commit(tmp_path) == "unknown"


class CountingEncoder:
    name = "counting"

    def __init__(self):
        self.encoded = []

    def encode(self, texts, *, on_progress=None):
        self.encoded += texts
        return np.array([[len(text)] * 384 for text in texts], dtype=np.float32)


def test_a_text_is_encoded_once_even_over_runs(tmp_path):
    encoder = CountingEncoder()
    rows = cache.vectors(tmp_path, encoder, ["aa", "b", "aa"])
    assert rows[:, 0].tolist() == [2, 1, 2]
    assert cache.vectors(tmp_path, encoder, ["b", "ccc"])[:, 0].tolist() == [1, 3]
    assert encoder.encoded == ["aa", "b", "ccc"]
    assert cache.vectors(tmp_path, encoder, []).shape == (0, 384)


class OneWay:
    name = "one-way"

    def judge(self, pairs):
        return [NLIResult(0.9, 0.1, 0.0) if a < b else NLIResult(0.2, 0.4, 0.4) for a, b in pairs]


def test_a_pair_is_judged_both_ways_and_once(tmp_path):
    judged = cache.judgements(tmp_path, OneWay(), [("a", "b"), ("b", "a")])
    np.testing.assert_allclose(judged[0], judged[1])
    assert judged[0, 0] > judged[0, 1] > 0


def test_the_version_of_the_code_follows_the_code():
    assert cache.code_version("bench") == cache.code_version("bench")
    assert cache.code_version("bench") != cache.code_version("trust")
