"""The command line on fakes, in this process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.cli.app import run
from veridical.pipeline import facade
from veridical.testing.fake_models import FakeModels

PAGES = {
    "handbook/port.md": "# Port\n\nThe port of the gateway is 443 for all of the staff.\n",
    "wiki/port.md": "# The port\n\nThe port of the gateway is 443 for all of the staff.\n",
    "blog/port.md": "# A port\n\nThe port of the gateway is 8080 for all of the staff.\n",
    "forum/tea.md": "# Tea\n\nTea is served at 4 in the small kitchen of the office.\n",
}


@dataclass
class Ran:
    code: int
    out: str
    err: str


def write_corpus(root: Path) -> Path:
    for key, text in PAGES.items():
        (root / key).parent.mkdir(parents=True, exist_ok=True)
        (root / key).write_text(text, "utf-8")
    return root


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of the corpus, to be copied."""
    root = tmp_path_factory.mktemp("cli")
    with Veridical.open(root / "kb") as v:
        v.models = FakeModels()
        v.ingest(write_corpus(root / "corpus"), key_root=root / "corpus")
        v.build()
    shutil.rmtree(root / "corpus")  # so that a copy of the corpus may take its place
    return root / "kb"


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Runs a command in a folder of the test's own."""
    for name in [name for name in os.environ if name.startswith(("VERIDICAL_", "FORCE_COLOR"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(facade, "Models", lambda *_: FakeModels())
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Ran:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            run(list(arguments))
        captured = capfd.readouterr()
        return Ran(int(left.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def kb(cli: Callable[..., Ran], corpus: Path, built: Path) -> Path:
    """The corpus, ingested and built in ``.veridical``."""
    shutil.copytree(built, ".veridical")
    return Path(".veridical").absolute()
