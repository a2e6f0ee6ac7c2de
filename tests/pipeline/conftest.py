"""A small knowledge base on fakes, and ways to look at all that it holds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from bridging import DOCUMENTS, Counting, Open

from veridical import Veridical
from veridical.llm.base import LLM
from veridical.nli.base import NLIModel
from veridical.pipeline import extracting, opened, reasoning
from veridical.reading.base import Reader
from veridical.testing.fake_models import FakeModels

VALUES = {"gateway": (443, 8080), "printer": (9100, 515), "archive": (30, 90), "badge": (14, 60)}


def fact(thing: str, number: int) -> str:
    return f"The {thing} of the office uses setting {number} since the last change."


def write_corpus(root: Path) -> Path:
    for source, which in (("handbook", 0), ("wiki", 0), ("blog", 1), ("forum", 1)):
        for thing, numbers in VALUES.items():
            path = root / source / f"{thing}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {source} on the {thing}\n\n{fact(thing, numbers[which])}\n", "utf-8")
    return root


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four sources; 'handbook' and 'wiki' say one number of each thing, 'blog' and 'forum' another."""
    return write_corpus(tmp_path / "corpus")


@pytest.fixture
def open_kb(tmp_path: Path) -> Iterator[Callable[..., Veridical]]:
    """Opens knowledge bases by name, on fakes."""
    opened: list[Veridical] = []

    def make(
        name: str = "kb",
        *,
        nli: NLIModel | None = None,
        llm: LLM | None = None,
        embedded: LLM | None = None,
        reader: Reader | None = None,
    ) -> Veridical:
        v = Veridical.open(tmp_path / name, llm=llm)
        v.models = FakeModels(nli=nli, llm=embedded, reader=reader)
        opened.append(v)
        return v

    yield make
    for v in opened:
        v.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpus and a knowledge base built of it, to be copied."""
    root = tmp_path_factory.mktemp("built")
    with Veridical.open(root / "kb") as v:
        v.models = FakeModels()
        v.ingest(write_corpus(root / "corpus"), key_root=root / "corpus")
        v.build()
    return root


@pytest.fixture
def kb(open_kb: Callable[..., Veridical], corpus: Path, built: Path, tmp_path: Path) -> Veridical:
    """The corpus, ingested and built."""
    shutil.copytree(built / "kb", tmp_path / "kb")
    v = open_kb()
    moved = {"old": str(built / "corpus"), "new": str(corpus)}
    with v.store.write() as connection:
        connection.execute(
            sa.text(
                "UPDATE documents SET origin = replace(origin, :old, :new),"
                " metadata = replace(metadata, :old, :new)"
            ),
            moved,
        )
    return v


@pytest.fixture
def bridges(open_kb: Open, tmp_path: Path) -> Veridical:
    """Four documents of which two and a fake one have to do with a bridge, built for method reliable."""
    path = tmp_path / "bridges.jsonl"
    path.write_text("\n".join(map(json.dumps, DOCUMENTS)), "utf-8")
    v = open_kb("bridges")
    v.ingest(path)
    v.build(method="reliable")
    return v


@pytest.fixture
def extractor(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """Stands in for whatever extractor is asked for."""
    counting = Counting()
    for module in (extracting, reasoning, opened):
        monkeypatch.setattr(module, "extractor_named", lambda *_: counting)
    return counting
