"""Curves: how metrics move with feedback, its accuracy, the number of false passages, and settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from veridical.bench.known import Known
from veridical.bench.report.blocks import Block, Cell, Figure, Heading, Table, Text
from veridical.bench.report.frame import Frame
from veridical.bench.report.stats import Values, mean
from veridical.bench.report.svg import Series, lines
from veridical.bench.report.tables import LOWER, NAMES
from veridical.bench.results import Interval

_METRICS = ("strict", "attack", "fp@5", "clean ndcg@5")
_MOST_BRIGHT = 7


@dataclass(frozen=True)
class _Axis:
    """What goes along x: a label, the values, and how to get a system's numbers at one of them."""

    label: str
    at: tuple[float, ...]
    values: Callable[[str, float, str], Values]


def section(frame: Frame, against: str) -> list[Block]:
    """All curves for which there are at least two values along x."""
    blocks: list[Block] = [Heading("Robustness")]
    for dataset in frame.datasets:
        figures: list[Block] = []
        for attack in frame.attacks:
            if not attack.startswith("clean"):
                figures += _feedback(frame, against, dataset, attack)
                figures += _accuracy(frame, against, dataset, attack)
            figures += _swept(frame, dataset, attack)
        figures += _attack_sizes(frame, against, dataset)
        if figures:
            blocks += [Heading(f"Robustness: {dataset}", 3), *figures]
    if len(blocks) == 1:
        blocks.append(Text(("Nothing was run at more than one value: there are no curves.",)))
    return blocks


def _feedback(frame: Frame, against: str, dataset: str, attack: str) -> list[Block]:
    axis = _Axis(
        "share of documents judged",
        tuple(frame.shares),
        lambda system, x, metric: frame.values(dataset, attack, system, _known(frame, x), metric),
    )
    return _figures(frame, axis, against, f"{dataset}, {attack}")


def _accuracy(frame: Frame, against: str, dataset: str, attack: str) -> list[Block]:
    noisy = [one for one in frame.known if one.accuracy < 1.0]
    if not noisy:
        return []
    share = noisy[0].share
    at = tuple(sorted({one.accuracy for one in noisy if one.share == share} | {1.0}))
    axis = _Axis(
        "share of judgements that are right",
        at,
        lambda system, x, metric: frame.values(dataset, attack, system, _known(frame, share, x), metric),
    )
    return _figures(frame, axis, against, f"{dataset}, {attack}, {share:.0%} of the documents judged")


def _attack_sizes(frame: Frame, against: str, dataset: str) -> list[Block]:
    """Attacks that differ in one number: curves over it."""
    found: list[Block] = []
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for attack in frame.attacks:
        about = next((a for a in frame.corpora.values() if a["attack"] == attack), {})
        swept = about.get("swept")
        if swept is not None:
            key, value = swept
            groups.setdefault((str(about.get("attack_name", attack)), key), {})[float(value)] = attack
    share = float(frame.facts["protocol"]["claim"]["feedback"])
    share = share if share in frame.shares else max(frame.shares)
    for (name, key), attacks in groups.items():
        axis = _Axis(
            f"{name}: {key}",
            tuple(sorted(attacks)),
            lambda system, x, metric, attacks=attacks: frame.values(  # type: ignore[misc]
                dataset, attacks[x], system, _known(frame, share), metric
            ),
        )
        found += _figures(frame, axis, against, f"{dataset}, {name}, {share:.0%} of the documents judged")
    return found


def _swept(frame: Frame, dataset: str, attack: str) -> list[Block]:
    """Systems that differ in one setting: curves over it, such as alpha, k and L."""
    groups: dict[str, dict[str, dict[float, str]]] = {}
    for system in frame.systems:
        about = frame.about(system)
        key = about["swept"]
        value = about["settings"].get(key) if key else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            stem = system.removesuffix(f", {key}={value}")
            groups.setdefault(key, {}).setdefault(stem, {})[float(value)] = system
    share = max(frame.shares)
    found: list[Block] = []
    for key, stems in groups.items():
        at = tuple(sorted({value for values in stems.values() for value in values}))
        get = partial(_of_swept, frame, dataset, attack, share, stems)
        metrics = ("strict", "attack", "fp@k" if key == "top_k" else "fp@5")
        title = f"{dataset}, {attack}, {share:.0%} of the documents judged"
        found += _figures(frame, _Axis(key, at, get), "", title, systems=list(stems), metrics=metrics)
    return found


def _of_swept(
    frame: Frame,
    dataset: str,
    attack: str,
    share: float,
    stems: dict[str, dict[float, str]],
    stem: str,
    x: float,
    metric: str,
) -> Values:
    system = stems[stem].get(x)
    return {} if system is None else frame.values(dataset, attack, system, _known(frame, share), metric)


def _known(frame: Frame, share: float, accuracy: float = 1.0) -> Known:
    judges = [name for name in frame.credibilities if name != "none"] or ["none"]
    return Known(share, accuracy if share else 1.0, judges[-1])  # type: ignore[arg-type]


def _figures(
    frame: Frame,
    axis: _Axis,
    against: str,
    title: str,
    *,
    systems: Sequence[str] | None = None,
    metrics: Sequence[str] = _METRICS,
) -> list[Block]:
    if len(axis.at) < 2:
        return []
    found: list[Block] = []
    for metric in metrics:
        cells = {
            system: [mean(axis.values(system, x, metric)) for x in axis.at]
            for system in (frame.systems if systems is None else systems)
        }
        cells = {system: own for system, own in cells.items() if sum(one.n > 0 for one in own) > 1}
        if cells:
            found.append(_figure(frame, cells, axis, metric, against, title))
    return found


def _figure(
    frame: Frame, cells: dict[str, list[Interval]], axis: _Axis, metric: str, against: str, title: str
) -> Figure:
    bright = _bright(frame, cells, metric, against)
    order = [*bright, *(system for system in cells if system not in bright)]
    names = {s: frame.title(s) if s in frame.facts["systems"] else s for s in order}
    series = [
        Series(
            names[system],
            axis.at,
            tuple(one.value for one in cells[system]),
            tuple(one.low for one in cells[system]),
            tuple(one.high for one in cells[system]),
            muted=system not in bright,
        )
        for system in order
    ]
    name = NAMES.get(metric, metric)
    svg = lines(series, x_label=axis.label, y_label=name, title=f"{name}, {title}")
    rows = tuple((Cell(names[system]), *(Cell(_written(one)) for one in cells[system])) for system in order)
    columns = (axis.label, *(f"{x:g}" for x in axis.at))
    caption = f"{name} by {axis.label}: {title}"
    return Figure(svg, caption, Table(columns, rows, caption))


def _bright(frame: Frame, cells: dict[str, list[Interval]], metric: str, against: str) -> list[str]:
    """The chosen system, and the best of the others at the last value, ablations last."""

    def rank(system: str) -> tuple[bool, bool, float]:
        value = next((one.value for one in reversed(cells[system]) if one.n), math.nan)
        is_ablation = bool(frame.facts["systems"].get(system, {}).get("ablation_of"))
        return system != against, is_ablation, value if metric in LOWER else -value

    return sorted(cells, key=rank)[:_MOST_BRIGHT]


def _written(interval: Interval) -> str:
    if not interval.n:
        return ""
    return f"{interval.value:.3f} [{interval.low:.2f}, {interval.high:.2f}]"
