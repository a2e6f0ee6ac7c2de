"""The problem of the default method: sources as nodes, bounded relations, one voice a text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.graph.arrays import Anchors, Graph
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.weights import WeightSettings, assemble
from veridical.types import Node


def graph_of(source_of, text_group=None, edges=(), n_sources=None):
    source_of = np.array(source_of, dtype=np.int64)
    n = len(source_of)
    n_sources = int(source_of.max(initial=-1)) + 1 if n_sources is None else n_sources
    nodes = [Node("document", str(i)) for i in range(n)] + [Node("source", str(i)) for i in range(n_sources)]
    group = np.arange(n) if text_group is None else np.array(text_group)
    columns = list(zip(*edges, strict=True)) or [(), (), (), ()]
    heads, tails, signs = (np.array(column, dtype=np.int64) for column in columns[:3])
    weights = np.array(columns[3], dtype=np.float64)
    return Graph(tuple(nodes), n, source_of, group, heads, tails, signs, weights)


def judged(pairs):
    documents = np.array([d for d, _ in pairs], dtype=np.int64)
    values = np.array([v for _, v in pairs], dtype=np.float64)
    return Anchors(documents, values, np.ones(len(pairs)))


def solve(graph, anchors):
    return ConjugateGradient().solve(assemble(graph, anchors).problem).values


def test_n_documents_of_one_source_cost_n_edges():
    assert assemble(graph_of([0] * 50), judged([])).problem.n_edges == 50


def test_without_feedback_everything_is_neutral():
    values = solve(graph_of([0, 0, 1, -1], edges=[(0, 2, -1, 0.9)]), judged([]))
    np.testing.assert_allclose(values, 0.5, atol=1e-9)


def test_a_bad_document_lowers_its_source_and_its_siblings_but_nobody_else():
    values = solve(graph_of([0, 0, 0, 1, 1]), judged([(0, 0.0)]))
    assert values[0] < 0.1
    assert values[5] < 0.45
    assert values[1] == pytest.approx(values[5], abs=0.02)
    np.testing.assert_allclose(values[[3, 4, 6]], 0.5, atol=1e-9)


def test_a_hundred_noisy_relations_do_not_drown_a_source():
    edges = [(i, j, 1, 0.9) for i in range(1) for j in range(4, 104)]
    documents = [0, 0, 0, 0] + [1] * 100
    anchors = judged([(1, 1.0), (2, 1.0), (3, 1.0)] + [(d, 0.0) for d in range(4, 104)])
    assert solve(graph_of(documents, edges=edges), anchors)[0] > 0.5


def test_relations_carry_trust_where_there_are_no_sources():
    edges = [(0, 1, 1, 0.9), (0, 2, -1, 0.9)]
    values = solve(graph_of([-1, -1, -1], edges=edges, n_sources=0), judged([(0, 1.0)]))
    assert values[1] > 0.6
    assert values[2] < 0.4


def test_relations_that_judged_pairs_refute_are_switched_off():
    edges = [(i, i + 50, 1, 0.9) for i in range(50)]
    anchors = judged([(i, 1.0) for i in range(50)] + [(i, 0.0) for i in range(50, 99)])
    assembled = assemble(graph_of([-1] * 100, edges=edges, n_sources=0), anchors)
    assert assembled.reliability.support == 0.0
    assert assembled.reliability.contradiction == pytest.approx(0.25)


def test_copies_of_a_text_share_one_voice_and_one_fate():
    # Source 0 has one bad text under ten keys and one good text; source 1 has one of each.
    copies = graph_of([0] * 11 + [1, 1], text_group=[0] * 10 + [1, 2, 3])
    values = solve(copies, judged([(i, 0.0) for i in range(10)] + [(10, 1.0), (11, 0.0), (12, 1.0)]))
    source_with_copies, source_without = values[13], values[14]
    assert source_with_copies == pytest.approx(source_without, abs=0.2)
    one_judged = solve(copies, judged([(0, 0.0)]))
    np.testing.assert_allclose(one_judged[:10], one_judged[0], atol=0.05)


@given(st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_the_problem_is_positive_definite_and_its_solution_stays_in_the_box(seed):
    rng = np.random.default_rng(seed)
    n = 25
    source_of = rng.integers(-1, 4, n)
    pairs = {(min(a, b), max(a, b)) for a, b in rng.integers(0, n, (40, 2)) if a != b}
    edges = [(a, b, rng.choice([-1, 1]), rng.random()) for a, b in sorted(pairs)]
    chosen = rng.permutation(n)[: rng.integers(0, 10)]
    graph = graph_of(source_of, edges=edges, n_sources=4)
    problem = assemble(graph, judged([(d, rng.random()) for d in chosen])).problem
    assert (problem.prior_weights > 0).all()
    matrix, _ = problem.system()
    assert np.linalg.eigvalsh(matrix.toarray()).min() > 0
    values = ConjugateGradient().solve(problem).values
    assert ((values >= 0) & (values <= 1)).all()


def test_settings_change_the_weights():
    loud = assemble(graph_of([0, 0]), judged([]), WeightSettings(source=3.0)).problem
    np.testing.assert_allclose(loud.weights, 3.0)
