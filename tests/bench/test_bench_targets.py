"""The comparisons behind the Makefile's ``bench-`` targets: they load, and they run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import runs

from veridical import registry
from veridical.bench import config as configs
from veridical.bench.config import Config
from veridical.bench.plan import variants
from veridical.bench.rows import Results
from veridical.bench.systems.base import Tools, missing
from veridical.errors import InputError, NotFoundError

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.toml"))
SETS = ("nq", "triviaqa", "newspolluted", "realtimeqa", "evotemp")


def loaded(name: str, data: Path) -> Config:
    return configs.load(ROOT / "benchmarks" / f"{name}.toml", data)


def made_up(folder: Path) -> Path:
    """The data sets' names, each with the same few questions."""
    runs.write_data(folder)
    for name in SETS:
        shutil.copy(folder / "towns.jsonl", folder / f"{name}.jsonl")
    return folder


def test_the_makefile_runs_each_comparison_and_no_other() -> None:
    assert sorted(re.findall(r"call compared,(\w+)\)", MAKEFILE)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_comparison_loads_and_its_settings_fit_its_systems(name: str, tmp_path: Path) -> None:
    found = loaded(name, tmp_path)
    assert variants(found, Tools())
    assert all(len(note) > 20 for note in found.notes)
    assert found.against in {choice.label for choice in found.systems}


def test_the_smoke_test_names_every_system(tmp_path: Path) -> None:
    assert {choice.name for choice in loaded("smoke", tmp_path).systems} == set(registry.names("systems"))


def test_the_two_reports_share_out_all_systems_among_them(tmp_path: Path) -> None:
    few, many = (
        {choice.name for choice in loaded(name, tmp_path).systems} for name in ("report", "report_few")
    )
    assert few | many == set(registry.names("systems"))
    assert few & many == {"veridical"}


def test_the_small_comparison_runs_all_that_needs_no_model_and_lists_the_rest(tmp_path: Path) -> None:
    path = ROOT / "benchmarks" / "small.toml"
    data = made_up(tmp_path / "data")
    text = path.read_text("utf-8")
    (tmp_path / "small.toml").write_text(f"data = {json.dumps(str(data))}\n{text}", "utf-8")
    outcome, _ = runs.compare(tmp_path / "small.toml", limit=1)
    lacking = {
        name
        for name in registry.names("systems")
        if missing(registry.load("systems", name).about, Tools(reader=object(), nli=object(), encode=len))  # type: ignore[arg-type]
    }
    assert set(outcome.not_run) == lacking
    assert outcome.n_failed == 0
    assert outcome.n_new > 4 * (len(registry.names("systems")) - len(lacking))


def test_rankings_alone_are_measured_without_reading_for_answers(tmp_path: Path) -> None:
    path = runs.write_config(tmp_path, answers="false", systems='["vanilla", "veridical_no_trust"]')
    outcome, where = runs.compare(path)
    assert outcome.n_failed == 0
    with Results(where, read_only=True) as kept:
        rows = list(kept.all())
    assert {row.text for row in rows} == {""}
    assert all("fp@5" in row.marks or "clean ndcg@5" in row.marks for row in rows)
    assert not any({"strict", "attack", "abstained"} & set(row.marks) for row in rows)
    assert not list((tmp_path / "work").glob("readings-*"))


def test_rows_without_answers_never_stand_for_rows_with_them(tmp_path: Path) -> None:
    runs.compare(runs.write_config(tmp_path, answers="false"))
    outcome, _ = runs.compare(runs.write_config(tmp_path))
    assert outcome.n_known == 0
    assert outcome.n_new > 0


def test_a_folder_given_beside_the_file_counts_and_has_to_be_there(tmp_path: Path) -> None:
    path = runs.write_config(tmp_path)
    other = made_up(tmp_path / "other")
    assert configs.load(path, other).data == other.resolve()
    with pytest.raises(NotFoundError, match="nowhere"):
        configs.load(path, tmp_path / "nowhere")


def test_answers_is_true_or_false(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="answers is 'no'"):
        configs.load(runs.write_config(tmp_path, answers='"no"'))


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
@pytest.mark.parametrize(
    ("target", "given", "lacks"),
    [
        ("bench-small", [], "DATA"),
        ("bench-full", [], "DATA"),
        ("bench-report", [], "DATA"),
        ("bench-report", ["DATA=data"], "LLM"),
    ],
)
def test_a_target_says_what_it_has_to_be_given(target: str, given: list[str], lacks: str) -> None:
    done = subprocess.run(["make", "-n", target, *given], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert f"{lacks} is missing" in done.stderr
