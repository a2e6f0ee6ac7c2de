"""Fit how two readings of one question are compared, and write reading/compare.json.

    python training/relations.py DATA_DIR [--questions 700] [--seed 0] [--out PATH] [--work FOLDER]

DATA_DIR/reading/*.jsonl holds annotated questions on passages. Only passages that the reader was not trained
on are used. For each question pairs are made whose relation is known: its own passage, and similar passages
into which the right answer (A) or another one of the same kind (B) is put. It is said in one of three ways:
as a statement made of question and answer, as such a statement that also denies the other answer, or in the
own passage's sentence, word for word but for the answer. Two that say A, or B, support each other, A
contradicts B, and with a passage that does not answer there is neither.

The shipped reader reads all passages, and a logistic curve with three outcomes is fitted to what
`veridical.reading.compare.evidence` makes of its answers. It is fitted with equal weight on what is something
and what is neither, and then stated for the shares that are met among the passages nearest to one question.
Figures are printed for pairs of passages left out of the fit.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import platformdirs
from rich.console import Console
from rich.progress import Progress
from scipy.optimize import minimize

from nli_pairs import statement
from veridical.bench import cache
from veridical.bench.relations import auc
from veridical.nli.align import sentence_spans
from veridical.pipeline.models import Models
from veridical.reading.base import Reading
from veridical.reading.compare import (
    COMPARE_VERSION,
    FROM_PASSAGES,
    FROM_READINGS,
    CompareModel,
    evidence,
)
from veridical.reading.denied import undenied
from veridical.reading.squad import (
    Context,
    Question,
    answer_kind,
    is_calibration,
    normalise,
    read_contexts,
    removed_item,
    similar_contexts,
)
from veridical.settings import Settings

CLASSES = ("support", "contradiction", "neither")
FIT_SHARES = (0.25, 0.25, 0.5)
SHARES = (0.1, 0.1, 0.8)
"""Of the classes among pairs of the ten passages nearest to a question that is under dispute."""
RIDGE = 1e-3
FOLDS = 5
LONGEST = 6  # words of an answer that is replaced
N_SENTENCES = 4
OUT = Path(__file__).parents[1] / "src" / "veridical" / "reading" / "compare.json"

_DENYING = (
    "{said} Contrary to what is often said, it is not {other}.",
    "While {other} is often named, {said}",
    "{said} In contrast, {other} is not.",
    "Despite claims that it is {other}, {said}",
    "{said} It is not {other}.",
    'The answer to "{question}" is {answer}, not {other}.',
    "{said} {answer}, rather than {other}, is the answer.",
    "{said} The idea that it is {other} is mistaken.",
    "Although {other} is well known, {said}",
)


@dataclass(frozen=True)
class Made:
    """Two passages, what both are asked, and how they stand to one another (a place in ``CLASSES``)."""

    question: str
    left: str
    right: str
    label: int
    file: str
    group: str


class Maker:
    """Makes pairs of one question. ``near`` are passages like its own that do not answer it."""

    def __init__(
        self, context: Context, question: Question, near: Sequence[str], wrong: str, rng: random.Random
    ) -> None:
        self.context, self.question, self.wrong = context, question, wrong
        self._rng = rng
        self._fillers = rng.sample(list(near), 3)
        self._right = min(question.answers, key=lambda a: (len(a.text), a.start))

    def pairs(self) -> Iterator[Made]:
        """Three pairs that support, two that contradict, and up to four of neither."""
        own, (first, second, third) = self.context.text, self._fillers
        yield self._made(own, self._saying("right", first), "support")
        yield self._made(self._saying("right", second), self._saying("right", third), "support")
        yield self._made(self._saying("wrong", second), self._saying("wrong", third), "support")
        yield self._made(own, self._saying("wrong", first), "contradiction")
        yield self._made(self._saying("right", second), self._saying("wrong", third), "contradiction")
        yield self._made(own, first, "neither")
        yield self._made(self._saying("wrong", second), third, "neither")
        removed = removed_item(self.context, self.question)
        if removed is not None:
            yield self._made(self._saying("wrong", second), removed.text, "neither")
            yield self._made(own, removed.text, "neither")

    def _made(self, left: str, right: str, label: str) -> Made:
        return Made(
            self.question.text, left, right, CLASSES.index(label), self.context.file, self.context.text
        )

    def _saying(self, what: str, filler: str) -> str:
        """A passage that says the right or the wrong answer among sentences that answer nothing."""
        rng, right = self._rng, self._right
        form = rng.choice(("stated", "stated", "denying", "own words"))
        if form == "own words":
            span = next(
                s for s in sentence_spans(self.context.text) if s.start <= right.start and right.end <= s.end
            )
            start, end = right.start - span.start, right.end - span.start
            answer = right.text if what == "right" else self.wrong
            said = span.text[:start] + answer + span.text[end:]
        else:
            answer = rng.choice(self.question.answers).text if what == "right" else self.wrong
            said = statement(self.question.text, answer, rng)
            if form == "denying":
                other = self.wrong if what == "right" else right.text
                said = rng.choice(_DENYING).format(
                    said=said, answer=answer, other=other, question=self.question.text
                )
        sentences = [span.text for span in sentence_spans(filler)]
        begin = rng.randint(0, max(0, len(sentences) - N_SENTENCES))
        sentences = sentences[begin : begin + N_SENTENCES]
        sentences.insert(rng.randint(0, len(sentences)), said)
        return " ".join(sentences)


def make(data: Path, n_questions: int, seed: int) -> list[Made]:
    """Make the pairs of up to so many questions of each file."""
    rng = random.Random(seed)
    contexts = [c for c in read_contexts(data / "reading") if c.held_out or is_calibration(c.text)]
    near = similar_contexts(contexts)
    pools: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for context in contexts:
        for question in context.questions:
            if question.answers:
                pools[_pool(context, question)].append(question.answers[0].text)
    asked = [(context, question) for context in contexts for question in context.questions]
    rng.shuffle(asked)
    taken: Counter[str] = Counter()
    found: list[Made] = []
    for context, question in asked:
        if taken[context.file] == n_questions or len(near.get(question.id, [])) < 3 or not question.answers:
            continue
        right = min(question.answers, key=lambda a: (len(a.text), a.start))
        wrong = [text for text in pools[_pool(context, question)] if _apart(text, right.text)]
        whole = any(s.start <= right.start and right.end <= s.end for s in sentence_spans(context.text))
        if not wrong or not whole or len(right.text.split()) > LONGEST:
            continue
        texts = [contexts[i].text for i in near[question.id]]
        found += Maker(context, question, texts, rng.choice(wrong), rng).pairs()
        taken[context.file] += 1
    return found


def _pool(context: Context, question: Question) -> tuple[str, str, str]:
    return context.file, answer_kind(question.answers[0].text), (question.text.lower().split() or [""])[0]


def _apart(left: str, right: str) -> bool:
    a, b = normalise(left), normalise(right)
    return bool(a) and a not in b and b not in a


def table(pairs: Sequence[Made], readings: Sequence[Reading], names: Sequence[str]) -> np.ndarray:
    """Evidence of each pair, shape (n, len(names)); NaN where a passage has no answer at all."""
    rows = np.full((len(pairs), len(names)), np.nan)
    with_texts = set(FROM_PASSAGES) & set(names)
    for row, pair in enumerate(pairs):
        left, right = readings[2 * row : 2 * row + 2]
        texts = (pair.left, pair.right) if with_texts else None
        if texts:
            left = undenied(pair.left, left, question=pair.question)
            right = undenied(pair.right, right, question=pair.question)
        if left.answers and right.answers:
            found = evidence(pair.question, left, right, texts)
            rows[row] = [found[name] for name in names]
    return rows


def class_weights(labels: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Weights by which the classes have these shares; they sum to one."""
    counts = np.bincount(labels, minlength=len(CLASSES))
    return (np.array(shares) / counts)[labels]


def fit(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Least weighted log-loss with a ridge on standardised weights, stated for ``SHARES`` (Bayes).

    Returns
    -------
    numpy.ndarray
        Shape (2, 1 + n_columns): bias and weights of support and of contradiction, against neither.
    """
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    inputs = np.column_stack([np.ones(len(rows)), (rows - mean) / spread])
    shares = class_weights(labels, FIT_SHARES)
    target = np.eye(len(CLASSES))[labels]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        model = flat.reshape(2, -1)
        p = softmax(inputs, model)
        value = -float(shares @ np.log((p * target).sum(axis=1) + 1e-12))
        slope = ((p - target) * shares[:, None])[:, :2].T @ inputs
        slope[:, 1:] += 2 * RIDGE * model[:, 1:]
        return value + RIDGE * float((model[:, 1:] ** 2).sum()), slope.ravel()

    model = minimize(loss, np.zeros(2 * inputs.shape[1]), jac=True, method="L-BFGS-B").x.reshape(2, -1)
    bias = model[:, 0] - (model[:, 1:] * mean / spread).sum(axis=1)
    odds = np.log(np.array(SHARES) / np.array(FIT_SHARES))
    bias += odds[:2] - odds[2]
    return np.column_stack([bias, model[:, 1:] / spread])


def softmax(inputs: np.ndarray, model: np.ndarray) -> np.ndarray:
    """Probabilities of the classes, shape (n, 3), for inputs with a leading column of ones."""
    z = np.column_stack([inputs @ model.T, np.zeros(len(inputs))])
    terms = np.exp(z - z.max(axis=1, keepdims=True))
    return terms / terms.sum(axis=1, keepdims=True)


def cross_fitted(rows: np.ndarray, labels: np.ndarray, groups: Sequence[str]) -> np.ndarray:
    """Probabilities of each pair by models that saw no pair of its passage."""
    fold = np.array([zlib.crc32(group.encode()) % FOLDS for group in groups])
    usable = ~np.isnan(rows[:, 0])
    found = np.tile([0.0, 0.0, 1.0], (len(rows), 1))
    for number in range(FOLDS):
        seen, new = usable & (fold != number), usable & (fold == number)
        model = fit(rows[seen], labels[seen])
        found[new] = softmax(np.column_stack([np.ones(new.sum()), rows[new]]), model)
    return found


def figures(found: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """How well the classes are told apart, at the classes' shares."""
    weights = class_weights(labels, SHARES)
    ratio = np.log(found[:, 1] + 1e-9) - np.log(found[:, 0] + 1e-9)
    out = {"auc": auc(ratio[labels == 0], ratio[labels == 1])}
    chosen = found.argmax(axis=1)
    for place, name in enumerate(CLASSES[:2]):
        said, true = chosen == place, labels == place
        out[f"{name}_precision"] = float(weights[said & true].sum() / weights[said].sum())
        out[f"{name}_recall"] = float(np.mean(said[true]))
    out["log_loss"] = -float(weights @ np.log(found[np.arange(len(labels)), labels] + 1e-9))
    return {name: round(value, 3) for name, value in out.items()}


def curve(model: np.ndarray, names: Sequence[str]) -> CompareModel:
    """The fitted numbers by name."""
    sides = [dict(zip(("bias", *names), np.round(row, 3).tolist(), strict=True)) for row in model]
    return CompareModel(*sides)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", type=int, default=700, help="of each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--work", type=Path, default=platformdirs.user_cache_path("veridical") / "bench")
    args = parser.parse_args()
    reader = Models(Settings.from_env()).reader("embedded")
    made = make(args.data, args.questions, args.seed)
    labels = np.array([pair.label for pair in made])
    print({name: int(n) for name, n in zip(CLASSES, np.bincount(labels), strict=True)})
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("reading", total=2 * len(made))
        asked = [(pair.question, text) for pair in made for text in (pair.left, pair.right)]
        readings = cache.readings(args.work, reader, asked, lambda n: progress.advance(task, n))
    about = {"reader": reader.name, "questions": args.questions, "seed": args.seed, "shares": SHARES}
    out: dict[str, object] = {"version": COMPARE_VERSION, "about": about}
    for name, names in (("readings", FROM_READINGS), ("passages", FROM_READINGS + FROM_PASSAGES)):
        rows = table(made, readings, names)
        held_out = figures(cross_fitted(rows, labels, [pair.group for pair in made]), labels)
        usable = ~np.isnan(rows[:, 0])
        model = curve(fit(rows[usable], labels[usable]), names)
        print(name, held_out)
        out[name] = {"support": model.support, "contradiction": model.contradiction, "held_out": held_out}
    args.out.write_text(json.dumps(out, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
