"""What docs/bench.md shows can be loaded and run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import runs

from veridical import registry
from veridical.bench import beliefs, protocols
from veridical.bench import config as configs
from veridical.errors import InputError

PAGE = (Path(__file__).parents[2] / "docs" / "bench.md").read_text("utf-8")


def block(language: str, begin: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return next(text for text in found if begin in text)


def test_the_configuration_that_is_shown_can_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "bench.toml").write_text(block("toml", "datasets"), "utf-8")
    read = configs.load(tmp_path / "bench.toml")
    assert [choice.label for choice in read.attacks][-1] == "repetition, n=10"
    assert [choice.label for choice in read.systems][-1] == "vanilla, top_k=20"
    assert [(choice.name, choice.questions) for choice in read.datasets] == [("nq", 100), ("realtimeqa", 20)]


def test_the_system_that_is_shown_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    exec(block("python", "class Newest"), names)
    monkeypatch.setattr(runs, "Newest", names["Newest"], raising=False)
    monkeypatch.setitem(registry._BUILT_IN, "systems", dict(registry._BUILT_IN["systems"]))
    runs.add_systems(newest="Newest")
    outcome, _ = runs.compare(runs.write_config(tmp_path, systems='["newest"]'))
    assert (outcome.n_new, outcome.n_failed) == (16, 0)


def test_every_key_is_described(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        configs.load(runs.write_config(tmp_path, colour="1"))
    keys = caught.value.hint.removeprefix("There are: ").split(", ")
    assert len(keys) > 10
    assert [key for key in keys if f"`{key}`" not in PAGE] == []


@pytest.mark.parametrize("name", [*beliefs.NAMES, *protocols.names()])
def test_every_belief_and_protocol_is_described(name: str) -> None:
    assert f"`{name}`" in PAGE
