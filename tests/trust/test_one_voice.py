"""Copies and near-copies are one voice: ten of them move trust no more than one does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.graph.arrays import Anchors, Graph
from veridical.methods.veridical import Veridical
from veridical.trust.voices import bundles, voices_of
from veridical.types import Node

PLANT = 0  # the document that is copied
N_OTHERS = 14


def world(seed: int, *, sources: bool) -> tuple[Graph, np.ndarray]:
    """One plant, and others that are true or false; it clashes with the true and agrees with the false."""
    rng = np.random.default_rng(seed)
    true = np.r_[False, rng.random(N_OTHERS) < 0.6]
    n = len(true)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.4]
    right = rng.random(len(pairs)) < 0.85
    signs = [1 if (true[i] == true[j]) == ok else -1 for (i, j), ok in zip(pairs, right, strict=True)]
    heads, tails = np.array(pairs, dtype=np.int64).T
    source_of = np.where(true, rng.integers(0, 2, n), rng.integers(2, 4, n)) if sources else np.full(n, -1)
    return (
        Graph(
            nodes=_nodes(n, 4 if sources else 0),
            n_documents=n,
            source_of=source_of.astype(np.int64),
            text_group=np.arange(n),
            heads=heads,
            tails=tails,
            signs=np.array(signs, dtype=np.int64),
            weights=rng.uniform(0.3, 0.95, len(pairs)),
            by_answers=rng.random(len(pairs)) < 0.5,
        ),
        true,
    )


def _nodes(n_documents: int, n_sources: int) -> tuple[Node, ...]:
    documents = [Node("document", str(i)) for i in range(n_documents)]
    return tuple(documents + [Node("source", f"s{i}") for i in range(n_sources)])


def copied(graph: Graph, k: int, *, exact: bool, scattered: bool = False) -> Graph:
    """Add k - 1 copies of the plant at the end, each with its relations; scattered ones have new sources."""
    n, extra = graph.n_documents, k - 1
    copies = np.arange(n, n + extra)
    own = np.flatnonzero((graph.heads == PLANT) | (graph.tails == PLANT))
    other = np.where(graph.heads[own] == PLANT, graph.tails[own], graph.heads[own])
    n_sources = graph.n_sources + (extra if scattered else 0)
    home = np.full(extra, graph.source_of[PLANT])
    if scattered:
        home = graph.n_sources + np.arange(extra)
    among = [(int(a), int(b)) for a in [PLANT, *copies] for b in copies if a < b]
    inner = np.array([] if exact else among, dtype=np.int64).reshape(-1, 2)  # near-copies support each other
    text = np.r_[graph.text_group, np.full(extra, PLANT) if exact else copies]
    return replace(
        graph,
        nodes=_nodes(n + extra, n_sources),
        n_documents=n + extra,
        source_of=np.r_[graph.source_of, home].astype(np.int64),
        text_group=text,
        voice_group=np.r_[np.arange(n), np.full(extra, PLANT)],
        heads=np.r_[graph.heads, np.tile(other, extra), inner[:, 0]],
        tails=np.r_[graph.tails, np.repeat(copies, len(own)), inner[:, 1]],
        signs=np.r_[graph.signs, np.tile(graph.signs[own], extra), np.ones(len(inner), dtype=np.int64)],
        weights=np.r_[graph.weights, np.tile(graph.weights[own], extra), np.full(len(inner), 0.9)],
        by_answers=np.r_[
            graph.by_answers, np.tile(graph.by_answers[own], extra), np.zeros(len(inner), dtype=bool)
        ],
    )


def elsewhere(graph: Graph) -> Graph:
    """The plant alone in a new source."""
    source_of = graph.source_of.copy()
    source_of[PLANT] = graph.n_sources
    return replace(graph, nodes=_nodes(graph.n_documents, graph.n_sources + 1), source_of=source_of)


def without(graph: Graph) -> Graph:
    """The plant says nothing, and belongs to nobody."""
    keep = (graph.heads != PLANT) & (graph.tails != PLANT)
    source_of = graph.source_of.copy()
    source_of[PLANT] = -1
    names = ("heads", "tails", "signs", "weights", "by_answers")
    return replace(graph, source_of=source_of, **{name: getattr(graph, name)[keep] for name in names})


def judged(documents: list[int], values: list[float]) -> Anchors:
    order = np.argsort(documents)
    return Anchors(
        np.array(documents, dtype=np.int64)[order], np.array(values)[order], np.ones(len(documents))
    )


def trust(graph: Graph, anchors: Anchors) -> np.ndarray:
    """Of the other documents and the first sources, unknown as one half."""
    values = np.nan_to_num(Veridical().believe(graph, anchors).trust, nan=0.5)
    return np.r_[values[1 : N_OTHERS + 1], values[graph.n_documents : graph.n_documents + 4]]


CASES = [
    pytest.param(exact, sources, scattered, id=f"{'exact' if exact else 'near'}-{where}")
    for exact in (True, False)
    for sources, scattered, where in (
        (False, False, "no-sources"),
        (True, False, "one-source"),
        (True, True, "many-sources"),
    )
]


@pytest.mark.parametrize(("exact", "sources", "scattered"), CASES)
@pytest.mark.parametrize("side", ["unjudged", "one-judged", "all-judged"])
@pytest.mark.parametrize("seed", range(4))
def test_ten_copies_move_trust_no_more_than_one(
    seed: int, side: str, exact: bool, sources: bool, scattered: bool
) -> None:
    graph, true = world(seed, sources=sources)
    others = list(range(2, N_OTHERS, 3))
    values = [float(true[i]) for i in others]
    ten = copied(graph, 10, exact=exact, scattered=scattered)
    copies = list(range(graph.n_documents, ten.n_documents))
    # The attackers' friends call the plant good.
    before = trust(without(graph), judged(others, values))
    votes = [] if side == "unjudged" else [PLANT]
    feedback = judged(others + votes, values + [1.0] * len(votes))
    singles = [trust(one, feedback) for one in ([graph, elsewhere(graph)] if scattered else [graph])]
    if side == "all-judged":
        votes = [PLANT, *copies]
    often = trust(ten, judged(others + votes, values + [1.0] * len(votes)))
    once = np.max([np.abs(single - before) for single in singles], axis=0)
    moved = np.abs(often - before)
    assert (moved - once).max() <= 0.02
    assert moved.sum() <= once.sum() * 1.02 + 0.005


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("sources", [True, False])
def test_copies_are_as_distrusted_as_one_alone_would_be(exact: bool, sources: bool) -> None:
    for seed in range(4):
        graph, true = world(seed, sources=sources)
        others = list(range(1, N_OTHERS))
        feedback = judged(others, [float(true[i]) for i in others])
        alone = Veridical().believe(graph, feedback).trust[PLANT]
        ten = copied(graph, 10, exact=exact)
        many = Veridical().believe(ten, feedback).trust
        np.testing.assert_allclose(
            many[[PLANT, *range(graph.n_documents, ten.n_documents)]], alone, atol=0.02
        )


def test_without_the_groups_ten_copies_would_move_trust_more() -> None:
    # What the tests above rest on: the same attack, were the copies ten voices.
    graph, true = world(1, sources=False)
    others = list(range(2, N_OTHERS, 3))
    values = [float(true[i]) for i in others]
    ten = copied(graph, 10, exact=True)
    loose = replace(ten, text_group=np.arange(ten.n_documents), voice_group=np.arange(ten.n_documents))
    votes = [PLANT, *range(graph.n_documents, ten.n_documents)]
    before = trust(without(graph), judged(others, values))
    once = trust(graph, judged([*others, PLANT], [*values, 1.0]))
    often = trust(loose, judged(others + votes, values + [1.0] * 10))
    assert np.abs(often - before).sum() > np.abs(once - before).sum() * 1.3


def test_a_judgement_is_of_all_copies_of_a_text_and_counts_once() -> None:
    graph, _ = world(0, sources=False)
    ten = copied(graph, 10, exact=True)
    copies = [PLANT, *range(graph.n_documents, ten.n_documents)]
    state = Veridical().believe(ten, judged([copies[4], 3], [0.0, 1.0]))
    assert np.ptp(state.trust[copies]) == 0.0
    assert state.trust[PLANT] < 0.1
    merged = voices_of(ten, judged([*copies[:4], 3], [0.0, 1.0, 0.0, 1.0, 1.0])).anchors
    assert merged.documents.tolist() == [PLANT, 3]
    assert merged.values.tolist() == [0.5, 1.0]
    assert merged.weights.tolist() == [1.0, 1.0]


def test_twelve_judged_copies_do_not_make_trust_calibrated() -> None:
    graph, _ = world(0, sources=False)
    many = copied(graph, 12, exact=False)
    copies = [PLANT, *range(graph.n_documents, many.n_documents)]
    assert not Veridical().believe(many, judged(copies, [0.0] * 12)).calibrated


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_what_voices_say_to_one_another_weighs_what_the_strongest_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = 12, 30
    pairs = sorted({(min(a, b), max(a, b)) for a, b in rng.integers(0, n, (m, 2)).tolist() if a != b})
    heads, tails = np.array(pairs, dtype=np.int64).T
    signs = rng.choice([-1, 1], len(pairs))
    weights = np.where(rng.random(len(pairs)) < 0.1, 0.0, rng.random(len(pairs)))
    voice = rng.integers(0, 6, n)
    graph = Graph(
        _nodes(n, 0), n, np.full(n, -1), np.arange(n), heads, tails, signs, weights, voice_group=voice
    )
    shared, degree = bundles(graph, weights)
    said: dict[tuple[int, int, int], list[int]] = {}
    for row, (head, tail) in enumerate(pairs):
        ends = sorted((int(voice[head]), int(voice[tail])))
        said.setdefault((ends[0], ends[1], int(signs[row])), []).append(row)
    expected = np.zeros(n)
    for rows in said.values():
        assert shared[rows].sum() == pytest.approx(weights[rows].max())
        for document in {pairs[row][end] for row in rows for end in (0, 1)}:
            expected[document] += weights[rows].max()
    np.testing.assert_allclose(degree, expected)


def test_a_true_text_that_is_nearly_copied_with_another_answer_keeps_its_own_say() -> None:
    # Documents 0 and 1 to 10 are of nearly one text; 0 agrees with 11, the others clash with it.
    n = 12
    heads = np.r_[0, np.arange(1, 11)]
    signs = np.r_[1, -np.ones(10, dtype=np.int64)]
    voice = np.r_[np.zeros(11, dtype=np.int64), 1]
    graph = Graph(
        _nodes(n, 0),
        n,
        np.full(n, -1),
        np.arange(n),
        heads,
        np.full(11, 11),
        signs,
        np.full(11, 0.9),
        voice_group=voice,
    )
    values = Veridical().believe(graph, judged([11], [1.0])).trust
    assert values[0] > 0.7
    assert (values[1:11] < 0.4).all()
    crowded = Veridical().believe(graph, judged([0], [1.0])).trust[11]
    alone = replace(graph, voice_group=np.arange(n), weights=np.r_[0.9, np.zeros(10)])
    assert crowded > 0.6
    assert Veridical().believe(alone, judged([0], [1.0])).trust[11] > 0.7
