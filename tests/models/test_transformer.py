"""Sequences run in batches of similar length, and come out as if each had run alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from veridical.models.transformer import length_batches, padding_id, token_limit


@given(st.lists(st.integers(1, 600), max_size=60), st.integers(1, 2000))
def test_batches_hold_each_sequence_once_within_the_budget_and_the_longest_first(lengths, budget):
    batches = length_batches(lengths, budget)
    assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(lengths)))
    longest = [max(lengths[row] for row in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)
    for batch, most in zip(batches, longest, strict=True):
        assert len(batch) == 1 or len(batch) * most <= budget


def test_no_sequences_make_no_batches():
    assert length_batches([], 512) == []


def test_a_model_takes_as_many_tokens_as_its_positions_allow():
    assert token_limit({"max_position_embeddings": 128}, 256) == 128
    assert token_limit({}, 256) == 256
    assert token_limit({"max_position_embeddings": 0}, 1000) == 512
    assert token_limit("no configuration", 1000) == 512


def test_some_models_count_positions_from_the_padding_id_on():
    about = {"max_position_embeddings": 514, "model_type": "roberta", "pad_token_id": 1}
    assert token_limit(about, 1000) == 512
    assert padding_id(about) == 1
    assert padding_id({"pad_token_id": None}) == 0
