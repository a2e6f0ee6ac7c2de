"""Conjugate gradients against the paper's projected gradient, on signed graphs of up to ten million edges.

    python benchmarks/solver.py [--json PATH] [--quick] [--no-largest] [--seed N]

Graphs are synthetic and seeded. 70% of the documents are true. Each document is active in pairs in proportion
to exp(N(0, 1)), so degrees are spread about as 1 to 10 around the mean; one end of an edge is drawn by
activity. What the other end is depends on the setting:

``topics``
    90% of the edges stay within a topic of 100 neighbouring documents (200 where there are fewer than 5,000),
    as pairs chosen by nearest neighbours do.
``uniform``
    Both ends are drawn uniformly from all documents. Such a graph has no bottlenecks and no hubs: the kindest
    case for the gradient, shown for that reason.
``normalised``
    ``topics`` with each weight divided by the root of both ends' weighted degrees and a prior of .02 at each
    node: the kind of problem that method ``veridical`` solves.

An edge supports if both ends are equally true and contradicts otherwise; 20% of the edges say the opposite.
Weights are uniform on [.6, 1]. 1, 10 or 30% of the documents are anchors with targets .9 and .1.

Every solve runs in a process of its own, one after the other. Seconds are those of the solve alone, given the
sparse matrix and the components, which every solver needs and a new judgement does not change; they are
reported apart as set-up. The step 1/sigma_max includes the power iteration that finds it. Distance is the
largest absolute difference from the optimum (dense elimination where it fits, else conjugate gradients to
1e-12). Peak memory is that of the whole process, interpreter and graph included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from veridical.bench.results import Result, commit, write
from veridical.trust.problem import TrustProblem
from veridical.trust.solvers.base import Solver
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.solvers.projected_gradient import ProjectedGradient
from veridical.trust.solvers.reference import Reference

WRONG = 0.2
TRUE = 0.7
CG = "conjugate gradients, residual 1e-8"
OPTIMUM = "optimum"


@dataclass(frozen=True)
class Setting:
    """One graph: its size, how edges are drawn, and the share of documents that are judged."""

    n_nodes: int
    n_edges: int
    kind: str
    judged: float
    seed: int

    @property
    def dataset(self) -> str:
        """Size in words."""
        return f"{self.n_nodes:,} documents x {self.n_edges:,} edges"

    @property
    def name(self) -> str:
        """The rest in words."""
        return f"{self.kind}, {self.judged:.0%} judged"


@dataclass(frozen=True)
class Method:
    """A solver with what it is run with, by name, so that it travels to another process."""

    name: str
    solver: str
    arguments: dict[str, Any]
    options: dict[str, Any]
    n_repeats: int = 1


def methods(setting: Setting, *, only_cg: bool) -> list[Method]:
    """List what runs on a graph; the first gives the optimum."""
    dense = setting.n_nodes <= 2000
    optimum = Method(OPTIMUM, "reference" if dense else "cg", {}, {} if dense else {"tol": 1e-12})
    repeats = 15 if dense else 3
    conjugate = Method(CG, "cg", {}, {"tol": 1e-8}, repeats)
    if only_cg:
        return [optimum, conjugate]
    again = 3 if dense else 1
    loss: dict[str, Any] = {"stop": "loss", "dtype": "float64"}
    long = {"max_iter": 20_000}
    return [
        optimum,
        conjugate,
        Method("gradient, step .01, as published", "pg", {}, {}, again),
        Method("gradient, step .01, double precision", "pg", {"step": 0.01, **loss}, {}, again),
        Method("gradient, step 1/sigma_max", "pg", {"step": "auto", **loss}, long, again),
    ]


def draw(setting: Setting) -> dict[str, np.ndarray]:
    """Draw a graph; see the top of this file. Returns the arrays of a `TrustProblem`."""
    rng = np.random.default_rng(setting.seed)
    n = setting.n_nodes
    true = rng.random(n) < TRUE
    keys = np.empty(0, dtype=np.int64)
    activity = np.cumsum(np.ones(n) if setting.kind == "uniform" else np.exp(rng.standard_normal(n)))
    topic = 200 if n < 5000 else 100
    while len(keys) < setting.n_edges:
        k = int(1.2 * (setting.n_edges - len(keys))) + 10
        one = np.searchsorted(activity, rng.random(k) * activity[-1])
        other = np.searchsorted(activity, rng.random(k) * activity[-1])
        if setting.kind != "uniform":
            near = np.minimum(one // topic * topic + rng.integers(0, topic, k), n - 1)
            other = np.where(rng.random(k) < 0.9, near, other)
        low, high = np.minimum(one, other), np.maximum(one, other)
        keys = np.unique(np.concatenate([keys, (low * n + high)[low < high]]))
    keys = np.sort(rng.choice(keys, setting.n_edges, replace=False, shuffle=False))
    heads, tails = keys // n, keys % n
    agree = (true[heads] == true[tails]) != (rng.random(setting.n_edges) < WRONG)
    weights = rng.uniform(0.6, 1.0, setting.n_edges)
    anchors = rng.choice(n, max(1, round(setting.judged * n)), replace=False)
    arrays: dict[str, np.ndarray] = {
        "heads": heads,
        "tails": tails,
        "signs": np.where(agree, 1, -1).astype(np.int8),
        "weights": weights,
        "anchors": anchors,
        "anchor_targets": np.where(true[anchors], 0.9, 0.1),
    }
    if setting.kind == "normalised":
        degree = np.bincount(heads, weights, n) + np.bincount(tails, weights, n)
        arrays["weights"] = weights / np.sqrt(degree[heads] * degree[tails])
        arrays["prior_weights"] = np.full(n, 0.02)
    return arrays


def save(setting: Setting, folder: Path) -> None:
    """Draw a graph into files."""
    for key, array in draw(setting).items():
        np.save(folder / f"{key}.npy", array)


def peak_memory_mb() -> float:
    """Return this process's peak resident memory so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if platform.system() == "Darwin" else 1e3)


def make(method: Method) -> Solver:
    """Build a method's solver."""
    makers: dict[str, Any] = {"cg": ConjugateGradient, "pg": ProjectedGradient, "reference": Reference}
    solver: Solver = makers[method.solver](**method.arguments)
    return solver


def measure(folder: Path, n_nodes: int, method: Method) -> dict[str, Any]:
    """Solve the graph in ``folder`` and report; runs in a process of its own."""
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    problem = TrustProblem(n_nodes, **arrays)
    import_module("scipy.sparse.csgraph")  # not part of set-up
    before = peak_memory_mb()
    started = time.perf_counter()
    problem.system()
    problem.unanchored()
    setup = time.perf_counter() - started
    solver = make(method)
    runs = [solver.solve(problem, **method.options) for _ in range(method.n_repeats)]
    solution = runs[0]
    return {
        "setup_seconds": [setup],
        "seconds": [run.seconds for run in runs],
        "iterations": [solution.n_iter],
        "residual": [solution.residual],
        "peak_memory_mb": [peak_memory_mb()],
        "memory_before_mb": [before],
        "status": solution.status,
        "values": solution.values,
    }


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def compare(setting: Setting, *, only_cg: bool, console: Console) -> list[Result]:
    """Run all methods on one graph, print their table and return the figures."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        # Drawn elsewhere, too: a process starts out with the peak memory of the one that started it.
        apart(save, setting, Path(name))
        for method in methods(setting, only_cg=only_cg):
            found[method.name] = apart(measure, Path(name), setting.n_nodes, method)
    optimum = found[OPTIMUM]["values"]
    base = float(np.median(found[CG]["seconds"]))
    for report in found.values():
        report["distance"] = [float(np.abs(report.pop("values") - optimum).max())]
        report["times_cg"] = [seconds / base for seconds in report["seconds"]]
    print_table(setting, found, console)
    return [
        Result(
            setting.dataset, setting.name, method, metric,
            float(np.median(values)), min(values), max(values), len(values),
        )
        for method, report in found.items()
        for metric, values in report.items()
        if metric != "status"
    ]  # fmt: skip


def print_table(setting: Setting, found: dict[str, dict[str, Any]], console: Console) -> None:
    """Print one graph's methods."""
    setup = np.median([report["setup_seconds"][0] for report in found.values()])
    table = Table(title=f"{setting.dataset} ({setting.name}); set-up {setup:.3g} s", title_justify="left")
    columns = ("method", "seconds", "x CG", "iterations", "ended", "residual", "distance", "peak MB")
    for column in columns:
        table.add_column(column, justify="left" if column in ("method", "ended") else "right")
    for method, report in found.items():
        if method == OPTIMUM:
            continue
        table.add_row(
            method,
            f"{np.median(report['seconds']):.4f}",
            f"{np.median(report['times_cg']):.1f}",
            f"{report['iterations'][0]:,}",
            report["status"],
            f"{report['residual'][0]:.1e}",
            f"{report['distance'][0]:.1e}",
            f"{report['peak_memory_mb'][0]:,.0f}",
        )
    console.print(table)


def settings(arguments: argparse.Namespace) -> list[tuple[Setting, bool]]:
    """List the graphs, and whether only conjugate gradients run on it."""
    sizes = [(200, 2_000), (2_500, 25_000)] if arguments.quick else [(1_037, 50_000), (100_000, 1_000_000)]
    kinds = [("topics", 0.01), ("topics", 0.1), ("topics", 0.3), ("uniform", 0.1), ("normalised", 0.1)]
    chosen = [(Setting(*size, *kind, arguments.seed), False) for size in sizes for kind in kinds]
    if not arguments.quick and arguments.largest:
        chosen.append((Setting(1_000_000, 10_000_000, "topics", 0.1, arguments.seed), True))
    return chosen


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Conjugate gradients against projected gradient.")
    parser.add_argument("--json", type=Path, help="write the figures as flat records")
    parser.add_argument("--quick", action="store_true", help="small graphs only, a few seconds")
    parser.add_argument(
        "--largest", action=argparse.BooleanOptionalAction, default=True, help="10M edges too"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    console = Console(width=130)
    results: list[Result] = []
    for setting, only_cg in settings(arguments):
        results += compare(setting, only_cg=only_cg, console=console)
    slower = [r for r in results if r.metric == "times_cg" and r.method.startswith("gradient")]
    for kind in ("topics", "uniform", "normalised"):
        least = min((r for r in slower if r.setting.startswith(kind)), key=lambda r: r.value)
        console.print(
            f"{kind}: the gradient takes at least {least.value:.1f} times as long "
            f"({least.method}; {least.dataset}, {least.setting})."
        )
    if arguments.json:
        write(arguments.json, results, {"commit": commit(Path(__file__).parent), "seed": arguments.seed})
    return 0


if __name__ == "__main__":
    sys.exit(main())
