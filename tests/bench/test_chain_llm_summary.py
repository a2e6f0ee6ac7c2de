"""From examined questions to means with intervals, credibility's AUC and tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from veridical.bench.chain_llm import CREDIBILITIES, Cost, Examined, Judged
from veridical.bench.chain_llm_summary import summarise, table

REAL, FAKE = [10, 9, 8, 5], [9, 3, 1]


def judged(real=REAL, fake=FAKE, *, copied=()):
    """Scores from 0 to 10, the same from every source; ``copied`` are places among the false ones."""
    scores = np.array([*real, *fake], dtype=float) / 10
    false = np.array([False] * len(real) + [True] * len(fake), dtype=bool)
    twice = np.zeros(len(scores), dtype=bool)
    twice[[len(real) + place for place in copied]] = True
    return Judged(dict.fromkeys(CREDIBILITIES, scores), false, twice)


def examined(name, *, strict, plain, triples=None, passages=None, calls=2.0):
    marks = {"f1": strict, "containment": strict, "attack": math.nan, "calls": calls, "prompt tokens": 10.0}
    marks |= {"computed tokens": 5.0, "seconds": 1.0}
    chains = {"support recall": 0.5, "computed share": 0.125, "published tokens": 1234.0}
    answers = {
        "top 5": {**marks, "strict": plain},
        "TBS | llm": {**marks, **chains, "strict": strict},
    }
    offline = {"extraction": Cost(3, 100, 60, 20, 6.0)}
    return Examined(name, answers, {}, offline, triples or judged(), passages or judged(), {})


def figures(done, setting):
    return {r.metric: r for r in summarise("toy", done, "made-0.5b") if r.setting == setting}


TWO = [examined("a", strict=1.0, plain=0.0), examined("b", strict=1.0, plain=0.0)]


def test_answers_are_averaged_over_questions_and_compared_with_plain_passages():
    done = [examined("a", strict=1.0, plain=0.0, calls=4.0), examined("b", strict=0.0, plain=0.0)]
    found = figures(done, "TBS | llm")
    assert (found["strict"].value, found["strict"].low, found["strict"].high) == (0.5, 0.0, 1.0)
    assert (found["strict"].n, found["strict"].method, found["strict"].dataset) == (2, "made-0.5b", "toy")
    assert found["strict over top 5"].value == 0.5
    assert found["calls"].value == 3.0
    assert found["support recall"].value == 0.5
    assert found["computed share"].value == 0.125
    assert figures(done, "top 5")["strict over top 5"].value == 0.0


def test_differences_are_paired_question_by_question():
    done = [examined("a", strict=1.0, plain=0.5), examined("b", strict=0.5, plain=0.0)]
    found = figures(done, "TBS | llm")["strict over top 5"]
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_what_no_question_defines_is_nan_on_no_question():
    found = figures(TWO, "TBS | llm")
    assert math.isnan(found["attack"].value)
    assert found["attack"].n == 0
    assert math.isnan(figures(TWO, "top 5")["support recall"].value)


def test_what_was_spent_beforehand_stands_by_step():
    found = figures(TWO, "offline | extraction")
    assert {metric: result.value for metric, result in found.items()} == {
        "calls": 3.0,
        "prompt tokens": 100.0,
        "computed tokens": 60.0,
        "written tokens": 20.0,
        "seconds": 6.0,
    }


@pytest.mark.parametrize("source", CREDIBILITIES)
def test_the_auc_of_credibility_counts_a_tie_as_half(source):
    found = figures(TWO[:1], f"credibility | {source}")
    assert found["triple auc"].value == pytest.approx(19 / 24, abs=1e-12)
    assert found["passage auc"].value == pytest.approx(19 / 24, abs=1e-12)


def test_scores_of_all_questions_are_compared_together():
    done = [
        examined("a", strict=1.0, plain=0.0, triples=judged(REAL, [])),
        examined("b", strict=1.0, plain=0.0, triples=judged([], FAKE)),
    ]
    assert figures(done, "credibility | llm")["triple auc"].value == pytest.approx(19 / 24, abs=1e-12)


def test_triples_of_the_poison_that_true_passages_have_too_can_be_left_out():
    done = [examined("a", strict=1.0, plain=0.0, triples=judged(copied=[0]))]
    found = figures(done, "credibility | llm")
    assert found["triple auc"].value == pytest.approx(19 / 24, abs=1e-12)
    # Without the copied 9 all of 10, 9, 8 and 5 are above 3 and 1.
    assert found["triple auc, altered"].value == 1.0


def test_what_was_not_judged_counts_as_one_half_and_is_counted():
    open_ = judged([10, math.nan], [math.nan, 1])
    found = figures([examined("a", strict=1.0, plain=0.0, triples=open_)], "credibility | llm")
    # 10 is above both, the open 5 ties with the open 5 and is above 1: 3.5 of 4.
    assert found["triple auc"].value == pytest.approx(3.5 / 4)
    assert found["triples judged"].value == 0.5
    assert found["passages judged"].value == 1.0


def test_without_a_triple_of_either_kind_there_is_no_auc():
    none = judged([], [])
    found = figures([examined("a", strict=1.0, plain=0.0, triples=none)], "credibility | llm")
    assert math.isnan(found["triple auc"].value)
    assert math.isnan(found["triples judged"].value)
    assert found["triple auc"].n == found["triples judged"].n == 0


def test_the_table_names_the_model_and_shows_answers_chains_costs_and_credibility():
    lines = table(summarise("toy", TWO, "made-0.5b"), "toy").splitlines()
    assert lines[0] == "toy, 2 questions, language model made-0.5b"
    heads = ["answered from", "chains by", "before a question", "true above poison"]
    assert [head for head in heads if any(line.startswith(head) for line in lines)] == heads
    answer = next(line for line in lines if line.startswith("TBS | llm"))
    assert "1.00 [1.00,1.00]" in answer
    assert "+1.00 [+1.00,+1.00]" in answer
    assert any("0.125" in line and "1,234" in line for line in lines)
    assert sum("0.79 [" in line for line in lines) == len(CREDIBILITIES)
    assert "nan" not in "\n".join(lines)


def test_where_no_question_was_finished_the_table_says_so():
    assert summarise("toy", [], "made-0.5b") == []
    assert table([], "toy") == "toy: no question was finished."
