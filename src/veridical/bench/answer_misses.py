"""Why answers are wrong: each miss by its kind, so that one sees what would have to get better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from veridical.bench import answers
from veridical.bench.answers import Exam
from veridical.bench.metrics.answers import contains, strict_match
from veridical.bench.protocol import Asked, FloatArray
from veridical.bench.results import Bootstrap, Result
from veridical.evidence.board import Board
from veridical.graph.arrays import Anchors
from veridical.reading.base import Reading

ANSWERS = 0.3
"""A passage answers if some span has this probability or more."""
A_PART = 0.25

KINDS = {
    "true passage says it": "attack; a true document gives a quarter or more of the wrong answer",
    "nothing judged": "attack; no document of the question's own is judged",
    "judged ones do not answer": "attack; own documents are judged, but none of those gives an answer",
    "outvoted a judged good one": "attack; an own document that answers is judged good",
    "judged bad, others stayed": "attack; an own document that answers is judged bad, others say the same",
    "no passage has it": "wrong; no passage that was read names a right answer",
    "not read": "wrong; a passage names a right answer, but it is no candidate",
    "outweighed": "wrong; a right answer is a candidate, but not the first",
    "other words": "right, but not word for word",
}


@dataclass(frozen=True)
class Miss:
    """A question that was not answered word for word, and why."""

    question: str
    kind: str


def misses(exam: Exam, trust: FloatArray, anchors: Anchors) -> list[Miss]:
    """Sort all misses of an exam at full coverage.

    Parameters
    ----------
    trust
        Shape (n_documents,): what was believed.
    anchors
        The feedback that it came of.
    """
    judged = dict(zip(anchors.documents.tolist(), anchors.values.tolist(), strict=True))
    found = []
    for place, question in enumerate(exam.questions):
        board = answers.board(exam, place, trust)
        text = board.candidates[0].text if board.candidates else ""
        if strict_match(text, question.answers) or not exam.attacked[place]:
            continue
        if answers.attacked(text, question):
            kind = _attack(exam, place, board, judged)
        else:
            kind = _wrong(exam, place, board, text)
        found.append(Miss(question.id, kind))
    return found


def _attack(exam: Exam, place: int, board: Board, judged: dict[int, float]) -> str:
    asked = exam.corpus.asked[place]
    witnesses = board.candidates[0].witnesses
    if sum(w.part for w in witnesses if exam.corpus.true[w.document_id]) >= A_PART:
        return "true passage says it"
    own = {document: value for document, value in judged.items() if document in _own(asked)}
    if not own:
        return "nothing judged"
    readings = dict(zip(exam.pools[place].documents.tolist(), exam.readings[place], strict=True))
    telling = [value for document, value in own.items() if _answers(readings.get(document))]
    if not telling:
        return "judged ones do not answer"
    return "judged bad, others stayed" if min(telling) < 0.5 else "outvoted a judged good one"


def _own(asked: Asked) -> frozenset[int]:
    return asked.own_true | asked.own_false


def _answers(reading: Reading | None) -> bool:
    return reading is not None and any(answer.probability >= ANSWERS for answer in reading.answers)


def _wrong(exam: Exam, place: int, board: Board, text: str) -> str:
    golds = exam.questions[place].answers
    if contains(text, golds):
        return "other words"
    if any(contains(candidate.text, golds) for candidate in board.candidates):
        return "outweighed"
    documents = exam.pools[place].documents.tolist()
    named = any(contains(exam.corpus.texts[document], golds) for document in documents)
    return "not read" if named else "no passage has it"


def summarise(
    dataset: str, setting: str, runs: Sequence[Sequence[Miss]], asked: Sequence[Sequence[str]]
) -> list[Result]:
    """Return the share of questions, over all seeds, that are missed in each way.

    Parameters
    ----------
    runs
        The misses of each seed.
    asked
        The questions that were scored, by seed.
    """
    bootstrap = Bootstrap([question for seed in asked for question in seed])
    results = []
    for kind in KINDS:
        hit = [{miss.question for miss in run if miss.kind == kind} for run in runs]
        values = [float(q in found) for found, seed in zip(hit, asked, strict=True) for q in seed]
        mean = bootstrap.mean(values)
        results.append(
            Result(dataset, setting, "veridical", f"miss: {kind}", mean.value, mean.low, mean.high, mean.n)
        )
    return results


def table(dataset: str, runs: Sequence[Sequence[Miss]], n_asked: int, *, n_listed: int = 50) -> str:
    """Lay the misses out by kind: how many there are, and the ids of a few of each, ``n_listed`` in all."""
    counts = Counter(miss.kind for run in runs for miss in run)
    total = max(sum(counts.values()), 1)
    lines = [f"{dataset}: misses of {n_asked} answers, by kind"]
    for kind, meaning in KINDS.items():
        ids = list(dict.fromkeys(miss.question for run in runs for miss in run if miss.kind == kind))
        shown = ids[: round(n_listed * counts[kind] / total)]
        lines.append(f"{counts[kind]:>5} {counts[kind] / n_asked:>6.1%}  {kind:<27}{meaning}")
        if shown:
            lines.append(f"{'':14}{' '.join(shown)}")
    return "\n".join(lines)
