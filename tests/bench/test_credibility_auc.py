"""How well credibility tells true triples from false ones is a rank AUC, ties counting half."""

from __future__ import annotations

import itertools

import pytest

from veridical.bench.metrics.roc import auc

TRUE, FALSE = [10, 9, 8, 5], [9, 3, 1]


def test_the_auc_of_the_example_with_a_tie_is_19_24ths():
    # Of 12 pairs true is ahead in 9, the two nines tie, and 8 and 5 are behind the false 9: 9.5 / 12.
    assert auc(FALSE, TRUE) == pytest.approx(19 / 24, abs=1e-12)


def test_the_order_of_what_ties_makes_no_difference():
    values = {
        auc(list(low), list(high))
        for low in itertools.permutations(FALSE)
        for high in itertools.permutations(TRUE)
    }
    assert max(values) - min(values) < 1e-12


def test_a_judge_that_says_the_same_of_all_tells_nothing_apart():
    assert auc([5, 5, 5], [5, 5]) == 0.5
