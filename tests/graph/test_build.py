"""The document graph: the strongest passage pair speaks, copies and neutral pairs do not."""

from __future__ import annotations

import numpy as np
import pytest
from judged import answer, judge, put

from veridical.graph import evidence
from veridical.graph.build import (
    compare_dates,
    document_edges,
    load_graph,
    relations_among,
    relations_of_document,
)
from veridical.graph.evidence import rows_of
from veridical.stores import Store, documents
from veridical.stores.derived import Judgement
from veridical.types import Node, RelationKind


def edges(store: Store) -> list[tuple[int, int, int, float]]:
    """(head, tail, sign, weight) by document id."""
    with store.read() as connection:
        loaded = load_graph(connection)
    graph, ids = loaded.graph, loaded.document_ids
    return [
        (ids[head], ids[tail], int(sign), round(float(weight), 6))
        for head, tail, sign, weight in zip(graph.heads, graph.tails, graph.signs, graph.weights, strict=True)
    ]


def superseding(store: Store) -> list[tuple[int, int, float]]:
    with store.read() as connection:
        loaded = load_graph(connection)
    graph, ids = loaded.graph, loaded.document_ids
    rows = zip(graph.later, graph.earlier, graph.supersede_weights, strict=True)
    return [(ids[later], ids[earlier], round(float(weight), 6)) for later, earlier, weight in rows]


def test_an_empty_store_is_an_empty_graph(store: Store) -> None:
    with store.read() as connection:
        loaded = load_graph(connection)
    assert (loaded.graph.n_nodes, len(loaded.graph.heads), loaded.place) == (0, 0, {})


def test_documents_come_first_and_sources_are_numbered_by_name(store: Store) -> None:
    put(store, "a", "One.", source="wiki")
    put(store, "b", "Two.")
    put(store, "c", "Three.", source="blog")
    put(store, "d", "Four.", source="wiki")
    with store.write() as connection:
        documents.delete(connection, documents.find(connection, "b").id)
    with store.read() as connection:
        loaded = load_graph(connection)
    graph = loaded.graph
    assert loaded.document_ids == (1, 3, 4)
    assert loaded.place == {1: 0, 3: 1, 4: 2}
    assert loaded.sources == ("blog", "wiki")
    assert graph.source_of.tolist() == [1, 0, 1]
    assert (graph.n_documents, graph.n_sources) == (3, 2)
    assert graph.nodes == (
        *(Node("document", i) for i in "134"),
        Node("source", "blog"),
        Node("source", "wiki"),
    )


def test_the_strongest_passage_pair_speaks_for_its_documents(store: Store) -> None:
    (a1, a2), (b1, b2) = put(store, "a", "One.", "Two."), put(store, "b", "Three.", "Four.")
    judge(
        store,
        [
            Judgement(a1, b1, 0.6, 0.1),
            Judgement(a1, b2, 0.1, 0.8),
            Judgement(a2, b1, 0.7, 0.2),
            Judgement(a2, b2, 0.05, 0.05),
        ],
    )
    assert edges(store) == [(1, 2, -1, 0.8)]


def test_what_does_not_beat_neutral_is_not_said(store: Store) -> None:
    passages = [put(store, key, key)[0] for key in "abcd"]
    a, b, c, d = passages
    judge(store, [Judgement(a, b, 0.3, 0.3), Judgement(a, c, 0.5, 0.0), Judgement(a, d, 0.45, 0.15)])
    assert edges(store) == [(1, 4, 1, 0.45)]


def test_the_order_of_passages_does_not_turn_documents_round(store: Store) -> None:
    (a,), (b,) = put(store, "a", "One."), put(store, "b", "Two.")
    (a2,) = put(store, "a", "New.")  # a later passage of an earlier document
    judge(store, [Judgement(b, a2, 0.9, 0.0)])
    assert a2 > b > a
    assert edges(store) == [(1, 2, 1, 0.9)]


def test_a_tie_between_support_and_contradiction_is_read_with_care_and_always_alike(store: Store) -> None:
    (a1, a2), (b,) = put(store, "a", "One.", "Two."), put(store, "b", "Three.")
    judge(store, [Judgement(a1, b, 0.7, 0.1), Judgement(a2, b, 0.1, 0.7)])
    assert edges(store) == [(1, 2, -1, 0.7)]


def test_copies_are_one_voice_whatever_their_titles_and_keys(store: Store) -> None:
    (a,) = put(store, "a", "The same text.", title="One title")
    (b,) = put(store, "b", "The same text.", title="Another title")
    (c,) = put(store, "c", "Another text.")
    judge(store, [Judgement(a, b, 1.0, 0.0), Judgement(a, c, 0.8, 0.0), Judgement(b, c, 0.8, 0.0)])
    with store.read() as connection:
        group = load_graph(connection).graph.text_group
    assert group[0] == group[1] != group[2]
    assert edges(store) == [(1, 3, 1, 0.8), (2, 3, 1, 0.8)]


def test_near_duplicates_do_not_support_each_other_but_may_contradict() -> None:
    found = rows_of(
        np.array([0, 0, 1]),
        np.array([1, 2, 2]),
        np.array([0.9, 0.9, 0.0]),
        np.array([0.0, 0.0, 0.9]),
        answered=False,
    )
    texts, voices = np.array([0, 1, 2]), np.array([0, 0, 2])
    kept = document_edges(found, texts, voices)
    assert list(zip(kept.heads.tolist(), kept.tails.tolist(), strict=True)) == [(0, 2), (1, 2)]
    clash = rows_of(np.array([0]), np.array([1]), np.array([0.0]), np.array([0.9]), answered=False)
    assert document_edges(clash, texts, voices).signs.tolist() == [-1]


def test_a_later_contradiction_supersedes_and_is_no_edge(store: Store) -> None:
    (a,) = put(store, "a", "Port 1.", date="2024-05-01")
    (b,) = put(store, "b", "Port 2.", date="2023")
    (c,) = put(store, "c", "Port 3.")
    (d,) = put(store, "d", "Port 1, too.", date="2022-01")
    judge(
        store,
        [
            Judgement(a, b, 0.1, 0.8),
            Judgement(a, c, 0.1, 0.7),
            Judgement(b, d, 0.0, 0.9),
            Judgement(a, d, 0.9, 0.0),
        ],
    )
    assert superseding(store) == [(1, 2, 0.8), (2, 4, 0.9)]
    assert edges(store) == [(1, 3, -1, 0.7), (1, 4, 1, 0.9)]  # support across years stays support


DATES = [
    ("2024-05-01", "2024-04-30", 1),
    ("2024-05-01", "2024-05-01", 0),
    ("2023", "2024", -1),
    ("2024", "2024-05-01", 0),
    ("2024-05", "2024-05-31", 0),
    ("2024-05", "2024-06-01", -1),
    ("2024", "2023-12-31", 1),
    (None, "2024", 0),
    ("2024", None, 0),
    ("", "2024", 0),
    (None, None, 0),
]


@pytest.mark.parametrize(("left", "right", "order"), DATES)
def test_dates_are_compared_at_the_coarser_precision(left: str | None, right: str | None, order: int) -> None:
    assert compare_dates(left, right) == order
    assert compare_dates(right, left) == -order


def test_relations_among_passages_point_into_their_documents(store: Store) -> None:
    a1, a2 = put(store, "a", "Nothing here.", "We say: port 1 is used.", date="2020")
    (b,) = put(store, "b", "Now port 2 is used. Really.", date="2024")
    (c,) = put(store, "c", "It is port 2.")
    judge(
        store,
        [
            Judgement(a2, b, 0.0, 0.9, 8, 23, 0, 19),
            Judgement(b, c, 0.7, 0.1, 4, 10, 6, 12),
            Judgement(a1, c, 0.2, 0.2),
            Judgement(a2, c, 0.0, 0.6),
        ],
    )
    with store.read() as connection:
        found = relations_among(connection, [a1, a2, b, c])
        texts = {d.id: documents.text_of(connection, d.id) for d in documents.every(connection)}
        assert relations_among(connection, [a2]) == []
        assert relations_among(connection, [a1, a2, b]) == found[:1]
        assert relations_among(connection, []) == []
    assert [(r.head, r.tail, r.kind) for r in found] == [
        (2, 1, RelationKind.SUPERSEDES),
        (2, 3, RelationKind.SUPPORTS),
        (1, 3, RelationKind.CONTRADICTS),
    ]
    assert (found[0].head_passage, found[0].tail_passage) == (b, a2)
    assert found[0].head_span is not None
    assert (found[0].head_span.text, found[2].head_span) == ("Now port 2 is used.", None)
    for relation in found:
        for document, span in ((relation.head, relation.head_span), (relation.tail, relation.tail_span)):
            assert span is None or texts[document][span.start : span.end] == span.text


def test_relations_of_a_document_are_all_those_it_takes_part_in(store: Store) -> None:
    (a,), (b1, b2), (c,) = put(store, "a", "A."), put(store, "b", "B.", "BB."), put(store, "c", "C.")
    judge(
        store,
        [
            Judgement(a, b1, 0.6, 0.0),
            Judgement(b2, c, 0.0, 0.9),
            Judgement(a, c, 0.8, 0.0),
            Judgement(b1, c, 0.2, 0.2),
        ],
    )
    with store.read() as connection:
        found = relations_of_document(connection, 2)
        assert [(r.head, r.tail, r.weight) for r in found] == [(2, 3, 0.9), (1, 2, 0.6)]
        assert relations_of_document(connection, 99) == []


def test_more_passages_than_one_statement_takes(store: Store) -> None:
    first = put(store, "a", *(f"A{i}." for i in range(700)))
    second = put(store, "b", *(f"B{i}." for i in range(700)))
    judge(
        store, [Judgement(low, high, 0.9, 0.0, 0, 1, 0, 1) for low, high in zip(first, second, strict=True)]
    )
    with store.read() as connection:
        assert len(relations_among(connection, first + second)) == 700
        assert len(relations_of_document(connection, 1)) == 700
    assert edges(store) == [(1, 2, 1, 0.9)]


def test_relations_and_graph_agree_on_what_is_said(store: Store) -> None:
    rng = np.random.default_rng(0)
    passages = [put(store, f"k{i}", f"Text {i}.", date=f"20{i + 10}")[0] for i in range(12)]
    rows = []
    for i, low in enumerate(passages):
        for high in passages[i + 1 :]:
            entailment, contradiction, _ = rng.dirichlet([1, 1, 1])
            rows.append(Judgement(low, high, float(entailment), float(contradiction)))
    judge(store, rows)
    with store.read() as connection:
        found = relations_among(connection, passages)
    supports = {(r.head, r.tail) for r in found if r.kind is RelationKind.SUPPORTS}
    assert {(head, tail) for head, tail, _, _ in edges(store)} == supports
    later = {(r.head, r.tail) for r in found if r.kind is RelationKind.SUPERSEDES}
    assert {(head, tail) for head, tail, _ in superseding(store)} == later
    assert len(supports) + len(later) == len(found) > 20


# --- answers to one question ---


def answered(store: Store) -> dict[tuple[int, int], bool]:
    with store.read() as connection:
        loaded = load_graph(connection)
    graph, ids = loaded.graph, loaded.document_ids
    rows = zip(graph.heads, graph.tails, graph.by_answers, strict=True)
    return {(ids[head], ids[tail]): bool(by) for head, tail, by in rows}


def test_what_both_answer_makes_a_relation_of_the_kind_that_is_likelier(store: Store) -> None:
    a, b, c, d = (put(store, key, f"Text {key}.")[0] for key in "abcd")
    answer(store, (a, b, 0.1, 0.7), (a, c, 0.6, 0.2), (a, d, 0.04, 0.04), (b, c, 0.3, 0.3))
    assert edges(store) == [(1, 2, -1, 0.7), (1, 3, 1, 0.6), (2, 3, 1, 0.3)]
    assert answered(store) == {(1, 2): True, (1, 3): True, (2, 3): True}


def test_an_answer_is_worth_more_than_an_inference(store: Store) -> None:
    (a,), (b,), (c,) = (put(store, key, f"Text {key}.") for key in "abc")
    judge(store, [Judgement(a, b, 0.95, 0.0), Judgement(a, c, 0.95, 0.0)])
    answer(store, (a, b, 0.0, 0.6), (a, c, 0.0, 0.4))
    assert edges(store) == [(1, 2, -1, 0.6), (1, 3, 1, 0.95)]
    assert answered(store) == {(1, 2): True, (1, 3): False}
    assert evidence.WORTH["answers"] == 2 * evidence.WORTH["inference"]


def test_the_same_thing_asked_ten_times_is_no_surer(store: Store) -> None:
    (a,), (b,) = put(store, "a", "One."), put(store, "b", "Two.")
    for number in range(10):
        answer(store, (a, b, 0.0, 0.5), question=f"What, in wording {number}?")
    answer(store, (a, b, 0.6, 0.0), question="And what else?")
    assert edges(store) == [(1, 2, 1, 0.6)]
    with store.read() as connection:
        items = evidence.of_document(connection, 1)
    assert [item.sign for item in items] == [1] + [-1] * 10
    assert {item.question for item in items} == {
        "And what else?",
        *(f"What, in wording {number}?" for number in range(10)),
    }


def test_weak_answers_count_in_the_graph_and_are_not_shown_as_relations(store: Store) -> None:
    (a,), (b,), (c,) = (put(store, key, f"Text {key}.") for key in "abc")
    answer(store, (a, b, 0.0, 0.2), (a, c, 0.0, 0.04))
    assert edges(store) == [(1, 2, -1, 0.2)]
    with store.read() as connection:
        loaded = load_graph(connection)
        assert relations_of_document(connection, 1) == []
    assert set(loaded.n_relations.values()) == {0}


def test_answers_across_dates_supersede_too(store: Store) -> None:
    (a,) = put(store, "a", "The port is 1.", date="2024-05-01")
    (b,) = put(store, "b", "Well, the port is 2. So be it.", date="2023")
    answer(store, (a, b, 0.0, 0.8), places=(12, 13, 18, 19))
    assert superseding(store) == [(1, 2, 0.8)]
    with store.read() as connection:
        assert load_graph(connection).graph.superseded_by_answers.tolist() == [True]
        (found,) = relations_among(connection, [a, b])
        text = documents.text_of(connection, 2)
    assert (found.kind, found.head, found.tail) == (RelationKind.SUPERSEDES, 1, 2)
    assert found.tail_span is not None
    assert found.tail_span.text == "Well, the port is 2."
    assert text[found.tail_span.start : found.tail_span.end] == found.tail_span.text


def test_relations_among_passages_are_one_a_pair_by_what_is_worth_most(store: Store) -> None:
    (a,), (b,) = put(store, "a", "Port 1."), put(store, "b", "Port 2.")
    judge(store, [Judgement(a, b, 0.9, 0.0, 0, 7, 0, 7)])
    answer(store, (a, b, 0.0, 0.8), places=(5, 6, 5, 6))
    with store.read() as connection:
        (found,) = relations_among(connection, [a, b])
        both = evidence.of_document(connection, 1)
    assert (found.kind, found.weight) == (RelationKind.CONTRADICTS, 0.8)
    assert [(item.basis, item.sign) for item in both] == [("answers", -1), ("inference", 1)]


def test_evidence_names_its_backend_question_and_places(store: Store) -> None:
    (a,), (b,), (c,) = (put(store, key, f"Text {key}.") for key in "abc")
    judge(store, [Judgement(a, b, 0.9, 0.0, 0, 4, 1, 5)])
    answer(store, (a, b, 0.0, 0.8), question="Which?", places=(5, 6, 5, 7), origin="made", asker=b)
    answer(store, (b, c, 0.8, 0.0), question="Which?")
    with store.read() as connection:
        first, second = evidence.of_document(connection, 1, 2)
        assert evidence.of_document(connection, 2, 1) == [first, second]
        assert evidence.of_document(connection, 1, 3) == []
        assert len(evidence.of_document(connection, 2)) == 3
    assert (first.backend, first.question, first.asker, first.places) == ("r", "Which?", b, (5, 6, 5, 7))
    assert (second.backend, second.question, second.asker, second.places) == ("m", None, 0, (0, 4, 1, 5))


def test_evidence_goes_with_the_passages_that_it_is_on(store: Store) -> None:
    (a,), (b,) = put(store, "a", "One."), put(store, "b", "Two.")
    answer(store, (a, b, 0.0, 0.8))
    put(store, "b", "Three.")
    assert edges(store) == []
