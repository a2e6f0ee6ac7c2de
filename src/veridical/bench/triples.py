"""How many of the triples that questions were made from an extractor finds in the passages beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from veridical.bench.metrics.answers import contains, f1, normalise
from veridical.bench.results import Bootstrap, Result
from veridical.errors import InputError, NotFoundError
from veridical.evidence.triples import Extraction, Found
from veridical.reading.agree import SAME, agreement

Pieces = tuple[str, str, str]

METRICS = (
    "recall",
    "recall, own passage",
    "strict recall",
    "supporting sentences covered",
    "answer in a triple",
    "answer in a tail",
)
_SAME_HEAD = 0.5


@dataclass(frozen=True)
class LabelledPassage:
    """A passage and the places of the sentences that the question was made from."""

    title: str
    text: str
    supporting: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Question:
    """A question as far as it is needed here."""

    id: str
    answers: tuple[str, ...]
    triples: tuple[Pieces, ...]
    passages: tuple[LabelledPassage, ...]


def read(data_dir: Path, name: str) -> list[Question]:
    """Read ``name.jsonl`` of a folder.

    A line holds ``id``, ``answers``, ``passages`` (each ``title``, ``text``, and with ``sentences`` the
    numbers of the ``supporting`` ones), and ``triples``, which may be missing.

    Raises
    ------
    NotFoundError
        There is no such file.
    InputError
        A line is not such an object; the message has its number.
    """
    path = data_dir / f"{name}.jsonl"
    if not path.is_file():
        raise NotFoundError(
            f"There is no data set '{name}': {path} does not exist.", "Give the folder that holds it."
        )
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(_question(json.loads(line)))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise InputError(
                f"{path}, line {number}: not a question ({type(error).__name__}: {error}).",
                "Each line needs id, answers, triples and passages with title, text and sentences.",
            ) from error
    return found


def _question(row: dict[str, Any]) -> Question:
    triples = tuple(
        (str(head), str(relation), str(tail)) for head, relation, tail in row.get("triples") or ()
    )
    answers = tuple(str(answer) for answer in row["answers"])
    return Question(str(row["id"]), answers, triples, tuple(map(_passage, row["passages"])))


def _passage(row: dict[str, Any]) -> LabelledPassage:
    text = str(row["text"])
    places = []
    for number in row.get("supporting") or ():
        sentence = str(row["sentences"][number]).strip()
        start = text.find(sentence)
        if sentence and start >= 0:
            places.append((start, start + len(sentence)))
    return LabelledPassage(str(row.get("title") or ""), text, tuple(places))


def same_head(found: str, gold: str) -> bool:
    """Whether two names mean one thing: half of their words are shared, or one holds the other."""
    return f1(found, gold) >= _SAME_HEAD or contains(found, [gold]) or contains(gold, [found])


@lru_cache(maxsize=65_536)
def same_tail(found: str, gold: str) -> bool:
    """Whether a tail says the gold one: it holds it, or means the same, as a date in other writing does."""
    return contains(found, [gold]) or agreement(found, gold) >= SAME


def is_strict(found: Found, gold: Pieces) -> bool:
    """Whether head and tail are the gold ones after normalisation."""
    return normalise(found.head) == normalise(gold[0]) and normalise(found.tail) == normalise(gold[2])


def is_found(found: Iterable[Found], gold: Pieces) -> bool:
    """Whether some triple has the head and says the tail of a gold one, whatever its relation."""
    return any(same_head(one.head, gold[0]) and same_tail(one.tail, gold[2]) for one in found)


@dataclass(frozen=True)
class Scores:
    """One value each with the question that it belongs to, by metric and by gold relation."""

    values: dict[str, list[tuple[str, float]]]
    relations: dict[str, list[tuple[str, float]]]
    n_triples: tuple[int, ...]


def score(questions: Sequence[Question], extractions: Sequence[Sequence[Extraction]]) -> Scores:
    """Compare what was found with the gold triples, the supporting sentences and the answers.

    Parameters
    ----------
    extractions
        One a passage of each question.

    Notes
    -----
    A question counts for answers if one of them occurs in a supporting passage; others ask for a comparison
    or for yes or no. "answer in a triple" takes heads, too.
    """
    scores = Scores(
        {metric: [] for metric in METRICS}, {}, tuple(len(one.triples) for own in extractions for one in own)
    )
    for question, own in zip(questions, extractions, strict=True):
        _score_gold(scores, question, own)
        _score_support(scores, question, own)
    return scores


def _score_gold(scores: Scores, question: Question, own: Sequence[Extraction]) -> None:
    every = [triple for extraction in own for triple in extraction.triples]
    for gold in question.triples:
        at_home = [
            triple
            for passage, extraction in zip(question.passages, own, strict=True)
            if same_head(passage.title, gold[0])
            for triple in extraction.triples
        ]
        found = float(is_found(every, gold))
        scores.relations.setdefault(gold[1], []).append((question.id, found))
        for metric, value in (
            ("recall", found),
            ("recall, own passage", float(is_found(at_home, gold))),
            ("strict recall", float(any(is_strict(triple, gold) for triple in every))),
        ):
            scores.values[metric].append((question.id, value))


def _score_support(scores: Scores, question: Question, own: Sequence[Extraction]) -> None:
    supporting: list[Found] = []
    is_said = False
    for passage, extraction in zip(question.passages, own, strict=True):
        for start, end in passage.supporting:
            covered = any(triple.start < end and triple.end > start for triple in extraction.triples)
            scores.values["supporting sentences covered"].append((question.id, float(covered)))
        if passage.supporting:
            supporting += extraction.triples
            is_said |= contains(passage.text, question.answers)
    if is_said:
        tails = any(contains(one.tail, question.answers) for one in supporting)
        heads = any(contains(one.head, question.answers) for one in supporting)
        scores.values["answer in a tail"].append((question.id, float(tails)))
        scores.values["answer in a triple"].append((question.id, float(tails or heads)))


def summarise(dataset: str, method: str, scores: Scores, speed: float, *, seed: int = 0) -> list[Result]:
    """Averages with intervals that draw whole questions; recall also by relation of the gold triple."""
    nan = float("nan")
    n = len(scores.n_triples)
    found = [_mean(dataset, "all", method, metric, rows, seed) for metric, rows in scores.values.items()]
    mean = float(np.mean(scores.n_triples)) if n else nan
    found.append(Result(dataset, "all", method, "triples a passage", mean, nan, nan, n))
    found.append(Result(dataset, "all", method, "passages a second", speed, nan, nan, n))
    for relation, rows in sorted(scores.relations.items(), key=lambda item: -len(item[1])):
        found.append(_mean(dataset, f"relation: {relation}", method, "recall", rows, seed))
    return found


def _mean(
    dataset: str, setting: str, method: str, metric: str, rows: Sequence[tuple[str, float]], seed: int
) -> Result:
    at = Bootstrap([question for question, _ in rows], seed=seed).mean([value for _, value in rows])
    return Result(dataset, setting, method, metric, at.value, at.low, at.high, len(rows))


def table(results: Sequence[Result]) -> str:
    """What `summarise` found, one figure a line."""
    lines = []
    for row in results:
        title = row.metric if row.setting == "all" else f"{row.metric}, {row.setting}"
        spread = "" if np.isnan(row.low) else f"[{row.low:.2f},{row.high:.2f}]"
        lines.append(f"{title:44}{row.value:9.3f} {spread:13} n {row.n}")
    return "\n".join(lines)
