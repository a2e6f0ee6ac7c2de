"""Probabilities of labels: what holds for any list of likely tokens."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.errors import InputError
from veridical.llm.base import FLOOR, Message
from veridical.llm.labels import MAX_LABELS, check_choice, masses, read_top, shares
from veridical.testing.llm_server import likely

ASK = (Message("user", "A or B?"),)
UNIT = {"A": 2.0, " A": 1.0, "B": 1.5, " B": 0.5, "C": 0.0, " C": -1.0}
LABELS = st.lists(st.sampled_from([*"ABCDEFGH", "AB", "yes", "no"]), min_size=2, max_size=8, unique=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=4) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["content", "top_logprobs", "token", "bytes", "logprob"]), inner)
    ),
    max_leaves=12,
)


def test_the_two_spellings_of_a_label_are_one_option():
    top = read_top(likely(UNIT.items()))
    probabilities, unseen = shares(masses(top, "ABC"), "ABC")
    assert list(probabilities.values()) == pytest.approx([0.5741, 0.3482, 0.0777], abs=5e-5)
    assert unseen == ()


@given(LABELS, st.dictionaries(st.sampled_from([*"ABCDEFGH", "AB", "yes"]), st.floats(0, 1e6), min_size=1))
def test_shares_sum_to_one_in_the_order_of_the_labels(labels, weights):
    if not any(weights.get(label, 0.0) > 0.0 for label in labels):
        return
    probabilities, unseen = shares(weights, labels)
    assert list(probabilities) == labels
    assert sum(probabilities.values()) == pytest.approx(1.0, abs=1e-9)
    assert all(probabilities[label] == FLOOR for label in unseen)
    assert set(unseen) == {label for label in labels if not weights.get(label)}


@given(
    LABELS, st.lists(st.tuples(st.sampled_from([*"ABC", "Also", "yes"]), st.floats(-1e4, 700)), max_size=9)
)
def test_a_common_shift_of_all_logits_changes_nothing(labels, top):
    found = masses(top, labels)
    moved = masses([(text, value - 50.0) for text, value in top], labels)
    assert found.keys() == moved.keys() == {text for text, _ in top} & set(labels)
    assert list(found.values()) == pytest.approx(list(moved.values()), rel=1e-6)
    assert all(math.isfinite(value) for value in found.values())


def test_a_number_without_measure_is_no_logprob():
    top = read_top(likely([("A", -(10**400)), ("B", 1e300), ("C", -1.0)]))
    assert top == [("C", -1.0)]


def test_very_unlikely_labels_do_not_vanish_together():
    found = masses([("A", -9000.0), ("B", -9001.0)], "AB")
    assert found["B"] / found["A"] == pytest.approx(math.exp(-1))


@given(JSON)
def test_no_reply_breaks_the_reader(logprobs):
    top = read_top(logprobs)
    assert top is None or all(math.isfinite(value) for _, value in top)


@pytest.mark.parametrize(
    "labels",
    [(), ("A",), ("A", "A"), ("A", ""), ("A", " B"), ("A", "\n"), [str(n) for n in range(MAX_LABELS + 1)]],
)
def test_labels_that_make_no_choice_are_refused(labels):
    with pytest.raises(InputError, match="label"):
        check_choice(ASK, labels, 5)


def test_the_most_labels_still_leave_most_of_the_probability_to_those_seen():
    labels = [str(number) for number in range(MAX_LABELS)]
    probabilities, unseen = shares({"7": 1.0}, labels)
    assert len(unseen) == MAX_LABELS - 1
    assert probabilities["7"] > 0.9
