"""Answers without a language model from a poisoned corpus, with and without trust.

    python benchmarks/answers.py DATA_DIR [--quick] [--json PATH] [--llm GGUF]

DATA_DIR holds nq.jsonl, triviaqa.jsonl, realtimeqa.jsonl and newspolluted.jsonl. For each seed the true
passages of up to 300 questions are indexed, and the misinformation of half of them (of realtimeqa: of all),
which are asked. The 20 nearest passages of a question are read one by one, and the heaviest candidate of the
evidence board is the answer. Relations come from the questions asked, each as if it had been asked once
before. With --llm a GGUF file answers 60 questions of nq from the passages, from trust-labelled passages, and
from the board. What has been computed is kept under --work, so that an interrupted run goes on where it
stopped. The encoder was itself trained on question-passage pairs of nq and triviaqa, among many others.
"""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from veridical.bench import (
    answer_runs,
    answer_summary,
    answers,
    cache,
    llm_answers,
    protocol,
    results,
    script,
)
from veridical.bench.answers import Exam
from veridical.bench.datasets.questions import Question, read
from veridical.bench.poison import POISONS, Poison, poisoned
from veridical.errors import VeridicalError
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.pipeline.models import Models
from veridical.reading.compare import COMPARE_VERSION
from veridical.settings import Settings

DATASETS = ("nq", "triviaqa", "realtimeqa", "newspolluted")
ALL_ASKED = {"realtimeqa"}  # too few questions to leave half of them unasked


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder with the data sets")
    parser.add_argument("--dataset", action="append", choices=DATASETS, help="which (may be repeated)")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (default 5)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--indexed", type=int, default=300, help="questions whose true passages are indexed")
    parser.add_argument("--quick", action="store_true", help="60 questions, 2 seeds")
    parser.add_argument("--llm", type=Path, help="a GGUF file of a chat model, to compare with")
    script.add_outputs(parser)
    args = parser.parse_args()
    if args.quick:
        args.seeds, args.indexed = 2, 60
    args.range = range(args.first_seed, args.first_seed + args.seeds)
    return args


class Bench:
    """One call of the script: its arguments, models and progress."""

    def __init__(self, args: argparse.Namespace, progress: Progress) -> None:
        self.args, self.progress = args, progress
        self.work = script.Work(args.work, progress)
        models = Models(Settings.from_env(), announce=progress.console.print)
        self.encoder, self.reader = models.encoder, models.reader("embedded")
        self.misses: dict[str, str] = {}
        self.version = cache.code_version(
            "methods", "trust", "evidence", "reading", "bench", "graph", "index", "nli", "corpus", "feedback"
        )

    def dataset(self, name: str) -> list[results.Result]:
        """Run all seeds of one data set."""
        questions = read(self.args.data_dir, name)
        runs = [self.seed(name, questions, seed) for seed in self.args.range]
        found = answer_summary.summarise(name, [run.rows for run in runs])
        missed, self.misses[name] = answer_summary.misses(name, runs)
        return found + missed

    def seed(self, name: str, questions: list[Question], seed: int) -> answer_runs.Run:
        """Run one seed, or take it from the work folder."""
        corpora: dict[Poison, protocol.Corpus] = {
            poison: self.corpus(name, questions, poison, seed) for poison in POISONS
        }
        digests = [corpus.digest for corpus in corpora.values()]
        found = cache.key(*digests, self.encoder.name, self.reader.name, COMPARE_VERSION, self.version)
        path = self.args.work / f"answers-{name}-{seed}-{found}.json"
        if path.is_file():
            return answer_runs.load(path)
        exams: dict[Poison, Exam] = {
            poison: self.exam(questions, corpus, poison, f"{name} {seed}, {poison}")
            for poison, corpus in corpora.items()
        }
        total = sum(answer_runs.n_settings(poison) for poison in exams)
        task = self.progress.add_task(f"{name} {seed}: settings", total=total)
        tick = functools.partial(self.progress.advance, task)
        done = answer_runs.run(exams, seed=seed, tick=tick)
        answer_runs.save(path, done)
        return done

    def corpus(self, name: str, questions: list[Question], poison: Poison, seed: int) -> protocol.Corpus:
        """Draw what is indexed and asked; the same questions whatever the poison."""
        n = min(self.args.indexed, len(questions))
        asked = n if name in ALL_ASKED else n // 2
        variants = [poisoned(question, poison) for question in questions]
        return protocol.sample(variants, n_indexed=n, n_attacked=asked, seed=seed)

    def exam(self, questions: list[Question], corpus: protocol.Corpus, poison: Poison, title: str) -> Exam:
        """Retrieve and read, with progress."""
        texts = self.work.vectors(self.encoder, corpus.texts, f"{title}: passages")
        put = [q.text for q in corpus.asked]
        pools = answers.nearest(texts, self.work.vectors(self.encoder, put, f"{title}: questions"))
        by_id = {question.id: question for question in questions}
        asked = tuple(by_id[q.id] for q in corpus.asked)
        pairs = [
            (question.text, corpus.texts[document])
            for question, pool in zip(asked, pools, strict=True)
            for document in pool.documents.tolist()
        ]
        readings = iter(self.work.readings(self.reader, pairs, f"{title}: readings"))
        read_by_question = tuple(tuple(next(readings) for _ in pool.documents) for pool in pools)
        return Exam(poison, corpus, asked, pools, read_by_question, texts)

    def llm(self, path: Path) -> list[results.Result]:
        """Let a language model answer questions of nq from the poisoned corpus of the first seed."""
        seed = self.args.range[0]
        questions = read(self.args.data_dir, "nq")
        exam = self.exam(
            questions, self.corpus("nq", questions, "written", seed), "written", "language model"
        )
        share = max(answer_runs.FEEDBACK)
        judged = protocol.judge(exam.corpus.true, share, seed=seed)
        beliefs = {f"feedback {share:.0%}": answers.believe(answers.build_graph(exam), judged)}
        model = LlamaCppLLM(path)
        task = self.progress.add_task("language model", total=llm_answers.n_calls(len(beliefs)))
        tick = functools.partial(self.progress.advance, task)
        said = llm_answers.ask_all(exam, beliefs, model, self.args.work, tick=tick)
        return llm_answers.summarise("nq", exam, said, model.name)


def main() -> int:
    args = arguments()
    console = Console(stderr=True)
    names = args.dataset or list(DATASETS)
    try:
        with script.bars(console) as progress:
            bench = Bench(args, progress)
            figures = {name: bench.dataset(name) for name in names}
            by_llm = bench.llm(args.llm) if args.llm else []
    except VeridicalError as error:
        console.print(str(error), style="red", markup=False)
        return error.exit_code
    everything = [result for name in names for result in figures[name]]
    about = {
        "seeds": f"{args.range[0]}-{args.range[-1]}",
        "indexed": args.indexed,
        "encoder": bench.encoder.name,
        "reader": bench.reader.name,
        "compare": COMPARE_VERSION,
    }
    about = script.head(__file__, about)
    for name in names:
        print(answer_summary.table(everything, name) + "\n\n" + bench.misses[name])
    if by_llm:
        print("\n" + llm_answers.table(by_llm))
    if args.json:
        results.write(args.json, [*everything, *by_llm], about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
