"""Fit P(relevant | similarity), which the default ranking uses, and write evidence/relevance.json.

    python training/relevance.py FIT.jsonl [CHECK.jsonl ...] [--out PATH]

Each file holds one passage a line: {"context", "questions": [{"id", "question", ...}]}. A question is
answerable from its own passage; the other passages that a retriever brings for it are taken as unanswerable.
For a sample of questions the best 100 passages are retrieved from all passages of the file, by cosine and by
BM25, and a logistic curve is fitted in which the answerable and the unanswerable weigh the same in total
(even prior odds, as trust is stated). The constants come from FIT alone; CHECK files only say how well they
carry over.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import platformdirs
from rich.console import Console
from rich.progress import Progress
from scipy.optimize import minimize

from veridical.bench import cache
from veridical.index.bm25 import LexicalIndex
from veridical.index.dense import top_rows
from veridical.pipeline.models import Models
from veridical.settings import Settings

POOL = 100
OUT = Path(__file__).parents[1] / "src" / "veridical" / "evidence" / "relevance.json"


@dataclass(frozen=True)
class Pairs:
    """Question-passage pairs: a number that grows with similarity, and whether the passage answers."""

    x: np.ndarray
    answerable: np.ndarray

    def loss(self, slope: float, middle: float) -> float:
        """Balanced log-loss, in nats (chance: 0.693)."""
        signs = 2.0 * self.answerable - 1.0
        losses = np.logaddexp(0.0, -signs * slope * (self.x - middle))
        return float(0.5 * losses[self.answerable].mean() + 0.5 * losses[~self.answerable].mean())

    def fit(self) -> tuple[float, float]:
        """Slope and middle of the logistic curve with the least balanced log-loss."""
        found = minimize(lambda p: self.loss(p[0], p[1]), [10.0, 0.5], method="Nelder-Mead")
        return float(found.x[0]), float(found.x[1])


def read(path: Path, n_questions: int, seed: int) -> tuple[list[str], list[tuple[int, str]]]:
    """Read a file's passages, and a sample of its questions with the number of the passage of each."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    asked = [(number, item["question"]) for number, row in enumerate(rows) for item in row["questions"]]
    chosen = np.random.default_rng(seed).permutation(len(asked))[:n_questions]
    return [row["context"] for row in rows], [asked[i] for i in chosen]


def pairs(
    path: Path, models: Models, args: argparse.Namespace, progress: Progress
) -> tuple[Pairs, Pairs, float]:
    """Retrieve pools; return pairs by cosine, pairs by BM25 over the pool's best, and recall@1 by cosine."""
    texts, asked = read(path, args.questions, args.seed)
    task = progress.add_task(path.stem, total=len(texts) + len(asked))
    step = functools.partial(progress.advance, task)
    passages = cache.vectors(args.work, models.encoder, texts, step)
    questions = cache.vectors(args.work, models.encoder, [question for _, question in asked], step)
    lexical = LexicalIndex(None)
    lexical.update(list(enumerate(texts)))
    by_cosine: list[tuple[float, bool]] = []
    by_words: list[tuple[float, bool]] = []
    first = 0
    for (own, question), vector in zip(asked, questions, strict=True):
        cosines = passages @ vector
        near = top_rows(cosines, POOL)
        first += int(near[0] == own)
        by_cosine += [(float(cosines[i]), bool(i == own)) for i in near]
        found = lexical.search(question, POOL)
        by_words += [(value / found[0][1], i == own) for i, value in found]
    progress.remove_task(task)
    return _pairs(by_cosine), _pairs(by_words), first / len(asked)


def _pairs(rows: list[tuple[float, bool]]) -> Pairs:
    return Pairs(np.array([x for x, _ in rows]), np.array([y for _, y in rows], dtype=bool))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("fit", type=Path)
    parser.add_argument("check", type=Path, nargs="*")
    parser.add_argument("--questions", type=int, default=2000, help="sampled from each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--work", type=Path, default=platformdirs.user_cache_path("veridical") / "bench")
    args = parser.parse_args()
    models = Models(Settings.from_env())
    with Progress(console=Console(stderr=True)) as progress:
        cosine, words, first = pairs(args.fit, models, args, progress)
        constants = dict(
            zip(
                ("cosine_slope", "cosine_middle", "ratio_slope", "ratio_middle"),
                cosine.fit() + words.fit(),
                strict=True,
            )
        )
        constants = {name: round(value, 3) for name, value in constants.items()}
        curve = constants["cosine_slope"], constants["cosine_middle"]
        ratio = constants["ratio_slope"], constants["ratio_middle"]
        losses = f"loss by cosine {cosine.loss(*curve):.3f}, by BM25 {words.loss(*ratio):.3f}"
        print(f"{args.fit.stem}: recall@1 {first:.3f}; {losses}")
        for path in args.check:
            other, lexical, first = pairs(path, models, args, progress)
            print(
                f"{path.stem}: recall@1 {first:.3f}; loss by cosine {other.loss(*curve):.3f} (own fit "
                f"{other.loss(*other.fit()):.3f}), by BM25 {lexical.loss(*ratio):.3f} "
                f"(own fit {lexical.loss(*lexical.fit()):.3f})"
            )
    about = {"fitted_on": args.fit.stem, "questions": args.questions, "pool": POOL, "seed": args.seed}
    about["encoder"] = models.encoder.name
    args.out.write_text(
        json.dumps({"constants": constants, "about": about}, indent=2) + "\n", encoding="utf-8"
    )
    print(json.dumps(constants))
    return 0


if __name__ == "__main__":
    sys.exit(main())
