"""Selectors keep their contract, and the embedded one chooses what adds to the chain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from chained import Drawn, lookup
from hypothesis import given
from hypothesis import strategies as st

from veridical.errors import InputError, ModelError
from veridical.evidence.selectors import EmbeddedSelector, Step, StepVectors, query_text, softmax
from veridical.models import ModelStore
from veridical.pipeline.models import Models
from veridical.settings import Settings
from veridical.testing.fakes import HashEncoder
from veridical.testing.selector_contract import STEPS, SelectorContract, TellingSelectorContract


class TestEmbeddedSelectorOverSharedWords(SelectorContract):
    @pytest.fixture
    def selector(self):
        return EmbeddedSelector(HashEncoder().encode)


class TestEmbeddedSelector(TellingSelectorContract):
    # An int8 encoder may round by what else is in the batch.
    batch_tolerance = 0.02

    @pytest.fixture
    def selector(self):
        settings = Settings.from_env()
        try:
            ModelStore(settings.models_dir, offline=settings.offline).resolve("minilm-l6-int8")
        except ModelError as error:
            pytest.skip(f"the encoder cannot be had: {error.message}")
        return EmbeddedSelector(Models(settings).encoder.encode)


class TestDrawnSelector(SelectorContract):
    @pytest.fixture
    def selector(self):
        return Drawn(1, 2.0)


QUESTION = "Q?"
VECTORS = {"Q?": (1.0, 0.0), "<a> Q?": (0.6, 0.8), "<a>": (1.0, 0.0), "<b>": (0.0, 1.0), "<c>": (-1.0, 0.0)}


def test_probabilities_are_as_calculated_by_hand():
    selector = EmbeddedSelector(lookup(VECTORS), temperature=0.5)
    first, second = selector.select(
        [Step(QUESTION, 1, (), ("<a>", "<b>")), Step(QUESTION, 2, ("<a>",), ("<b>", "<c>"))]
    )
    # Hop 1, query (1, 0), T = .5. <a> fits with 1, <b> with 0; m = 1, and going on has 1 / (1 + e^-2).
    going_on = 1 / (1 + math.exp(-2))
    shares = np.array([math.exp(2), 1]) / (math.exp(2) + 1)
    np.testing.assert_allclose(first, [1 - going_on, *(going_on * shares)], atol=1e-12)
    # Hop 2, query (.6, .8), of which (0, .8) is left beside <a> = (1, 0); half their sum is (.3, .8). <b>
    # fits with .8 and is 0 to the chain, <c> with -.6 and -1: m = .8. Logits are .8 and -.3 over .5.
    going_on = 1 / (1 + math.exp(-1.6))
    shares = np.exp([1.6, -0.6]) / np.exp([1.6, -0.6]).sum()
    np.testing.assert_allclose(second, [1 - going_on, *(going_on * shares)], atol=1e-12)


def test_an_empty_chain_goes_on_while_anything_fits():
    [chances] = EmbeddedSelector(lookup(VECTORS)).select([Step(QUESTION, 1, (), ("<a>", "<b>"))])
    assert chances[0] < 1e-4


def test_a_chain_stops_when_all_options_repeat_what_it_says():
    again, also_asked = [0.96, 0.28], [0.6, 0.8]
    for option, stops in ((again, True), (also_asked, False)):
        vectors = StepVectors(np.array([0.8, 0.6]), np.array([[1.0, 0.0]]), np.array([option]))
        [chances] = EmbeddedSelector(lookup({})).select([Step("Q?", 2, ("<a>",), ("<b>",), vectors)])
        assert (chances[0] > 0.5) == stops


def test_what_a_chain_says_twice_takes_nothing_more_off_the_question():
    once, twice = np.array([[0.6, 0.8]]), np.array([[0.6, 0.8], [0.6, 0.8]])
    rows = []
    for chain in (once, twice):
        vectors = StepVectors(np.array([1.0, 0.0]), chain, np.array([[0.8, 0.6], [0.0, 1.0]]))
        rows += EmbeddedSelector(lookup({})).select([Step("Q?", 2, ("<a>",), ("<b>", "<c>"), vectors)])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-12)


def test_a_lower_temperature_decides_more_sharply():
    step = Step(QUESTION, 1, (), ("<a>", "<b>"))
    sharp, flat = (EmbeddedSelector(lookup(VECTORS), temperature=t).select([step])[0] for t in (0.1, 1.0))
    assert sharp.max() > flat.max()


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, math.nan])
def test_a_temperature_that_is_no_positive_number_is_refused(temperature):
    with pytest.raises(InputError, match="temperature"):
        EmbeddedSelector(lookup({}), temperature=temperature)


def test_texts_are_encoded_once_and_in_one_call_and_not_at_all_where_vectors_are_given():
    calls: list[list[str]] = []

    def encode(texts):
        calls.append(list(texts))
        return HashEncoder().encode(texts)

    selector = EmbeddedSelector(encode)
    selector.select(STEPS)
    assert len(calls) == 1
    assert len(calls[0]) == len(set(calls[0]))
    given = Step("Q?", 1, (), ("<a>",), StepVectors(np.ones(2), np.empty((0, 2)), np.ones((1, 2))))
    selector.select([given])
    assert len(calls) == 1


def test_the_query_is_the_chain_and_then_the_question():
    assert query_text("Who?", []) == "Who?"
    assert query_text("Who?", ["<a; b; c>", "<c; d; e>"]) == "<a; b; c> <c; d; e> Who?"


def test_steps_are_the_same_if_their_texts_are():
    vectors = StepVectors(np.ones(2), np.empty((0, 2)), np.ones((1, 2)))
    assert Step("Q?", 1, (), ("<a>",)) == Step("Q?", 1, (), ("<a>",), vectors)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=25), st.floats(-100, 100))
def test_softmax_gives_probabilities_that_a_constant_does_not_move(logits, constant):
    chances = softmax(np.array(logits))
    assert (chances >= 0).all() and chances.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(softmax(np.array(logits) + constant), chances, atol=1e-9)
