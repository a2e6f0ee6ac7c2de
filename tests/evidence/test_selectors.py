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
    # The int8 encoder rounds by the batch that a text is in.
    batch_tolerance = 0.2

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
    # Hop 1: nothing fits with 0, <a> with 1, <b> with 0; over .5.
    np.testing.assert_allclose(first, np.exp([0, 2, 0]) / (2 + math.exp(2)), atol=1e-12)
    # Hop 2: the query is (.6, .8). <a> alone fits with .6, <a> + <b> = (1, 1) with 1.4 / sqrt 2,
    # and <a> + <c> is nothing, which fits with 0; times 2 for the second triple, over .5.
    powers = np.exp(np.array([0.6, 1.4 / math.sqrt(2), 0.0]) * 4)
    np.testing.assert_allclose(second, powers / powers.sum(), atol=1e-12)


def test_an_empty_chain_goes_on_while_anything_fits():
    [chances] = EmbeddedSelector(lookup(VECTORS)).select([Step(QUESTION, 1, (), ("<a>", "<b>"))])
    assert chances[0] < 1e-4


def test_a_chain_stops_when_nothing_adds_to_it():
    step = Step(
        "Q?", 2, ("<a>",), ("<c>",), StepVectors(*(np.array(v) for v in ([1, 0], [[1, 0]], [[0, 1]])))
    )
    [chances] = EmbeddedSelector(lookup({})).select([step])
    assert chances[0] > 0.99


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
