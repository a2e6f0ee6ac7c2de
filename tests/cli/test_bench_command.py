"""The commands ``bench ...``: what they print, what they write, and how they fail."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veridical.pipeline import models as model_module
from veridical.testing.fake_models import FakeModels

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import runs

Cli = Callable[..., Any]


@pytest.fixture
def bench(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line beside a configuration ``run.toml``, on fake models."""
    monkeypatch.setattr(model_module, "Models", lambda *_, **__: FakeModels())
    runs.write_config(tmp_path)

    def call(*arguments: str) -> Any:
        more = ["--work", "work"] if arguments[0] == "run" else []
        return cli("bench", *arguments, *more)

    return call


def test_a_run_says_what_was_done_and_what_comes_next(bench: Cli) -> None:
    ran = bench("run", "run.toml")
    assert ran.code == 0, ran.err
    assert "16 new answers" in ran.out and "16 of 16 are there" in ran.out
    assert "veridical bench report run.db" in ran.out
    assert "16 answers, 0 of them there from before" in ran.err
    assert "0 new answers" in bench("run", "run.toml").out


def test_a_run_in_json(bench: Cli) -> None:
    found = json.loads(bench("run", "run.toml", "--json", "--limit", "2").out)
    assert (found["n_new"], found["n_rows"], found["stopped"]) == (4, 4, "")
    assert found["results"] == "run.db"


def test_what_was_not_run_is_listed(bench: Cli, tmp_path: Path) -> None:
    runs.write_config(tmp_path, systems='["vanilla", "naive"]')
    out = bench("run", "run.toml").out
    assert "not run" in out and "naive" in out and "llm" in out


def test_rows_can_be_made_again(bench: Cli) -> None:
    bench("run", "run.toml")
    ran = bench("run", "run.toml", "--again", "vanilla")
    assert "Forgot 16 rows of vanilla" in ran.err
    assert "16 new answers" in ran.out


def test_a_report_is_a_page_and_markdown(bench: Cli, tmp_path: Path) -> None:
    bench("run", "run.toml")
    ran = bench("report", "run.db")
    assert ran.out.split() == ["run.html", "run.md"]
    assert "<svg" in (tmp_path / "run.html").read_text("utf-8")
    assert "| Vanilla RAG |" in (tmp_path / "run.md").read_text("utf-8")
    found = json.loads(bench("report", "run.db", "-o", "r.md", "--json").out)
    assert found == {"written": ["r.md"]}


def test_systems_and_runs_are_compared(bench: Cli, tmp_path: Path) -> None:
    runs.write_config(
        tmp_path, systems='["vanilla", {name = "vanilla", label = "short", settings = {top_k = 1}}]'
    )
    bench("run", "run.toml")
    out = bench("compare", "vanilla", "short", "--results", "run.db").out
    assert "strict EM" in out and "towns" in out
    found = json.loads(bench("compare", "run.db", "run.db", "--json").out)
    assert {line["system"] for line in found} == {"vanilla", "short"}
    assert {line["difference"]["difference"] for line in found} == {0.0}


def test_rankings_are_exported(bench: Cli, tmp_path: Path) -> None:
    bench("run", "run.toml")
    found = json.loads(bench("export", "run.db", "trec", "--json").out)
    assert found["written"] and all((tmp_path / path).is_file() for path in found["written"])


@pytest.mark.parametrize("kind", ["systems", "protocols", "beliefs", "attacks", "datasets"])
def test_what_there_is_is_listed(bench: Cli, kind: str) -> None:
    rows = json.loads(bench("list", kind, "--json").out)[kind]
    assert len({tuple(row) for row in rows}) <= 1
    assert all(row["name"] for row in rows)


def test_everything_is_listed_at_once(bench: Cli) -> None:
    out = bench("list").out
    for name in ("vanilla", "trustprop", "feedback only", "clean"):
        assert name in out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "none.toml"], 2, "There is no file none.toml"),
        (["report", "none.db"], 2, "There are no results in none.db"),
        (["compare", "a", "b"], 2, "not two files of results"),
        (["list", "colours"], 2, "'colours' cannot be listed"),
        (["run", "run.toml", "--llm", "nowhere.gguf"], 2, "nowhere.gguf"),
    ],
)
def test_bad_input_is_a_message_and_a_code(bench: Cli, arguments: list[str], code: int, said: str) -> None:
    ran = bench(*arguments)
    assert ran.code == code
    assert said in ran.err.replace("\n", "")
    assert "Traceback" not in ran.err


def test_a_mistake_in_the_configuration_names_file_and_key(bench: Cli, tmp_path: Path) -> None:
    runs.write_config(tmp_path, feedback="[2.0]")
    ran = bench("run", "run.toml")
    assert ran.code == 2
    assert "run.toml: feedback is [2.0]" in ran.err and "0 to 1" in ran.err


def test_the_command_line_starts_without_the_benchmark() -> None:
    code = "import sys, veridical.cli.app; print([n for n in sys.modules if n.startswith('veridical.bench')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_data_set_that_is_here_is_checked_and_not_fetched(
    bench: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERIDICAL_OFFLINE", "1")
    ran = bench("fetch", "hotpotqa", "data")
    assert ran.code == 2 and "downloads are off" in ran.err and "Traceback" not in ran.err
    name = "hotpot_dev_distractor_v1.json"
    (tmp_path / "data" / "hotpotqa" / name).write_text("[]", "utf-8")
    (found,) = json.loads(bench("fetch", "hotpotqa", "data", "--json").out)
    assert (found["how"], found["bytes"]) == ("here", 2)


def test_a_data_set_that_nobody_knows_is_refused(bench: Cli) -> None:
    ran = bench("fetch", "nothing")
    assert ran.code == 2 and "hotpotqa" in ran.err


def test_the_commands_that_the_page_shows_run(bench: Cli, tmp_path: Path) -> None:
    runs.write_config(tmp_path, systems='["veridical", "vanilla"]').rename(tmp_path / "bench.toml")
    page = Path(__file__).parents[2] / "docs" / "bench.md"
    shown = re.findall(r"^veridical bench ([^#\n]*)", page.read_text("utf-8"), re.MULTILINE)
    assert {line.split()[0] for line in shown} == {"run", "report", "compare", "fetch", "list", "export"}
    for line in shown:
        if not line.startswith("fetch"):  # which needs a network
            ran = bench(*line.split())
            assert ran.code == 0, (line, ran.err)
