"""Documents of nearly one text share a voice, whatever their order and history."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import answer, put

from veridical.graph import voices
from veridical.graph.build import load_graph
from veridical.stores import Store, documents, schema

WORDS = "rope lamp brick cloud river stone paper glass wheel apple candle bridge mirror garden".split()  # noqa: SIM905


def text(seed: int, *, change: int = 0) -> str:
    """Sixty words by seed, the last ``change`` of them others."""
    rng = np.random.default_rng(seed)
    said = [WORDS[i] + "ish" * (i % 3) for i in rng.integers(0, len(WORDS), 60)]
    said[60 - change :] = [f"other{chr(97 + i)}" for i in range(change)]
    return " ".join(said) + "."


def partition(store: Store) -> set[frozenset[str]]:
    with store.read() as connection:
        loaded = load_graph(connection)
        keys = {d.id: d.key for d in documents.every(connection)}
    members: dict[int, set[str]] = {}
    for i, voice in zip(loaded.document_ids, loaded.graph.voices.tolist(), strict=True):
        members.setdefault(voice, set()).add(keys[i])
    return {frozenset(part) for part in members.values()}


def groups(*names: str) -> set[frozenset[str]]:
    return {frozenset(name) for name in names}


def test_near_copies_are_one_voice_once_they_are_looked_at(store: Store) -> None:
    put(store, "a", text(1))
    put(store, "b", text(1, change=2))
    put(store, "c", text(1))
    put(store, "d", text(2))
    assert partition(store) == groups("ac", "b", "d")
    assert voices.n_behind(store) == 4
    voices.update(store)
    assert partition(store) == groups("abc", "d")
    assert voices.n_behind(store) == 0
    with store.read() as connection:
        graph = load_graph(connection).graph
    assert graph.text_group.tolist() == [0, 1, 0, 2]


def test_a_copy_with_another_number_is_a_voice_of_its_own(store: Store) -> None:
    put(store, "a", f"The port is 443. {text(1)}")
    put(store, "b", f"The port is 8080. {text(1)}")
    put(store, "c", f"The port is 443. {text(1, change=1)}")
    voices.update(store)
    assert partition(store) == groups("ac", "b")


def test_what_near_copies_say_of_each_other_is_kept(store: Store) -> None:
    (a,), (b,), (c,) = put(store, "a", text(1)), put(store, "b", text(1, change=2)), put(store, "c", text(1))
    answer(store, (a, b, 0.0, 0.8), (a, c, 0.8, 0.0))
    voices.update(store)
    with store.read() as connection:
        graph = load_graph(connection).graph
    assert list(zip(graph.heads, graph.tails, graph.signs, strict=True)) == [(0, 1, -1)]


def test_a_changed_text_leaves_its_voice_at_once_and_finds_its_new_one_in_the_next_build(
    store: Store,
) -> None:
    put(store, "a", text(1))
    put(store, "b", text(1, change=1))
    put(store, "c", text(2))
    voices.update(store)
    put(store, "b", text(2, change=1))
    assert partition(store) == groups("a", "b", "c")
    assert voices.n_behind(store) == 1
    voices.update(store)
    assert partition(store) == groups("a", "bc")


def test_when_the_middle_of_a_chain_goes_its_ends_part_at_once(store: Store) -> None:
    put(store, "a", text(1))
    put(store, "b", text(1, change=4))
    put(store, "c", text(1, change=8))
    voices.update(store)
    assert partition(store) == groups("abc")
    with store.write() as connection:
        documents.delete(connection, 2)
    assert partition(store) == groups("a", "c")
    voices.update(store)
    assert partition(store) == groups("a", "c")


def test_nothing_is_computed_again_where_nothing_came_or_went(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "a", text(1))
    put(store, "b", text(1, change=1))
    done: list[int] = []
    voices.update(store, on_progress=done.append)
    assert done == [2]
    monkeypatch.setattr(voices, "groups_of_signatures", None)
    voices.update(store, on_progress=done.append)
    put(store, "c", text(1))  # a copy is no new text
    voices.update(store)
    assert done == [2]
    assert partition(store) == groups("abc")


def test_signatures_of_another_kind_or_damaged_are_made_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "a", text(1))
    put(store, "b", text(1, change=1))
    voices.update(store)
    with store.write() as connection:
        connection.execute(schema.signatures.update().values(data=b"short"))
    assert voices.n_behind(store) == 2
    voices.update(store)
    assert voices.n_behind(store) == 0
    assert partition(store) == groups("ab")
    monkeypatch.setattr(voices, "_version", lambda: 7)
    assert voices.n_behind(store) == 2
    voices.update(store)
    assert voices.n_behind(store) == 0
    assert partition(store) == groups("ab")


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0, 2, 4, 8])), min_size=1, max_size=8),
    st.randoms(),
)
@settings(max_examples=15, deadline=None)
def test_voices_do_not_depend_on_the_order_of_documents(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[int, int]], rng: object
) -> None:
    named = {f"{chr(97 + i)}": text(seed, change=change) for i, (seed, change) in enumerate(texts)}
    found = []
    for turn in range(2):
        store = Store(tmp_path_factory.mktemp("order") / "kb", create=True)
        keys = sorted(named)
        if turn:
            rng.shuffle(keys)  # type: ignore[attr-defined]
        for key in keys:
            put(store, key, named[key])
            if turn:
                voices.update(store)  # also when they come one by one
        voices.update(store)
        found.append(partition(store))
        store.close()
    assert found[0] == found[1]
