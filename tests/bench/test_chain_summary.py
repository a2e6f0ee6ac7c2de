"""From marks of chains to means, paired differences and tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical.bench.chain_runs import MARKS, Row, Setting
from veridical.bench.chain_summary import summarise, table

IDS = ("a", "b", "c", "d")


def row(poison, credibility, context, *, scored=(1, 1, 1, 1), **marks):
    arrays = {name: np.full(4, np.nan) for name in MARKS}
    arrays |= {name: np.array(values, dtype=float) for name, values in marks.items()}
    arrays |= {name: np.zeros(4) for name in ("strict", "f1", "attack") if name not in marks}
    return Row(Setting(poison, credibility, context), IDS, tuple(bool(each) for each in scored), arrays)


def figures(rows, setting):
    return {r.metric: r for r in summarise("toy", rows) if r.setting == setting}


def interval(result):
    return result.value, result.low, result.high


@pytest.fixture
def rows():
    return [
        row("substituted", "none", "top 5", strict=(0, 0, 1, 0), attack=(1, 1, 0, 0)),
        row("substituted", "none", "TBS", strict=(0, 1, 1, 0), attack=(1, 0, 0, 0)),
        row("substituted", "ideal", "TBS", strict=(1, 1, 1, 0), **{"support recall": (1, 0.5, np.nan, 0)}),
    ]


def test_marks_are_averaged_over_the_questions_where_they_are_defined(rows):
    found = figures(rows, "substituted | TBS | ideal")
    assert (found["strict"].value, found["strict"].n) == (0.75, 4)
    assert (found["support recall"].value, found["support recall"].n) == (0.5, 3)
    assert math.isnan(found["poisoned chains"].value)
    assert found["poisoned chains"].n == 0
    assert found["strict"].method == "reliable"
    assert found["strict"].dataset == "toy"


def test_an_interval_spans_what_resampled_questions_give(rows):
    found = figures(rows, "substituted | TBS | ideal")["strict"]
    assert found.low < found.value < found.high
    # Of four draws one at most is a right one in 5% of the resamples, and none in .4%.
    assert (found.low, found.high) == (0.25, 1.0)
    certain = figures([row("clean", "none", "TBS", strict=(1, 1, 1, 1))], "clean | TBS | none")["strict"]
    assert interval(certain) == (1.0, 1.0, 1.0)


def test_differences_are_to_plain_passages_and_to_chains_without_credibility(rows):
    found = figures(rows, "substituted | TBS | ideal")
    assert found["strict over top 5"].value == 0.5
    assert found["attack over top 5"].value == -0.5
    assert found["strict over none"].value == 0.25
    base = figures(rows, "substituted | top 5 | none")
    assert interval(base["strict over top 5"]) == (0.0, 0.0, 0.0)
    assert figures(rows, "substituted | TBS | none")["strict over none"].value == 0.0


def test_differences_are_paired_question_by_question():
    rows = [
        row("clean", "none", "top 5", f1=(0.1, 0.9, 0.3, 0.6)),
        row("clean", "ideal", "TBS", f1=(0.2, 1.0, 0.4, 0.7)),
    ]
    found = figures(rows, "clean | TBS | ideal")["f1 over top 5"]
    # The same step up on every question: however questions are drawn, nothing is left to chance.
    assert interval(found) == pytest.approx((0.1, 0.1, 0.1))


def test_only_scored_questions_count_in_means_and_differences():
    rows = [
        row("template", "none", "top 5", strict=(1, 0, 0, 0), scored=(0, 1, 1, 0)),
        row("template", "ideal", "TBS", strict=(0, 1, 0, 0), scored=(0, 1, 1, 0)),
    ]
    found = figures(rows, "template | TBS | ideal")
    assert (found["strict"].value, found["strict"].n) == (0.5, 2)
    assert (found["strict over top 5"].value, found["strict over top 5"].n) == (0.5, 2)


def test_seeds_of_one_setting_are_one_figure_and_its_question_stays_one_unit():
    rows = [
        row("substituted", "none", "top 5", strict=(0, 0, 1, 0)),
        row("substituted", "trust 30%", "TBS", strict=(1, 0, 1, 0)),
        row("substituted", "trust 30%", "TBS", strict=(1, 1, 0, 1)),
    ]
    found = figures(rows, "substituted | TBS | trust 30%")
    assert (found["strict"].value, found["strict"].n) == (5 / 8, 4)
    # By question: (1 + 1, 0 + 1, 0 - 1, 0 + 1) / 2.
    assert found["strict over top 5"].value == pytest.approx(3 / 8)
    assert found["strict over top 5"].n == 4


def test_every_seed_is_compared_question_by_question():
    rows = [
        row("substituted", "none", "top 5", f1=(0.1, 0.9, 0.3, 0.6)),
        *[row("substituted", "trust 30%", "TBS", f1=(0.2, 1.0, 0.4, 0.7))] * 2,
    ]
    found = figures(rows, "substituted | TBS | trust 30%")["f1 over top 5"]
    assert interval(found) == pytest.approx((0.1, 0.1, 0.1))


def test_each_attack_is_compared_with_plain_passages_under_itself():
    rows = [
        row("clean", "none", "top 5", strict=(1, 1, 1, 1)),
        row("template", "none", "top 5", strict=(0, 0, 0, 0)),
        row("template", "none", "TBS", strict=(0, 1, 0, 0)),
    ]
    assert figures(rows, "template | TBS | none")["strict over top 5"].value == 0.25


def test_without_a_base_there_is_no_difference():
    found = figures([row("clean", "ideal", "TBS", strict=(1, 1, 1, 1))], "clean | TBS | ideal")
    assert not any(" over " in metric for metric in found)


def test_the_table_has_a_line_a_setting_and_a_second_one_for_chains(rows):
    results = summarise("toy", rows)
    text = table([*results, *summarise("other", rows[:1], n_draws=20)], "toy")
    lines = [line for line in text.splitlines() if line.startswith("substituted")]
    assert [line.split()[1:3] for line in lines] == [
        ["top", "5"],
        ["TBS", "none"],
        ["TBS", "ideal"],
        ["TBS", "none"],
        ["TBS", "ideal"],
    ]
    assert "0.750 [0.25,1.00]" in lines[2]
    assert "+0.500 [" in lines[2]
    assert text.splitlines()[0].startswith("toy:")
    assert "nan" not in text
