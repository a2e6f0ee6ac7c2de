"""Results for tests of reports: a small real comparison, and rows that are made up to measure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import runs

from veridical import registry
from veridical.bench.report.frame import Frame
from veridical.bench.rows import Key, Results, Row

SYSTEMS = """[
  "vanilla",
  {name = "vanilla", sweep = {top_k = [1, 3]}},
  "trusting",
  {name = "trusting", label = "faulty", settings = {fails_on = "opera"}},
  "asking",
]"""


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of a few systems, with feedback that is right and wrong."""
    root = tmp_path_factory.mktemp("compared")
    changed = {
        "systems": SYSTEMS,
        "accuracies": "[1.0, 0.6]",
        "against": '"trusting"',
        "title": '"Towns <b>"',
    }
    before = dict(registry._BUILT_IN["systems"])
    runs.add_systems(trusting="Trusting", asking="Asking")
    try:
        _, path = runs.compare(runs.write_config(root, **changed))
    finally:
        registry._BUILT_IN["systems"] = before
    return path


@pytest.fixture
def frame(compared: Path) -> Frame:
    with Results(compared, read_only=True) as kept:
        return Frame(kept)


CLAIM = {
    "system": "ours",
    "feedback": 0.1,
    "first_in": "strict",
    "margin": 0.02,
    "lowest_in": "attack",
    "alpha": 0.05,
}


def about_system(label: str, **changed: Any) -> dict[str, Any]:
    known = {"title": label.title(), "paper": "", "differs": "", "calls": "1", "belief": "", "needs": []}
    more = {"name": label, "settings": {}, "swept": None, "ablation_of": None, "lacks": []}
    return {**known, **more, **changed}


Marks = Mapping[str, Mapping[str, Sequence[float]]]


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Frame]:
    """Makes a frame of marks by system and metric, one number a question."""

    def make(marks: Marks, *, attack: str = "own", systems: Mapping[str, Any] | None = None) -> Frame:
        n = len(next(iter(next(iter(marks.values())).values())))
        qrels = {f"q{place}": {"text": "", "true": [], "false": [], "bearing": []} for place in range(n)}
        with Results(tmp_path / "made.db") as kept:
            about = {"n_questions": n, "n_documents": 1, "n_false": 1, "n_sources": 0, "notes": []}
            kept.put_corpus("c", "nq", attack, 0, {**about, "qrels": qrels, "documents": []})
            protocol = {"name": "p", "title": "P", "about": "", "claim": CLAIM}
            models = {"llm": "", "reader": "r", "encoder": "e", "nli": "n"}
            kept.say(
                {
                    "systems": {name: about_system(name, **(systems or {}).get(name, {})) for name in marks},
                    "protocol": protocol,
                    "models": models,
                    "title": "Made",
                    "against": "ours",
                    "seeds": [0],
                    "machine": "m",
                    "version": "v",
                }
            )
            for system, metrics in marks.items():
                for place in range(n):
                    own = {metric: float(values[place]) for metric, values in metrics.items()}
                    kept.put(Row(Key("nq", attack, "", system, "{}", f"q{place}", 0, "c", ""), marks=own))
            return Frame(kept)

    return make
