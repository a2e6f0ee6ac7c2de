"""What the benchmark scripts share: work that is kept and shown, and a head that says what it is about."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from veridical.bench import script
from veridical.reading.base import NOTHING, Reading
from veridical.testing.fakes import HashEncoder


class Silent:
    """A reader that finds nothing, and counts what it is asked."""

    name = "silent-1"
    n_asked = 0

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        self.n_asked += len(pairs)
        return [NOTHING for _ in pairs]


def test_work_is_done_once_and_leaves_no_bar_behind(tmp_path: Path) -> None:
    reader = Silent()
    with script.bars(Console(file=io.StringIO())) as progress:
        work = script.Work(tmp_path, progress)
        for _ in range(2):
            assert (
                work.readings(reader, [("who?", "Ann ran."), ("who?", "Bob sat.")], "reading")
                == [NOTHING] * 2
            )
            assert work.vectors(HashEncoder(), ["a", "b"], "encoding").shape[0] == 2
        assert progress.tasks == []
    assert reader.n_asked == 2


def test_the_head_names_the_commit_first(capsys: pytest.CaptureFixture[str]) -> None:
    found = script.head(__file__, {"seed": 3})
    assert list(found) == ["commit", "seed"]
    assert capsys.readouterr().out == f"commit {found['commit']}, seed 3\n"


def test_outputs_have_a_folder_and_a_file() -> None:
    parser = argparse.ArgumentParser()
    script.add_outputs(parser)
    assert parser.parse_args([]).json is None
    assert parser.parse_args(["--work", "x", "--json", "y"]).work == Path("x")
