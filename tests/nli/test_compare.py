"""The columns that the trees see say what they are named for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veridical.nli.compare import FEATURES, compare
from veridical.nli.lexicon import KINDS, OPPOSITES, stem
from veridical.nli.values import facts_of


def columns(premise: str, hypothesis: str) -> dict[str, float]:
    return dict(zip(FEATURES, compare(facts_of(premise), facts_of(hypothesis)), strict=True))


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_give_finite_columns(left, right):
    assert np.isfinite(compare(facts_of(left), facts_of(right))).all()


@given(st.text(alphabet="abcdef 0123456789.,$%", max_size=80))
def test_a_sentence_leaves_nothing_over_against_itself(text):
    got = columns(text, text)
    for name in ("n_left_h", "n_left_p", "quantity_differs", "date_differs", "opposites", "names_clash"):
        assert got[name] == 0, name


@given(st.text(max_size=80), st.text(max_size=80))
def test_sides_change_places_with_the_sentences(left, right):
    there, back = columns(left, right), columns(right, left)
    for name in FEATURES:
        if name.endswith("_h") and name[:-2] + "_p" in FEATURES:
            assert there[name] == back[name[:-2] + "_p"], name


def test_clashing_values_are_counted_once_and_agreeing_ones_do_not_clash():
    got = columns("It opened in 1932 with 12 floors.", "It opened in 1954 with 12 floors and 3 lifts.")
    assert (got["date_same"], got["date_differs"]) == (0, 1)
    assert (got["quantity_same"], got["quantity_differs"], got["quantity_left_h"]) == (1, 0, 1)


def test_what_one_denies_and_the_other_says_is_seen_from_either_side():
    got = columns("The tower has 20 floors.", "The tower has 12 floors, not 20 floors.")
    assert got["denied_value_h_in_p"] == 1 and got["denied_value_p_in_h"] == 0


def test_opposites_kinds_and_negating_prefixes_count_only_among_what_is_left_over():
    assert columns("The shop is open.", "The shop is closed.")["opposites"] == 1
    assert columns("A red open door.", "A red open gate.")["opposites"] == 0
    assert columns("She wore a red coat.", "She wore a blue coat.")["kinds_clash"] == 1
    assert columns("The claim is likely true.", "The claim is unlikely true.")["prefix_opposites"] == 1


def test_opposites_go_both_ways_and_no_word_is_its_own():
    for word, others in OPPOSITES.items():
        assert word not in others
        assert all(word in OPPOSITES[other] for other in others)


def test_words_of_one_kind_share_it():
    assert KINDS[stem("red")] == KINDS[stem("purple")] != KINDS[stem("monday")]
