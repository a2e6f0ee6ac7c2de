"""Derived rows come back as they were put, and never for passages that have gone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from stored import put

from veridical.stores import Store, derived, documents, values
from veridical.stores.derived import Judgement, NodeTrust


def unit_rows(n: int, seed: int = 0, dimensions: int = 384) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(store: Store, n: int) -> list[int]:
    """Store n documents of one passage each and return the passage ids."""
    with store.write() as connection:
        for number in range(n):
            put(connection, f"k{number}", f"Text {number}.")
        return [passage.id for passage in documents.every_passage(connection)]


def test_vectors_come_back_within_half_precision(store: Store) -> None:
    ids = fill(store, 3)
    vectors, inner = unit_rows(3), [unit_rows(n, n) for n in (1, 0, 4)]
    with store.write() as connection:
        assert derived.without_vectors(connection, "e") == ids
        derived.put_vectors(connection, "e", ids, vectors, inner)
        found_ids, found = derived.all_vectors(connection, "e")
        sentences = derived.sentence_vectors(connection, "e", ids)
        assert derived.without_vectors(connection, "e") == []
        assert derived.without_vectors(connection, "other") == ids
    assert found_ids.tolist() == ids
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, vectors, atol=2e-4)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-3)
    for passage_id, matrix in zip(ids, inner, strict=True):
        assert sentences[passage_id].shape == matrix.shape
        np.testing.assert_allclose(sentences[passage_id], matrix, atol=2e-4)


def test_a_store_without_vectors_gives_empty_arrays(store: Store) -> None:
    with store.read() as connection:
        ids, vectors = derived.all_vectors(connection, "e")
        assert derived.sentence_vectors(connection, "e", []) == {}
    assert ids.shape == (0,)
    assert vectors.shape[0] == 0


def test_vectors_put_twice_are_replaced(store: Store) -> None:
    ids = fill(store, 1)
    with store.write() as connection:
        for seed in (1, 2):
            derived.put_vectors(connection, "e", ids, unit_rows(1, seed), [unit_rows(1, seed)])
        np.testing.assert_allclose(derived.all_vectors(connection, "e")[1], unit_rows(1, 2), atol=2e-4)


def test_passages_that_went_meanwhile_are_left_out(store: Store) -> None:
    ids = fill(store, 3)
    with store.write() as connection:
        documents.delete(connection, 2)
        derived.put_vectors(connection, "e", ids, unit_rows(3), [unit_rows(1)] * 3)
        derived.put_judgements(
            connection, "m", [Judgement(ids[0], ids[1], 0.5, 0.5), Judgement(ids[0], ids[2], 0.5, 0.5)]
        )
        derived.put_neighbours(connection, {ids[0]: {ids[1]: 0.9, ids[2]: 0.8}, ids[1]: {ids[0]: 0.9}})
        assert derived.all_vectors(connection, "e")[0].tolist() == [ids[0], ids[2]]
        assert derived.judged_pairs(connection, "m") == {(ids[0], ids[2])}
        assert derived.neighbours(connection) == {ids[0]: {ids[2]: 0.8}}


def test_changing_the_encoder_drops_what_rests_on_the_other_ones_vectors(store: Store) -> None:
    ids = fill(store, 2)
    with store.write() as connection:
        derived.use_encoder(connection, "old")
        derived.put_vectors(connection, "old", ids, unit_rows(2), [unit_rows(1)] * 2)
        derived.put_neighbours(connection, {ids[0]: {ids[1]: 0.9}})
        derived.use_encoder(connection, "old")
        assert derived.neighbours(connection) == {ids[0]: {ids[1]: 0.9}}
        derived.use_encoder(connection, "new")
        assert derived.neighbours(connection) == {}
        assert len(derived.all_vectors(connection, "old")[0]) == 0
        assert derived.sentence_vectors(connection, "old", ids) == {}
        assert values.state(connection, "encoder") == "new"


def test_neighbours_are_replaced_list_by_list(store: Store) -> None:
    a, b, c = fill(store, 3)
    with store.write() as connection:
        derived.put_neighbours(connection, {a: {b: 0.9, c: 0.1}, b: {a: 0.9}})
        derived.put_neighbours(connection, {a: {c: 0.1}, c: {}})
        assert derived.neighbours(connection) == {a: {c: 0.1}, b: {a: 0.9}}
        derived.put_neighbours(connection, {})
        assert derived.neighbours(connection) == {a: {c: 0.1}, b: {a: 0.9}}


def test_judgements_come_back_whole_and_among_the_passages_asked_for(store: Store) -> None:
    a, b, c, d = fill(store, 4)
    rows = [Judgement(a, b, 0.7, 0.1, 0, 4, 1, 3), Judgement(b, c, 0.2, 0.3), Judgement(c, d, 0.1, 0.8)]
    with store.write() as connection:
        derived.put_judgements(connection, "m", rows)
        assert derived.judgements(connection) == rows
        assert derived.judgements(connection, [c, a, b]) == rows[:2]
        assert derived.judgements(connection, [a, c]) == []
        assert derived.judgements(connection, []) == []
        derived.put_judgements(connection, "m", [Judgement(a, b, 0.0, 1.0)])
        assert derived.judgements(connection, [a, b]) == [Judgement(a, b, 0.0, 1.0)]


def test_more_passages_than_one_statement_takes(store: Store) -> None:
    ids = fill(store, 1100)
    rows = [Judgement(low, high, 0.5, 0.1) for low, high in pairwise(ids)]
    with store.write() as connection:
        derived.put_judgements(connection, "m", rows)
        assert derived.judgements(connection, ids + list(range(5000, 60_000))) == rows
        derived.forget_judgements(connection, "m", [(row.low, row.high) for row in rows[5:]])
        assert derived.judgements(connection) == rows[:5]


def test_forgetting_also_drops_what_other_models_said(store: Store) -> None:
    a, b, c = fill(store, 3)
    with store.write() as connection:
        derived.put_judgements(connection, "old", [Judgement(a, b, 0.5, 0.1)])
        derived.put_judgements(connection, "new", [Judgement(b, c, 0.5, 0.1)])
        derived.forget_judgements(connection, "new", [])
        assert derived.judged_pairs(connection, "old") == set()
        assert derived.judged_pairs(connection, "new") == {(b, c)}


def test_trust_is_kept_by_method_and_read_by_kind_and_key(store: Store) -> None:
    rows = [NodeTrust("document", str(i), i / 1000, None if i % 2 else 0.5) for i in range(600)]
    rows.append(NodeTrust("source", "1", 0.25, 0.75))
    with store.write() as connection:
        derived.put_trust(connection, "veridical", rows)
        derived.put_trust(connection, "trustprop", rows[:1])
        assert sorted(derived.trust(connection, "veridical"), key=repr) == sorted(rows, key=repr)
        assert derived.trust(connection, "veridical", kind="source") == rows[-1:]
        keys = [str(i) for i in range(0, 600, 7)]
        some = derived.trust(connection, "veridical", kind="document", keys=keys)
        assert {row.key for row in some} == set(keys)
        assert len(derived.trust(connection, "veridical", keys=["1"])) == 2
        derived.put_trust(connection, "veridical", [])
        assert derived.methods_with_trust(connection) == ["trustprop"]
