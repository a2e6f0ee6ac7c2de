"""Poison of questions that take several passages: one altered copy, or one passage by a template."""

from __future__ import annotations

from dataclasses import replace

import pytest
from multihops import LONELY, LOST, MORA, ORSA, QUESTIONS, YES, passage

from veridical.bench.attacks.template import TEMPLATES
from veridical.bench.metrics.answers import contains
from veridical.bench.multihop import attacked, is_false


def test_the_altered_copy_stands_last_beside_the_original():
    found = attacked(QUESTIONS)
    before, after = found.questions[0], found.under("substituted")[0]
    *own, false = after.passages
    wrong = before.wrong_answer
    assert wrong in {"Uppsala", "Falun"}
    assert tuple(own) == before.passages == ORSA.passages
    assert false.text == f"Ada Lind was born in {wrong}. {wrong} lies by the sea."
    assert (false.id, false.title, false.label) == ("orsa-2-altered", "Ada Lind", "misinformation")
    assert not false.supporting
    assert [is_false(each) for each in after.passages] == [False, False, False, True]


def test_only_the_first_supporting_passage_that_gives_the_answer_is_altered():
    second = passage("late", "Malmo", "Malmo was where Ada Lind was born.", needed=True)
    found = attacked([replace(ORSA, passages=(*ORSA.passages, second)), MORA])
    assert [p.id for p in found.under("substituted")[0].passages if is_false(p)] == ["orsa-2-altered"]


def test_the_answer_is_replaced_in_the_title_too():
    town = passage("town", "Malmo (town)", "Ada Lind comes from Malmo.", needed=True)
    found = attacked([replace(ORSA, passages=(town,)), MORA])
    false = found.under("substituted")[0].passages[-1]
    assert (false.title, false.text) == ("Uppsala (town)", "Ada Lind comes from Uppsala.")


def test_part_of_a_word_is_no_mention_of_the_answer():
    longer = passage("longer", "Ada Lind", "Ada Lind lived in Malmohus.", needed=True)
    both = replace(ORSA, passages=(longer, *ORSA.passages))
    alone = replace(ORSA, id="alone", passages=(longer,))
    found = attacked([both, alone, MORA])
    assert found.under("substituted")[0].passages[-1].id == "orsa-2-altered"
    assert found.obstacles == {"alone": "answer in no supporting passage"}


def test_what_cannot_be_altered_says_why_and_stays_as_it_is():
    found = attacked(QUESTIONS)
    assert found.obstacles == {
        "older": "yes or no",
        "lost": "answer in no supporting passage",
        "lonely": "no wrong answer",
    }
    after = found.under("substituted")
    assert len(after) == len(QUESTIONS)
    assert after[2:] == found.questions[2:]
    assert [q.passages for q in after[2:]] == [YES.passages, LOST.passages, LONELY.passages]


def test_clean_questions_are_those_that_there_were():
    assert [q.passages for q in attacked(QUESTIONS).under("clean")] == [q.passages for q in QUESTIONS]


def test_the_first_questions_keep_the_wrong_answers_that_all_of_them_led_to():
    found = attacked(QUESTIONS)
    first = found.first(3)
    assert first.questions == found.questions[:3]
    assert first.questions[0].wrong_answer is not None
    assert first.obstacles == {"older": "yes or no"}
    # With the first alone there is no other town to name.
    assert attacked(QUESTIONS[:1]).questions[0].wrong_answer is None
    assert found.first(None) == found


def test_a_question_that_brings_a_wrong_answer_gets_one_that_was_chosen():
    found = attacked([replace(ORSA, wrong_answer="Malmo, of course"), MORA])
    assert found.questions[0].wrong_answer == "Uppsala"


@pytest.fixture(scope="module")
def written():
    """The passage that a template wrote for the first question, under many seeds."""
    found = attacked(QUESTIONS)
    wrong = found.questions[0].wrong_answer
    return wrong, [found.under("template", seed=seed)[0].passages[-1] for seed in range(60)]


def test_a_template_says_that_the_wrong_answer_is_right(written):
    wrong, passages = written
    for false in passages:
        assert is_false(false)
        assert false.id == "orsa-written"
        assert ORSA.text in false.text
        assert contains(false.text, [wrong])
        assert not contains(f"{false.title} {false.text}", ORSA.answers)


def test_every_template_is_used_under_the_title_of_a_supporting_passage_or_none(written):
    wrong, passages = written
    assert {p.text for p in passages} == {t.format(question=ORSA.text, wrong=wrong) for t in TEMPLATES}
    assert {p.title for p in passages} == {"", "Orsa Bridge"}


def test_one_seed_gives_one_poison():
    found = attacked(QUESTIONS)
    assert found.under("template", seed=3) == found.under("template", seed=3)
    assert any(found.under("template", seed=3) != found.under("template", seed=s) for s in range(4, 8))


def test_a_template_needs_a_wrong_answer_and_nothing_else():
    found = attacked(QUESTIONS)
    n_false = {q.id: sum(map(is_false, q.passages)) for q in found.under("template")}
    assert n_false == {"orsa": 1, "mora": 1, "older": 1, "lost": 1, "lonely": 0}
    yes = found.under("template")[2]
    assert yes.wrong_answer == "no"
    assert contains(yes.passages[-1].text, ["no"])
