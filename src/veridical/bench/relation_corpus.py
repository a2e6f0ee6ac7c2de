"""A corpus of which it is known which documents contradict and which support one another, over all pairs.

For evaluation only: labels and gold answers decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains
from veridical.bench.relations import Expected, argued
from veridical.graph.evidence import Rows

Pair = tuple[int, int]
Truth = Mapping[Pair, Expected | None]


@dataclass(frozen=True)
class RelationCorpus:
    """Documents (one a passage), the questions whose passages they are, and how pairs stand.

    Attributes
    ----------
    texts
        One a document; a text that several questions share is one document.
    questions
        All whose passages are in the corpus.
    strict
        Pairs by lower number first. Contradicting: a fake that names the wrong answer, or an outdated
        passage, and a real passage that names the right one, or two fakes for different answers. Supporting:
        two real ones that name it, or two fakes for one answer. None, which is not scored: pairs of one
        question of which this cannot be said, as one of them names neither answer. Every other pair is
        ``neither``, and so is a real passage that names the answer with one that does not.
    by_label
        Pairs of one question by labels alone: of one label supporting, of two contradicting.
    owner
        The question that a pair belongs to.
    """

    texts: tuple[str, ...]
    questions: tuple[Question, ...]
    strict: Truth
    by_label: Truth
    owner: Mapping[Pair, str]

    @property
    def n_pairs(self) -> int:
        """All pairs of documents."""
        return len(self.texts) * (len(self.texts) - 1) // 2


def draw(questions: Sequence[Question], n_documents: int, *, seed: int = 0) -> RelationCorpus:
    """Draw questions, with all their passages, until there are so many documents (or no more questions)."""
    numbers: dict[str, int] = {}
    drawn: list[Question] = []
    for place in np.random.default_rng(seed).permutation(len(questions)):
        if len(numbers) >= n_documents:
            break
        drawn.append(questions[place])
        for passage in questions[place].passages:
            numbers.setdefault(passage.text, len(numbers))
    strict: dict[Pair, Expected | None] = {}
    by_label: dict[Pair, Expected | None] = {}
    owner: dict[Pair, str] = {}
    for question in drawn:
        for a, b in combinations(question.passages, 2):
            left, right = numbers[a.text], numbers[b.text]
            if left == right:
                continue
            pair = (min(left, right), max(left, right))
            says = {_says(question, a), _says(question, b)}
            strict[pair] = _expected(says)
            by_label[pair] = "supports" if a.label == b.label else "contradicts"
            owner[pair] = question.id
    return RelationCorpus(tuple(numbers), tuple(drawn), strict, by_label, owner)


def _says(question: Question, passage: LabelledPassage) -> tuple[str, str | None]:
    """Label, and the answer that a passage stands for: the right one, a wrong one, or None if unclear."""
    if passage.label == "misinformation":
        return passage.label, argued(question, passage)
    named = contains(passage.text, question.answers)
    if passage.label == "outdated":
        return passage.label, None if named else "outdated"
    return passage.label, "right" if named else None


def _expected(says: set[tuple[str, str | None]]) -> Expected | None:
    if len(says) == 1:
        ((label, answer),) = says
        return None if answer is None or label == "outdated" else "supports"
    (label_a, a), (label_b, b) = says
    if {label_a, label_b} == {"factual"}:
        return "neither"
    if a is None or b is None or (label_a == label_b == "outdated"):
        return None
    return "contradicts"


def found_kinds(rows: Rows, least: float) -> dict[Pair, tuple[Expected, float]]:
    """One edge a pair that is worth at least ``least``, by lower number first, with its weight."""
    return {
        (int(head), int(tail)): ("supports" if sign > 0 else "contradicts", float(weight))
        for head, tail, sign, weight in zip(rows.heads, rows.tails, rows.signs, rows.weights, strict=True)
        if weight >= least
    }


@dataclass(frozen=True)
class Scored:
    """Edges of one kind: for each that was found and can be scored whether it is right; each that is true
    whether it was found; and the question of each, for intervals.
    """

    right: tuple[bool, ...]
    right_of: tuple[str, ...]
    found: tuple[bool, ...]
    found_of: tuple[str, ...]


def score(
    corpus: RelationCorpus,
    truth: Truth,
    edges: Mapping[Pair, tuple[Expected, float]],
    kind: Expected,
    asked_by: Mapping[Pair, str] | None = None,
) -> Scored:
    """Compare edges with what is known.

    Parameters
    ----------
    truth
        ``corpus.strict`` or ``corpus.by_label``; a pair that is not in it is ``neither``.
    edges
        As `found_kinds`.
    asked_by
        The question that an edge comes from, where it joins passages of different questions.
    """
    said = [pair for pair, (is_kind, _) in sorted(edges.items()) if is_kind == kind]
    scored = [pair for pair in said if truth.get(pair, "neither") is not None]
    true = [pair for pair, expected in sorted(truth.items()) if expected == kind]
    known = {**(asked_by or {}), **corpus.owner}
    return Scored(
        tuple(truth.get(pair, "neither") == kind for pair in scored),
        tuple(known.get(pair, "") for pair in scored),
        tuple(edges.get(pair, (None, 0.0))[0] == kind for pair in true),
        tuple(corpus.owner[pair] for pair in true),
    )


def questions_of_pairs(asked: Iterable[tuple[str, Iterable[int]]]) -> dict[Pair, str]:
    """For each pair of documents that one question was put to, the first such question."""
    found: dict[Pair, str] = {}
    for question, documents in asked:
        for pair in combinations(sorted(documents), 2):
            found.setdefault(pair, question)
    return found
