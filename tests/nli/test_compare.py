"""The columns that the trees see say what they are named for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veridical.nli.compare import FEATURES, TURNED, compare
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
    there, back = (compare(facts_of(a), facts_of(b)) for a, b in ((left, right), (right, left)))
    np.testing.assert_array_equal(np.array(there)[list(TURNED)], back)


WORDS = (
    "The Halden bridge was not opened in 1932 but 1954 , open closed red blue unlikely likely may 12 floors "
    "13 Mara Lind Berg rather than contrary to France French"
)
SENTENCES = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


@given(SENTENCES, SENTENCES)
def test_sides_change_places_also_where_there_is_much_to_compare(left, right):
    there, back = (compare(facts_of(a), facts_of(b)) for a, b in ((left, right), (right, left)))
    np.testing.assert_array_equal(np.array(there)[list(TURNED)], back)


def test_turning_twice_changes_nothing():
    assert [TURNED[place] for place in TURNED] == list(range(len(FEATURES)))


def test_how_long_or_doubtful_a_text_is_counts_only_where_the_other_clashes():
    got = columns("It reportedly has 12 floors.", "It has 12 floors.")
    assert got["hedged_differs"] == 0
    assert columns("It reportedly has 12 floors.", "It has 13 floors.")["hedged_differs"] == 1
    assert columns("It has 12 floors.", "It has 13 floors.")["hedged_differs"] == 0


def test_another_name_between_the_same_words_is_a_slot():
    got = columns(
        "The songs were written by Mara Lind in spring.", "The songs were written by Tomas Berg in spring."
    )
    assert (got["name_slots"], got["loose_name_slots"]) == (1, 0)
    got = columns("The songs are by Mara Lind.", "The songs are by Tomas Berg for money.")
    assert (got["name_slots"], got["loose_name_slots"]) == (0, 1)
    got = columns("The songs were written by Mara Lind.", "The songs were written by Mara Lind.")
    assert (got["name_slots"], got["loose_name_slots"]) == (0, 0)


def test_a_denied_name_takes_no_slot_and_nor_does_another_name_of_the_same():
    denied = columns("The songs were written by Mara Lind.", "The songs were written not by Tomas Berg.")
    assert denied["name_slots"] == denied["loose_name_slots"] == 0
    alias = columns("The cup went to the United Kingdom today.", "The cup went to the UK today.")
    assert alias["name_slots"] == alias["names_clash"] == 0


def test_other_words_between_the_same_words_are_a_slot_of_words():
    got = columns("The gate is painted green every spring.", "The gate is painted blue every spring.")
    assert (got["word_slots"], got["name_slots"]) == (1, 0)


def test_clashing_values_are_counted_once_and_agreeing_ones_do_not_clash():
    got = columns("It opened in 1932 with 12 floors.", "It opened in 1954 with 12 floors and 3 lifts.")
    assert (got["date_same"], got["date_differs"]) == (0, 1)
    assert (got["quantity_same"], got["quantity_differs"], got["quantity_left_h"]) == (1, 0, 1)


def test_what_one_denies_and_the_other_says_is_seen_from_either_side():
    got = columns("The tower has 20 floors.", "The tower has 12 floors, not 20 floors.")
    assert got["denies_value_h"] == 1 and got["denies_value_p"] == 0


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
