"""What README and docs show in their code blocks runs as it stands there (on fake models)."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.cli.app import run
from veridical.pipeline import facade
from veridical.testing.fake_models import FakeModels

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")) if path.name != "cli.md"
)  # the command line's own reference shows options, not commands to run
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACEHOLDER = re.compile(r"\.\.\.|\b[A-Z]{3,}(?:_[A-Z]+)*\b(?!=)| / |\||\\$|<\w+>")
BENCH = "bench.md"  # what it shows needs data sets: tests/cli/test_bench_command.py
FOLDERS = ("docs/old-wiki", "docs/wiki", "docs", "wiki", "handbook", "forum")


def blocks(page: Path, *languages: str) -> list[str]:
    return [body for language, body in BLOCK.findall(page.read_text("utf-8")) if language in languages]


def commands(page: Path) -> list[list[str]]:
    found = []
    for body in blocks(page, "console", "sh", "shell", "bash"):
        for line in body.splitlines():
            line = line.removeprefix("$ ")
            bare = re.sub(r'"[^"]*"', '""', line.partition("  #")[0])
            if line.startswith("veridical ") and not PLACEHOLDER.search(bare):
                found.append(shlex.split(line, comments=True)[1:])
    return found


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders and files of the names that the pages use, and two knowledge bases built of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(facade, "Models", lambda *_: FakeModels())
    for folder in FOLDERS:
        for number, name in enumerate(("backups.html", "vpn.md", "leave.txt")):
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (
                f"Backups are kept for {20 + number} days, says {folder}. The VPN uses port {4510 + number}."
            )
            path.write_text(f"<html><body><p>{text}</p></body></html>" if number == 0 else text, "utf-8")
    rows = [{"id": f"n{i}", "text": f"News {i}: the VPN has {i} users."} for i in range(3)]
    (tmp_path / "news.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    for kb in (".veridical", "kb"):
        with Veridical.open(kb) as v:
            v.ingest("docs", "handbook", "news.jsonl")
            v.build()
            for _ in range(3):
                v.ask("Which port does the VPN use?", always_answer=True)
    return tmp_path


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != BENCH], ids=lambda page: page.name)
def test_the_commands_run(page: Path, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in commands(page):
        with pytest.raises(SystemExit) as left:
            run(arguments)
        assert not left.value.code, (arguments, capsys.readouterr().err)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda page: page.name)
def test_the_python_runs(page: Path, workspace: Path) -> None:
    names: dict[str, object] = {}
    for number, body in enumerate(blocks(page, "python")):
        exec(compile(body, f"{page.name}, block {number + 1}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_json_lines_in_blocks_parse(page: Path) -> None:
    for body in blocks(page, "json"):
        for line in body.splitlines():
            json.loads(line)


def test_the_readme_shows_commands_and_python_at_all() -> None:
    assert len(commands(ROOT / "README.md")) >= 5
    assert blocks(ROOT / "README.md", "python")


def test_the_two_commands_that_set_everything_up_are_targets_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    shown = re.findall(r"^(?:\$ )?make (\w+)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert {"demo", "test"} <= set(shown)
    for target in shown:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8")):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists() or target.endswith(("cli.md", ".svg")), target
