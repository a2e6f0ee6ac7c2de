"""One run of the benchmark of answers: every corpus, what is known of its documents, and what is answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.bench import answers, protocol
from veridical.bench.answer_misses import Miss, misses
from veridical.bench.answers import Exam, Sheet
from veridical.bench.poison import Poison
from veridical.graph.arrays import Graph

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FEEDBACK = (0.0, 0.1, 0.3)
VOTES = (5, 20, 50)
SOURCES: dict[str, float | None] = {"no sources": None, "pure sources": 0.0, "10% wrong": 0.1}
NOT_ASKED = f"{max(FEEDBACK):.0%}, not asked"
"""Most feedback, where no question was asked before: there are no relations."""
MARKS = ("given", "probability", "strict", "containment", "f1", "attack")


@dataclass(frozen=True)
class Setting:
    """What the corpus is poisoned with, who publishes it, and what is known of its documents."""

    poison: Poison
    sources: str
    belief: str

    @property
    def name(self) -> str:
        """The text under which it stands in the results."""
        return f"{self.poison} | {self.sources} | {self.belief}"


@dataclass(frozen=True, eq=False)
class Row:
    """The answers to one run's questions in one setting.

    Attributes
    ----------
    questions
        Ids of all that were asked.
    scored
        Shape (n_asked,): which count. Those for which there is no poison of the kind do not.
    touched
        Shape (n_asked,): which had a judged document of their own, or were voted on.
    marks
        By name (`MARKS`), shape (n_asked,) each; see `veridical.bench.answers.Sheet`.
    """

    setting: Setting
    questions: tuple[str, ...]
    scored: BoolArray
    touched: BoolArray
    marks: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Run:
    """The rows of one sample of questions; and by poison the misses at most feedback and without sources."""

    rows: list[Row]
    misses: dict[str, list[Miss]]


def run(exams: Mapping[Poison, Exam], *, seed: int, tick: Callable[[], object] | None = None) -> Run:
    """Answer every question in every setting.

    Parameters
    ----------
    exams
        The corpora of one sample of questions, by poison; ``clean`` among them.
    seed
        Of sources, feedback and votes.
    tick
        Called after each setting.
    """
    rows, missed = [], {}
    for exam in exams.values():
        graph = answers.build_graph(exam)
        for row in _settings(exam, graph, seed):
            rows.append(row)
            if tick is not None:
                tick()
        if exam.poison != "clean":
            anchors = protocol.judge(exam.corpus.true, max(FEEDBACK), seed=seed)
            missed[str(exam.poison)] = misses(exam, answers.believe(graph, anchors), anchors)
    return Run(rows, missed)


def n_settings(poison: Poison) -> int:
    """Return how many rows a run has of one corpus."""
    return len(SOURCES) + 1 if poison == "clean" else len(SOURCES) * len(FEEDBACK) + 2 + len(VOTES)


def _settings(exam: Exam, graph: Graph, seed: int) -> Iterator[Row]:
    nothing = np.zeros(len(exam.questions), dtype=np.bool_)
    for name, wrong in SOURCES.items():
        source_of = None if wrong is None else _sources(exam, wrong, seed)
        sourced = answers.with_sources(graph, source_of)
        for share in FEEDBACK if exam.poison != "clean" else (0.0, 0.3) if wrong is None else (0.0,):
            trust, touched = _judged(exam, sourced, share, seed)
            sheet = answers.answer_all(exam, trust, source_of)
            yield _row(exam, name, f"feedback {share:.0%}", sheet, touched)
    if exam.poison == "clean":
        return
    trust, touched = _judged(exam, answers.without_relations(graph), max(FEEDBACK), seed)
    yield _row(exam, "no sources", NOT_ASKED, answers.answer_all(exam, trust), touched)
    perfect = exam.corpus.true.astype(np.float64)
    yield _row(exam, "no sources", "perfect trust", answers.answer_all(exam, perfect), nothing)
    for n, (trust, voted) in answers.vote(exam, graph, VOTES, seed=seed).items():
        yield _row(exam, "no sources", f"{n} votes", answers.answer_all(exam, trust), voted)


def _sources(exam: Exam, wrong: float, seed: int) -> IntArray:
    return protocol.assign_sources(exam.corpus.true, wrong=wrong, seed=seed)


def _judged(exam: Exam, graph: Graph, share: float, seed: int) -> tuple[FloatArray, BoolArray]:
    anchors = protocol.judge(exam.corpus.true, share, seed=seed)
    return answers.believe(graph, anchors), protocol.has_judged(exam.corpus, anchors)


def _row(exam: Exam, sources: str, belief: str, sheet: Sheet, touched: BoolArray) -> Row:
    scored = exam.attacked if exam.poison != "clean" else np.ones(len(exam.questions), dtype=np.bool_)
    ids = tuple(question.id for question in exam.questions)
    marks = {name: getattr(sheet, name) for name in MARKS}
    return Row(Setting(exam.poison, sources, belief), ids, scored, touched, marks)


def save(path: Path, done: Run) -> None:
    """Write one run, atomically."""
    lines = [
        {
            "setting": [row.setting.poison, row.setting.sources, row.setting.belief],
            "questions": row.questions,
            "scored": row.scored.tolist(),
            "touched": row.touched.tolist(),
            "marks": {name: values.tolist() for name, values in row.marks.items()},
        }
        for row in done.rows
    ]
    missed = {poison: [[miss.question, miss.kind] for miss in found] for poison, found in done.misses.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"rows": lines, "misses": missed}), encoding="utf-8")
    part.replace(path)


def load(path: Path) -> Run:
    """Read what `save` wrote."""
    stored = json.loads(path.read_text("utf-8"))
    rows = [
        Row(
            Setting(*line["setting"]),
            tuple(line["questions"]),
            np.array(line["scored"], dtype=np.bool_),
            np.array(line["touched"], dtype=np.bool_),
            {name: np.array(values, dtype=np.float64) for name, values in line["marks"].items()},
        )
        for line in stored["rows"]
    ]
    return Run(rows, {poison: [Miss(*miss) for miss in found] for poison, found in stored["misses"].items()})
