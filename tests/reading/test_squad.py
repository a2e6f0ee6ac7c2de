"""Hard cases keep their promise: some hold no marked answer, substituted ones another."""

from __future__ import annotations

import json

import numpy as np
import pytest

from veridical.errors import ReadError
from veridical.reading.squad import (
    Context,
    Question,
    Substitutes,
    answer_kind,
    best_f1,
    exact_match,
    is_held_out,
    normalise,
    own_items,
    read_contexts,
    removed_item,
    similar_contexts,
    substituted_item,
    token_f1,
)
from veridical.types import Span

TEXT = (
    "The Halden bridge spans the river near the old mill, and is 503 metres long. It was opened in 1932 "
    "by the mayor. In 1932 the toll was twopence. Trains have crossed it since the end of the war, mostly at "
    "night. In summer the banks below it are full of people who come from the town to swim or to fish."
)


def marked(text, *answers):
    return tuple(Span(a, text.index(a), text.index(a) + len(a)) for a in answers)


def context(
    text=TEXT, file="wiki", number=0, answers=("1932",), question="When was the Halden bridge opened?"
):
    asked = Question(f"{file}-{number}", question, marked(text, *answers))
    return Context(file, text, (asked,), False)


def test_own_items_point_at_the_marked_answers():
    (item,) = own_items(context())
    assert [item.text[a:b] for a, b in item.spans] == ["1932"]


def test_removing_leaves_no_marked_answer_and_most_of_the_passage():
    one = context(answers=("503 metres",))
    item = removed_item(one, one.questions[0])
    assert item.spans == ()
    assert "503" not in item.text
    assert "twopence" in item.text


def test_nothing_is_removed_where_the_answer_would_be_left_elsewhere():
    one = context(answers=("1932",))
    assert removed_item(one, one.questions[0]) is None


def test_a_substituted_passage_says_the_other_answer_wherever_it_said_the_first():
    one = context(answers=("1932", "in 1932 by the mayor"))
    item = substituted_item(one, one.questions[0], "the year 1954")
    assert "1932" not in item.text
    assert [item.text[a:b] for a, b in item.spans] == ["the year 1954", "in the year 1954 by the mayor"]


def test_the_same_answer_is_no_substitute():
    one = context()
    assert substituted_item(one, one.questions[0], "1932.") is None


def test_substitutes_are_of_the_same_kind():
    years = ("1932", "1871", "1954")
    contexts = [
        context(TEXT.replace("1932", year), number=i, answers=(year,)) for i, year in enumerate(years)
    ]
    pool = Substitutes(contexts)
    drawn = [pool.draw(contexts[0], contexts[0].questions[0], np.random.default_rng(i)) for i in range(20)]
    said = {item.text[slice(*item.spans[0])] for item in drawn if item is not None}
    assert said == {"1871", "1954"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [("1932", "date 1"), ("12 May", "number 2"), ("Anna Krog", "name 2"), ("the toll", "phrase 2")],
)
def test_answers_have_coarse_kinds(text, kind):
    assert answer_kind(text) == kind


def test_a_similar_passage_lacks_the_answer_and_a_rare_word_of_the_question():
    other = "The Skolt bridge spans the river near the new mill and was opened by a minister."
    same = "The Halden bridge was opened in 1932."
    more = [f"A passage about topic{i} and nothing else." for i in range(60)]
    contexts = [context()] + [
        Context("wiki", text, (Question(f"q{i}", "What is it?", marked(text, text.split()[1])),), False)
        for i, text in enumerate([other, same, *more])
    ]
    found = similar_contexts(contexts)["wiki-0"]
    assert found[0] == 1
    assert 2 not in found


def test_a_question_that_fits_any_passage_gets_no_negatives():
    texts = [f"Gadget number{i} is fine and worth the money, it works well." for i in range(40)]
    contexts = [
        Context("reviews", t, (Question(f"r{i}", "Is it worth the money?", marked(t, "fine")),), False)
        for i, t in enumerate(texts)
    ]
    assert not any(similar_contexts(contexts).values())


def test_held_out_passages_are_a_tenth_and_stay_the_same():
    texts = [f"passage {i}" for i in range(3000)]
    share = sum(map(is_held_out, texts)) / len(texts)
    assert 0.08 < share < 0.12
    assert is_held_out("passage 7\n") == is_held_out("passage 7")


def test_answers_that_do_not_fit_their_passage_are_left_out(tmp_path):
    row = {"context": TEXT, "questions": [{"id": 1, "question": "When? ", "answers": []}]}
    row["questions"][0]["answers"] = [
        {"text": "1932", "start": TEXT.index("1932")},
        {"text": "1933", "start": 5},
    ]
    (tmp_path / "some.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (read,) = read_contexts(tmp_path)
    assert [answer.text for answer in read.questions[0].answers] == ["1932"]


def test_a_malformed_line_is_named(tmp_path):
    (tmp_path / "some.jsonl").write_text('{"context": "x"}\n', encoding="utf-8")
    with pytest.raises(ReadError, match=r"some\.jsonl:1"):
        read_contexts(tmp_path)


def test_an_empty_folder_is_an_error(tmp_path):
    with pytest.raises(ReadError, match="no"):
        read_contexts(tmp_path)


@pytest.mark.parametrize(
    ("said", "gold", "f1"),
    [("the 1932", "1932", 1.0), ("in 1932", "1932", 2 / 3), ("a", "", 1.0), ("x", "y", 0.0), ("", "y", 0.0)],
)
def test_f1_is_of_normalised_words(said, gold, f1):
    assert token_f1(said, gold) == pytest.approx(f1)


def test_the_best_annotator_counts():
    assert best_f1("in May 1932", ["1954", "May 1932"]) == pytest.approx(0.8)
    assert exact_match("May, 1932", ["1954", "may 1932"])
    assert not exact_match("1932", ["1954"])
    assert normalise("The  U.S.-built 'Bridge'") == "u s built bridge"
