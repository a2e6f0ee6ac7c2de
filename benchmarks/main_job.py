"""The main job at 1,500 passages: ingest and build by stage, and how long an answer without a model takes.

    python benchmarks/main_job.py DATA_DIR [--passages 1500] [--json PATH]
    python benchmarks/main_job.py DATA_DIR --scale [SIZE ...] [--json PATH]

DATA_DIR holds nq.jsonl. Each passage becomes a document of its own; only texts reach the program. With
--scale the passages of all question sets in DATA_DIR, and of DATA_DIR/reading, make knowledge bases of
several sizes, question by question in random order, to see what a document costs as they grow.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from veridical import Veridical
from veridical.bench import results
from veridical.bench.datasets.questions import read
from veridical.bench.results import Result
from veridical.cli.output import Bars
from veridical.errors import InputError, VeridicalError
from veridical.types import BuildReport, IngestReport

N_WARM = 5
SIZES = (1000, 2000, 5000, 20_000)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder with nq.jsonl")
    parser.add_argument("--passages", type=int, default=1500, help="how many passages (default 1500)")
    parser.add_argument("--questions", type=int, default=200, help="how many questions (default 200)")
    parser.add_argument(
        "--scale",
        type=int,
        nargs="*",
        metavar="SIZE",
        help=f"documents of each knowledge base (default {' '.join(map(str, SIZES))})",
    )
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


def all_passages(data_dir: Path) -> list[str]:
    """Every text once, of all question sets and reading passages, in an order that is the same every time.

    The passages of a question stay together, so that a small knowledge base has as many that are near to one
    another as a large one.
    """
    groups: list[list[str]] = []
    for path in sorted(data_dir.glob("*.jsonl")):
        groups += [[passage.text for passage in question.passages] for question in read(data_dir, path.stem)]
    for path in sorted((data_dir / "reading").glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            groups += [[json.loads(line)["context"]] for line in lines if line.strip()]
    order = np.random.default_rng(0).permutation(len(groups))
    return [text for text in dict.fromkeys(text for i in order for text in groups[i]) if text.strip()]


def scale(data_dir: Path, sizes: Sequence[int]) -> list[Result]:
    """Build a knowledge base of each size: milliseconds a document, by stage."""
    texts = all_passages(data_dir)
    if max(sizes) > len(texts):
        raise InputError(
            f"There are {len(texts):,} passages, fewer than {max(sizes):,}.", "Ask for smaller sizes."
        )
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "all.jsonl"
            rows = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts[:size])]
            file.write_text("\n".join(rows) + "\n", encoding="utf-8")
            with Veridical.open(Path(scratch) / "kb", progress=Bars()) as v:
                v.models.store.resolve("minilm-l6-int8")
                ingest, build = v.ingest(file), v.build()
        stages = {f"ingest: {k}": s for k, s in ingest.seconds.items()}
        stages |= {f"build: {k}": s for k, s in build.seconds.items()}
        stages["all"] = sum(stages.values())
        setting = f"{size} documents"
        print(f"{setting}: {1000.0 * stages['all'] / size:.1f} ms a document", file=sys.stderr)
        for stage, seconds in stages.items():
            each = 1000.0 * seconds / size
            found.append(Result("all", setting, "veridical", f"{stage} (ms a document)", each, each, each, 1))
        for name, count in (("passages", build.n_passages), ("pairs judged", build.n_pairs_judged)):
            each = count / size
            found.append(Result("all", setting, "veridical", f"{name} a document", each, each, each, 1))
    return found


def scale_table(found: Sequence[Result], sizes: Sequence[int]) -> Table:
    """One row a stage, one column a size, and how much more the dearest size costs than the cheapest."""
    table = Table("", *(f"{size:,}" for size in sizes), "spread", title="by number of documents")
    for metric in dict.fromkeys(row.metric for row in found):
        values = [row.value for row in found if row.metric == metric]
        spread = f"{max(values) / min(values) - 1:.0%}" if min(values) > 0 else "-"
        table.add_row(metric, *(f"{value:.2f}" for value in values), spread)
    return table


def main() -> int:
    args = arguments()
    before = os.getloadavg()
    try:
        rows = scale(args.data_dir, args.scale or SIZES) if args.scale is not None else main_job(args)
    except VeridicalError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    if args.scale is not None:
        table = scale_table(rows, args.scale or SIZES)
    else:
        table = Table("stage", "value", "5%", "95%", "n", title=rows[0].setting)
        for row in rows:
            table.add_row(row.metric, *(f"{x:.2f}" for x in (row.value, row.low, row.high)), str(row.n))
    Console().print(table)
    about = {
        "commit": results.commit(Path(__file__).parent),
        "load before": " ".join(f"{load:.2f}" for load in before),
        "load after": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    if args.json:
        results.write(args.json, rows, about)
    return 0


def main_job(args: argparse.Namespace) -> list[Result]:
    """Ingest, build and ask."""
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
            return records(ingest, build, again, ask_times(v, questions))


if __name__ == "__main__":
    sys.exit(main())
