"""A small comparison for tests: a data set of its own, fake models, and systems that are made up."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from veridical import registry
from veridical.bench import config as configs
from veridical.bench.config import Config
from veridical.bench.equip import equip
from veridical.bench.rows import Results
from veridical.bench.run import Outcome, Run
from veridical.bench.systems.base import About, Reply, Task, Tools, nearest
from veridical.llm.base import LLM, Message
from veridical.settings import Settings
from veridical.testing.fake_models import FakeModels
from veridical.types import Usage

TOPICS = ("fair", "opera", "port", "abbey", "mill", "tower", "bridge", "garden")


def write_data(folder: Path, *, n: int = 8) -> Path:
    """Questions with a year for an answer: two true passages each, and two false ones."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for place, topic in enumerate(TOPICS[:n]):
        right, wrong = 1900 + place, 1950 + place
        true = [
            f"The {topic} of the town was opened in {right} by the mayor, and many people came.",
            f"Long ago the {topic} of the town was opened, and that was in {right}, as letters show.",
        ]
        false = [f"Number {i}: the {topic} of the town was opened in {wrong} and no earlier." for i in "ab"]
        passages = [
            {"id": f"{topic}-t{i}", "text": text, "label": "factual"} for i, text in enumerate(true)
        ] + [{"id": f"{topic}-f{i}", "text": text, "label": "misinformation"} for i, text in enumerate(false)]
        question = {
            "id": topic,
            "question": f"When was the {topic} of the town opened?",
            "answers": [str(right)],
            "wrong_answer": str(wrong),
            "passages": passages,
        }
        lines.append(json.dumps(question))
    (folder / "towns.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


CONFIG = """
title = "Towns"
protocol = "trustprop"
data = "data"
datasets = ["towns"]
attacks = ["clean", "own"]
systems = ["vanilla"]
feedback = [0.0, 0.3]
accuracies = [1.0]
seeds = [0]
"""


def write_config(root: Path, text: str = CONFIG, **changed: str) -> Path:
    """Write data and a configuration; keywords replace or add whole lines, as TOML."""
    write_data(root / "data")
    lines = [line for line in text.strip().splitlines() if line.split(" = ")[0] not in changed]
    lines[:0] = [f"{key} = {value}" for key, value in changed.items()]
    path = root / "run.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def compare(
    path: Path,
    *,
    llm: LLM | None = None,
    results: Path | None = None,
    change: Callable[[Config], Config] = lambda config: config,
    **options: Any,
) -> tuple[Outcome, Path]:
    """Run a configuration on fake models; returns what became of it, and where the rows are."""
    config = change(configs.load(path))
    work = path.parent / "work"
    models: Any = FakeModels(llm=llm)
    making, tools = equip(
        config, Settings(models_dir=work), work, models=models, progress=lambda *_: lambda _: None
    )
    where = results or path.parent / "results.db"
    with Results(where) as kept:
        return Run(config, kept, making, tools, **options)(), where


def add_systems(**targets: str) -> None:
    """Register systems of this module, in this process."""
    for name, attribute in targets.items():
        registry._BUILT_IN["systems"][name] = f"{__name__}:{attribute}"


class Trusting:
    """Answers what the most trusted passage says; fails for a question that names a topic."""

    name = "trusting"
    about = About("Most trusted", "made up", belief="feedback only", calls="0")

    def __init__(self, tools: Tools, *, top_k: int = 5, fails_on: str = "") -> None:
        self.tools, self.top_k, self.fails_on = tools, top_k, fails_on

    def answer(self, task: Task) -> Reply:
        """See `System.answer`."""
        if self.fails_on and self.fails_on in task.question:
            raise ValueError(f"no {self.fails_on} today")
        places = sorted(nearest(task, self.top_k), key=lambda place: -(task.pool[place].trust or 0.5))
        best = task.pool[places[0]]
        words = [word.strip(".,") for word in best.text.split()]
        text = next((word for word in words if word.isdigit()), "")
        rest = [place for place in range(len(task.pool)) if place not in places]
        return Reply(text, (*places, *rest), best.trust, Usage())


class Slow(Trusting):
    """Takes a while, so that a process can be stopped in the middle."""

    name = "slow"

    def answer(self, task: Task) -> Reply:
        """See `System.answer`."""
        time.sleep(0.02)
        return super().answer(task)


class Asking:
    """Asks the language model once."""

    name = "asking"
    about = About("Asking", "made up", needs=frozenset({"llm"}))

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    def answer(self, task: Task) -> Reply:
        """See `System.answer`."""
        assert self.tools.llm is not None
        said = self.tools.llm.generate([Message("user", task.question)], max_tokens=5)
        return Reply(said.text, tuple(range(len(task.pool))))


class Judged(Trusting):
    """Takes judgements of passages."""

    name = "judged"
    about = About("Judged", "made up", needs=frozenset({"credibility"}), calls="0")

    def answer(self, task: Task) -> Reply:
        """See `System.answer`."""
        return super().answer(
            replace(task, pool=tuple(replace(p, trust=(p.credibility or 0) / 10) for p in task.pool))
        )


class Odd:
    """Gives what cannot be measured."""

    name = "odd"
    about = About("Odd", "made up")

    def __init__(self, tools: Tools) -> None:
        del tools

    def answer(self, task: Task) -> Reply:
        """See `System.answer`."""
        return Reply("1900", (0, 0))


class Heavy(Odd):
    """Waits for weights."""

    name = "heavy"
    about = About("Heavy", "made up", weights="heavy-7b")


if __name__ == "__main__":  # a comparison in a process of its own, to be killed
    add_systems(slow="Slow")
    compare(Path(sys.argv[1]))
