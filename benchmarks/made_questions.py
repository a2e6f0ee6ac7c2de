"""Questions that documents put to one another: how often a clash or an agreement that they find is one.

    python benchmarks/made_questions.py DATA_DIR [--pairs N]

Each claim of DATA_DIR/nli/fever.jsonl and its evidence are two documents that put their questions to each
other; the label says whether they clash. In DATA_DIR/reading/squadshifts-wiki.jsonl no passage is made to
contradict another, so nearly every clash found among neighbours there is a false one. A verdict counts as
found above one half before it is taken down by ``RELIANCE``, whose numbers are the shares of this table.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from veridical.errors import VeridicalError
from veridical.graph.candidates import candidate_pairs, update_neighbours
from veridical.graph.made_questions import RELIANCE, MadeQuestion, Neighbour, questions_of
from veridical.pipeline.models import Models
from veridical.reading.base import Reader
from veridical.settings import Settings

N_QUESTIONS = 4
CHUNK = 256


@dataclass(frozen=True)
class Asked:
    """A question with what is known of the two texts: ``clash``, ``agree``, or ``unknown``."""

    truth: str
    question: MadeQuestion


def fever(path: Path, n: int) -> list[Asked]:
    """Questions of claims to their evidence, and the other way round."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    random.Random(0).shuffle(rows)
    truth = {"contradiction": "clash", "entailment": "agree"}
    found = []
    for row in rows[:n]:
        for own, other in (("hypothesis", "premise"), ("premise", "hypothesis")):
            near = {1: [Neighbour(2, 2, "", row[other])]}
            made = questions_of({1: row[own]}, "", near, N_QUESTIONS)
            found += [Asked(truth[row["label"]], question) for question in made]
    return found


def wiki(path: Path, models: Models) -> list[Asked]:
    """Questions of passages to their neighbours."""
    texts = [json.loads(line)["context"] for line in path.read_text("utf-8").splitlines()]
    ids = np.arange(len(texts), dtype=np.int64)
    pairs = candidate_pairs(update_neighbours(ids, ids, models.encoder.encode(texts), {}))
    near: dict[int, list[Neighbour]] = {}
    for low, high in pairs:
        near.setdefault(low, []).append(Neighbour(high, high, "", texts[high]))
        near.setdefault(high, []).append(Neighbour(low, low, "", texts[low]))
    return [
        Asked("unknown", question)
        for i, text in enumerate(texts)
        for question in questions_of({i: text}, "", {i: near.get(i, [])}, N_QUESTIONS)
    ]


def judge(reader: Reader, asked: Sequence[Asked]) -> list[tuple[str, str, float, float]]:
    """Kind, truth, support and contradiction of each, before `RELIANCE`."""
    found: list[tuple[str, str, float, float]] = []
    for begin in track(range(0, len(asked), CHUNK), "reading", console=Console(stderr=True)):
        part = asked[begin : begin + CHUNK]
        readings = reader.read_pairs([(a.question.question, a.question.window.text) for a in part])
        for item, reading in zip(part, readings, strict=True):
            verdict, kind = item.question.verdict(reading), item.question.kind
            reliance = RELIANCE[kind]
            found.append((kind, item.truth, verdict.support / reliance, verdict.contradiction / reliance))
    return found


def report(rows: Sequence[tuple[str, str, float, float]]) -> Table:
    """Counts by kind, and the share of clashes and agreements found that are some."""
    table = Table(
        "kind", "asked", "clashes found", "are some", "agreements found", "are some", "wiki: asked", "clashes"
    )
    for kind in (*RELIANCE, "all"):
        own = [row for row in rows if kind in (row[0], "all")]
        known = [row for row in own if row[1] != "unknown"]
        rest = [row for row in own if row[1] == "unknown"]
        clashes = [truth for _, truth, _, contradiction in known if contradiction > 0.5]
        agreements = [truth for _, truth, support, _ in known if support > 0.5]
        table.add_row(
            kind,
            str(len(known)),
            str(len(clashes)),
            share(clashes, "clash"),
            str(len(agreements)),
            share(agreements, "agree"),
            str(len(rest)),
            str(sum(contradiction > 0.5 for *_, contradiction in rest)),
        )
    return table


def share(truths: Sequence[str], wanted: str) -> str:
    """How many are what they were found to be."""
    return f"{sum(truth == wanted for truth in truths) / len(truths):.2f}" if truths else "-"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder that holds nli/ and reading/")
    parser.add_argument("--pairs", type=int, default=5000, help="claims with their evidence")
    options = parser.parse_args()
    models = Models(Settings.from_env())
    try:
        asked = fever(options.data_dir / "nli" / "fever.jsonl", options.pairs)
        asked += wiki(options.data_dir / "reading" / "squadshifts-wiki.jsonl", models)
        rows = judge(models.reader("embedded"), asked)
    except (OSError, VeridicalError) as error:
        sys.exit(str(error))
    Console().print(report(rows))


if __name__ == "__main__":
    main()
