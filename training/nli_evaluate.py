"""Evaluate the shipped feature models on data that they were not fitted on; nothing is fitted here.

    python training/nli_evaluate.py DATA_DIR --encoder FOLDER [--n 400] [--effort lexical quick full]

For the inference sets that may only be evaluated on it prints the AUC of either probability; for the question
sets the AUC of false against true among passages of one question, and what neighbouring passages are called.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nli_features import auc
from nli_pairs import rows
from veridical.index.encoder import Encoder
from veridical.nli.directions import both_directions
from veridical.nli.features import FeatureNLI
from veridical.types import NLIResult

NLI_SETS = ("wikifactcheck", "climate-fever", "covid-fact", "sick", "scitail", "control")
Floats = npt.NDArray[np.float64]


def columns(results: Sequence[NLIResult]) -> Floats:
    return np.array([(r.entailment, r.neutral, r.contradiction) for r in results])


def nli_sets(data: Path, model: FeatureNLI, n: int) -> None:
    for name in NLI_SETS:
        read = list(rows(data / "nli" / f"{name}.jsonl"))
        read = random.Random(0).sample(read, min(n, len(read)))
        got = columns(model.judge([(row["premise"], row["hypothesis"]) for row in read]))
        labels = np.array([row["label"] for row in read])
        parts = []
        for column, label in ((0, "entailment"), (2, "contradiction")):
            if 0 < (labels == label).sum() < len(labels):
                parts.append(
                    f"AUC {label} {auc(got[labels == label, column], got[labels != label, column]):.3f}"
                )
        if not parts:
            parts = [f"share called contradiction {(got.argmax(1) == 2).mean():.3f}"]
        print(f"  {name:<14} n {len(read):<5} {'  '.join(parts)}", flush=True)


def of_one_question(path: Path, n: int) -> list[tuple[str, str, str]]:
    """Pair answer-bearing true passages with the others of the question: (left, right, "true" or "false")."""
    questions: list[Any] = [json.loads(line) for line in path.open(encoding="utf-8")]
    found = []
    for question in random.Random(0).sample(questions, min(n, len(questions))):
        true = [p["text"] for p in question["passages"] if p["label"] == "factual"]
        false = [p["text"] for p in question["passages"] if p["label"] == "misinformation"]
        for text in true:
            if any(answer.lower() in text.lower() for answer in question["answers"]):
                found += [(text, other, "true") for other in true if other != text]
                found += [(text, other, "false") for other in false]
    return found


def neighbours(
    path: Path, encode: Callable[[Sequence[str]], Any], n: int, k: int = 10
) -> list[tuple[str, str, str]]:
    """Pair passages of a corpus with their nearest: (left, right, how they stand)."""
    known: dict[str, tuple[str, str]] = {}
    for line in path.open(encoding="utf-8"):
        question = json.loads(line)
        for passage in question["passages"]:
            known.setdefault(passage["text"], (question["id"], passage["label"]))
    texts = random.Random(0).sample(sorted(known), min(n, len(known)))
    vectors = encode(texts)
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -1)
    near = np.argsort(-similar, axis=1)[:, :k]
    pairs = sorted({(min(i, int(j)), max(i, int(j))) for i in range(len(texts)) for j in near[i]})
    return [(texts[i], texts[j], stand(known[texts[i]], known[texts[j]])) for i, j in pairs]


def stand(left: tuple[str, str], right: tuple[str, str]) -> str:
    if left[0] != right[0]:
        return "other question"
    return "-".join(sorted("true" if label == "factual" else "false" for label in (left[1], right[1])))


def question_set(
    name: str, data: Path, model: FeatureNLI, near: Sequence[tuple[str, str, str]], n: int
) -> None:
    pairs = of_one_question(data / f"{name}.jsonl", n)
    got = columns(both_directions(model, [(a, b) for a, b, _ in pairs]))
    false = np.array([kind == "false" for _, _, kind in pairs])
    for title, value in (
        ("P(contradiction)", got[:, 2]),
        ("P(contradiction) - P(entailment)", got[:, 2] - got[:, 0]),
    ):
        print(f"  {name} one question, {len(pairs)} pairs: AUC of false against true by {title} "
              f"{auc(value[false], value[~false]):.3f}")  # fmt: skip
    shares = {k: [round(float((got[false == (k == "false")].argmax(1) == c).mean()), 3) for c in (0, 2)]
              for k in ("true", "false")}  # fmt: skip
    print(f"    called [entailment, contradiction]: {shares}")
    start = time.perf_counter()
    labels = columns(both_directions(model, [(a, b) for a, b, _ in near])).argmax(1)
    print(f"  {name} neighbours, {len(near)} pairs both ways, {time.perf_counter() - start:.1f} s")
    kinds = Counter(kind for _, _, kind in near)
    for column, title in ((0, "SUPPORTS"), (2, "CONTRADICTS")):
        of = Counter(kind for (_, _, kind), label in zip(near, labels, strict=True) if label == column)
        total = sum(of.values())
        print(f"    {title} {total / len(near):.3f} of all, by how they stand: "
              + ", ".join(f"{kind} {of[kind]} of {kinds[kind]}" for kind in sorted(kinds)))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument(
        "--n", type=int, default=400, help="pairs of each inference set, and questions of each set"
    )
    parser.add_argument("--effort", nargs="+", default=["lexical", "quick", "full"])
    args = parser.parse_args()
    encoder = Encoder(args.encoder, n_threads=2)
    near = {
        name: neighbours(args.data / f"{name}.jsonl", encoder.encode, 4 * args.n)
        for name in ("nq", "triviaqa")
    }
    for effort in args.effort:
        model = FeatureNLI(encoder.encode, effort=effort)
        print(model.name)
        nli_sets(args.data, model, args.n)
        for name, pairs in near.items():
            question_set(name, args.data, model, pairs, args.n)


if __name__ == "__main__":
    main()
