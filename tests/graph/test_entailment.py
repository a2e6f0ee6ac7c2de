"""Passage pairs are judged both ways round, with the vectors that are known already."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.graph.entailment import judge_both_ways, sentence_texts
from veridical.testing.fakes import HashEncoder, ScriptedNLI
from veridical.types import NLIResult, Span

TEXTS = {1: "The port is 1. It is open.", 2: "The port is 2.", 3: "Bananas are yellow."}


def decide(premise: str, hypothesis: str) -> NLIResult:
    if "Bananas" in premise + hypothesis:
        return NLIResult(0.1, 0.8, 0.1)
    if premise.startswith("The port is 1"):
        return NLIResult(0.1, 0.2, 0.7, Span("The port is 1.", 0, 14), Span("The port is 2.", 0, 14))
    return NLIResult(0.3, 0.6, 0.1, Span("port", 4, 8), Span("It is open.", 15, 26))


def test_contradiction_is_the_mean_and_entailment_the_larger_of_both_ways() -> None:
    (found,) = judge_both_ways(ScriptedNLI(decide), [(1, 2)], TEXTS, {})
    assert (found.low, found.high) == (1, 2)
    assert found.contradiction == pytest.approx(0.4)
    assert found.entailment == pytest.approx(0.3)


def test_places_are_those_of_the_direction_that_speaks_more() -> None:
    (found,) = judge_both_ways(ScriptedNLI(decide), [(1, 2)], TEXTS, {})
    assert TEXTS[1][found.low_start : found.low_end] == "The port is 1."
    assert TEXTS[2][found.high_start : found.high_end] == "The port is 2."
    turned = {1: TEXTS[2], 2: TEXTS[1]}
    (found,) = judge_both_ways(ScriptedNLI(decide), [(1, 2)], turned, {})
    assert turned[1][found.low_start : found.low_end] == "The port is 2."
    assert turned[2][found.high_start : found.high_end] == "The port is 1."


def test_each_pair_gets_one_judgement_in_order() -> None:
    model = ScriptedNLI(decide)
    found = judge_both_ways(model, [(1, 3), (1, 2), (2, 3)], TEXTS, {})
    assert [(j.low, j.high) for j in found] == [(1, 3), (1, 2), (2, 3)]
    assert found[0].low_start is None
    assert model.n_judged == 6
    assert judge_both_ways(model, [], TEXTS, {}) == []


def test_probabilities_stay_probabilities_when_both_ways_are_sure() -> None:
    def sure(premise: str, hypothesis: str) -> NLIResult:
        return NLIResult(1.0, 0.0, 0.0) if premise == TEXTS[1] else NLIResult(0.0, 0.0, 1.0)

    (found,) = judge_both_ways(ScriptedNLI(sure), [(1, 2)], TEXTS, {})
    assert found.entailment + found.contradiction == pytest.approx(1.0)
    assert found.entailment == pytest.approx(2 / 3)


class WarmNLI(ScriptedNLI):
    """Remembers the sentence vectors that it was given."""

    def __init__(self) -> None:
        super().__init__(decide)
        self.known: dict[str, np.ndarray] = {}

    def warm(self, sentences: list[str], vectors: np.ndarray) -> None:
        assert self.n_calls == 0
        self.known.update(zip(sentences, vectors, strict=True))


def test_a_model_that_can_use_sentence_vectors_gets_them_first() -> None:
    encoder = HashEncoder()
    vectors = {i: encoder.encode(sentence_texts(text)) for i, text in TEXTS.items()}
    model = WarmNLI()
    judge_both_ways(model, [(1, 2)], TEXTS, vectors)
    assert set(model.known) == {"The port is 1.", "It is open.", "The port is 2.", "Bananas are yellow."}
    np.testing.assert_array_equal(model.known["It is open."], encoder.encode(["It is open."])[0])


def test_vectors_that_do_not_fit_the_sentences_are_left_alone() -> None:
    model = WarmNLI()
    judge_both_ways(model, [(1, 2)], TEXTS, {1: np.zeros((5, 384), dtype=np.float32)})
    assert model.known == {}
    assert model.n_judged == 2
