"""The main job at 1,500 passages: ingest and build by stage, and how long an answer without a model takes.

    python benchmarks/main_job.py DATA_DIR [--passages 1500] [--json PATH]

DATA_DIR holds nq.jsonl. Each passage becomes a document of its own; only texts reach the program.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from veridical import Veridical
from veridical.bench import results
from veridical.bench.datasets.questions import read
from veridical.bench.results import Result
from veridical.cli.output import Bars
from veridical.types import BuildReport, IngestReport

N_WARM = 5


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder with nq.jsonl")
    parser.add_argument("--passages", type=int, default=1500, help="how many passages (default 1500)")
    parser.add_argument("--questions", type=int, default=200, help="how many questions (default 200)")
    parser.add_argument("--json", type=Path, help="write the figures here, one flat record each")
    return parser.parse_args()


def corpus(data_dir: Path, n: int, target: Path) -> list[str]:
    """Write the first n passages as JSONL, and return the questions they belong to."""
    questions = []
    lines: list[str] = []
    for question in read(data_dir, "nq"):
        if len(lines) >= n:
            break
        questions.append(question.text)
        lines += [json.dumps({"id": passage.id, "text": passage.text}) for passage in question.passages]
    target.write_text("\n".join(lines[:n]) + "\n", encoding="utf-8")
    return questions


def ask_times(v: Veridical, questions: list[str]) -> np.ndarray:
    """Seconds of each question, after a few that warm up."""
    for question in questions[:N_WARM]:
        v.ask(question, generator="extractive")
    seconds = []
    for question in questions:
        began = time.perf_counter()
        v.ask(question, generator="extractive")
        seconds.append(time.perf_counter() - began)
    return np.array(seconds)


def records(ingest: IngestReport, build: BuildReport, again: float, asked: np.ndarray) -> list[Result]:
    """All figures, flat."""
    setting = f"{build.n_passages} passages, {build.n_pairs_judged} pairs"
    stages = {f"ingest: {k}": v for k, v in ingest.seconds.items()}
    stages |= {f"build: {k}": v for k, v in build.seconds.items()}
    rows = [Result("nq", setting, "veridical", f"{k} (s)", v, v, v, 1) for k, v in stages.items()]
    total = sum(stages.values())
    rows.append(Result("nq", setting, "veridical", "ingest and build (s)", total, total, total, 1))
    idle = "build again, nothing changed (s)"
    rows.append(Result("nq", setting, "veridical", idle, again, again, again, 1))
    middle, low, high = (float(np.quantile(asked, q)) * 1000 for q in (0.5, 0.05, 0.95))
    rows.append(Result("nq", setting, "veridical", "ask, median (ms)", middle, low, high, len(asked)))
    return rows


def main() -> None:
    args = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "nq.jsonl"
        questions = corpus(args.data_dir, args.passages, file)[: args.questions]
        with Veridical.open(Path(scratch) / "kb", progress=Bars()) as v:
            v.models.store.resolve("minilm-l6-int8")
            ingest = v.ingest(file)
            build = v.build()
            began = time.perf_counter()
            v.build()
            again = time.perf_counter() - began
            # Some feedback, so that ranking by trust is what is timed; which documents does not matter here.
            for number in (1, 2, 3):
                v.feedback(f"d{number}", "good")
            rows = records(ingest, build, again, ask_times(v, questions))
    table = Table("stage", "value", "5%", "95%", "n", title=rows[0].setting)
    for row in rows:
        table.add_row(row.metric, *(f"{x:.2f}" for x in (row.value, row.low, row.high)), str(row.n))
    Console().print(table)
    if args.json:
        about = {"commit": results.commit(Path(__file__).parent)}
        results.write(args.json, rows, about)


if __name__ == "__main__":
    main()
