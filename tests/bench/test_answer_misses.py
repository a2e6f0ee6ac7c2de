"""Every miss of the benchmark of answers has one kind, by what was judged, read and on the board."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exams import CITIES, exam

from veridical.bench import answers
from veridical.bench.answer_misses import KINDS, Miss, misses, summarise, table
from veridical.graph.arrays import Anchors
from veridical.reading.base import NOTHING

TOPIC = "fair"


@pytest.fixture
def taken():
    return exam(n_false=5)


def judged(taken, *, true=(), false=()):
    """Judge some of the first topic's own documents, by place among its true and its false ones."""
    asked = next(a for a in taken.corpus.asked if a.id == TOPIC)
    good, bad = sorted(asked.own_true), sorted(asked.own_false)
    documents = [good[i] for i in true] + [bad[i] for i in false]
    values = [1.0] * len(true) + [0.0] * len(false)
    order = np.argsort(documents) if documents else []
    picked = np.array(documents, dtype=np.int64)[order], np.array(values)[order]
    return Anchors(*picked, np.ones(len(documents))) if documents else Anchors()


def kind(taken, anchors=None, trust=None):
    trust = answers.unknown(taken) if trust is None else trust
    found = {miss.question: miss.kind for miss in misses(taken, trust, anchors or Anchors())}
    return found.get(TOPIC)


def changed(taken, change):
    """The same exam with other readings of the first topic's pool."""
    place = next(i for i, q in enumerate(taken.questions) if q.id == TOPIC)
    readings = list(taken.readings)
    readings[place] = tuple(map(change, taken.pools[place].documents.tolist(), readings[place]))
    return replace(taken, readings=tuple(readings))


def test_an_attack_of_which_nothing_was_judged(taken):
    assert kind(taken) == "nothing judged"


def test_an_attack_although_a_document_that_answers_was_judged(taken):
    assert kind(taken, judged(taken, true=[0])) == "outvoted a judged good one"
    assert kind(taken, judged(taken, true=[0], false=[1])) == "judged bad, others stayed"


def test_an_attack_where_what_was_judged_does_not_answer(taken):
    anchors = judged(taken, true=[0])
    silent = changed(taken, lambda d, reading: NOTHING if d in anchors.documents else reading)
    assert kind(silent, anchors) == "judged ones do not answer"


def test_an_attack_that_a_true_passage_bears_out(taken):
    said = next(
        r for r in taken.readings[[q.id for q in taken.questions].index(TOPIC)] if r.best.text == "Lyon"
    )
    assert kind(changed(taken, lambda *_: said)) == "true passage says it"


def test_a_right_answer_is_no_miss(taken):
    assert kind(taken, trust=np.where(taken.corpus.true, 0.9, 0.1)) is None


def test_a_wrong_answer_that_no_passage_or_no_reading_gives(taken):
    nothing = changed(taken, lambda *_: NOTHING)
    assert kind(nothing) == "not read"
    texts = tuple(text.replace("Paris", "Rome") for text in taken.corpus.texts)
    bare = replace(nothing, corpus=replace(taken.corpus, texts=texts))
    assert kind(bare) == "no passage has it"


def test_a_right_answer_that_is_outweighed(taken):
    def rome(document, reading):
        if taken.corpus.true[document]:
            return reading
        answer = replace(reading.best, text="Rome")
        return replace(reading, answers=(answer,))

    assert kind(changed(taken, rome)) == "outweighed"


def test_a_right_answer_in_other_words(taken):
    def longer(_, reading):
        return replace(reading, answers=(replace(reading.best, text="the city of Paris"),))

    assert kind(changed(taken, longer)) == "other words"


def test_shares_are_taken_over_all_questions_of_all_seeds():
    runs = [[Miss("a", "not read"), Miss("b", "outweighed")], [Miss("a", "not read")]]
    found = {r.metric: r for r in summarise("toy", "s", runs, [["a", "b"], ["a", "c"]])}
    assert set(found) == {f"miss: {name}" for name in KINDS}
    assert found["miss: not read"].value == 0.5
    assert found["miss: outweighed"].value == 0.25
    assert found["miss: nothing judged"].value == 0
    assert found["miss: not read"].n == 3


def test_the_table_lists_as_many_ids_as_asked_for():
    unread = [Miss(f"u-{i}", "not read") for i in range(30)]
    runs = [unread + [Miss(f"o-{i}", "outweighed") for i in range(10)]]
    text = table("toy", runs, 80, n_listed=8)
    assert (text.count("u-"), text.count("o-")) == (6, 2)
    assert "37.5%" in text


def test_the_topic_of_these_tests_is_one_of_the_exam():
    assert TOPIC in CITIES
