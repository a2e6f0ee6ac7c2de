"""Trust by every way that systems name, from simulated feedback that is nested and wrong on purpose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.bench import beliefs
from veridical.bench.beliefs import NAMES, World, auc, believe, judge, roc
from veridical.errors import InputError
from veridical.graph import evidence
from veridical.graph.arrays import Anchors

TEXTS = tuple(f"Document {word} says something of its own." for word in ("one", "two", "six", "ten"))
NONE = np.empty(0, dtype=np.int64)


def rows(*pairs: tuple[int, int, float, float], answered: bool = False) -> evidence.Rows:
    """Pairs with what speaks for support and for contradiction."""
    table = np.array(pairs, dtype=np.float64).reshape(-1, 4)
    ends = table[:, :2].astype(np.int64)
    return evidence.rows_of(ends[:, 0], ends[:, 1], table[:, 2], table[:, 3], answered=answered)


def world(**changed: object) -> World:
    """Sources join 0 and 1, a question sets 1 against 2, and inference joins 2 and 3."""
    given: dict[str, object] = {
        "texts": TEXTS,
        "source_of": np.array([0, 0, 1, 2], dtype=np.int64),
        "asked": rows((1, 2, 0.0, 0.95), answered=True),
        "inferred": rows((2, 3, 0.95, 0.0)),
    }
    return World(**{**given, **changed})  # type: ignore[arg-type]


GOOD = Anchors(np.array([0]), np.ones(1), np.ones(1))


@pytest.mark.parametrize("name", NAMES)
def test_every_way_trusts_what_was_judged_good_more_than_even(name: str) -> None:
    trust = believe(name, world(), GOOD)
    assert trust.shape == (4,)
    assert trust[0] > 0.5
    known = trust[~np.isnan(trust)]
    assert ((known >= 0) & (known <= 1)).all()


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("veridical", {1, 2, 3}),  # sources, then the question, then inference
        ("veridical, no questions", {1}),
        ("veridical, no sources", set()),
        ("trustprop", {1}),
        ("trustprop, nli only", set()),
        ("feedback only", set()),
    ],
)
def test_each_way_reaches_as_far_as_what_it_knows(name: str, reached: set[int]) -> None:
    nothing = believe(name, world(), Anchors())
    trust = believe(name, world(), GOOD)
    moved = {i for i in (1, 2, 3) if not np.isclose(trust[i], nothing[i], atol=1e-3, equal_nan=True)}
    assert moved == reached


def test_a_contradiction_turns_trust_round() -> None:
    trust = believe("veridical", world(), GOOD)
    assert trust[1] > 0.5 > trust[2]


def test_an_unknown_way_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError) as caught:
        believe("hearsay", world(), GOOD)
    assert all(name in caught.value.hint for name in NAMES)


def test_copies_of_a_text_are_one_voice() -> None:
    graph = world(texts=(TEXTS[0], TEXTS[0], *TEXTS[2:])).graph(
        sources=False, questions=False, inference=False
    )
    assert graph.text_group[0] == graph.text_group[1] != graph.text_group[2]
    assert graph.voices[0] == graph.voices[1]


TRUE = np.arange(400) % 3 > 0


@given(
    st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.integers(min_value=0, max_value=50)
)
def test_samples_of_feedback_are_nested_by_share_and_by_accuracy(
    share: float, more: float, accuracy: float, less: float, seed: int
) -> None:
    share, more = sorted((share, more))
    less, accuracy = sorted((less, accuracy))
    few = judge(TRUE, share, accuracy=accuracy, seed=seed)
    many = judge(TRUE, more, accuracy=less, seed=seed)
    assert set(few.documents) <= set(many.documents)
    assert wrong(few) <= wrong(many)


def wrong(anchors: Anchors) -> set[int]:
    return set(anchors.documents[anchors.values != TRUE[anchors.documents]].tolist())


def test_a_share_of_each_kind_is_judged() -> None:
    anchors = judge(TRUE, 0.1, seed=3)
    n_true, n_false = int(TRUE.sum()), int((~TRUE).sum())
    assert len(anchors) == round(0.1 * n_true) + round(0.1 * n_false)
    assert not wrong(anchors)


def test_judgements_are_wrong_as_often_as_the_accuracy_says() -> None:
    anchors = judge(TRUE, 1.0, accuracy=0.7, seed=1)
    assert 0.2 < len(wrong(anchors)) / len(anchors) < 0.4  # 0.3 within four standard errors
    assert len(wrong(judge(TRUE, 1.0, accuracy=0.0))) == 400


@pytest.mark.parametrize(("share", "accuracy"), [(-0.1, 1.0), (1.1, 1.0), (0.5, 2.0)])
def test_shares_out_of_range_are_refused(share: float, accuracy: float) -> None:
    with pytest.raises(InputError):
        judge(TRUE, share, accuracy=accuracy)


def test_auc_counts_ties_half_and_what_is_unknown_as_even() -> None:
    true = np.array([True, True, False, False])
    assert auc(np.array([0.9, 0.5, 0.5, 0.1]), true) == 3.5 / 4
    assert auc(np.array([0.9, np.nan, 0.5, 0.1]), true) == 3.5 / 4


def test_documents_that_are_left_out_do_not_count() -> None:
    true = np.array([True, True, False, False])
    assert auc(np.array([0.9, 0.2, 0.5, 0.1]), true, left_out=[1]) == 1.0
    assert np.isnan(auc(np.array([0.9, 0.2, 0.5, 0.1]), true, left_out=[2, 3]))


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=30))
def test_the_area_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[float, bool]]) -> None:
    trust, true = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    wins = [(a > b) + 0.5 * (a == b) for a in trust[true] for b in trust[~true]]
    if not wins:
        assert not len(roc(trust, true))
    else:
        assert auc(trust, true) == pytest.approx(np.mean(wins))
        assert roc(trust, true)[[0, -1]].tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_what_each_way_knows_is_said() -> None:
    assert all(way.about for way in beliefs.WAYS.values())
