"""From logits to answers: probabilities are a softmax, answers do not overlap, windows join up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from veridical.reading.base import NOTHING
from veridical.reading.windows import (
    Decoding,
    Spans,
    Window,
    merge,
    probabilities,
    reading_of,
    trimmed,
    window_spans,
)

TEXT = "alpha beta gamma delta epsilon"
STARTS = np.array([0, 6, 11, 17, 23])
ENDS = np.array([5, 10, 16, 22, 30])


def window(opens=None, closes=None):
    whole = np.ones(5, dtype=bool)
    return Window(
        0,
        list(range(8)),
        [0] * 8,
        np.arange(2, 7),
        STARTS,
        ENDS,
        whole if opens is None else np.array(opens),
        whole if closes is None else np.array(closes),
    )


def logits(**at):
    values = np.zeros(8)
    for place, value in at.items():
        values[int(place[1:])] = value
    return values


def test_no_answer_and_all_spans_share_one_softmax():
    spans = window_spans(window(), np.zeros(8), np.zeros(8), Decoding())
    shares, nothing = probabilities(spans)
    assert len(shares) == 15
    assert nothing == pytest.approx(1 / 16)
    assert shares.sum() + nothing == pytest.approx(1)


def test_the_likeliest_span_is_the_answer():
    spans = window_spans(window(), logits(_3=9), logits(_4=9), Decoding())
    reading = reading_of(TEXT, [spans])
    assert reading.best.text == "beta gamma"
    assert reading.best.probability > 0.99


def test_a_first_token_above_all_others_is_no_answer():
    spans = window_spans(window(), logits(_0=9, _3=2), logits(_0=9, _3=2), Decoding())
    assert reading_of(TEXT, [spans]).no_answer > 0.99


def test_a_bias_favours_no_answer():
    start, end = logits(_0=2, _3=2), logits(_0=2, _3=2)
    amounts = [
        reading_of(TEXT, [window_spans(window(), start, end, Decoding(null_bias=b))]).no_answer
        for b in (-2.0, 0.0, 2.0)
    ]
    assert amounts == sorted(amounts)


def test_a_span_cannot_begin_or_end_inside_a_word():
    spans = window_spans(
        window([True, False, True, True, True], [False, True, True, True, True]),
        np.zeros(8),
        np.zeros(8),
        Decoding(),
    )
    assert 6 not in spans.starts
    assert 5 not in spans.ends


def test_spans_keep_to_the_longest_allowed():
    spans = window_spans(window(), np.zeros(8), np.zeros(8), Decoding(max_span=2))
    assert len(spans.starts) == 5 + 4


def test_one_answer_stands_for_the_spans_that_overlap_it():
    spans = Spans(np.array([6, 6, 11, 23]), np.array([10, 16, 16, 30]), np.log([2.0, 3.0, 2.0, 1.0]))
    first, second = reading_of(TEXT, [spans]).answers
    assert first.text == "beta gamma"
    assert first.probability == pytest.approx(7 / 9)
    assert second.text == "epsilon"
    assert second.probability == pytest.approx(1 / 9)


def test_a_span_that_two_windows_saw_counts_once():
    one = Spans(np.array([0, 6]), np.array([5, 10]), np.array([0.0, 1.0]))
    two = Spans(np.array([6, 11]), np.array([10, 16]), np.array([2.0, 0.0]))
    joined = merge([one, two])
    assert list(joined.starts) == [0, 6, 11]
    assert list(joined.log_odds) == [0.0, 2.0, 0.0]


def test_punctuation_alone_is_no_answer():
    spans = Spans(np.array([0, 5]), np.array([5, 6]), np.array([1.0, 4.0]))
    assert [answer.text for answer in reading_of("alpha.", [spans]).answers] == ["alpha"]


def test_a_passage_without_spans_answers_nothing():
    assert reading_of(TEXT, []) == NOTHING


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("  in 1932, ", "in 1932"),
        ("the mayor.", "the mayor"),
        ("the U.S.", "the U.S."),
        (" , ", ""),
        ("3.5", "3.5"),
        ("x", "x"),
    ],
)
def test_white_space_and_closing_punctuation_are_left_out(said, kept):
    start, end = trimmed(said, 0, len(said))
    assert said[start:end] == kept


@given(
    st.lists(st.floats(-60, 60), min_size=8, max_size=8),
    st.lists(st.floats(-60, 60), min_size=8, max_size=8),
    st.floats(0.3, 5),
)
@example([0.0, 0.0, 0.25, 0.0, 0.0, 4.5, -0.5, 0.0], [0.0, 0.0, 0.5, -5.0, 1.0, -2.0, -1.0, 0.0], 0.5)
def test_any_logits_give_probabilities_that_sum_to_at_most_one(start, end, temperature):
    how = Decoding(temperature=temperature)
    reading = reading_of(TEXT, [window_spans(window(), np.array(start), np.array(end), how)])
    parts = [reading.no_answer, *(answer.probability for answer in reading.answers)]
    assert all(0 <= part <= 1 for part in parts)
    assert sum(parts) <= 1
    places = sorted((answer.start, answer.end) for answer in reading.answers)
    assert all(a[1] <= b[0] for a, b in pairwise(places))
    assert reading.answers
