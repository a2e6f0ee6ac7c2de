"""What still works where nothing can be written: on a full disk, and without the right to write."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.errors import BusyError, StoreError
from veridical.stores import answers
from veridical.testing.fake_models import FakeModels

GATEWAY = "Which setting does the gateway of the office use?"
NOBODY = 65534


@pytest.fixture
def read_only(built: Path) -> Iterator[Veridical]:
    """A knowledge base in a folder where this process may not write, whoever runs the tests."""
    root = Path(tempfile.mkdtemp())
    shutil.copytree(built / "kb", root / "kb")
    with Veridical.open(root / "kb") as v:
        v.models = FakeModels()
        v.feedback("d1", "good")
        v.ask(GATEWAY)  # loads all modules as who may read them
    paths = [root, *root.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    v = Veridical.open(root / "kb")
    v.models = FakeModels()
    yield v
    v.close()
    if was == 0:
        os.seteuid(0)
    for path in paths:
        path.chmod(0o755)
    shutil.rmtree(root)


def test_what_may_not_be_written_can_be_read_and_asked(read_only: Veridical) -> None:
    status = read_only.status()
    assert (status.read_only, status.documents, status.lexical_behind) == (True, 16, 0)
    assert read_only.check().problems == ()
    assert max(node.trust or 0.0 for node in read_only.trust().documents) > 0.5
    for retriever in ("bm25", "hybrid"):
        answer = read_only.ask(GATEWAY, retriever=retriever)
        assert (answer.id, answer.status) == (0, "answered")
        assert any("could not be stored" in note and "read-only" in note for note in answer.notes)


def test_chains_are_found_where_nothing_may_be_written(read_only: Veridical) -> None:
    answer = read_only.ask(GATEWAY, method="reliable", always_answer=True)
    assert (answer.id, answer.status, answer.method) == (0, "answered", "reliable")
    assert answer.trace is not None
    assert answer.trace.n_triples > 0
    assert sum("could not be stored" in note and "read-only" in note for note in answer.notes) == 2


@pytest.mark.parametrize(
    "act",
    [
        lambda v: v.build(),
        lambda v: v.ingest(v.path),
        lambda v: v.delete("d1"),
        lambda v: v.feedback("d1", "bad"),
        lambda v: v.import_("x.zip"),
    ],
)
def test_what_would_write_says_read_only_and_what_to_do(
    read_only: Veridical, act: Callable[[Veridical], object]
) -> None:
    with pytest.raises(StoreError, match="read-only") as caught:
        act(read_only)
    assert "copy" in caught.value.hint
    assert "export" not in caught.value.hint


def test_a_full_disk_does_not_cost_the_answer(kb: Veridical) -> None:
    with kb.store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1")  # that is, what there is now
    answer = kb.ask(GATEWAY + " " * 9000, always_answer=True)
    assert (answer.id, answer.status, len(answer.hits)) == (0, "answered", 5)
    assert any("could not be stored" in note and "full" in note for note in answer.notes)


def test_a_busy_database_does_not_cost_the_answer(kb: Veridical, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: object) -> int:
        raise BusyError("it stayed locked.")

    monkeypatch.setattr(answers, "put", locked)
    answer = kb.ask(GATEWAY, always_answer=True)
    assert (answer.id, answer.status) == (0, "answered")
    assert any("could not be stored" in note for note in answer.notes)
