"""Method reliable: it believes as the default does, and leaves the order of passages to the retriever."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veridical import registry
from veridical.bench import protocol
from veridical.methods.base import Candidates, Method
from veridical.methods.reliable import Reliable
from veridical.methods.veridical import Veridical


def pool(relevance: list[float], trust: list[float]) -> Candidates:
    numbers = np.array(relevance, dtype=np.float64)
    return Candidates(numbers, numbers, np.array(trust, dtype=np.float64), "dense")


def test_it_keeps_the_contract_and_has_its_name() -> None:
    assert isinstance(Reliable(), Method)
    assert registry.load("methods", "reliable") is Reliable
    assert Reliable().name == "reliable"


def test_its_trust_is_that_of_method_veridical() -> None:
    true = np.random.default_rng(0).random(300) < 0.75
    graph = protocol.source_graph(300, protocol.assign_sources(true, wrong=0.1, seed=0))
    anchors = protocol.judge(true, 0.1, seed=0)
    ours, theirs = (method.believe(graph, anchors) for method in (Reliable(), Veridical()))
    np.testing.assert_array_equal(ours.trust, theirs.trust)
    assert np.nanmax(ours.trust) > 0.7


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1)), max_size=30))
def test_passages_stay_in_the_retrievers_order_whatever_is_believed(rows: list[tuple[float, float]]) -> None:
    relevance = sorted((r for r, _ in rows), reverse=True)
    utility = Reliable().rank(pool(relevance, [t for _, t in rows]))
    np.testing.assert_array_equal(utility, relevance)


def test_a_weight_on_trust_counts_as_in_method_veridical() -> None:
    candidates = pool([0.8, 0.7, 0.6], [0.05, 0.9, 0.5])
    for weight in (0.0, 0.5, 1.0):
        ours, theirs = (m.rank(candidates, trust_weight=weight) for m in (Reliable(), Veridical()))
        np.testing.assert_array_equal(ours, theirs)
    assert np.argmax(Reliable().rank(candidates, trust_weight=0.5)) == 1
