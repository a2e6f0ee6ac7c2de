"""Dense search is exact, its index is put in force whole, and above a size it is nearly exact."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexed import put_texts, put_vectors, unit_rows

from veridical.errors import MissingExtraError, StoreError
from veridical.index import dense
from veridical.index.dense import DenseIndex, top_rows
from veridical.stores import Store, derived, documents

needs_usearch = pytest.mark.skipif(find_spec("usearch") is None, reason="the extra 'ann' is not installed")


def test_search_is_a_sort_of_all_cosines() -> None:
    vectors, questions = unit_rows(500), unit_rows(20, seed=1)
    index = DenseIndex(np.arange(10, 510), vectors)
    for question in questions:
        cosines = vectors @ question
        order = np.argsort(-cosines, kind="stable")[:7]
        got = index.search(question, 7)
        assert [i for i, _ in got] == (order + 10).tolist()
        assert [c for _, c in got] == pytest.approx(cosines[order].tolist())


def test_rows_are_the_vectors_of_the_passages_asked_for() -> None:
    vectors = unit_rows(4)
    index = DenseIndex(np.array([3, 5, 8, 11]), vectors)
    found = index.rows([8, 4, 3, 99])
    assert found[[0, 2]].tolist() == vectors[[2, 0]].tolist()
    assert np.isnan(found[[1, 3]]).all()
    assert np.isnan(DenseIndex(np.empty(0, dtype=np.int64), vectors[:0]).rows([1])).all()


def test_ties_go_to_the_lower_id_also_where_the_list_is_cut() -> None:
    vectors = np.zeros((6, 4), dtype=np.float32)
    vectors[:, 1] = 1.0
    vectors[4] = [1, 0, 0, 0]
    index = DenseIndex(np.array([3, 5, 8, 11, 12, 20]), vectors)
    question = np.array([0.6, 0.5, 0, 0], dtype=np.float32)
    assert [i for i, _ in index.search(question, 3)] == [12, 3, 5]


@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(-2, 35))
def test_top_rows_are_the_head_of_a_stable_sort(numbers: list[int], top_k: int) -> None:
    values = np.array(numbers, dtype=np.float32)
    expected = np.argsort(-values, kind="stable")[: max(0, top_k)]
    assert top_rows(values, top_k).tolist() == expected.tolist()


def test_cosines_are_given_for_the_passages_that_have_a_vector() -> None:
    vectors = unit_rows(5)
    index = DenseIndex(np.array([2, 4, 6, 8, 10]), vectors)
    found = index.cosines([10, 3, 2, 99, 1], vectors[0])
    assert set(found) == {10, 2}
    assert found[2] == pytest.approx(1.0, abs=1e-6)
    assert found[10] == pytest.approx(float(vectors[4] @ vectors[0]), abs=1e-6)
    assert index.cosines([], vectors[0]) == {}


def test_an_empty_index_finds_nothing(store: Store) -> None:
    assert dense.rebuild(store, "e") == 0
    index = dense.open_index(store, dense.stamp_in_force(store))
    assert index is not None
    assert len(index) == 0
    assert index.search(unit_rows(1)[0], 5) == []
    assert index.cosines([1], unit_rows(1)[0]) == {}


def test_there_is_no_index_before_the_first_build(store: Store) -> None:
    assert dense.stamp_in_force(store) == ""
    assert dense.open_index(store, "dense-e-none") is None


def test_an_index_holds_the_vectors_of_the_store(store: Store) -> None:
    vectors = unit_rows(30)
    ids = put_vectors(store, vectors)
    assert dense.rebuild(store, "e") == 30
    index = dense.open_index(store, dense.stamp_in_force(store))
    assert index is not None
    assert index.ids.tolist() == ids
    np.testing.assert_allclose(index.vectors, vectors, atol=1e-3)
    assert index.search(vectors[7], 1)[0][0] == ids[7]


def test_a_reader_keeps_the_old_index_through_the_next_build(store: Store) -> None:
    put_vectors(store, unit_rows(5))
    dense.rebuild(store, "e")
    old_stamp = dense.stamp_in_force(store)
    reader = dense.open_index(store, old_stamp)
    ids = put_texts(store, {"new": "New text."})
    with store.write() as connection:
        derived.put_vectors(connection, "e", [ids["new"]], unit_rows(1, 9), [unit_rows(1, 9)])
    dense.rebuild(store, "e")
    assert reader is not None
    assert len(reader.search(unit_rows(1)[0], 10)) == 5
    assert dense.open_index(store, old_stamp) is not None  # for one who was just about to open it
    new = dense.open_index(store, dense.stamp_in_force(store))
    assert new is not None
    assert len(new) == 6
    dense.rebuild(store, "e")
    assert dense.open_index(store, old_stamp) is None
    assert len(list(store.index_folder.glob("dense-*"))) == 2


def test_a_rebuild_that_fails_leaves_the_old_index_in_force(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_vectors(store, unit_rows(5))
    dense.rebuild(store, "e")
    stamp = dense.stamp_in_force(store)

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(dense.np, "save", full)
        with pytest.raises(StoreError, match="no space"):
            dense.rebuild(store, "e")
    assert dense.stamp_in_force(store) == stamp
    assert [path.name for path in store.index_folder.glob("dense-*")] == [stamp]


def test_an_encoder_may_have_any_name(store: Store) -> None:
    put_vectors(store, unit_rows(3), encoder="org/model v-1")
    dense.rebuild(store, "org/model v-1")
    stamp = dense.stamp_in_force(store)
    assert dense.encoder_of(stamp) == "org/model v-1"
    assert "/" not in stamp
    index = dense.open_index(store, stamp)
    assert index is not None
    assert len(index) == 3
    assert dense.encoder_of("") == ""


@pytest.mark.parametrize("name", ["ids.npy", "vectors.npy"])
@pytest.mark.parametrize("data", [b"", b"\x93NUMPY", None])
def test_a_damaged_index_counts_as_none(store: Store, name: str, data: bytes | None) -> None:
    put_vectors(store, unit_rows(5))
    dense.rebuild(store, "e")
    stamp = dense.stamp_in_force(store)
    path = store.index_folder / stamp / name
    path.unlink() if data is None else path.write_bytes(data)
    assert dense.open_index(store, stamp) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vectors.npy", unit_rows(5, dimensions=31)),
        ("vectors.npy", unit_rows(5)[:, 0]),
        ("vectors.npy", unit_rows(5).astype(np.float64)),
        ("vectors.npy", np.full((5, 32), np.nan, dtype=np.float32)),
        ("vectors.npy", unit_rows(4)),
        ("ids.npy", np.array(["1", "2", "3", "4", "5"])),
        ("ids.npy", np.arange(5).reshape(1, 5)),
    ],
)
def test_an_index_of_another_shape_or_without_numbers_counts_as_none(
    store: Store, name: str, content: np.ndarray
) -> None:
    put_vectors(store, unit_rows(5))
    dense.rebuild(store, "e")
    stamp = dense.stamp_in_force(store)
    assert not dense.is_damaged(store, stamp)
    np.save(store.index_folder / stamp / name, content)
    assert dense.open_index(store, stamp) is None
    assert dense.is_damaged(store, stamp)


def test_rows_that_were_swapped_are_damage(store: Store) -> None:
    put_vectors(store, unit_rows(5))
    dense.rebuild(store, "e")
    stamp = dense.stamp_in_force(store)
    path = store.index_folder / stamp / "vectors.npy"
    np.save(path, np.load(path)[::-1].copy())
    assert dense.is_damaged(store, stamp)


def test_deleted_passages_leave_the_next_index(store: Store) -> None:
    put_vectors(store, unit_rows(5))
    with store.write() as connection:
        documents.delete(connection, 2)
    assert dense.rebuild(store, "e") == 4


@needs_usearch
def test_above_the_limit_search_is_nearly_exact(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "EXACT_LIMIT", 1000)
    vectors = unit_rows(2000)
    put_vectors(store, vectors)
    dense.rebuild(store, "e")
    index = dense.open_index(store, dense.stamp_in_force(store))
    assert index is not None
    assert index._ann is not None
    exact = DenseIndex(index.ids, index.vectors)
    hits = 0
    for question in unit_rows(50, seed=3):
        wanted, got = dict(exact.search(question, 10)), dict(index.search(question, 10))
        assert len(got) == 10
        assert list(got) == sorted(got, key=lambda i: (-got[i], i))
        for passage_id in wanted.keys() & got.keys():
            assert got[passage_id] == pytest.approx(wanted[passage_id], abs=1e-6)
        hits += len(wanted.keys() & got.keys())
    assert hits / 500 >= 0.95


def test_above_the_limit_a_missing_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "EXACT_LIMIT", 3)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    put_vectors(store, unit_rows(5))
    with pytest.raises(MissingExtraError, match="'ann'") as caught:
        dense.rebuild(store, "e")
    assert "veridical[ann]" in caught.value.hint
    assert list(store.index_folder.glob("dense-*")) == []


@needs_usearch
def test_a_lost_approximate_index_counts_as_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "EXACT_LIMIT", 3)
    put_vectors(store, unit_rows(5))
    dense.rebuild(store, "e")
    stamp = dense.stamp_in_force(store)
    (store.index_folder / stamp / "vectors.usearch").unlink()
    assert dense.open_index(store, stamp) is None


@needs_usearch
def test_the_approximate_index_and_the_encoder_live_in_one_process() -> None:
    code = "from veridical.index.dense import ann_index; ann_index(8); import onnxruntime; print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr
