"""Outrightness says which side of a clash answers the more outright, and many voices make no more of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.bench import protocol
from veridical.trust.clashes import outrightness


def graph(edges, n, n_sources=0):
    """Documents that contradict each other, by (head, tail, weight, margin)."""
    source_of = np.zeros(n, dtype=np.int64) if n_sources else None
    heads = np.array([edge[0] for edge in edges], dtype=np.int64)
    tails = np.array([edge[1] for edge in edges], dtype=np.int64)
    weights = np.array([edge[2] for edge in edges], dtype=np.float64)
    margins = np.array([edge[3] for edge in edges], dtype=np.float64)
    bare = protocol.source_graph(n, source_of, n_sources)
    return replace(
        protocol.with_relations(bare, heads, tails, -np.ones_like(heads), weights), margins=margins
    )


def test_the_two_sides_of_a_clash_stand_out_by_as_much():
    assert outrightness(graph([(0, 1, 0.5, 0.2)], 3)) == pytest.approx([0.1, -0.1, 0.0])


def test_it_is_bounded_where_one_side_answers_outright_and_the_other_hardly():
    assert outrightness(graph([(0, 1, 0.9, 0.9)], 2)).tolist() == [0.125, -0.125]


def test_only_the_surest_contradiction_counts():
    found = outrightness(graph([(0, 1, 0.8, 0.1), (0, 2, 0.2, 0.5)], 3))
    assert found == pytest.approx([0.08, -0.08, -0.1])


def test_of_two_equally_sure_contradictions_the_more_outright_opponent_counts():
    edges = [(0, 1, 0.5, 0.4), (0, 2, 0.5, -0.2)]
    assert outrightness(graph(edges, 3))[0] == pytest.approx(-0.1)
    assert outrightness(graph(edges[::-1], 3))[0] == pytest.approx(-0.1)


def test_supports_sources_and_relations_by_inference_play_no_part():
    made = graph([(0, 1, 0.5, 0.2), (1, 2, 0.5, 0.1)], 3, n_sources=1)
    supported = replace(made, signs=np.array([-1, 1]))
    assert outrightness(supported) == pytest.approx([0.1, -0.1, 0, 0])
    assert outrightness(replace(made, margins=np.empty(0))).tolist() == [0, 0, 0, 0]


@given(
    st.floats(0.1, 0.9), st.floats(-1, 1), st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1)), max_size=8)
)
def test_texts_that_contradict_less_surely_move_nothing(weight, margin, others):
    plain = [(0, 1, weight, margin)]
    crowd = [(0, 2 + i, 0.99 * weight * share, lead) for i, (share, lead) in enumerate(others)]
    assert outrightness(graph([*plain, *crowd], 10))[0] == outrightness(graph(plain, 10))[0]


edge_lists = st.lists(
    st.tuples(st.integers(0, 4), st.integers(5, 9), st.floats(0, 1), st.floats(-1, 1)),
    max_size=20,
    unique_by=lambda edge: edge[:2],
)


@given(edge_lists, st.randoms())
def test_the_order_of_edges_makes_no_difference(edges, random):
    found = outrightness(graph(edges, 10))
    assert (np.abs(found) <= 0.125).all()
    shuffled = list(edges)
    random.shuffle(shuffled)
    np.testing.assert_array_equal(outrightness(graph(shuffled, 10)), found)
