"""Edges that rest on a question know which side answers it the more outright."""

from __future__ import annotations

import pytest
from judged import answer, judge, put

from veridical.graph.build import load_graph
from veridical.stores import Store, documents, questions, readings
from veridical.stores.derived import Judgement
from veridical.stores.questions import QuestionPair
from veridical.stores.readings import StoredReading


def margins(store: Store) -> dict[tuple[int, int], float]:
    """By document ids, the head's first."""
    with store.read() as connection:
        loaded = load_graph(connection)
    graph, ids = loaded.graph, loaded.document_ids
    rows = zip(graph.heads, graph.tails, graph.margins, strict=True)
    return {(ids[head], ids[tail]): round(float(margin), 6) for head, tail, margin in rows}


def ask(store: Store, text: str, reader: str, *no_answer: tuple[int, float], contradiction: float) -> None:
    """Log a question with what two passages answer to it, and compare them."""
    with store.write() as connection:
        question_id = questions.log(connection, text)
        assert question_id is not None
        found = [
            StoredReading(question_id, passage, none, (("1", 0, 1, 0.1),)) for passage, none in no_answer
        ]
        readings.put_readings(connection, reader, found)
        (low, _), (high, _) = no_answer
        pair = QuestionPair(low, high, question_id, text, "asked", 0, reader, 0.0, contradiction)
        questions.put_pairs(connection, [pair])


def test_the_margin_is_how_much_more_probably_the_head_answers(store: Store) -> None:
    (a,), (b,) = put(store, "a", "Port 1."), put(store, "b", "Port 2.")
    ask(store, "Which port?", "r", (a, 0.1), (b, 0.7), contradiction=0.6)
    assert margins(store) == {(1, 2): pytest.approx(0.6)}


def test_an_edge_has_the_margin_of_the_question_that_decides_it(store: Store) -> None:
    (a,), (b,) = put(store, "a", "Port 1."), put(store, "b", "Port 2.")
    ask(store, "Which port?", "r", (a, 0.1), (b, 0.7), contradiction=0.4)
    ask(store, "What port?", "r", (a, 0.5), (b, 0.2), contradiction=0.6)
    assert margins(store) == {(1, 2): pytest.approx(-0.3)}


def test_documents_are_heads_by_number_whatever_the_order_of_their_passages(store: Store) -> None:
    (a,), (b,) = put(store, "a", "Port 1."), put(store, "b", "Port 2.")
    (later,) = put(store, "a", "The port is 1.")
    assert a < b < later
    ask(store, "Which port?", "r", (b, 0.7), (later, 0.1), contradiction=0.6)
    with store.read() as connection:
        first = documents.find(connection, "a").id
    assert set(margins(store)) == {(min(first, 2), max(first, 2))}
    assert abs(margins(store)[min(first, 2), max(first, 2)]) == pytest.approx(0.6)
    assert (margins(store)[min(first, 2), max(first, 2)] > 0) == (first < 2)


def test_inference_and_made_questions_give_no_margin(store: Store) -> None:
    (a,), (b,), (c,) = (put(store, key, f"Text {key}.") for key in "abc")
    judge(store, [Judgement(a, b, 0.0, 0.9)])
    answer(store, (a, c, 0.0, 0.9), origin="made", asker=a)
    assert margins(store) == {(1, 2): 0.0, (1, 3): 0.0}
