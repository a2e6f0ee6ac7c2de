"""Neighbour lists kept up to date are those of a computation from scratch."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.errors import MissingExtraError
from veridical.graph import candidates
from veridical.graph.candidates import Neighbours, candidate_pairs, merged, update_neighbours

needs_usearch = pytest.mark.skipif(find_spec("usearch") is None, reason="the extra 'ann' is not installed")
AXES = np.eye(6, dtype=np.float32)
# On a small grid, and not of unit length: products are exact, however they are blocked, and ties are common.
GRID = np.vstack([AXES, *(AXES[i] + AXES[i - 1] / 2 for i in range(6))])


def from_scratch(
    ids: np.ndarray, owner: np.ndarray, vectors: np.ndarray, texts: np.ndarray, n: int
) -> Neighbours:
    lists: Neighbours = {}
    cosines = vectors @ vectors.T
    for row, passage_id in enumerate(ids.tolist()):
        others = np.flatnonzero((owner != owner[row]) & (texts != texts[row]))
        ranked = sorted(others.tolist(), key=lambda j: (-float(cosines[row, j]), int(ids[j])))
        first_of = {int(texts[j]): j for j in reversed(ranked)}
        best = [j for j in ranked if first_of[int(texts[j])] == j][:n]
        if best:
            lists[passage_id] = {int(ids[j]): float(cosines[row, j]) for j in best}
    return lists


class Corpus:
    """Passages with documents, texts and vectors that come and go, and the lists kept for them."""

    def __init__(self) -> None:
        self.owner: dict[int, int] = {}
        self.text: dict[int, int] = {}
        self.vector: dict[int, np.ndarray] = {}
        self.lists: Neighbours = {}
        self.next_id = 1

    def add(self, document: int, vector: np.ndarray, text: int | None = None) -> None:
        self.owner[self.next_id] = document
        self.text[self.next_id] = -self.next_id if text is None else text
        self.vector[self.next_id] = vector
        self.next_id += 1

    def remove(self, passage_id: int) -> None:
        del self.owner[passage_id], self.vector[passage_id], self.text[passage_id]
        self.lists.pop(passage_id, None)
        for near in self.lists.values():
            near.pop(passage_id, None)
        self.lists = {i: near for i, near in self.lists.items() if near}  # as the store gives them

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ids = np.array(sorted(self.owner), dtype=np.int64)
        owner = np.array([self.owner[int(i)] for i in ids], dtype=np.int64)
        return ids, owner, np.array([self.vector[int(i)] for i in ids], dtype=np.float32).reshape(len(ids), 6)

    def texts(self) -> np.ndarray:
        return np.array([self.text[i] for i in sorted(self.owner)], dtype=np.int64)

    def update(self, n: int, **settings: int) -> Neighbours:
        before = {i: dict(near) for i, near in self.lists.items()}
        changed = update_neighbours(
            *self.arrays(), self.lists, text_of=self.texts(), n_neighbours=n, **settings
        )
        assert self.lists == before  # what was handed over is not touched
        self.lists = merged(self.lists, changed, self.owner)
        return changed


PASSAGE = st.tuples(st.integers(0, 5), st.integers(0, len(GRID) - 1), st.none() | st.integers(0, 2))
ROUND = st.tuples(st.lists(PASSAGE, min_size=1, max_size=6), st.lists(st.integers(0, 99), max_size=2))


@settings(deadline=None, max_examples=150)
@given(st.lists(ROUND, min_size=2, max_size=6), st.integers(1, 3))
def test_lists_equal_those_from_scratch_after_any_changes(
    rounds: list[tuple[list[tuple[int, int, int | None]], list[int]]], n: int
) -> None:
    corpus = Corpus()
    for added, removed in rounds:
        for place in removed:
            if corpus.owner:
                corpus.remove(sorted(corpus.owner)[place % len(corpus.owner)])
        for document, direction, text in added:
            corpus.add(document, GRID[direction], text)
        corpus.update(n)
        assert corpus.lists == from_scratch(*corpus.arrays(), corpus.texts(), n)
        assert corpus.update(n) == {}


def random_corpus(n: int, n_documents: int, seed: int = 0) -> Corpus:
    rng = np.random.default_rng(seed)
    corpus = Corpus()
    for number in range(n):
        vector = rng.normal(size=6).astype(np.float32)
        # On a grid, as a build has them, so that a cosine is the same in whatever block it is computed.
        corpus.add(number % n_documents, np.round(vector / np.linalg.norm(vector) * 2048) / np.float32(2048))
    return corpus


def test_only_lists_that_a_newcomer_touches_are_returned() -> None:
    corpus = Corpus()
    for document in range(4):
        corpus.add(document, AXES[0])
    for document in range(4, 8):
        corpus.add(document, AXES[1])
    corpus.update(2)
    assert corpus.update(2) == {}
    corpus.add(9, (AXES[1] + 3 * AXES[2]) / np.float32(np.sqrt(10)))
    changed = corpus.update(2)
    assert set(changed) == {9}  # nobody's second neighbour is further away than this one
    corpus.add(10, AXES[2])
    assert set(corpus.update(2)) == {9, 10}


def test_no_passage_has_a_neighbour_in_its_own_document() -> None:
    corpus = random_corpus(60, 5)
    corpus.update(4)
    for passage_id, near in corpus.lists.items():
        assert len(near) == 4
        assert all(corpus.owner[j] != corpus.owner[passage_id] for j in near)


def test_one_document_alone_has_no_neighbours() -> None:
    corpus = random_corpus(5, 1)
    assert corpus.update(3) == {}
    assert update_neighbours(*Corpus().arrays(), {}) == {}


def test_small_blocks_give_the_same_lists(monkeypatch) -> None:
    corpus = random_corpus(50, 9)
    expected = update_neighbours(*corpus.arrays(), {}, n_neighbours=5)
    monkeypatch.setattr(candidates, "_BLOCK_CELLS", 120)
    steps: list[int] = []
    got = update_neighbours(*corpus.arrays(), {}, n_neighbours=5, on_progress=steps.append)
    assert {i: set(near) for i, near in got.items()} == {i: set(near) for i, near in expected.items()}
    assert sum(steps) == 50
    assert len(steps) == 25


def test_pairs_are_unordered_near_enough_and_named_once() -> None:
    lists = {1: {2: 0.9, 5: 0.2}, 2: {1: 0.9, 3: 0.45}, 4: {2: 0.449}}
    assert candidate_pairs(lists) == [(1, 2), (2, 3)]
    assert candidate_pairs(lists, min_similarity=0.1) == [(1, 2), (1, 5), (2, 3), (2, 4)]
    assert candidate_pairs({}) == []


def test_lists_of_passages_that_went_are_dropped() -> None:
    assert merged({1: {2: 0.5}, 3: {1: 0.5}}, {1: {4: 0.9}}, [1, 4]) == {1: {4: 0.9}}


def test_a_text_repeated_many_times_takes_one_place_and_copies_are_no_neighbours_of_each_other() -> None:
    corpus = Corpus()
    corpus.add(0, AXES[0])
    corpus.add(1, AXES[0] + AXES[1])
    for document in range(2, 14):
        corpus.add(document, AXES[0], text=7)
    corpus.update(2)
    assert set(corpus.lists[1]) == {2, 3}
    assert all(set(corpus.lists[copy]) == {1, 2} for copy in range(3, 15))


def test_lists_of_before_copies_were_told_apart_are_made_again() -> None:
    corpus = random_corpus(20, 20)
    corpus.update(3)
    twin = next(iter(corpus.lists[5]))
    corpus.text[twin] = corpus.text[5]
    corpus.update(3)
    assert corpus.lists == from_scratch(*corpus.arrays(), corpus.texts(), 3)


def test_a_neighbour_that_is_not_here_is_replaced() -> None:
    corpus = random_corpus(20, 20)
    corpus.update(3)
    expected = corpus.lists
    corpus.lists = {**expected, 4: {**dict(list(expected[4].items())[:2]), 999: 0.9}}
    corpus.update(3)
    assert corpus.lists == expected


@needs_usearch
def test_beyond_the_exact_limit_lists_are_nearly_those_of_an_exact_search() -> None:
    exact, near = random_corpus(600, 200), random_corpus(600, 200)
    exact.update(10)
    near.update(10, exact_cells=0)
    assert all(len(found) == 10 for found in near.lists.values())
    assert all(near.owner[i] != near.owner[j] for i, found in near.lists.items() for j in found)
    shared = sum(len(exact.lists[i].keys() & found.keys()) for i, found in near.lists.items())
    assert shared >= 0.95 * 6000


@needs_usearch
def test_beyond_the_exact_limit_newcomers_enter_the_lists_of_those_that_they_find() -> None:
    corpus = random_corpus(300, 300)
    corpus.update(5, exact_cells=0)
    held = corpus.vector[17]
    corpus.add(1_000, held)
    corpus.update(5, exact_cells=0)
    found = corpus.lists[301]
    assert len(found) == 5
    assert max(found.values()) > 0.9  # an approximate search may miss the twin, but not all that is near
    for other, cosine in found.items():
        held_by = corpus.lists[other]
        assert 301 in held_by or min(held_by.values()) >= cosine
    assert any(301 in near for near in corpus.lists.values())
    assert all(len(near) == 5 for near in corpus.lists.values())


@needs_usearch
def test_beyond_the_exact_limit_a_passage_that_finds_only_its_own_document_is_compared_with_all() -> None:
    corpus = Corpus()
    for _ in range(50):
        corpus.add(0, AXES[0])
    for document in range(1, 9):
        corpus.add(document, AXES[1] + AXES[0] * np.float32(document / 16))
    corpus.update(4, exact_cells=0)
    assert all(list(corpus.lists[row]) == [58, 57, 56, 55] for row in range(1, 51))


def test_beyond_the_exact_limit_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(MissingExtraError, match="ann"):
        random_corpus(5, 5).update(2, exact_cells=0)
