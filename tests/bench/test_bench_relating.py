"""Relations of the retrieval benchmark are what a build finds, and labels bound them."""

from __future__ import annotations

import numpy as np

from veridical.bench import protocol, relating
from veridical.graph import evidence
from veridical.reading.base import ReadAnswer, Reading

TEXTS = ("Paris it is.", "It is Paris.", "Rome it is.", "Nothing here.")


def corpus():
    asked = protocol.Asked("q", "Which city?", frozenset({0, 1}), frozenset({2}), frozenset({0, 1}))
    return protocol.Corpus(TEXTS, np.array([True, True, False, True]), (asked,), ("Who else?",))


def read(pairs):
    """Finds the city of a passage, if the question asks for one."""
    found = []
    for question, text in pairs:
        city = next((name for name in ("Paris", "Rome") if name in text and "city" in question), None)
        start = text.index(city) if city else 0
        answers = (ReadAnswer(city, start, start + len(city), 0.9),) if city else ()
        found.append(Reading(answers, 0.1 if city else 1.0))
    return found


def edges(rows):
    graph = relating.relate(protocol.source_graph(len(TEXTS), None), rows)
    ends = zip(graph.heads.tolist(), graph.tails.tolist(), strict=True)
    return dict(zip(ends, graph.signs.tolist(), strict=True)), graph


def test_passages_that_answer_a_question_alike_support_each_other_and_others_contradict():
    rows, readings = relating.answered(["Which city?"], [[2, 0, 3, 1]], corpus(), read)
    found, graph = edges(rows)
    assert found == {(0, 1): 1, (0, 2): -1, (1, 2): -1}
    assert graph.by_answers.all()
    assert readings[0][2].best.text == "Rome"
    assert list(readings[0]) == [2, 0, 3, 1]


def test_an_edge_by_answers_says_which_side_answers_the_more_outright():
    def unsure_of_paris(pairs):
        sure = read(pairs)
        return [
            Reading(reading.answers, 0.4 if reading.best and reading.best.text == "Paris" else 0.1)
            for reading in sure
        ]

    rows, _ = relating.answered(["Which city?"], [[2, 0, 3, 1]], corpus(), unsure_of_paris)
    _, graph = edges(rows)
    ends = zip(graph.heads.tolist(), graph.tails.tolist(), strict=True)
    margins = dict(zip(ends, graph.answer_margins.round(6).tolist(), strict=True))
    assert margins == {(0, 1): 0.0, (0, 2): -0.3, (1, 2): -0.3}


def test_a_question_that_no_passage_answers_relates_none():
    rows, _ = relating.answered(["Who else?"], [[0, 1, 2]], corpus(), read)
    assert edges(rows)[0] == {}


def test_documents_put_questions_to_those_that_they_are_paired_with():
    texts = (
        "The Halvorsen bridge over the Arn was opened in 1931 by the queen.",
        "The Halvorsen bridge over the Arn was opened in 1954 by the mayor.",
        "Nothing here.",
    )
    made = protocol.Corpus(texts, np.ones(3, dtype=np.bool_), ())
    heard = []

    def years(pairs):
        heard.extend(pairs)
        found = []
        for _, text in pairs:
            year = next((word for word in ("1931", "1954") if word in text), None)
            start = text.index(year) if year else 0
            answers = (ReadAnswer(year, start, start + 4, 0.9),) if year else ()
            found.append(Reading(answers, 0.1 if year else 1.0))
        return found

    rows = relating.made(made, [(0, 1), (0, 2)], 4, years)
    assert {(i, j) for i, j in zip(rows.heads, rows.tails, strict=True)} == {(0, 1)}
    assert -1 in rows.signs
    assert len(heard) <= 3 * 4
    assert len(relating.made(made, [(0, 1)], 0, years).heads) == 0


def test_labels_relate_what_is_asked_about_and_nothing_else():
    assert edges(relating.labelled(corpus(), [[0, 2, 3]]))[0] == {(0, 2): -1}
    assert edges(relating.labelled(corpus(), [[3]]))[0] == {}


def test_pools_hold_the_nearest_first_and_nothing_far_off():
    texts = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]], dtype=np.float32)
    questions = np.array([[0, 1], [1, 0]], dtype=np.float32)
    assert relating.question_pools(texts, questions) == [[3, 2, 1], [0, 1, 2]]


def test_relations_less_likely_than_neutral_are_no_relations():
    judged = np.array([[0.8, 0.1], [0.2, 0.3], [0.1, 0.6]], dtype=np.float32)
    found, graph = edges(relating.inferred([(0, 1), (1, 2), (2, 3)], judged))
    assert found == {(0, 1): 1, (2, 3): -1}
    np.testing.assert_allclose(graph.weights, [0.8, 0.6], atol=1e-6)
    assert not graph.by_answers.any()


def test_answers_outweigh_what_was_inferred_of_the_same_pair():
    inferred = relating.inferred([(0, 2), (1, 3)], np.array([[0.6, 0.0], [0.6, 0.0]], dtype=np.float32))
    answers, _ = relating.answered(["Which city?"], [[0, 2]], corpus(), read)
    assert edges(evidence.joined([inferred, answers]))[0] == {(0, 2): -1, (1, 3): 1}


def test_neighbours_and_passages_that_share_something_rare_are_judged():
    rows = np.eye(4, dtype=np.float32)
    rows[1] = rows[0]
    made = protocol.Corpus(
        ("It rained.", "It rained a lot.", "Zebulon Quixote met 4711 men.", "Zebulon Quixote led 4711 men."),
        np.ones(4, dtype=np.bool_),
        (),
    )
    assert relating.neighbour_pairs(made, rows) == [(0, 1), (2, 3)]
