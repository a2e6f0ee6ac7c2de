"""Excess contradiction says which side of a clash stands out, and many voices make no more of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.bench import protocol
from veridical.trust.clashes import excess_contradiction


def graph(edges, n, voices=None, n_sources=0):
    """Documents that contradict each other, by (head, tail, weight)."""
    source_of = np.zeros(n, dtype=np.int64) if n_sources else None
    heads = np.array([head for head, _, _ in edges], dtype=np.int64)
    tails = np.array([tail for _, tail, _ in edges], dtype=np.int64)
    weights = np.array([weight for _, _, weight in edges], dtype=np.float64)
    made = protocol.with_relations(
        protocol.source_graph(n, source_of, n_sources), heads, tails, -np.ones_like(heads), weights
    )
    return made if voices is None else replace(made, voice_group=np.array(voices, dtype=np.int64))


def test_two_that_contradict_each_other_and_nobody_else_are_even():
    assert excess_contradiction(graph([(0, 1, 0.9)], 3)).tolist() == [0, 0, 0]


def test_who_is_contradicted_by_several_stands_out_against_the_one_that_is_least_sure():
    found = excess_contradiction(graph([(0, 1, 0.9), (0, 2, 0.3)], 3))
    assert found[0] == pytest.approx(0.9 - (0.9 * 0.9 + 0.3 * 0.3) / 1.2)
    assert found[1] == pytest.approx(0.0)
    assert found[2] == -0.5  # 0.3 - 0.9, kept within bounds


def test_supports_and_sources_play_no_part():
    made = graph([(0, 1, 0.9), (1, 2, 0.8)], 3, n_sources=1)
    flipped = replace(made, signs=np.array([-1, 1]))
    assert len(excess_contradiction(made)) == 4
    assert excess_contradiction(flipped).tolist() == [0, 0, 0, 0]


def test_many_that_contradict_equally_count_as_one():
    crowd = excess_contradiction(graph([(0, j, 0.8) for j in range(1, 11)], 11))
    np.testing.assert_allclose(crowd, 0.0, atol=1e-12)


def test_near_copies_have_one_voice_in_the_mean():
    edges = [(0, 1, 0.9), (0, 2, 0.3)]
    alone = excess_contradiction(graph(edges, 3))
    copied = [*edges, (0, 3, 0.3), (0, 4, 0.3)]  # two more copies of document 2
    assert excess_contradiction(graph(copied, 5, [0, 1, 2, 2, 2]))[0] == pytest.approx(alone[0])
    assert excess_contradiction(graph(copied, 5))[0] > alone[0] + 0.05


edge_lists = st.lists(
    st.tuples(st.integers(0, 5), st.integers(6, 9), st.floats(0, 1)),
    max_size=20,
    unique_by=lambda edge: edge[:2],
)


@given(edge_lists)
def test_it_is_bounded_and_nothing_for_those_that_nobody_contradicts(edges):
    found = excess_contradiction(graph(edges, 10))
    assert (np.abs(found) <= 0.5).all()
    touched = {i for head, tail, _ in edges for i in (head, tail)}
    assert all(found[i] == 0 for i in range(10) if i not in touched)
