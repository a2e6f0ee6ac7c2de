"""Pairs of passages that answer the same question: does one contradict the other, or support it?

    python benchmarks/relations.py DATA_DIR [--dataset NAME] [--documents N] [--json PATH] [--work FOLDER]

DATA_DIR holds nq, triviaqa, realtimeqa, newspolluted and evotemp, one question a line. Nothing that is judged
here was fitted on them; the encoder was trained by its authors on question-passage pairs of the first two.

Pairs of one question. *Fakes*: a fake that names its wrong answer against a real passage that names the right
one (contradicts), two real ones, two fakes of one answer (support). *Style-neutral*: a real passage with its
answer replaced by the wrong one, against another real one (contradicts) and against a fake (supports); a fake
in which right and wrong answer changed places, against a real one (supports). *Neither*: a real passage that
names the answer with one that does not, and with the nearest passage of another question. newspolluted names
no wrong answer, so a fake argues for the one wrong choice that it mentions, and a real passage changed to
another choice contradicts it. evotemp has no fakes: an outdated passage without the current answer
contradicts a current one with it, and answers are replaced by another question's; two passages changed alike
support each other. Fakes that do not name a wrong answer are told apart (*as labelled* takes them in).

Judges: *inference* is the default NLI backend, *answers* compares what the embedded reader finds with both
passages at hand, *answers alone* without them, *made* has each passage put questions to the other, and
*all* is what the graph would take: the evidence that is worth most.

All pairs of a corpus. Questions are drawn with all their passages until there are --documents documents; each
question is put once to the passages nearest to it, as a build does. Edges are scored over all pairs of
documents, where *strict* leaves out pairs of which one names neither answer, and *by label* goes by labels
alone, whatever a passage says.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from veridical.bench import relating, results, script
from veridical.bench.datasets.questions import Question, read
from veridical.bench.metrics.answers import contains
from veridical.bench.protocol import Corpus
from veridical.bench.relation_corpus import draw
from veridical.bench.relation_scores import Judged, corpus_results, pair_results, show
from veridical.bench.relations import Case, cases_of
from veridical.errors import VeridicalError
from veridical.graph import evidence
from veridical.graph.evidence import Rows
from veridical.graph.made_questions import MadeQuestion, Neighbour, questions_of
from veridical.pipeline.models import Models
from veridical.reading.base import Reading
from veridical.reading.compare import compare_readings
from veridical.reading.squad import answer_kind
from veridical.settings import Settings

DATASETS = ("nq", "triviaqa", "realtimeqa", "newspolluted", "evotemp")
N_MADE = 4
N_TIMED = 200


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder with the data sets")
    parser.add_argument("--dataset", action="append", help="which (may be repeated; default: all five)")
    parser.add_argument("--documents", type=int, default=1000, help="of the corpus (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of draws and intervals")
    parser.add_argument("--no-made", action="store_true", help="leave out questions that passages make")
    script.add_outputs(parser)
    return parser.parse_args()


class Bench:
    """One call of the script: its arguments, models and progress."""

    def __init__(self, args: argparse.Namespace, progress: Progress) -> None:
        self.args = args
        self.work = script.Work(args.work, progress)
        models = Models(Settings.from_env(), announce=progress.console.print)
        self.encoder, self.nli = models.encoder, models.nli("features")
        self.reader = models.reader("embedded")

    def dataset(self, name: str) -> list[results.Result]:
        """All figures of one data set."""
        questions = read(self.args.data_dir, name)
        cases = self.cases(questions, name)
        judged = self.judge(cases, name)
        found = pair_results(name, cases, judged, seed=self.args.seed)
        return found + self.speed(name, cases) + self.corpus(questions, name)

    def cases(self, questions: Sequence[Question], name: str) -> list[Case]:
        """All pairs of one data set."""
        rng = np.random.default_rng(self.args.seed)
        found: list[Case] = []
        for question in questions:
            found += cases_of(question, rng, _other_answer(question, questions, rng))
        return found + self.apart(questions, name)

    def apart(self, questions: Sequence[Question], name: str) -> list[Case]:
        """For each question a real passage that names the answer, and the nearest one of another question."""
        texts = list(dict.fromkeys(p.text for q in questions for p in q.passages))
        place = {text: i for i, text in enumerate(texts)}
        rows = self.work.vectors(self.encoder, texts, f"{name}: passages")
        asked = self.work.vectors(self.encoder, [q.text for q in questions], f"{name}: questions")
        found = []
        for question, vector in zip(questions, asked, strict=True):
            own = [p.text for p in question.labelled("factual") if contains(p.text, question.answers)]
            if not own:
                continue
            cosines = rows @ vector
            cosines[[place[p.text] for p in question.passages]] = -1.0
            other = texts[int(cosines.argmax())]
            found.append(
                Case(question.id, question.text, own[0], other, "neither", "passages of two questions")
            )
        return found

    def judge(self, cases: Sequence[Case], name: str) -> dict[str, Judged]:
        """Support and contradiction of each pair by each judge."""
        pairs = [(case.left, case.right) for case in cases]
        nli = self.work.judgements(self.nli, pairs, f"{name}: inference")
        asked = [(case.question, text) for case in cases for text in (case.left, case.right)]
        readings = self.read(asked, f"{name}: answers")
        sides = list(zip(readings[::2], readings[1::2], strict=True))
        found = {
            "inference": Judged.of_inference(nli[:, 0].astype(float), nli[:, 1].astype(float)),
            "answers": _compared(cases, sides, with_texts=True),
        }
        if not self.args.no_made:
            found["made"] = self.made(pairs, name)
        found["all"] = Judged.worthiest(list(found.values()))
        found["answers alone"] = _compared(cases, sides, with_texts=False)
        return found

    def made(self, pairs: Sequence[tuple[str, str]], name: str) -> Judged:
        """Have the passages of each pair put questions to one another, and keep the surest verdict."""
        asked: list[tuple[int, MadeQuestion]] = []
        for number, pair in enumerate(pairs):
            for own, other in (pair, pair[::-1]):
                near = {1: [Neighbour(2, 2, "", other)]}
                asked += [(number, made) for made in questions_of({1: own}, "", near, N_MADE)]
        readings = self.work.readings(
            self.reader, [(made.question, made.window.text) for _, made in asked], f"{name}: made"
        )
        support, contradiction = np.zeros(len(pairs)), np.zeros(len(pairs))
        for (number, made), reading in zip(asked, readings, strict=True):
            verdict = made.verdict(reading)
            if abs(verdict.support - verdict.contradiction) > abs(support[number] - contradiction[number]):
                support[number], contradiction[number] = verdict.support, verdict.contradiction
        return Judged.of_answers(support, contradiction)

    def speed(self, name: str, cases: Sequence[Case]) -> list[results.Result]:
        """Pairs a second: read afresh, compared, and inferred."""
        some = [cases[i] for i in np.random.default_rng(0).permutation(len(cases))[:N_TIMED]]
        began = time.perf_counter()
        found = self.reader.read_pairs([(c.question, text) for c in some for text in (c.left, c.right)])
        read_at = time.perf_counter()
        _compared(some, list(zip(found[::2], found[1::2], strict=True)), with_texts=True)
        compared_at = time.perf_counter()
        self.nli.judge([(case.left, case.right) for case in some])
        done = time.perf_counter()
        rows = (
            ("answers", "pairs read a second", read_at - began),
            ("answers", "pairs compared a second", compared_at - read_at),
            ("inference", "pairs judged a second, one way", done - compared_at),
        )
        nan = float("nan")
        return [
            results.Result(name, "speed", method, metric, len(some) / seconds, nan, nan, len(some))
            for method, metric, seconds in rows
        ]

    def corpus(self, questions: Sequence[Question], name: str) -> list[results.Result]:
        """Edges over all pairs of a corpus: by inference alone, by questions asked once, and both."""
        corpus = draw(questions, self.args.documents, seed=self.args.seed)
        texts = self.work.vectors(self.encoder, corpus.texts, f"{name}: corpus")
        asked = [question.text for question in corpus.questions]
        pools = relating.question_pools(texts, self.work.vectors(self.encoder, asked, f"{name}: asked"))
        bare = Corpus(corpus.texts, np.ones(len(corpus.texts), dtype=np.bool_), ())
        near = relating.neighbour_pairs(bare, texts)
        sides = [(corpus.texts[i], corpus.texts[j]) for i, j in near]
        judged = self.work.judgements(self.nli, sides, f"{name}: edges")
        inferred = relating.inferred(near, judged)
        answered, _ = relating.answered(asked, pools, bare, lambda p: self.read(p, f"{name}: pools"))
        asked_pairs = {pair for pool in pools for pair in _pairs(pool)}
        runs: dict[str, tuple[Rows, int]] = {
            "inference": (inferred, len(near)),
            "answers": (answered, len(asked_pairs)),
        }
        if not self.args.no_made:
            made = relating.made(bare, near, N_MADE, lambda p: self.read(p, f"{name}: neighbours"))
            runs["made"] = made, len(near)
        runs["all"] = evidence.joined([rows for rows, _ in runs.values()]), len({*near, *asked_pairs})
        asked_by = [(q.id, pool) for q, pool in zip(corpus.questions, pools, strict=True)]
        return corpus_results(name, corpus, runs, asked_by, seed=self.args.seed)

    def read(self, pairs: Sequence[tuple[str, str]], title: str) -> list[Reading]:
        return self.work.readings(self.reader, pairs, title)


def _pairs(pool: Sequence[int]) -> list[tuple[int, int]]:
    return [(min(a, b), max(a, b)) for n, a in enumerate(pool) for b in pool[:n]]


def _other_answer(question: Question, questions: Sequence[Question], rng: np.random.Generator) -> str | None:
    """An answer of the same kind to another question, where a question names no wrong one."""
    if question.wrong_answer or question.choices:
        return None
    kind = answer_kind(question.answers[0])
    pool = [
        q.answers[0]
        for q in questions
        if answer_kind(q.answers[0]) == kind and not contains(q.answers[0], question.answers)
    ]
    return pool[int(rng.integers(len(pool)))] if pool else None


def _compared(cases: Sequence[Case], sides: Sequence[tuple[Reading, Reading]], *, with_texts: bool) -> Judged:
    support, contradiction = np.zeros(len(cases)), np.zeros(len(cases))
    for i, (case, (left, right)) in enumerate(zip(cases, sides, strict=True)):
        texts = (case.left, case.right) if with_texts else None
        verdict = compare_readings(case.question, left, right, texts=texts)
        support[i], contradiction[i] = verdict.support, verdict.contradiction
    return Judged.of_answers(support, contradiction)


def main() -> int:
    args = arguments()
    try:
        with script.bars(Console(stderr=True)) as progress:
            bench = Bench(args, progress)
            rows = [row for name in args.dataset or DATASETS for row in bench.dataset(name)]
    except VeridicalError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    about = {
        "seed": args.seed,
        "documents": args.documents,
        "encoder": bench.encoder.name,
        "nli": bench.nli.name,
        "reader": bench.reader.name,
    }
    about = script.head(__file__, about)
    print(show(rows))
    if args.json:
        results.write(args.json, rows, about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
