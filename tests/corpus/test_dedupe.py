from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.corpus.dedupe import (
    content_hash,
    groups_of_signatures,
    near_duplicates,
    normalised_text,
    signature,
    text_hash,
)

NEWS = (
    "The river rose above its banks on Monday and the town of Elmford was cut off from the coast road. The "
    "mayor asked people to stay at home while 40 soldiers carried sandbags to the bridge, which was built "
    "after the great flood of the last century and has been closed since the early hours of the morning."
)
LIGHT_EDIT = NEWS.replace("asked people to stay", "asked everybody to stay")
OTHER = (
    "A new bakery opened beside the station last week. Its owner, who learnt the trade from an aunt in the "
    "south, bakes bread with rye and caraway and sells it warm from six in the morning until nothing is left."
)
TEXTS = st.lists(
    st.sampled_from([NEWS, LIGHT_EDIT, OTHER, NEWS.upper(), f"{NEWS} More follows.", "yes", "no", ""]),
    max_size=12,
)


def test_a_version_is_the_same_for_the_same_content_however_it_is_encoded() -> None:
    assert content_hash("Caf\u00e9", "a\r\nb") == content_hash("Cafe\u0301", "a\nb")


def test_a_version_changes_with_title_and_text() -> None:
    versions = {
        content_hash("t", "x"),
        content_hash("t", "y"),
        content_hash("u", "x"),
        content_hash("tx", ""),
    }
    assert len(versions) == 4


def test_texts_that_differ_in_case_and_spacing_only_say_the_same() -> None:
    assert text_hash("The  Port\nis 8080.") == text_hash("the port is 8080. ")
    assert text_hash("The port is 8080.") != text_hash("The port is 8081.")


@given(st.text())
def test_normalising_twice_changes_nothing_more_and_any_text_has_a_hash(text: str) -> None:
    once = normalised_text(text)
    assert " ".join(once.split()) == once
    assert len(text_hash(text)) == len(content_hash(text, text)) == 64


def partition(groups: list[int]) -> set[frozenset[int]]:
    return {frozenset(i for i, g in enumerate(groups) if g == group) for group in groups}


def test_copies_with_light_edits_are_one_voice_and_other_texts_are_not() -> None:
    assert near_duplicates([NEWS, OTHER, LIGHT_EDIT, NEWS + "\n"]) == [0, 1, 0, 0]


def test_a_copy_in_which_a_number_a_name_or_a_denial_was_changed_is_a_voice_of_its_own() -> None:
    changed = [
        NEWS,
        NEWS.replace("40 soldiers", "90 soldiers"),
        NEWS.replace("Elmford", "Ashford"),
        NEWS.replace("has been closed", "has not been closed"),
    ]
    assert near_duplicates(changed) == [0, 1, 2, 3]
    assert groups_of_signatures(np.stack([signature(text) for text in changed])) == [0, 1, 2, 3]
    assert near_duplicates(changed, same_facts=False) == [0, 0, 0, 0]


def test_short_texts_are_near_duplicates_only_where_their_words_are_equal() -> None:
    assert near_duplicates(["port 80", "port 81", "yes", "Yes!", "", "no"]) == [0, 1, 2, 2, 3, 4]


def test_a_pair_just_below_the_threshold_is_two_voices_and_just_above_it_one() -> None:
    words = [f"word{i}x".translate(str.maketrans("0123456789", "abcdefghij")) for i in range(102)]
    changed = [*words[:90], *(word[::-1] for word in words[90:])]
    shared, all_shingles = 88, 112  # 100 shingles each, of which 12 differ
    texts = [" ".join(words), " ".join(changed)]
    assert near_duplicates(texts, threshold=shared / all_shingles) == [0, 0]
    assert near_duplicates(texts, threshold=shared / all_shingles + 1e-9) == [0, 1]


def test_equal_numbers_in_two_signatures_estimate_how_alike_the_texts_are() -> None:
    rng = np.random.default_rng(1)
    misses = []
    for _ in range(40):
        words = ["".join(letters) for letters in rng.choice(list("abcdefghij"), (82, 6))]
        kept = int(rng.integers(10, 72))
        other = words[: kept + 2] + [word[::-1] + "k" for word in words[kept + 2 :]]
        exact = kept / (160 - kept)
        estimate = (signature(" ".join(words))[:-1] == signature(" ".join(other))[:-1]).mean()
        misses.append(estimate - exact)
    assert abs(np.mean(misses)) < 0.02
    assert np.std(misses) < 0.06


def test_stored_signatures_give_the_same_groups_as_the_texts() -> None:
    texts = [f"{base} {tail}" for base in (NEWS, OTHER) for tail in ("", "That is all.", "Thank you.")] * 20
    assert groups_of_signatures(np.stack([signature(t) for t in texts])) == near_duplicates(texts)
    assert set(near_duplicates(texts)) == {0, 1}


def test_many_signatures_are_grouped_as_a_few_are() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2**32, (3000, 129), dtype=np.uint32)
    rows[1000:2000] = rows[:1000]
    rows[1000:2000, :12] += np.uint32(1)  # 116 of 128 still equal
    rows[2000:3000] = rows[5]
    rows[np.arange(2000, 3000), rng.integers(0, 128, 1000)] += np.uint32(1)
    groups = groups_of_signatures(rows)
    assert groups[:1000] == groups[1000:2000] == list(range(1000))
    assert set(groups[2000:]) == {5}


@settings(max_examples=50, deadline=None)
@given(TEXTS, st.randoms())
def test_the_order_of_texts_makes_no_difference_to_who_shares_a_group(texts: list[str], random) -> None:
    order = list(range(len(texts)))
    random.shuffle(order)
    matrix = np.array([signature(text) for text in texts], dtype=np.uint32).reshape(-1, 129)
    for groups, shuffled in (
        (near_duplicates(texts), near_duplicates([texts[i] for i in order])),
        (groups_of_signatures(matrix), groups_of_signatures(matrix[order])),
    ):
        back = {frozenset(order[i] for i in group) for group in partition(shuffled)}
        assert back == partition(groups)


@given(st.text())
def test_any_text_has_a_signature_and_the_same_one_every_time(text: str) -> None:
    assert signature(text).shape == (129,)
    assert (signature(text) == signature(text)).all()
