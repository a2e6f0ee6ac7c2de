"""Ranking metrics agree with hand-worked values and with an independent implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.bench.metrics.retrieval import factual_precision, ndcg, recall


def test_factual_precision_leaves_out_what_is_neither():
    # fact, contra, other, fact, contra
    assert factual_precision([0, 1, 2, 3, 4], {0, 3}, {1, 4}) == pytest.approx(2 / 4)


def test_factual_precision_is_undefined_where_nothing_is_true_or_false():
    assert math.isnan(factual_precision([5, 6], {0}, {1}))


def test_perfect_and_hopeless_rankings():
    assert ndcg([1, 2, 3, 4], {1, 2, 3, 4}) == pytest.approx(1)
    assert ndcg([5, 6, 7], {1}) == 0
    assert recall([1, 9, 2], {1, 2, 3, 4}) == pytest.approx(0.5)
    assert math.isnan(ndcg([1], set()))
    assert math.isnan(recall([1], set()))


def test_ndcg_of_the_second_place_alone():
    assert ndcg([9, 1], {1}) == pytest.approx(1 / math.log2(3))


def test_recall_is_of_k_where_more_than_k_are_relevant():
    assert recall(list(range(5)), set(range(50))) == 1


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_recall_and_ndcg_agree_with_trec_eval(seed):
    rng = np.random.default_rng(seed)
    ranking = rng.permutation(30)[: rng.integers(1, 20)]
    relevant = {int(d) for d in rng.permutation(30)[: rng.integers(1, 12)]}
    run = {"q": {str(document): float(-place) for place, document in enumerate(ranking)}}
    evaluator = pytrec_eval.RelevanceEvaluator(
        {"q": {str(document): 1 for document in relevant}}, {"recall_5", "ndcg_cut_5"}
    )
    expected = evaluator.evaluate(run)["q"]
    # trec_eval divides by all that are relevant, and so never reaches 1 where more than k are.
    of_all = recall(ranking.tolist(), relevant) * min(5, len(relevant)) / len(relevant)
    assert of_all == pytest.approx(expected["recall_5"])
    assert ndcg(ranking.tolist(), relevant) == pytest.approx(expected["ndcg_cut_5"])
