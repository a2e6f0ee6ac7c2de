"""How far trust tells true from false, how far probabilities hold, and what answers cost."""

from __future__ import annotations

import math

import numpy as np

from veridical.bench import known as knowns
from veridical.bench.known import Known
from veridical.bench.metrics.calibration import calibration_error
from veridical.bench.report.blocks import Block, Cell, Figure, Heading, Table, Text
from veridical.bench.report.frame import Frame
from veridical.bench.report.stats import mean
from veridical.bench.report.svg import Point, Series, lines, scatter
from veridical.bench.report.tables import headlines, said
from veridical.bench.rows import Row

_N_BINS = 10
_MOST_LINES = 5


def trust(frame: Frame) -> list[Block]:
    """ROC of trust over documents that nobody judged, and whether trust holds as a probability."""
    share = headlines(frame)[0].share
    blocks: list[Block] = [Heading("Trust in documents")]
    for dataset in frame.datasets:
        for attack in frame.attacks:
            found = _beliefs(frame, dataset, attack, Known(share))
            if found:
                blocks += _trust(found, f"{dataset}, {attack}: {said(Known(share))}")
    if len(blocks) == 1:
        blocks.append(Text(("No system that was run goes by trust.",)))
    return blocks


def _beliefs(frame: Frame, dataset: str, attack: str, known: Known) -> dict[str, list[dict[str, object]]]:
    """What was kept of each belief, seed by seed."""
    found: dict[str, list[dict[str, object]]] = {}
    for corpus, belief, name, about in frame.trust:
        at = frame.corpora.get(corpus)
        if at is None or (at["dataset"], at["attack"]) != (dataset, attack):
            continue
        if knowns.read(name) in (known, Known(credibility="evaluator")) and about["roc"]:
            found.setdefault(belief, []).append(about)
    return found


def _trust(found: dict[str, list[dict[str, object]]], title: str) -> list[Block]:
    curves, reliability, rows = [], [], []
    for belief, seeds in found.items():
        roc = _mean_roc([about["roc"] for about in seeds])  # type: ignore[misc]
        curves.append(Series(belief, tuple(roc[:, 0].tolist()), tuple(roc[:, 1].tolist())))
        bins = _pooled([about["bins"] for about in seeds])  # type: ignore[misc]
        x, y, n = (tuple(column) for column in zip(*bins, strict=True))
        reliability.append(Series(belief, x, y))
        total = sum(n)
        gap = sum(k * abs(a - b) for a, b, k in bins) / total
        aucs = [float(about["auc"]) for about in seeds]  # type: ignore[arg-type]
        unknown = sum(int(about["n_unknown"]) for about in seeds) / total  # type: ignore[call-overload]
        cells = (
            f"{np.mean(aucs):.3f}",
            f"{min(aucs):.3f} to {max(aucs):.3f}",
            f"{gap:.3f}",
            f"{unknown:.2f}",
        )
        rows.append((Cell(belief), *(Cell(text) for text in cells)))
    columns = ("belief", "AUC", "over seeds", "calibration error", "nothing known of")
    caption = f"Trust: {title}"
    table = Table(columns, tuple(rows), caption, ("Over documents that nobody judged.",))
    first = lines(
        curves, x_label="share of false documents above", y_label="share of true ones above", diagonal=True
    )
    second = lines(reliability, x_label="trust", y_label="share that is true", diagonal=True)
    return [
        Figure(first, f"ROC of trust: {title}", table),
        Figure(second, f"Calibration of trust: {title}", table),
    ]


def _mean_roc(curves: list[list[list[float]]]) -> np.ndarray:
    """Average curves over seeds, at the same shares of false documents."""
    grid = np.linspace(0.0, 1.0, 41)
    heights = [np.interp(grid, *np.array(points).T) for points in curves]
    return np.column_stack([grid, np.mean(heights, axis=0)])


def _pooled(seeds: list[list[dict[str, float]]]) -> list[tuple[float, float, int]]:
    """Join bins of several seeds by their place: mean said, mean true, and how many."""
    places: dict[int, list[dict[str, float]]] = {}
    for bins in seeds:
        for one in bins:
            places.setdefault(min(int(one["said"] * _N_BINS), _N_BINS - 1), []).append(one)
    found = []
    for place in sorted(places):
        n = sum(int(one["n"]) for one in places[place])
        said_there = sum(one["n"] * one["said"] for one in places[place]) / n
        found.append((said_there, sum(one["n"] * one["true"] for one in places[place]) / n, n))
    return found


def calibration(frame: Frame, against: str) -> list[Block]:
    """Whether answers are right as often as their probabilities say."""
    known = headlines(frame)[-1]
    blocks: list[Block] = [Heading("Calibration of answers")]
    for dataset in frame.datasets:
        for attack in frame.attacks:
            series: list[Series] = []
            rows = []
            for system in sorted(frame.systems, key=lambda one: one != against):
                pairs = _sure(list(frame.rows(dataset, attack, system, known).values()))
                if len(pairs) < 2:
                    continue
                name = frame.title(system)
                error = calibration_error(pairs[:, 0], pairs[:, 1])
                means = pairs.mean(axis=0)
                cells = (f"{error:.3f}", f"{means[0]:.3f}", f"{means[1]:.3f}", str(len(pairs)))
                rows.append((Cell(name), *(Cell(text) for text in cells)))
                series.append(_reliability(name, pairs, muted=len(series) >= _MOST_LINES))
            if rows:
                caption = f"Calibration: {dataset}, {attack}: {said(known)}"
                columns = ("system", "calibration error", "mean probability", "containment EM", "answers")
                svg = lines(
                    series, x_label="probability", y_label="share right", diagonal=True, title=caption
                )
                blocks.append(Figure(svg, caption, Table(columns, tuple(rows), caption)))
    if len(blocks) == 1:
        blocks.append(Text(("No system that was run says how sure it is.",)))
    return blocks


def _sure(rows: list[Row]) -> np.ndarray:
    """Probability and whether right, of the answers that were given with a probability; shape (n, 2)."""
    pairs = [
        (row.probability, row.marks["containment"])
        for row in rows
        if row.probability is not None and row.text and not row.failed
    ]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def _reliability(name: str, pairs: np.ndarray, *, muted: bool) -> Series:
    bins = np.minimum((pairs[:, 0] * _N_BINS).astype(np.int64), _N_BINS - 1)
    means = [pairs[bins == place].mean(axis=0) for place in np.unique(bins)]
    return Series(name, tuple(float(m[0]) for m in means), tuple(float(m[1]) for m in means), muted=muted)


def cost(frame: Frame, against: str) -> list[Block]:
    """Quality beside cost: tokens where a language model was asked, else time."""
    known = headlines(frame)[-1]
    metric = "tokens" if any(row.usage.calls for row in frame.all_rows()) else "seconds"
    blocks: list[Block] = [Heading("Cost and quality")]
    for dataset in frame.datasets:
        for attack in frame.attacks:
            points, rows = [], []
            for system in frame.systems:
                spent = mean(frame.values(dataset, attack, system, known, metric)).value
                calls = mean(frame.values(dataset, attack, system, known, "calls")).value
                right = mean(frame.values(dataset, attack, system, known, "strict")).value
                wrong = mean(frame.values(dataset, attack, system, known, "attack")).value
                if math.isnan(right) or math.isnan(spent):
                    continue
                name = frame.title(system)
                rows.append((name, calls, spent, right, wrong))
                if spent > 0:
                    points.append(Point(name, spent, right, strong=system == against))
            if points:
                blocks.append(_cost(points, rows, metric, f"{dataset}, {attack}: {said(known)}"))
    if len(blocks) == 1:
        blocks.append(Text(("Nothing was measured of what answers cost.",)))
    return blocks


def _cost(
    points: list[Point], rows: list[tuple[str, float, float, float, float]], metric: str, title: str
) -> Figure:
    what = "tokens a question" if metric == "tokens" else "seconds a question, after everything was read"
    svg = scatter(points, x_label=f"{what} (logarithmic)", y_label="strict EM", log=True, title=title)
    cells = tuple(
        (
            Cell(name),
            Cell(f"{calls:.1f}"),
            Cell(f"{spent:,.0f}" if metric == "tokens" else f"{spent:.4f}"),
            Cell(f"{right:.3f}"),
            Cell("" if math.isnan(wrong) else f"{wrong:.3f}"),
        )
        for name, calls, spent, right, wrong in rows
    )
    columns = ("system", "calls", metric, "strict EM", "attack success")
    return Figure(svg, f"Cost and quality: {title}", Table(columns, cells, title))
