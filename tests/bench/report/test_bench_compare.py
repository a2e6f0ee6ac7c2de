"""Two systems of a run, and two runs, are compared on the questions that both answered."""

from __future__ import annotations

from pathlib import Path

import pytest
import runs

from veridical.bench.report import compare
from veridical.bench.report.frame import Frame
from veridical.bench.rows import Results
from veridical.errors import InputError, NotFoundError


def test_systems_are_compared_in_every_setting_once(frame: Frame) -> None:
    found = compare.systems(frame, "trusting", "vanilla")
    strict = [(line.attack, line.known) for line in found if line.metric == "strict"]
    assert sorted(strict) == [
        ("clean", ""),
        ("clean", "feedback 0.3"),
        ("own", ""),
        ("own", "feedback 0.3"),
        ("own", "feedback 0.3, accuracy 0.6"),
    ]
    for line in found:
        assert line.difference.difference == pytest.approx(line.first - line.second)
        assert line.difference.n == 8


def test_p_is_corrected_over_the_lines_of_a_metric(frame: Frame) -> None:
    found = [line for line in compare.systems(frame, "trusting", "vanilla") if line.metric == "strict"]
    assert all(line.p >= line.difference.p for line in found)
    assert min(line.p for line in found) == min(1.0, len(found) * min(line.difference.p for line in found))


def test_a_system_without_rows_is_named(frame: Frame) -> None:
    with pytest.raises(InputError, match="'asking' has no rows"):
        compare.systems(frame, "trusting", "asking")


def test_a_run_differs_from_itself_by_nothing(frame: Frame) -> None:
    found = compare.runs(frame, frame)
    assert {line.system for line in found} == set(frame.systems)
    assert {line.difference.difference for line in found} == {0.0}
    assert {line.p for line in found} == {1.0}


def test_runs_that_share_nothing_cannot_be_compared(frame: Frame, tmp_path: Path) -> None:
    config = runs.write_config(tmp_path, attacks='[{name = "own", label = "other"}]')
    _, path = runs.compare(config)
    with Results(path, read_only=True) as kept, pytest.raises(NotFoundError):
        compare.runs(frame, Frame(kept))
