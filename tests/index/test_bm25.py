"""BM25 agrees with its formula, follows the store, and survives whatever is done to it."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from indexed import bm25_by_formula, put_texts

from veridical.errors import StoreError
from veridical.index import bm25
from veridical.index.bm25 import LexicalIndex
from veridical.stores import Store, documents

TEXTS = {
    "port": "The staging server listens on port 8443.",
    "refund": "Refunds are paid within thirty days.",
    "café": "The CAFÉ opens at eight and closes at nine.",
}


def found(store: Store, question: str) -> list[int]:
    return [passage_id for passage_id, _ in bm25.open_index(store).search(question, 10)]


def test_relevance_is_that_of_the_formula() -> None:
    rng = random.Random(0)
    words = [f"w{i}q" for i in range(30)]
    # Texts of at most 40 words, whose lengths the index stores exactly.
    texts = {i: [rng.choice(words) for _ in range(rng.randint(1, 40))] for i in range(1, 200)}
    index = LexicalIndex(None)
    index.update([(i, " ".join(text)) for i, text in texts.items()])
    for _ in range(20):
        terms = rng.sample(words, rng.randint(1, 4))
        expected = bm25_by_formula(texts, terms)
        got = index.search(" ".join(terms), 200)
        assert dict(got) == pytest.approx(expected, rel=1e-5)
        assert got == sorted(got, key=lambda pair: (-pair[1], pair[0]))


def test_only_the_best_are_returned_and_ties_go_to_the_lower_id() -> None:
    index = LexicalIndex(None)
    index.update([(9, "same words"), (4, "same words"), (7, "same same same")])
    assert [i for i, _ in index.search("same", 10)] == [7, 4, 9]
    assert [i for i, _ in index.search("same", 1)] == [7]
    assert index.search("same", 0) == []


def test_an_index_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path / "index")
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(StoreError, match=r"cannot be written: .*No such file") as caught:
        index.update([(1, "Some text.")])
    assert "disk full" in caught.value.hint


def test_words_are_found_in_other_forms() -> None:
    index = LexicalIndex(None)
    index.update([(1, "The CAFÉ refunded two customers")])
    for question in ("cafe", "Café", "refunds", "customer", "REFUNDING"):
        assert index.search(question, 1), question
    assert not index.search("supplier", 1)


def test_the_index_follows_adding_changing_and_deleting(store: Store) -> None:
    ids = put_texts(store, TEXTS)
    assert bm25.n_behind(store) == 3
    steps: list[int] = []
    assert bm25.sync(store, on_progress=steps.append) == 3
    assert sum(steps) == 3
    assert found(store, "port") == [ids["port"]]
    assert (bm25.n_behind(store), bm25.sync(store)) == (0, 0)
    changed = put_texts(store, {"port": "The staging server listens on socket 9000."})
    with store.write() as connection:
        documents.delete(connection, documents.find(connection, "refund").id)
    assert bm25.n_behind(store) == 3
    assert bm25.sync(store) == 3
    assert found(store, "port") == []
    assert found(store, "socket") == [changed["port"]]
    assert found(store, "refunds") == []
    assert bm25.indexed_ids(store) == {changed["port"], ids["café"]}


def test_an_open_index_sees_what_is_added_later(store: Store) -> None:
    put_texts(store, {"a": "alpha"})
    bm25.sync(store)
    reader = bm25.open_index(store)
    assert reader.search("beta", 1) == []
    ids = put_texts(store, {"b": "beta"})
    bm25.sync(store)
    assert [i for i, _ in reader.search("beta", 1)] == [ids["b"]]


def test_many_batches_give_the_same_index_as_one(store: Store) -> None:
    ids = put_texts(store, {f"k{i}": f"common word{i}" for i in range(25)})
    bm25.sync(store, batch_size=4)
    assert bm25.indexed_ids(store) == set(ids.values())
    assert found(store, "word17") == [ids["k17"]]


KILLED = """
import os, signal, sys
from pathlib import Path
from veridical.index import bm25
from veridical.stores import Store
bm25.sync(Store(Path(sys.argv[1])), batch_size=2, on_progress=lambda n: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_sync_that_is_killed_is_made_good(store: Store) -> None:
    ids = put_texts(store, {f"k{i}": f"word{i}" for i in range(6)})
    process = subprocess.run([sys.executable, "-c", KILLED, str(store.folder)], check=False)
    assert process.returncode == -signal.SIGKILL
    assert bm25.n_behind(store) == 4
    with store.write() as connection:  # and what was indexed goes before the next sync
        documents.delete(connection, documents.find(connection, "k0").id)
    assert bm25.sync(store) == 5
    assert bm25.indexed_ids(store) == set(ids.values()) - {ids["k0"]}


def index_files(store: Store) -> list[Path]:
    return [path for folder in store.index_folder.glob("bm25-*") for path in folder.iterdir()]


def remove_folder(store: Store) -> None:
    shutil.rmtree(store.index_folder)


def remove_visible(store: Store) -> None:
    for path in index_files(store):
        if not path.name.startswith("."):
            path.unlink()


def remove_postings(store: Store) -> None:
    for path in index_files(store):
        if path.suffix in {".idx", ".term"}:
            path.unlink()


def break_meta(store: Store) -> None:
    for path in index_files(store):
        if path.name == "meta.json":
            path.write_text("{", "utf-8")


@pytest.mark.parametrize("damage", [remove_folder, remove_visible, remove_postings, break_meta])
def test_a_lost_or_damaged_index_is_made_again(store: Store, damage: object) -> None:
    ids = put_texts(store, TEXTS)
    bm25.sync(store)
    damage(store)  # type: ignore[operator]
    assert bm25.n_behind(store) == 3
    assert bm25.sync(store) == 3
    assert found(store, "port") == [ids["port"]]


def test_a_damaged_index_is_our_error_to_a_reader(store: Store) -> None:
    put_texts(store, TEXTS)
    bm25.sync(store)
    break_meta(store)
    with pytest.raises(StoreError, match="damaged") as caught:
        bm25.open_index(store)
    assert "veridical build" in caught.value.hint


def test_a_reader_goes_on_while_the_index_is_away(store: Store) -> None:
    ids = put_texts(store, TEXTS)
    bm25.sync(store)
    reader = bm25.open_index(store)
    assert reader.search("port", 1)
    shutil.rmtree(store.index_folder)
    assert [i for i, _ in reader.search("port", 1)] == [ids["port"]]
    bm25.sync(store)
    assert [i for i, _ in reader.search("refund", 1)] == [ids["refund"]]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "?!",
        "port AND (OR NOT",
        '"unbalanced port',
        "body:port^2 +server -x [a TO b] passage:1 \\",
        "*:*",
        "port~2 po*t",
        "😀 port 🏳️‍🌈",
        "port\0server",
        "\ud800 port \udcff",
        "x" * 100_000,
        "word " * 10_000,
        " ".join(f"w{i}" for i in range(10_000)),
        "ﬁ ǅ İ ẞ \u202e port",
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_no_question_makes_it_fail(store: Store, question: str) -> None:
    put_texts(store, TEXTS)
    bm25.sync(store)
    for passage_id, relevance in bm25.open_index(store).search(question, 5):
        assert passage_id > 0
        assert relevance > 0


def test_operators_are_read_as_words(store: Store) -> None:
    ids = put_texts(store, TEXTS)
    bm25.sync(store)
    assert found(store, 'NOT "port"') == [ids["port"]]


def test_an_empty_store_has_an_empty_index(store: Store) -> None:
    assert bm25.sync(store) == 0
    assert bm25.n_behind(store) == 0
    assert bm25.open_index(store).search("anything", 5) == []


def test_asking_what_is_behind_makes_nothing(store: Store) -> None:
    put_texts(store, TEXTS)
    assert bm25.n_behind(store) == 3
    assert not store.index_folder.exists()
