"""A later statement counts against an earlier one by how far it is distrusted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from veridical.graph.arrays import Anchors, Graph
from veridical.methods import veridical as module
from veridical.methods.trustprop import TrustProp
from veridical.methods.veridical import Veridical
from veridical.types import Node

OLD, LATER, FRIEND = 0, 1, 2


def graph_of(n: int, edges: list[tuple[int, int, int, float]], dated: list[tuple[int, int, float]]) -> Graph:
    heads, tails, signs = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in range(3))
    later, earlier = (np.array([pair[i] for pair in dated], dtype=np.int64) for i in range(2))
    return Graph(
        tuple(Node("document", str(i)) for i in range(n)),
        n,
        np.full(n, -1),
        np.arange(n),
        heads,
        tails,
        signs,
        np.array([edge[3] for edge in edges]),
        later,
        earlier,
        np.array([pair[2] for pair in dated]),
    )


def judged(*pairs: tuple[int, float]) -> Anchors:
    documents = np.array([d for d, _ in pairs], dtype=np.int64)
    return Anchors(documents, np.array([value for _, value in pairs]), np.ones(len(pairs)))


DATED = graph_of(3, [(OLD, FRIEND, 1, 0.8)], [(LATER, OLD, 0.9)])
UNDATED = graph_of(3, [(OLD, FRIEND, 1, 0.8), (OLD, LATER, -1, 0.9)], [])
SUPPORT_ONLY = graph_of(3, [(OLD, FRIEND, 1, 0.8)], [])


def trust(graph: Graph, anchors: Anchors) -> np.ndarray:
    return np.nan_to_num(Veridical().believe(graph, anchors).trust, nan=0.5)


def test_a_forged_date_does_not_save_a_plant_nor_sink_what_it_replaces() -> None:
    forged, open_clash = trust(DATED, judged((LATER, 0.0))), trust(UNDATED, judged((LATER, 0.0)))
    assert forged[LATER] < 0.05
    assert forged[OLD] > 0.6
    assert forged[FRIEND] > 0.5
    # The older one gains nearly all that it would, had the plant borne no date.
    assert forged[OLD] - 0.5 > 0.9 * (open_clash[OLD] - 0.5)


def test_an_update_that_is_trusted_says_nothing_against_what_was_true_before() -> None:
    updated = trust(DATED, judged((LATER, 1.0)))
    assert updated[LATER] > 0.95
    assert updated[OLD] == pytest.approx(0.5, abs=0.05)
    assert trust(UNDATED, judged((LATER, 1.0)))[OLD] < 0.35
    both = trust(DATED, judged((LATER, 1.0), (OLD, 1.0)))
    assert (both[[OLD, LATER]] > 0.95).all()


def test_a_later_document_of_which_nothing_is_known_is_doubted_less_than_one_without_a_date() -> None:
    dated, undated = trust(DATED, judged((OLD, 1.0))), trust(UNDATED, judged((OLD, 1.0)))
    assert undated[LATER] < dated[LATER] < 0.5


def test_a_plant_cannot_clear_itself_with_a_date_while_its_claim_is_refuted_elsewhere() -> None:
    # 3 and 4 contradict the plant without dates, and are judged good; it claims to be later than 0.
    graph = graph_of(
        5, [(LATER, 3, -1, 0.9), (LATER, 4, -1, 0.9), (OLD, FRIEND, 1, 0.8)], [(LATER, OLD, 0.9)]
    )
    found = trust(graph, judged((3, 1.0), (4, 1.0)))
    assert found[LATER] < 0.35
    assert found[OLD] > 0.55


def test_without_feedback_dates_change_nothing() -> None:
    state = Veridical().believe(DATED, Anchors())
    assert state.neutral
    assert np.isnan(state.trust).all()
    np.testing.assert_allclose(state.raw, 0.5, atol=1e-12)


def test_a_dated_contradiction_reaches_what_no_other_relation_does() -> None:
    assert np.isnan(Veridical().believe(SUPPORT_ONLY, judged((LATER, 0.0))).trust[OLD])
    assert not np.isnan(Veridical().believe(DATED, judged((LATER, 0.0))).trust[OLD])


def random_graph(seed: int, n: int = 60) -> tuple[Graph, Anchors]:
    rng = np.random.default_rng(seed)
    true = rng.random(n) < 0.6
    pairs = sorted({(min(a, b), max(a, b)) for a, b in rng.integers(0, n, (240, 2)).tolist() if a != b})
    right = rng.random(len(pairs)) < 0.8
    edges, dated = [], []
    for (i, j), ok in zip(pairs, right, strict=True):
        same = (true[i] == true[j]) == ok
        weight = float(rng.uniform(0.2, 0.95))
        if same or rng.random() < 0.4:
            edges.append((i, j, 1 if same else -1, weight))
        else:
            dated.append((i, j, weight) if rng.random() < 0.5 else (j, i, weight))
    chosen = rng.permutation(n)[: n // 4]
    return graph_of(n, edges, dated), judged(*((int(d), float(true[d])) for d in sorted(chosen)))


@pytest.mark.parametrize("seed", range(6))
def test_further_rounds_change_little(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, anchors = random_graph(seed)
    assert len(graph.later) > 40
    few = trust(graph, anchors)
    monkeypatch.setattr(module, "_N_SHARED", 25)
    apart = np.abs(trust(graph, anchors) - few)
    assert apart.max() < 0.05
    assert np.mean(apart < 0.01) > 0.95


@pytest.mark.parametrize("seed", range(4))
def test_undoing_feedback_restores_trust(seed: int) -> None:
    graph, anchors = random_graph(seed)
    method = Veridical()
    before = method.believe(graph, anchors)
    spare = next(d for d in range(graph.n_documents) if d not in anchors.documents)
    more = Anchors(
        np.append(anchors.documents, spare), np.append(anchors.values, 0.0), np.append(anchors.weights, 1.0)
    )
    moved = method.believe(graph, more, warm_start=before.raw)
    assert np.nanmax(np.abs(moved.trust - before.trust)) > 0.01
    restored = method.believe(graph, anchors, warm_start=moved.raw)
    np.testing.assert_allclose(restored.trust, before.trust, atol=1e-8)
    again = method.believe(graph, anchors)
    np.testing.assert_allclose(again.trust, before.trust, atol=0)


def test_the_published_method_knows_no_dates() -> None:
    anchors = judged((LATER, 1.0))
    np.testing.assert_array_equal(
        TrustProp().believe(DATED, anchors).trust, TrustProp().believe(UNDATED, anchors).trust
    )


def test_contested_contradictions_are_added_by_their_shares() -> None:
    graph = replace(DATED, superseded_by_answers=np.array([True]))
    found = graph.contested(np.array([0.25]))
    rows = zip(found.heads.tolist(), found.tails.tolist(), found.signs.tolist(), found.weights, strict=True)
    assert list(rows) == [(OLD, FRIEND, 1, 0.8), (OLD, LATER, -1, pytest.approx(0.225))]
    assert found.by_answers.tolist() == [False, True]
    assert SUPPORT_ONLY.contested(np.empty(0)) is SUPPORT_ONLY
