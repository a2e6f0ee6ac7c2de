"""The reader on passages that training did not see: answers, silence, clashing answers, and speed.

    python benchmarks/reader.py DATA_DIR [--limit N] [--model FOLDER] [--float FOLDER] [--torch]
        [--speed-only] [--json PATH]

DATA_DIR/reading/*.jsonl holds SQuAD-style passages and questions. Only the tenth that training holds out is
read. Four kinds of passage are put to each question: its *own*; *other*, the most similar held-out passage
that lacks the marked answers and a rare word of the question; *removed*, its own without the marked
sentences; and *substituted*, its own saying another answer of the same kind. A reader that has learnt to
hear a clash as silence answers far fewer substituted passages than own ones.

Speed is measured last, each reader in turn over the same passages, several rounds; it means something only
where nothing else runs, so the load of the machine is printed beside it. With --torch, which needs torch, the
network is timed as it is trained, in float32.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from veridical.bench import results
from veridical.errors import MissingExtraError, VeridicalError
from veridical.models import ModelStore
from veridical.reading.base import Reading
from veridical.reading.embedded import EmbeddedReader
from veridical.reading.onnx_ import OnnxReader
from veridical.reading.squad import (
    Context,
    Item,
    Substitutes,
    best_f1,
    exact_match,
    own_items,
    read_contexts,
    removed_item,
    similar_contexts,
)
from veridical.settings import Settings

N_DRAWS = 1000
CHUNK = 64
N_TIMED, N_ROUNDS = 600, 3
N_POOL, N_POOLS = 20, 30


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, help="folder that holds reading/*.jsonl")
    parser.add_argument("--limit", type=int, help="held-out passages a file (default: all)")
    parser.add_argument("--model", type=Path, help="model.onnx and model.json instead of the shipped ones")
    parser.add_argument("--float", type=Path, help="folder of the float model, to compare with")
    parser.add_argument("--torch", action="store_true", help="time the network in torch, too")
    parser.add_argument("--speed-only", action="store_true", help="measure nothing but speed")
    parser.add_argument("--seed", type=int, default=0, help="of substitutions and intervals")
    parser.add_argument("--json", type=Path, help="write the figures here, one flat record each")
    return parser.parse_args()


def questions(contexts: Sequence[Context], seed: int) -> list[Item]:
    """All readings of the benchmark."""
    rng = np.random.default_rng(seed)
    similar = similar_contexts(contexts)
    substitutes = Substitutes(contexts)
    found: list[Item] = []
    for context in contexts:
        found += own_items(context)
        for question in context.questions:
            near = similar.get(question.id, [])
            if near:
                text = contexts[near[0]].text
                found.append(Item("other", context.file, question.text, text, ()))
            if question.answers:
                cases = removed_item(context, question), substitutes.draw(context, question, rng)
                found += [case for case in cases if case is not None]
    return found


def read_all(reader: OnnxReader, items: Sequence[Item], title: str) -> list[Reading]:
    """Read everything, with progress."""
    readings: list[Reading] = []
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for place in progress.track(range(0, len(items), CHUNK), description=title):
            readings += reader.read_pairs([(i.question, i.text) for i in items[place : place + CHUNK]])
    return readings


def speed(readers: Mapping[str, OnnxReader], items: Sequence[Item], n_threads: int) -> list[results.Result]:
    """Time each reader over the same passages, in turn: reads a second, and seconds for one question's pool.

    The figures are medians, with the fastest and slowest round, or the 5th and 95th percentile of pools.
    """
    rng = np.random.default_rng(0)
    chosen = [items[i] for i in rng.permutation(len(items))[:N_TIMED]]
    pairs = [(item.question, item.text) for item in chosen]
    pools = [pairs[place : place + N_POOL] for place in range(0, N_POOL * N_POOLS, N_POOL)]
    seconds: dict[str, list[float]] = defaultdict(list)
    pooled: dict[str, list[float]] = defaultdict(list)
    for reader in readers.values():
        reader.read_pairs(pairs[:N_POOL])  # loads what is loaded on first use
    for _ in range(N_ROUNDS):
        for name, reader in readers.items():
            seconds[name].append(timed(functools.partial(reader.read_pairs, pairs)))
    for pool in pools:
        texts = [text for _, text in pool]
        for name, reader in readers.items():
            pooled[name].append(timed(functools.partial(reader.read, pool[0][0], texts)))
    windows = next(iter(readers.values())).windows(pairs)
    tokens = float(np.mean([len(window.ids) for window in windows]))
    setting = f"{tokens:.0f} tokens, {n_threads} threads"
    found = []
    for name in readers:
        rates = len(pairs) / np.array(seconds[name])
        rows = [("reads a second", *np.quantile(rates, [0.5, 0.0, 1.0]), N_ROUNDS * len(pairs))]
        rows.append((f"a pool of {N_POOL} (s)", *np.quantile(pooled[name], [0.5, 0.05, 0.95]), N_POOLS))
        for metric, middle, low, high, n in rows:
            found.append(
                results.Result("all", setting, name, metric, float(middle), float(low), float(high), n)
            )
    return found


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def auc(low: Sequence[float], high: Sequence[float]) -> float:
    """Probability that a draw of ``high`` is above one of ``low``, ties counting half."""
    if not low or not high:
        return float("nan")
    ordered = np.sort(np.array(low))
    below = np.searchsorted(ordered, high, "left")
    ties = np.searchsorted(ordered, high, "right") - below
    return float((below + 0.5 * ties).mean() / len(ordered))


class Figures:
    """Figures with 95% bootstrap intervals over questions' passages."""

    def __init__(self, dataset: str, method: str, seed: int) -> None:
        self.dataset, self.method, self.seed = dataset, method, seed
        self.rows: list[results.Result] = []

    def mean(self, setting: str, metric: str, values: Sequence[float]) -> None:
        """Add a mean."""
        rng = np.random.default_rng(self.seed)
        array = np.array(values, dtype=float)
        if not len(array):
            return
        draws = array[rng.integers(len(array), size=(N_DRAWS, len(array)))].mean(axis=1)
        self._add(setting, metric, float(array.mean()), draws, len(array))

    def auc(self, setting: str, metric: str, low: Sequence[float], high: Sequence[float]) -> None:
        """Add an area under the curve."""
        rng = np.random.default_rng(self.seed)
        if not low or not high:
            return
        a, b = np.array(low), np.array(high)
        draws = [auc(list(rng.choice(a, len(a))), list(rng.choice(b, len(b)))) for _ in range(N_DRAWS // 5)]
        self._add(setting, metric, auc(low, high), np.array(draws), len(low) + len(high))

    def _add(self, setting: str, metric: str, value: float, draws: np.ndarray, n: int) -> None:
        low, high = np.percentile(draws, [2.5, 97.5])
        self.rows.append(
            results.Result(self.dataset, setting, self.method, metric, value, float(low), float(high), n)
        )


def judge(
    dataset: str, method: str, items: Sequence[Item], readings: Sequence[Reading], seed: int
) -> list[results.Result]:
    """All figures of one data set."""
    figures = Figures(dataset, method, seed)
    nothing: dict[str, list[float]] = defaultdict(list)
    f1: dict[str, list[float]] = defaultdict(list)
    em: dict[str, list[float]] = defaultdict(list)
    for item, reading in zip(items, readings, strict=True):
        nothing[item.kind].append(reading.no_answer)
        if item.spans:
            golds = [item.text[a:b] for a, b in item.spans]
            said = reading.best.text if reading.best else ""
            f1[item.kind].append(best_f1(said, golds))
            em[item.kind].append(float(exact_match(said, golds)))
    for kind in ("own", "substituted"):
        figures.mean(kind, "F1", f1[kind])
        figures.mean(kind, "EM", em[kind])
    silent = nothing["other"] + nothing["removed"]
    figures.auc("own against other and removed", "no-answer AUC", nothing["own"], silent)
    for kind in ("other", "removed", "substituted"):
        figures.auc(f"own against {kind}", "no-answer AUC", nothing["own"], nothing[kind])
    for kind in ("own", "substituted", "other", "removed"):
        figures.mean(kind, "answer rate", [float(p < 0.5) for p in nothing[kind]])
    return figures.rows


def run(args: argparse.Namespace) -> list[results.Result]:
    """Read and judge with each model."""
    contexts = [context for context in read_contexts(args.data_dir / "reading") if context.held_out]
    if args.limit:
        by_file: dict[str, list[Context]] = defaultdict(list)
        for context in contexts:
            by_file[context.file].append(context)
        contexts = [context for group in by_file.values() for context in group[: args.limit]]
    items = questions(contexts, args.seed)
    settings = Settings.from_env()
    store = ModelStore(settings.models_dir, offline=settings.offline, announce=print)
    tokenizer = store.resolve("minilm-l6-int8") / "tokenizer.json"
    embedded = EmbeddedReader(tokenizer, n_threads=settings.n_threads, folder=args.model)
    readers: dict[str, OnnxReader] = {"embedded int8": embedded}
    if args.float:
        readers["float32"] = OnnxReader(args.float, n_threads=settings.n_threads, decoding=embedded.decoding)
    found: list[results.Result] = []
    for method, reader in readers.items() if not args.speed_only else ():
        readings = read_all(reader, items, method)
        for dataset in ["all", *sorted({item.file for item in items})]:
            rows = [i for i, item in enumerate(items) if dataset in ("all", item.file)]
            found += judge(dataset, method, [items[i] for i in rows], [readings[i] for i in rows], args.seed)
    if args.torch:
        readers["torch float32"] = torch_reader(embedded, settings.n_threads)
    return found + speed(readers, items, settings.n_threads)


def torch_reader(like: OnnxReader, n_threads: int) -> OnnxReader:
    """The network as it is trained."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
    try:
        module = importlib.import_module("reader_torch")
    except ModuleNotFoundError as error:
        raise MissingExtraError("train", "--torch") from error
    reader: OnnxReader = module.TorchReader(like, n_threads=n_threads)
    return reader


def show(rows: Sequence[results.Result]) -> None:
    """Print the figures, one a line."""
    for row in rows:
        interval = "" if np.isnan(row.low) else f" [{row.low:.3f}, {row.high:.3f}]"
        number = f"{row.value:.3f}{interval}"
        print(f"{row.dataset:20} {row.method:14} {row.setting:31} {row.metric:17} {number}  n={row.n}")


def main() -> int:
    args = arguments()
    before = os.getloadavg()
    try:
        rows = run(args)
    except VeridicalError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    about = {
        "commit": results.commit(Path(__file__).parent),
        "seed": args.seed,
        "load before": " ".join(f"{load:.2f}" for load in before),
        "load after": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    show(rows)
    if args.json:
        results.write(args.json, rows, about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
