"""Sentences are aligned from both sides, and vectors are kept without growing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from veridical.nli.align import MAX_SENTENCES, VectorCache, best_matches, lexical_similarities, sentence_spans
from veridical.nli.values import facts_of
from veridical.types import Span

tables = npst.arrays(
    np.float32, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(0, 1, width=32)
)


@given(tables)
def test_every_sentence_of_either_side_brings_its_best_partner(table):
    pairs = best_matches(table, 100)
    for i in range(table.shape[0]):
        assert any(p == i and table[p, q] == table[i].max() for p, q in pairs)
    for j in range(table.shape[1]):
        assert any(q == j and table[p, q] == table[:, j].max() for p, q in pairs)


@given(tables, st.integers(1, 5))
def test_the_most_similar_pairs_are_kept_in_order_and_once(table, n):
    pairs = best_matches(table, n)
    assert pairs == best_matches(table, 100)[:n] and len(set(pairs)) == len(pairs)
    values = [table[pair] for pair in pairs]
    assert values == sorted(values, reverse=True) and values[0] == table.max()


def test_a_sentence_that_both_sides_have_brings_no_partner_but_may_be_one():
    table = np.array([[1.0, 0.8], [0.3, 0.2]], dtype=np.float32)
    assert best_matches(table, 9, repeated=[(0, 0)]) == [(0, 1), (1, 0)]
    assert best_matches(np.ones((1, 1), dtype=np.float32), 9, repeated=[(0, 0)]) == []


def test_a_side_without_sentences_has_no_match():
    assert best_matches(np.zeros((0, 3), dtype=np.float32)) == []


def test_lexical_similarity_is_the_cosine_of_word_sets():
    left, right = facts_of("red green blue"), facts_of("green blue black white")
    assert lexical_similarities([left], [right])[0, 0] == pytest.approx(2 / 12**0.5)
    assert lexical_similarities([left], [facts_of("of the")])[0, 0] == 0


def test_spans_point_into_the_text_and_pass_over_lines_without_words():
    text = "First here.  Then there!\n\n---\n\n* * *\n\nAt last."
    spans = sentence_spans(text)
    assert [s.text for s in spans] == ["First here.", "Then there!", "At last."]
    assert all(text[s.start : s.end] == s.text for s in spans)


def test_a_very_long_text_is_judged_by_its_beginning():
    assert len(sentence_spans("Here is one. " * 500)) == MAX_SENTENCES


def test_the_cache_encodes_each_sentence_once_and_forgets_the_oldest():
    calls: list[list[str]] = []

    def embed(texts):
        calls.append(list(texts))
        return np.ones((len(texts), 2), dtype=np.float32) / 2**0.5

    cache = VectorCache(2)
    cache.fill(["a", "b", "a"], embed)
    cache.fill(["a"], embed)  # used again, so "b" is the oldest
    cache.fill(["c"], embed)
    cache.fill(["a"], embed)
    cache.fill(["b"], embed)
    assert calls == [["a", "b"], ["c"], ["b"]]


def test_a_call_larger_than_the_cache_still_gets_all_its_vectors():
    cache = VectorCache(1)
    texts = ["a", "b", "c"]
    cache.fill(texts, lambda t: np.eye(3, dtype=np.float32)[: len(t)])
    spans = [Span(t, 0, 1) for t in texts]
    np.testing.assert_allclose(cache.cosines(spans, spans), np.eye(3))
