"""Method reliable on questions that take several passages, with one false passage among those of each.

    python benchmarks/reliable.py DATA_DIR [--limit N] [--json PATH] [--llm GGUF]

DATA_DIR holds hotpotqa.jsonl, 2wikimultihopqa.jsonl and musique.jsonl. A question is asked over its own 10 or
20 passages and the poison: an altered copy of a supporting passage beside the original, or a passage that a
template writes. Triples come from the embedded extractor, chains from the embedded selector, answers from the
embedded reader. Credibility is none, ideal (by label, an oracle), or trust in documents propagated from
feedback on 30% of them, over the corpus of all questions, each of which was asked once. With --llm a GGUF
file does all of it for a few questions; its calls are cached, so that a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from veridical.bench import (
    cache,
    chain_cases,
    chain_llm,
    chain_llm_summary,
    chain_runs,
    chain_summary,
    results,
    script,
)
from veridical.bench.chain_cases import Case, Library
from veridical.bench.chain_runs import Means, Row
from veridical.bench.datasets.questions import read
from veridical.bench.ledger import Ledger
from veridical.bench.multihop import ATTACKS, Attack, Attacked, attacked
from veridical.bench.protocol import FloatArray
from veridical.errors import VeridicalError
from veridical.evidence.credibility import LLMEvaluator
from veridical.evidence.extract_embedded import EmbeddedExtractor
from veridical.evidence.extract_llm import LLMExtractor
from veridical.evidence.select_llm import LLMSelector
from veridical.evidence.selectors import EmbeddedSelector
from veridical.graph.arrays import Graph
from veridical.index.encoder import Float32Array
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.llm.managed import ManagedLLM
from veridical.pipeline.models import Models
from veridical.settings import Settings

DATASETS = ("hotpotqa", "2wikimultihopqa", "musique")
BY_LLM = ("hotpotqa", "2wikimultihopqa")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder with the data sets")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS), help="which")
    parser.add_argument("--limit", type=int, help="ask only the first so many questions of each")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds of feedback (default 3)")
    parser.add_argument("--llm", type=Path, help="a GGUF file of a chat model, to do it all with")
    parser.add_argument("--llm-questions", type=int, default=6, help="how many of each set (default 6)")
    parser.add_argument("--minutes", type=float, help="begin no question of the language model after so long")
    parser.add_argument(
        "--examined", type=Path, help="keep each question's figures here (JSON lines), and go on"
    )
    parser.add_argument("--only-llm", action="store_true", help="leave out what needs no language model")
    script.add_outputs(parser)
    return parser.parse_args()


class Bench:
    """One call of the script: its arguments, models and progress."""

    def __init__(self, args: argparse.Namespace, progress: Progress) -> None:
        self.args, self.progress = args, progress
        self.settings = Settings.from_env()
        models = Models(self.settings, announce=progress.console.print)
        self.encoder, self.reader = models.encoder, models.reader("embedded")
        self.extractor = EmbeddedExtractor()
        self.version = cache.code_version(
            "methods", "trust", "evidence", "reading", "bench", "graph", "index", "corpus", "answer"
        )
        self._queries: dict[str, Float32Array] = {}

    def encode(self, texts: Sequence[str]) -> Float32Array:
        """Encode queries, each once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._queries]
        self._queries |= zip(new, self.encoder.encode(new), strict=True)
        return np.stack([self._queries[text] for text in texts]) if len(texts) else self.encoder.encode([])

    def dataset(self, name: str) -> tuple[list[results.Result], str]:
        """Run all attacks of one data set; its figures, and what could not be altered."""
        found = attacked(read(self.args.data_dir, name)).first(self.args.limit)
        rows = [row for attack in ATTACKS for row in self.attack(name, found, attack)]
        altered = frozenset(question.id for question in found.questions) - frozenset(found.obstacles)
        clean = [row for row in rows if row.setting.attack == "clean"]
        rows += [chain_runs.restricted(row, altered, "clean, alterable") for row in clean]
        rows.sort(key=lambda row: row.setting.attack)  # stable: clean, clean alterable, substituted, template
        return chain_summary.summarise(name, rows), _apart(name, found)

    def related(self, name: str, found: Attacked, attack: Attack) -> tuple[Library, Graph, script.Work]:
        """Lay out one attack, and build the graph of its corpus."""
        title = f"{name}, {attack}"
        work = script.Work(self.args.work / f"chains-{name}", self.progress)
        texts = functools.partial(work.vectors, self.encoder, title=f"{title}: encoding")
        library = chain_cases.library(found.under(attack), texts)
        readings = functools.partial(work.readings, self.reader, title=f"{title}: reading")
        return library, chain_cases.related(library, texts, readings), work

    def attack(self, name: str, found: Attacked, attack: Attack) -> list[Row]:
        """Run one attack, or take it from the work folder."""
        seeds = range(self.args.seeds)
        models = self.encoder.name, self.reader.name, self.extractor.name
        key = cache.key(repr(found.under(attack)), *models, repr(seeds), self.version)
        path = self.args.work / f"chains-{name}" / f"rows-{attack}-{key}.json"
        if path.is_file():
            return chain_runs.load(path)
        title = f"{name}, {attack}"
        library, graph, work = self.related(name, found, attack)
        texts = functools.partial(work.vectors, self.encoder, title=f"{title}: encoding triples")
        stated = chain_cases.all_claims(library, self.extractor, texts)
        known = chain_runs.credibilities(library, graph, seeds)
        if attack == "clean":
            known = {"none": known["none"]}
        readings = functools.partial(work.readings, self.reader, title=f"{title}: reading")
        means = Means(self.encode, EmbeddedSelector(self.encode), self.extractor.name, readings)
        total = len(library.cases) * sum(map(len, known.values()))
        task = self.progress.add_task(f"{title}: chains", total=total)
        done = chain_runs.run(
            library, stated, attack, known, means, tick=functools.partial(self.progress.advance, task)
        )
        self._queries.clear()
        chain_runs.save(path, done)
        return done


class ByLLM:
    """The part that a language model does: few questions, each reply kept."""

    def __init__(self, bench: Bench, path: Path) -> None:
        self.bench, self.args, self.progress = bench, bench.args, bench.progress
        engine = LlamaCppLLM(path, n_threads=bench.settings.n_threads)
        self.ledger = Ledger(engine, self.args.work / f"chains-llm-{cache.key(engine.identity)}.jsonl")
        llm = ManagedLLM(self.ledger)
        self.means = chain_llm.Means(
            self.ledger,
            llm,
            LLMExtractor(llm, bench.encode),
            LLMSelector(llm, bench.encode),
            LLMEvaluator(llm),
            bench.encode,
            engine.count_tokens,
            engine.close,
        )
        self.kept = self.read()

    def run(self) -> dict[str, list[chain_llm.Examined]]:
        """Examine the first questions that can be altered, set by set in turn."""
        began = time.monotonic()
        exams = {name: self.exam(name) for name in BY_LLM}
        turns = [(name, at) for at in range(self.args.llm_questions) for name in BY_LLM]
        task = self.progress.add_task("language model", total=len(turns) * chain_llm.N_STEPS)
        tick = functools.partial(self.progress.advance, task)
        done: dict[str, list[chain_llm.Examined]] = {name: [] for name in BY_LLM}
        for name, at in turns:
            if self.args.minutes is not None and time.monotonic() - began > 60 * self.args.minutes:
                break
            clean, case, trust = exams[name][at]
            found = self.kept.get((name, case.question.id))
            if found is None:
                found = chain_llm.examine(clean, case, trust, self.means, tick=tick)
                self.keep(name, found)
            done[name].append(found)
            self.progress.update(task, completed=chain_llm.N_STEPS * sum(map(len, done.values())))
        return done

    def keep(self, name: str, found: chain_llm.Examined) -> None:
        """Add the figures of a question to the file, if there is one."""
        if self.args.examined:
            row = {"dataset": name, "llm": self.ledger.name, **found.to_dict()}
            with self.args.examined.open("a", encoding="ascii") as out:
                out.write(json.dumps(row) + "\n")

    def read(self) -> dict[tuple[str, str], chain_llm.Examined]:
        """The figures kept of this model, by data set and question."""
        path = self.args.examined
        lines = path.read_text("ascii").splitlines() if path and path.is_file() else []
        rows = [row for row in map(json.loads, lines) if row["llm"] == self.ledger.name]
        return {(row["dataset"], row["question"]): chain_llm.Examined.from_dict(row) for row in rows}

    def exam(self, name: str) -> list[tuple[Case, Case, FloatArray]]:
        """The questions without and with their poison, and the trust of the latter's passages."""
        found = attacked(read(self.args.data_dir, name)).first(self.args.limit)
        library, graph, _ = self.bench.related(name, found, "substituted")
        trust = chain_cases.believed(graph, library.corpus.true, chain_runs.SHARE, seed=0)
        cases = [case for case in library.cases if case.question.id not in found.obstacles]
        return [
            (chain_cases.without_poison(case), case, trust[case.documents])
            for case in cases[: self.args.llm_questions]
        ]


def _apart(name: str, found: Attacked) -> str:
    counts = Counter(found.obstacles.values())
    why = ", ".join(f"{why} {n}" for why, n in sorted(counts.items())) or "none"
    n = len(found.questions)
    return f"{name}: {n} questions; nothing can be substituted in {len(found.obstacles)} ({why})"


def _figures(name: str, done: Sequence[chain_llm.Examined], llm: Path) -> list[results.Result]:
    return chain_llm_summary.summarise(name, done, LlamaCppLLM(llm).name)


def main() -> int:
    args = arguments()
    console = Console(stderr=True)
    try:
        with script.bars(console) as progress:
            bench = Bench(args, progress)
            figures = {} if args.only_llm else {name: bench.dataset(name) for name in args.datasets}
            examined = ByLLM(bench, args.llm).run() if args.llm else {}
    except VeridicalError as error:
        console.print(str(error), style="red", markup=False)
        return error.exit_code
    about = script.head(
        __file__,
        {
            "seeds": args.seeds,
            "limit": args.limit or "all",
            "encoder": bench.encoder.name,
            "reader": bench.reader.name,
            "extractor": bench.extractor.name,
            "selector": "embedded",
        },
    )
    for name, (found, apart) in figures.items():
        print(f"\n{apart}\n\n{chain_summary.table(found, name)}")
    everything = [result for found, _ in figures.values() for result in found]
    if examined:
        together = {**examined, "both": [one for done in examined.values() for one in done]}
        by_llm = {name: _figures(name, done, args.llm) for name, done in together.items()}
        for name, own in by_llm.items():
            print("\n" + chain_llm_summary.table(own, name))
            everything += own
    if args.json:
        results.write(args.json, everything, about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
