"""A comparison keeps every answer as it comes, goes on after a kill, and lets no system stop the others."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import runs
from runs import CONFIG, compare, write_config

from veridical import registry
from veridical.bench.rows import Results, Row
from veridical.errors import InputError, UnreachableError
from veridical.llm.budget import Budget
from veridical.llm.managed import ManagedLLM
from veridical.llm.scripted import ScriptedLLM


@pytest.fixture(autouse=True)
def made_up_systems(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(registry._BUILT_IN, "systems", dict(registry._BUILT_IN["systems"]))
    runs.add_systems(
        trusting="Trusting", slow="Slow", asking="Asking", judged="Judged", odd="Odd", heavy="Heavy"
    )
    yield


def rows(path: Path) -> list[Row]:
    with Results(path, read_only=True) as kept:
        return list(kept.all())


def test_each_question_is_answered_once_by_a_system_that_takes_no_trust(tmp_path: Path) -> None:
    outcome, path = compare(write_config(tmp_path))
    assert outcome.n_new == outcome.n_rows == 16  # eight questions, clean and poisoned, whatever the feedback
    assert {row.key.known for row in rows(path)} == {""}


def test_a_system_that_goes_by_trust_is_asked_under_each_feedback(tmp_path: Path) -> None:
    config = write_config(tmp_path, systems='["trusting"]', accuracies="[1.0, 0.6]")
    _, path = compare(config)
    poisoned = [row for row in rows(path) if row.key.attack == "own"]
    known = {row.key.known for row in poisoned}
    assert known == {"", "feedback 0.3", "feedback 0.3, accuracy 0.6"}
    assert len(poisoned) == 24


def test_feedback_makes_a_system_that_goes_by_trust_right_more_often(tmp_path: Path) -> None:
    _, path = compare(write_config(tmp_path, systems='["trusting"]', feedback="[0.0, 1.0]"))
    right = {
        known: [
            row.marks["strict"] for row in rows(path) if row.key.known == known and row.key.attack == "own"
        ]
        for known in ("", "feedback 1")
    }
    assert sum(right["feedback 1"]) > sum(right[""])


def test_a_second_run_makes_nothing_anew(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    compare(config)
    outcome, _ = compare(config)
    assert (outcome.n_new, outcome.n_known) == (0, 16)


def test_other_data_are_other_rows(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    compare(config)
    data = tmp_path / "data" / "towns.jsonl"
    data.write_text(data.read_text("utf-8").replace("by the mayor", "by a mayor"), "utf-8")
    outcome, _ = compare(config)
    assert outcome.n_new == 16


def test_a_failure_is_a_row_and_the_other_systems_go_on(tmp_path: Path) -> None:
    systems = '["vanilla", {name = "trusting", settings = {fails_on = "opera"}}]'
    outcome, path = compare(write_config(tmp_path, systems=systems, feedback="[0.0]"))
    failed = [row for row in rows(path) if row.failed]
    assert outcome.n_failed == len(failed) == 2
    assert {row.key.question for row in failed} == {"opera"}
    assert failed[0].error == "ValueError: no opera today"
    assert failed[0].marks["strict"] == 0.0 and failed[0].marks["abstained"] == 1.0
    assert outcome.n_new == outcome.n_rows == 32


def test_failed_answers_are_tried_again_only_when_told_to(tmp_path: Path) -> None:
    systems = '[{name = "trusting", settings = {fails_on = "opera"}}]'
    config = write_config(tmp_path, systems=systems, feedback="[0.0]")
    compare(config)
    assert compare(config)[0].n_new == 0
    assert compare(config, retry=True)[0].n_new == 2


def test_a_reply_that_cannot_be_measured_is_a_failure(tmp_path: Path) -> None:
    outcome, path = compare(write_config(tmp_path, systems='["odd"]'))
    assert outcome.n_failed == outcome.n_new
    assert "names a place twice" in rows(path)[0].error


def test_a_limit_leaves_the_corpus_as_it_is(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    assert compare(config, limit=3)[0].n_new == 6
    outcome, _ = compare(config)
    assert (outcome.n_known, outcome.n_new) == (6, 10)


def test_workers_find_what_one_finds(tmp_path: Path) -> None:
    config = write_config(tmp_path, systems='["vanilla", "trusting"]')
    _, alone = compare(config, results=tmp_path / "alone.db")
    _, together = compare(config, results=tmp_path / "together.db", workers=4)
    found = [
        {row.key: (row.text, row.ranking, row.marks["f1"]) for row in rows(p)} for p in (alone, together)
    ]
    assert found[0] == found[1]


def test_what_cannot_run_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    outcome, _ = compare(write_config(tmp_path, systems='["vanilla", "asking", "judged", "heavy"]'))
    assert outcome.not_run["asking"] == ("llm",)
    assert "credibility" in outcome.not_run["judged"][0]
    assert outcome.not_run["heavy"] == ("weights heavy-7b",)
    assert "vanilla" not in outcome.not_run


def test_ideal_judgements_tell_true_from_false(tmp_path: Path) -> None:
    config = write_config(tmp_path, systems='["judged"]', credibility='["ideal"]')
    outcome, path = compare(config)
    assert not outcome.not_run
    assert all(row.marks["strict"] == 1.0 for row in rows(path))
    assert {row.key.known for row in rows(path)} == {"credibility ideal"}


def test_the_budget_ends_a_run_cleanly_and_it_goes_on_later(tmp_path: Path) -> None:
    config = write_config(tmp_path, systems='["asking"]', llm='"settings"')
    llm = ManagedLLM(ScriptedLLM(lambda messages: "1900"), budget=Budget(max_calls=5))
    outcome, path = compare(config, llm=llm)
    assert "budget of calls is used up" in outcome.stopped
    assert len(rows(path)) == outcome.n_new == 5 and outcome.n_failed == 0
    outcome, path = compare(config, llm=ScriptedLLM(lambda messages: "1900"))
    assert (outcome.n_known, outcome.stopped) == (5, "")
    assert len(rows(path)) == 16


def test_a_run_stops_when_nobody_answers_where_the_model_should_be(tmp_path: Path) -> None:
    def refuse(messages: object) -> str:
        raise UnreachableError("Nobody answers at nowhere.")

    config = write_config(tmp_path, systems='["asking"]', llm='"settings"')
    outcome, _ = compare(config, llm=ScriptedLLM(refuse))
    assert "Nobody answers" in outcome.stopped
    assert outcome.n_failed == 3


def test_answers_of_another_model_are_other_rows(tmp_path: Path) -> None:
    config = write_config(tmp_path, systems='["asking"]', llm='"settings"')
    compare(config, llm=ScriptedLLM(lambda messages: "1900", name="one"))
    outcome, path = compare(config, llm=ScriptedLLM(lambda messages: "1901", name="two"))
    assert outcome.n_new == 16
    assert len(rows(path)) == 32


def test_a_setting_that_a_system_does_not_have_is_refused_by_name(tmp_path: Path) -> None:
    config = write_config(tmp_path, systems='[{name = "trusting", settings = {topk = 3}}]')
    with pytest.raises(InputError) as caught:
        compare(config)
    assert "'topk'" in caught.value.message and str(config) in caught.value.message
    assert "top_k" in caught.value.hint


@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    systems = '["slow", {name = "slow", label = "slower", settings = {top_k = 3}}]'
    config = write_config(tmp_path, CONFIG, systems=systems)
    path = tmp_path / "results.db"
    child = subprocess.Popen([sys.executable, runs.__file__, str(config)])
    try:
        before = _wait_for_rows(path, 5, child)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert child.returncode == -signal.SIGKILL
    kept = _times(path)
    assert len(kept) >= before
    assert len(kept) < 64, "it was done before it was killed"
    outcome, _ = compare(config)
    assert outcome.n_known == len(kept)
    assert len(_times(path)) == outcome.n_rows == 64
    assert {key: at for key, at in _times(path).items() if key in kept} == kept


def _wait_for_rows(path: Path, n: int, child: subprocess.Popen[bytes]) -> int:
    for _ in range(1200):
        found = len(_times(path)) if path.is_file() else 0
        if found >= n:
            return found
        assert child.poll() is None, "it ended by itself"
        time.sleep(0.05)
    raise AssertionError("no rows came")


def _times(path: Path) -> dict[tuple[object, ...], float]:
    """When each row was written."""
    with closing(sqlite3.connect(path, timeout=30)) as db:
        try:
            found = db.execute("SELECT attack, known, system, question, at FROM rows").fetchall()
        except sqlite3.OperationalError:  # the table is not there yet
            return {}
    return {tuple(row[:-1]): row[-1] for row in found}
