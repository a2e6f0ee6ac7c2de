"""Figures of the benchmark of answers: means, differences to the clean run, abstention and curves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical.bench.answer_misses import Miss
from veridical.bench.answer_runs import MARKS, Row, Run, Setting
from veridical.bench.answer_summary import COVERAGES, misses, summarise, table

IDS = ("a", "b", "c", "d")


def row(poison, belief, *, strict, given=(1, 1, 1, 1), probability=(0.9, 0.8, 0.7, 0.6), **kinds):
    scored, touched = kinds.pop("scored", [True] * 4), kinds.pop("touched", [False] * 4)
    marks = {name: np.zeros(4) for name in MARKS}
    marks |= {"strict": strict, "containment": strict, "f1": strict, "given": given}
    marks |= {"probability": probability, **kinds}
    arrays = {name: np.array(values, dtype=float) for name, values in marks.items()}
    flags = [np.array(values, dtype=bool) for values in (scored, touched)]
    return Row(Setting(poison, "no sources", belief), IDS, *flags, arrays)


@pytest.fixture
def rows():
    return [
        row("clean", "feedback 0%", strict=(1, 1, 1, 0)),
        row("written", "feedback 0%", strict=(1, 0, 0, 0), attack=(0, 1, 1, 0), given=(1, 1, 0, 0)),
        row("neutral", "feedback 30%", strict=(1, 0, 1, 0), scored=[1, 1, 0, 0], touched=[1, 0, 0, 0]),
    ]


def figures(rows, setting):
    return {r.metric: r for r in summarise("toy", [rows], n_draws=50) if r.setting == setting}


def test_marks_are_averaged_and_compared_with_the_clean_run(rows):
    found = figures(rows, "written | no sources | feedback 0%")
    assert found["strict"].value == 0.25
    assert found["strict"].low <= 0.25 <= found["strict"].high
    assert found["strict against clean"].value == -0.5
    assert found["attack"].value == 0.5
    assert found["strict"].n == 4


def test_questions_without_this_poison_count_neither_here_nor_in_the_difference(rows):
    found = figures(rows, "neutral | no sources | feedback 30%")
    assert (found["strict"].value, found["strict"].n) == (0.5, 2)
    assert found["strict against clean"].value == -0.5
    assert found["strict (own touched)"].value == 1
    assert found["strict (none touched)"].value == 0


def test_abstention_counts_only_what_was_given(rows):
    found = figures(rows, "written | no sources | feedback 0%")
    assert found["coverage"].value == 0.5
    assert found["strict of those given"].value == 0.5
    assert found["attack of those given"].value == 0.5


def test_curves_answer_the_surest_first(rows):
    found = figures(rows, "clean | no sources | feedback 0%")
    assert found["risk@0.5"].value == 0
    assert found["risk@1"].value == 0.25
    assert found["aurc"].value == pytest.approx(0.25 / 4)
    assert found["calibration error"].value == pytest.approx((0.1 + 0.2 + 0.3 + 0.6) / 4)
    assert found["aurc"].low <= found["aurc"].value <= found["aurc"].high
    attack = figures(rows, "written | no sources | feedback 0%")
    assert attack["attack@0.1"].value == 0
    assert attack["attack@1"].value == 0.5


def test_seeds_are_joined_question_by_question(rows):
    other = [row(r.setting.poison, r.setting.belief, strict=(0, 0, 0, 0)) for r in rows]
    joined = {(r.setting, r.metric): r for r in summarise("toy", [rows, other], n_draws=50)}
    result = joined["clean | no sources | feedback 0%", "strict"]
    assert (result.value, result.n) == (0.375, 4)
    # The second seed's clean run is as bad as its poisoned one.
    assert joined["written | no sources | feedback 0%", "strict against clean"].value == -0.25


def test_a_setting_in_which_nothing_is_scored_has_no_numbers(rows):
    rows.append(row("neutral", "perfect trust", strict=(1, 1, 1, 1), scored=[False] * 4))
    found = figures(rows, "neutral | no sources | perfect trust")
    assert math.isnan(found["strict"].value)
    assert math.isnan(found["aurc"].value)
    assert found["strict"].n == found["aurc"].n == 0


def test_the_table_has_a_line_a_setting_and_two_curves_each(rows):
    text = table(summarise("toy", [rows], n_draws=50), "toy")
    lines = [line for line in text.splitlines() if "no sources" in line]
    assert len(lines) == 3 * 3
    assert "0.250 [" in lines[1]
    assert "-0.500 [" in lines[1]
    assert len(lines[-1].split()) >= len(COVERAGES)


def test_misses_are_counted_among_the_questions_that_are_scored(rows):
    results, text = misses("toy", [Run(rows, {"neutral": [Miss("b", "outweighed")]})])
    found = {r.metric: r for r in results}
    assert found["miss: outweighed"].value == 0.5
    assert found["miss: outweighed"].setting == "neutral | no sources | feedback 30%"
    assert "of 2 answers" in text
