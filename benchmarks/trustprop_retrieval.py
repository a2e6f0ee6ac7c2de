"""Retrieval under misinformation: plain, feedback without propagation, trustprop and veridical.

    python benchmarks/trustprop_retrieval.py DATA_DIR [--quick] [--json PATH]

DATA_DIR holds nq.jsonl and triviaqa.jsonl. For each seed the true passages of 300 questions are indexed and
the misinformation of 150 of them, which are asked. Sources are simulated: 20 publish true passages, 8 false
ones; or there are none. Relations come from inference between neighbours, from a few questions that documents
put to their neighbours, from the questions themselves, each asked once before, from the 150 others, from all
of this ("asked + relations"), or from the labels. With "neutral" before a setting, misinformation is
instead a true passage whose answer has been replaced. What has been computed is kept under --work, so that an
interrupted run goes on where it stopped. The encoder was itself trained on question-passage pairs of both
data sets, among many others; the reader's own training saw neither.
"""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from veridical.bench import cache, protocol, relating, results, retrieval, script, summary
from veridical.bench.datasets.questions import Question, read
from veridical.bench.poison import Poison, poisoned
from veridical.errors import VeridicalError
from veridical.graph import evidence
from veridical.graph.evidence import Rows
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.nli.base import NLIModel
from veridical.pipeline.models import Models
from veridical.reading.base import Reader
from veridical.settings import Settings

N_MADE = 4  # questions that a document puts to its neighbours, as a build does by default


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
    parser.add_argument("--no-sources", action="store_true", help="leave out the settings with sources")
    script.add_outputs(parser)
    args = parser.parse_args()
    if args.quick:
        args.seeds, args.indexed, args.asked, args.no_relations = 2, 60, 30, True
    args.range = range(args.first_seed, args.first_seed + args.seeds)
    return args


class Bench:
    """One call of the script: its arguments, models and progress."""

    def __init__(self, args: argparse.Namespace, progress: Progress) -> None:
        self.args, self.progress = args, progress
        self.work = script.Work(args.work, progress)
        models = Models(Settings.from_env(), announce=progress.console.print)
        self.encoder: TextEncoder = models.encoder
        self.nli: NLIModel | None = None if args.no_relations else models.nli("features")
        self.reader: Reader | None = None if args.no_relations else models.reader("embedded")
        self.version = cache.code_version(
            "methods", "trust", "evidence", "bench", "graph", "index", "nli", "corpus", "reading"
        )
        named = (self.encoder, self.nli, self.reader)
        self.models = [model.name if model else "none" for model in named]

    def dataset(self, name: str) -> list[results.Result]:
        """Run all seeds of one data set."""
        asked = read(self.args.data_dir, name)
        runs = [self.seed(name, asked, seed) for seed in self.args.range]
        return summary.summarise(name, runs)

    def seed(self, name: str, asked: list[Question], seed: int) -> list[retrieval.Row]:
        """Run one seed."""
        rows = self.run(name, asked, seed, "written")
        return rows if self.reader is None else rows + self.run(name, asked, seed, "neutral")

    def run(self, name: str, asked: list[Question], seed: int, poison: Poison) -> list[retrieval.Row]:
        """Run one seed with one kind of misinformation, or take it from the work folder."""
        args = self.args
        asked = [poisoned(question, poison) for question in asked]
        corpus = protocol.sample(asked, n_indexed=args.indexed, n_attacked=args.asked, seed=seed)
        key = cache.key(corpus.digest, *self.models, str(args.no_sources), self.version)
        path = args.work / f"run-{name}-{poison}-{seed}-{key}.npz"
        if path.is_file():
            return retrieval.load(path)
        title = f"{name} {seed} {poison}"
        texts = self.work.vectors(self.encoder, corpus.texts, f"{title}: passages")
        put = [q.text for q in corpus.asked]
        questions = self.work.vectors(self.encoder, put, f"{title}: questions")
        found = retrieval.pools(corpus, texts, questions)
        relations = self.relations(corpus, texts, questions, title)
        sources = poison == "written" and not args.no_sources
        total = retrieval.n_rows(relations, sources=sources)
        task = self.progress.add_task(f"{title}: rankings", total=total)
        rows = []
        label = "" if poison == "written" else poison
        for row in retrieval.run(
            corpus, found, seed=seed, relations=relations, sources=sources, poison=label
        ):
            rows.append(row)
            self.progress.advance(task)
        retrieval.save(path, rows)
        return rows

    def relations(
        self, corpus: protocol.Corpus, texts: Float32Array, questions: Float32Array, title: str
    ) -> dict[str, Rows]:
        """Relate the corpus in every way that there is, with progress."""
        if self.nli is None or self.reader is None:
            return {}
        near = relating.neighbour_pairs(corpus, texts)
        sides = [(corpus.texts[i], corpus.texts[j]) for i, j in near]
        inferred = relating.inferred(near, self.work.judgements(self.nli, sides, f"{title}: relations"))
        made = relating.made(corpus, near, N_MADE, self.read(f"{title}: made questions"))
        pools = relating.question_pools(texts, questions)
        texts_asked = [q.text for q in corpus.asked]
        asked, _ = relating.answered(texts_asked, pools, corpus, self.read(f"{title}: asked"))
        elsewhere = self.work.vectors(self.encoder, corpus.others, f"{title}: other questions")
        others = relating.question_pools(texts, elsewhere)
        heard, _ = relating.answered(corpus.others, others, corpus, self.read(f"{title}: others asked"))
        return {
            "inferred": inferred,
            "made": evidence.joined([inferred, made]),
            "asked": asked,
            "asked and inferred": evidence.joined([inferred, made, asked]),
            "others asked": heard,
            "labels": relating.labelled(corpus, pools),
        }

    def read(self, title: str) -> relating.Read:
        """Return a function that reads (question, passage) pairs, with progress."""
        assert self.reader is not None
        return functools.partial(self.work.readings, self.reader, title=title)


def main() -> int:
    args = arguments()
    console = Console(stderr=True)
    names = args.dataset or ["nq", "triviaqa"]
    try:
        with script.bars(console) as progress:
            bench = Bench(args, progress)
            figures = {name: bench.dataset(name) for name in names}
    except VeridicalError as error:
        console.print(str(error), style="red", markup=False)
        return error.exit_code
    everything = [result for name in names for result in figures[name]]
    about = {
        "seeds": f"{args.range[0]}-{args.range[-1]}",
        "indexed": args.indexed,
        "asked": args.asked,
        **dict(zip(("encoder", "nli", "reader"), bench.models, strict=True)),
    }
    about = script.head(__file__, about)
    for name in names:
        print(summary.table(everything, name))
    if args.json:
        results.write(args.json, everything, about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
