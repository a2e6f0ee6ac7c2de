"""Statistics of style show a giveaway, and none where a passage differs by its answer alone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from asked import FAIR

from veridical.bench.attacks.base import create
from veridical.bench.attacks.style import GIVEAWAY, STATISTICS, style
from veridical.bench.datasets.questions import LabelledPassage, Question


def question(true: list[str], false: list[str]) -> Question:
    own = [LabelledPassage(f"t{i}", text, "factual") for i, text in enumerate(true)]
    fakes = [LabelledPassage(f"f{i}", text, "misinformation") for i, text in enumerate(false)]
    return Question("q", "Where?", ("Oslo",), (*own, *fakes), "Bergen")


def test_the_statistics_are_what_they_are_called():
    text = 'In 1900 "the fair" was the talk. It was big.'
    values = {name: value(text) for name, value in STATISTICS.items()}
    assert values == pytest.approx(
        {
            "words": 10,
            "type-token ratio": 8 / 10,
            "digits per 100 words": 40,
            "quotation marks per 100 words": 20,
            "words a sentence": 5,
        }
    )


def test_a_text_without_words_has_no_ratio():
    assert math.isnan(STATISTICS["type-token ratio"]("..."))


def test_longer_fakes_are_a_giveaway_and_so_are_shorter_ones():
    short, long = ["It is Oslo.", "Oslo, we said."], ["It is Bergen " + "as all know " * 9] * 2
    for true, false in ((short, long), (long, short)):
        found = style([question(true, false)])
        assert found.best is not None
        assert found.best.auc == 1.0
        assert "a giveaway" in found.verdict()
    assert GIVEAWAY < 1


def test_a_substituted_passage_is_like_the_one_that_it_was_made_of():
    alone = replace(FAIR, passages=FAIR.passages[:1])
    found = style(create("substitution").apply([alone]))
    assert {one.auc for one in found.statistics} == {0.5}
    assert "giveaway" not in found.verdict()
    assert (found.names_right.true, found.names_right.planted) == (1.0, 0.0)
    assert (found.names_wrong.true, found.names_wrong.planted) == (0.0, 1.0)


def test_copies_are_counted():
    found = style(create("repetition", {"n": 4}).apply([FAIR]))
    assert found.copied == 0.75
    assert (found.n_true, found.n_planted) == (3, 4)
    assert "75% of the planted ones are copies" in found.verdict()


def test_questions_without_planted_passages_do_not_count():
    attacked = question(["It is Oslo."], ["It is Bergen."])
    clean = replace(FAIR, passages=FAIR.labelled("factual"))
    assert style([attacked, clean]) == style([attacked])
    nothing = style([clean])
    assert (nothing.n_true, nothing.n_planted, nothing.best) == (0, 0, None)
    assert nothing.verdict() == "There are no planted passages to compare."


def test_they_print_as_a_table_with_what_stands_out_below():
    lines = style([question(["It is Oslo."], ["It is Bergen, and Bergen it was."])]).lines()
    assert lines[0] == "| | true | planted | AUC |"
    assert "| words | 3.00 | 7.00 | 1.00 |" in lines
    assert lines[-1].startswith("The best single statistic")


def test_facts_are_plain_and_empty_without_planted_passages():
    found = style([question(["It is Oslo."], ["It is Bergen, and Bergen it was."])]).facts()
    assert found["statistics"]["words"] == [3, 7, 1.0]
    assert found["statistics"]["contains a right answer"] == [1, 0, 1.0]
    assert style([question(["It is Oslo."], [])]).facts() == {}
