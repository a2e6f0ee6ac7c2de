"""Retrieval under misinformation: plain, feedback without propagation, trustprop and veridical.

    python benchmarks/trustprop_retrieval.py DATA_DIR [--quick] [--json PATH]

DATA_DIR holds nq.jsonl and triviaqa.jsonl. For each seed the true passages of 300 questions are indexed and
the misinformation of 150 of them, which are asked. Sources are simulated: 20 publish true passages, 8 false
ones. What has been computed is kept under --work, so that an interrupted run goes on where it stopped. The
encoder was itself trained on question-passage pairs of both data sets, among many others.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from veridical.bench import cache, protocol, results, retrieval, summary
from veridical.bench.datasets.questions import Question, read
from veridical.errors import VeridicalError
from veridical.graph.arrays import Graph
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.nli.base import NLIModel
from veridical.pipeline.models import Models
from veridical.settings import Settings


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder with the data sets")
    parser.add_argument("--dataset", action="append", help="which (may be repeated; default: nq, triviaqa)")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (default 5)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--indexed", type=int, default=300, help="questions whose true passages are indexed")
    parser.add_argument("--asked", type=int, default=150, help="questions that are attacked and asked")
    parser.add_argument("--quick", action="store_true", help="60 questions, 2 seeds, no relations")
    parser.add_argument("--no-relations", action="store_true", help="leave out the settings with relations")
    parser.add_argument(
        "--work",
        type=Path,
        default=platformdirs.user_cache_path("veridical") / "bench",
        help="where to keep what is computed",
    )
    parser.add_argument("--json", type=Path, help="write the figures here, one flat record each")
    args = parser.parse_args()
    if args.quick:
        args.seeds, args.indexed, args.asked, args.no_relations = 2, 60, 30, True
    args.range = range(args.first_seed, args.first_seed + args.seeds)
    return args


class Bench:
    """One call of the script: its arguments, models and progress."""

    def __init__(self, args: argparse.Namespace, progress: Progress) -> None:
        self.args, self.progress = args, progress
        models = Models(Settings.from_env(), announce=progress.console.print)
        self.encoder: TextEncoder = models.encoder
        self.nli: NLIModel | None = None if args.no_relations else models.nli("features")
        self.version = cache.code_version(
            "methods", "trust", "evidence", "bench", "graph", "index", "nli", "corpus"
        )

    def dataset(self, name: str) -> list[results.Result]:
        """Run all seeds of one data set."""
        asked = read(self.args.data_dir, name)
        runs = [self.seed(name, asked, seed) for seed in self.args.range]
        return summary.summarise(name, runs)

    def seed(self, name: str, asked: list[Question], seed: int) -> list[retrieval.Row]:
        """Run one seed, or take it from the work folder."""
        args = self.args
        corpus = protocol.sample(asked, n_indexed=args.indexed, n_attacked=args.asked, seed=seed)
        models = f"{self.encoder.name} {self.nli.name if self.nli else ''}"
        path = args.work / f"run-{name}-{seed}-{cache.key(corpus.digest, models, self.version)}.npz"
        if path.is_file():
            return retrieval.load(path)
        texts = self.vectors(corpus.texts, f"{name} {seed}: passages")
        found = retrieval.pools(
            corpus, texts, self.vectors([q.text for q in corpus.asked], f"{name} {seed}: questions")
        )
        relations = self.relations(corpus, texts, f"{name} {seed}: relations")
        total = retrieval.n_rows(with_relations=relations is not None)
        task = self.progress.add_task(f"{name} {seed}: rankings", total=total)
        rows = []
        for row in retrieval.run(corpus, found, seed=seed, relations=relations):
            rows.append(row)
            self.progress.advance(task)
        retrieval.save(path, rows)
        return rows

    def vectors(self, texts: tuple[str, ...] | list[str], title: str) -> Float32Array:
        """Encode, with progress."""
        task = self.progress.add_task(title, total=None)
        rows = cache.vectors(
            self.args.work, self.encoder, texts, functools.partial(self.progress.advance, task)
        )
        self.progress.remove_task(task)
        return rows

    def relations(
        self, corpus: protocol.Corpus, texts: Float32Array, title: str
    ) -> Callable[[Graph], Graph] | None:
        """Judge neighbouring passages, with progress."""
        if self.nli is None:
            return None
        pairs = retrieval.neighbour_pairs(texts)
        task = self.progress.add_task(title, total=len(pairs))
        judged = cache.judgements(
            self.args.work,
            self.nli,
            [(corpus.texts[i], corpus.texts[j]) for i, j in pairs],
            functools.partial(self.progress.advance, task),
        )
        self.progress.remove_task(task)
        return functools.partial(retrieval.relate, pairs=pairs, judged=judged)


def main() -> int:
    args = arguments()
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    names = args.dataset or ["nq", "triviaqa"]
    try:
        with Progress(*columns, console=console) as progress:
            bench = Bench(args, progress)
            figures = {name: bench.dataset(name) for name in names}
    except VeridicalError as error:
        console.print(str(error), style="red", markup=False)
        return error.exit_code
    everything = [result for name in names for result in figures[name]]
    about = {
        "commit": results.commit(Path(__file__).parent),
        "seeds": f"{args.range[0]}-{args.range[-1]}",
        "indexed": args.indexed,
        "asked": args.asked,
        "encoder": bench.encoder.name,
        "nli": bench.nli.name if bench.nli else "none",
    }
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    for name in names:
        print(summary.table(everything, name))
    if args.json:
        results.write(args.json, everything, about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
