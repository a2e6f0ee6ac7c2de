"""Reciprocal rank fusion."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.index.hybrid import fuse

RUNS = st.lists(st.lists(st.integers(1, 12), unique=True, max_size=12), min_size=1, max_size=4)


def test_each_list_adds_one_over_sixty_and_the_rank() -> None:
    fused = fuse([[7, 3], [3, 9]], 10)
    assert [i for i, _ in fused] == [3, 7, 9]
    assert dict(fused) == pytest.approx({3: 1 / 61 + 1 / 62, 7: 1 / 61, 9: 1 / 62})


def test_the_damping_can_be_set() -> None:
    assert fuse([[5]], 1, k=1) == [(5, 0.5)]


def test_ties_go_to_the_better_single_rank_and_then_to_the_lower_id() -> None:
    assert [i for i, _ in fuse([[9, 1], [2, 4]], 10)] == [2, 9, 1, 4]
    # 1/(k+1) + 1/(k+4) and 1/(k+2) + 1/(k+2) tie for k = 2 only.
    assert [i for i, _ in fuse([[5, 1, 8, 6], [6, 1, 7, 5]], 3, k=2)] == [5, 6, 1]


def test_nothing_in_nothing_out() -> None:
    assert fuse([], 5) == []
    assert fuse([[], []], 5) == []
    assert fuse([[1, 2]], 0) == []


@given(RUNS)
def test_the_order_of_the_lists_does_not_matter(runs: list[list[int]]) -> None:
    expected = fuse(runs, 20)
    for turned in permutations(runs):
        assert fuse(turned, 20) == expected


@given(RUNS, st.integers(0, 15))
def test_a_shorter_result_is_the_head_of_a_longer_one(runs: list[list[int]], top_k: int) -> None:
    everything = fuse(runs, 100)
    assert fuse(runs, top_k) == everything[:top_k]
    assert {i for i, _ in everything} == {i for run in runs for i in run}
    amounts = [amount for _, amount in everything]
    assert amounts == sorted(amounts, reverse=True)


@given(st.lists(st.integers(1, 50), unique=True, max_size=20))
def test_one_list_keeps_its_order(run: list[int]) -> None:
    assert [i for i, _ in fuse([run], 50)] == run
    assert [i for i, _ in fuse([run, run], 50)] == run
