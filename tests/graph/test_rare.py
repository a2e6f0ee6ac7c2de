"""Passages that share a rare name, number or date are found, and always the same ones."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judged import put

from veridical.errors import NotFoundError
from veridical.graph.rare import fact_keys, rare_pairs, refresh, stored_pairs
from veridical.stores import Store, documents, schema


def share(left: str, right: str) -> int:
    return len(np.intersect1d(fact_keys("", left), fact_keys("", right)))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Ships avoid the Halden bridge.", "The Halden bridge is green."),
        ("It was painted by Mara Lind.", "In spring Mara Lind left."),
        ("It spans 5 km of water.", "A tunnel of 5,000 metres was dug."),
        ("It cost $1.2 billion.", "They paid 1,200 million dollars."),
        ("It opened on 12 March 1934.", "On March 12, 1934 it rained."),
        ("It opened on 12 March 1934.", "The year 1934 was cold."),
        ("Many met at Lind's house.", "The wife of Lind was ill."),
        ("It had 3,417 seats.", "There are 3417 seats."),
    ],
)
def test_the_same_name_number_or_date_is_shared(left: str, right: str) -> None:
    assert share(left, right) >= 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Ships came early.", "Ships were rare."),  # a word that begins a sentence need be no name
        ("It has two doors.", "It has 2 doors."),
        ("It is 5 km long.", "It weighs 5 kg."),
        ("It cost $5 million.", "It cost $6 million."),
        ("He was born in 1934.", "He was born in 1935."),
        ("", "..."),
    ],
)
def test_what_is_no_name_or_small_or_differs_is_not_shared(left: str, right: str) -> None:
    assert share(left, right) == 0


def test_a_title_counts_as_part_of_the_passage() -> None:
    assert len(np.intersect1d(fact_keys("The Halden bridge", "It is green."), fact_keys("", "Near Halden.")))


@given(st.text(max_size=200), st.text(max_size=30))
def test_any_text_has_keys_ascending_and_once(text: str, title: str) -> None:
    keys = fact_keys(title, text)
    assert keys.dtype == np.int64 and np.array_equal(keys, np.unique(keys))


def by_hand(
    owner: list[int], keys: list[set[int]], texts: list[int], holders: int, n: int, least: float
) -> list[tuple[int, int]]:
    firsts = [row for row in range(len(owner)) if texts.index(texts[row]) == row]
    held = Counter(key for row in firsts for key in keys[row])
    votes = {}
    for a, b in combinations(firsts, 2):
        rare = [1 / (held[key] - 1) for key in keys[a] & keys[b] if held[key] <= holders]
        if owner[a] != owner[b] and rare and round(sum(rare), 9) >= least:
            votes[a, b] = round(sum(rare), 9)
    found = set()
    for row in firsts:
        own = sorted((-vote, a + b - row) for (a, b), vote in votes.items() if row in (a, b))
        found.update((min(row, other), max(row, other)) for _, other in own[:n])
    return sorted((10 + 3 * a, 10 + 3 * b) for a, b in found)


PASSAGE = st.tuples(st.integers(0, 4), st.sets(st.integers(0, 8), max_size=5), st.integers(0, 9))


@settings(deadline=None)
@given(st.lists(PASSAGE, max_size=14), st.integers(2, 5), st.integers(1, 3), st.sampled_from([0.2, 0.5, 1.0]))
def test_pairs_are_those_of_the_definition(
    passages: list[tuple[int, set[int], int]], holders: int, n: int, least: float
) -> None:
    owner, keys, texts = ([p[i] for p in passages] for i in range(3))
    ids = np.arange(len(passages), dtype=np.int64) * 3 + 10
    got = rare_pairs(
        ids,
        np.array(owner, dtype=np.int64),
        [np.array(sorted(own), dtype=np.int64) for own in keys],
        text_of=np.array(texts, dtype=np.int64),
        max_holders=holders,
        n_partners=n,
        min_votes=least,
    )
    assert got == by_hand(owner, keys, texts, holders, n, least)


def test_a_passage_brings_at_most_so_many_partners_whatever_it_shares() -> None:
    n = 2_000
    rng = np.random.default_rng(0)
    keys = [np.unique(rng.integers(0, 1_500, 12)) for _ in range(n)]
    ids = np.arange(n, dtype=np.int64)
    assert n < len(rare_pairs(ids, ids, keys, n_partners=3, min_votes=0.0)) <= 3 * n


TEXTS = [
    "The Halden bridge was opened in 1932.",
    "Ships pass the Halden bridge by night.",
    "Mara Lind wrote the Orra songs.",
    "In spring the Orra froze, and Lind left.",
    "The Halden bridge was opened in 1932.",
    "Nothing is named here.",
    "At Halden, 3,417 people watched Mara Lind.",
]


def passages(store: Store) -> tuple[np.ndarray, np.ndarray, list[str]]:
    with store.read() as connection:
        rows = documents.every_passage(connection)
    return (
        np.array([row.id for row in rows], dtype=np.int64),
        np.array([row.document_id for row in rows], dtype=np.int64),
        [row.text for row in rows],
    )


CHANGES = st.lists(st.tuples(st.booleans(), st.integers(0, len(TEXTS) - 1)), min_size=1, max_size=8)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHANGES)
def test_stored_pairs_equal_those_from_scratch_after_any_changes(
    store: Store, changes: list[tuple[bool, int]]
) -> None:
    for add, number in changes:
        key = f"doc{number}"
        if add:
            put(store, key, TEXTS[number])
        else:
            with store.write() as connection, suppress(NotFoundError):
                documents.delete(connection, documents.find(connection, key).id)
        refresh(store)
        ids, owner, texts = passages(store)
        keys = [fact_keys("", text) for text in texts]
        text_of = np.array([texts.index(text) for text in texts], dtype=np.int64)
        assert stored_pairs(store, ids, owner, text_of) == rare_pairs(ids, owner, keys, text_of=text_of)


def test_keys_are_read_once_and_those_of_another_version_or_damaged_again(store: Store) -> None:
    for number, text in enumerate(TEXTS):
        put(store, f"doc{number}", text)
    steps: list[int] = []
    assert refresh(store, on_progress=steps.append) == len(TEXTS) == sum(steps)
    assert refresh(store) == 0
    table = schema.passage_keys
    with store.write() as connection:
        connection.execute(table.update().where(table.c.passage_id == 1).values(version="0"))
        connection.execute(table.update().where(table.c.passage_id == 2).values(data=b"odd"))
    assert refresh(store) == 2
    ids, owner, texts = passages(store)
    assert stored_pairs(store, ids, owner) == rare_pairs(ids, owner, [fact_keys("", t) for t in texts])
