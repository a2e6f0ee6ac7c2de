"""Tables of answers and of rankings, one a data set and attack, with intervals and paired tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from veridical.bench.known import Known
from veridical.bench.metrics.significance import holm
from veridical.bench.report.blocks import Block, Cell, Heading, Table, Text
from veridical.bench.report.frame import Frame
from veridical.bench.report.stats import Paired, mean, paired
from veridical.bench.results import Interval

NAMES = {
    "strict": "strict EM",
    "containment": "containment EM",
    "f1": "F1",
    "attack": "attack success",
    "abstained": "no answer",
    "calls": "calls",
    "tokens": "tokens",
    "seconds": "seconds",
    "fp@5": "FP@5",
    "fp@5 narrow": "FP@5 narrow",
    "clean recall@5": "clean recall@5",
    "clean ndcg@5": "clean nDCG@5",
    "poison kept@5": "poison kept@5",
    "answer recall@5": "answer recall@5",
    "fp@k": "FP@k",
}
LOWER = frozenset({"attack", "abstained", "poison kept@5", "calls", "tokens", "seconds"})
_WITH_INTERVAL = ("strict", "attack", "fp@5", "clean ndcg@5")
_ANSWERS = ("strict", "containment", "f1", "attack", "abstained", "calls", "tokens")
_RANKINGS = ("fp@5", "fp@5 narrow", "clean recall@5", "clean ndcg@5", "poison kept@5", "answer recall@5")


@dataclass(frozen=True)
class Test:
    """A system against the chosen one on one metric, with Holm's correction over the systems of a table."""

    system: str
    paired: Paired
    p: float


def tests(frame: Frame, dataset: str, attack: str, known: Known, metric: str, against: str) -> list[Test]:
    """Test each other system against the chosen one: its value minus the chosen one's."""
    chosen = frame.values(dataset, attack, against, known, metric)
    others = [system for system in frame.systems if system != against]
    found = [paired(frame.values(dataset, attack, other, known, metric), chosen) for other in others]
    kept = [(other, one) for other, one in zip(others, found, strict=True) if one.n]
    adjusted = holm([one.p for _, one in kept])
    return [Test(other, one, p) for (other, one), p in zip(kept, adjusted, strict=True)]


def headlines(frame: Frame, share: float | None = None) -> list[Known]:
    """What is known in the main tables: a share of feedback (by default the claim's), and who judges."""
    if share is None:
        claimed = float(frame.facts["protocol"]["claim"]["feedback"])
        share = claimed if claimed in frame.shares else max(frame.shares)
    judges = [name for name in frame.credibilities if name != "none"] or ["none"]
    return [Known(share, 1.0, judge) for judge in judges]  # type: ignore[arg-type]


def overview(frame: Frame) -> list[Block]:
    """One table a metric: every system on every data set and attack, at the claim's feedback."""
    blocks: list[Block] = [Heading("Overview")]
    for known in headlines(frame):
        for metric in ("strict", "attack", "clean ndcg@5"):
            table = _overview(frame, metric, known)
            if table is not None:
                blocks.append(table)
    return blocks


def _overview(frame: Frame, metric: str, known: Known) -> Table | None:
    places = [(dataset, attack) for dataset in frame.datasets for attack in frame.attacks]
    found = {
        system: [mean(frame.values(*place, system, known, metric)) for place in places]
        for system in frame.systems
    }
    kept = [at for at in range(len(places)) if any(own[at].n for own in found.values())]
    if len(kept) < 2:
        return None
    best = {at: _best(metric, [own[at].value for own in found.values()]) for at in kept}
    sign = 1.0 if metric in LOWER else -1.0
    order = sorted(found, key=lambda system: sign * _mean([found[system][at].value for at in kept]))
    rows = tuple(
        (
            Cell(frame.title(system)),
            *(_short(found[system][at], best[at]) for at in kept),
            Cell(f"{_mean([found[system][at].value for at in kept]):.3f}"),
        )
        for system in order
    )
    columns = ("system", *(", ".join(places[at]) for at in kept), "mean")
    return Table(columns, rows, f"{NAMES[metric]}: {said(known)}")


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _short(interval: Interval, best: float | None) -> Cell:
    if not interval.n:
        return Cell("")
    return Cell(f"{interval.value:.3f}", "best" if interval.value == best else "")


def answers(frame: Frame, against: str) -> list[Block]:
    """Tables of answers, with how each system differs from the chosen one."""
    return _section(frame, "Answers", lambda *at: _answers(frame, against, *at))


def rankings(frame: Frame) -> list[Block]:
    """Tables of rankings."""
    return _section(frame, "Retrieval", lambda *at: _table(frame, _RANKINGS, *at))


def _section(frame: Frame, title: str, make: Callable[[str, str, Known], Table | None]) -> list[Block]:
    blocks: list[Block] = [Heading(title)]
    for dataset in frame.datasets:
        blocks.append(Heading(f"{title}: {dataset}", 3))
        for attack in frame.attacks:
            main = headlines(frame)
            more = [known for share in frame.shares for known in headlines(frame, share)]
            for known in dict.fromkeys([*main, *more]):
                table = make(dataset, attack, known)
                if table is not None:
                    blocks.append(replace(table, folded=known not in main))
    return blocks


def said(known: Known) -> str:
    """What is known, for a caption."""
    parts = [f"{known.share:.0%} of the documents judged"]
    if known.accuracy < 1.0:
        parts.append(f"{known.accuracy:.0%} of the judgements right")
    if known.credibility != "none":
        parts.append(f"credibility: {known.credibility}")
    return ", ".join(parts)


def _answers(frame: Frame, against: str, dataset: str, attack: str, known: Known) -> Table | None:
    plain = _table(frame, _ANSWERS, dataset, attack, known)
    if plain is None or against not in frame.systems:
        return plain
    columns, cells = [*plain.columns], {row[0].text: list(row) for row in plain.rows}
    for metric in ("strict", "attack"):
        found = {test.system: test for test in tests(frame, dataset, attack, known, metric, against)}
        columns += [f"{NAMES[metric]} − {frame.title(against)}", "p (Holm)"]
        for system in frame.systems:
            row = cells.get(frame.title(system))
            if row is not None:
                row += _tested(found.get(system))
    note = (
        f"Differences are from {frame.title(against)}, paired by question, with 95% bootstrap intervals; "
        "p is two-sided by sign flips, after Holm's correction over the systems of this table."
    )
    return Table(tuple(columns), tuple(map(tuple, cells.values())), plain.caption, (*plain.notes, note))


def _tested(test: Test | None) -> list[Cell]:
    if test is None:
        return [Cell(""), Cell("")]
    gap = test.paired
    text = f"{gap.difference:+.3f} [{gap.low:+.2f}, {gap.high:+.2f}]"
    return [Cell(text), Cell(p_text(test.p), "sure" if test.p < 0.05 else "")]


def p_text(p: float) -> str:
    """Write a p value."""
    return "" if math.isnan(p) else "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _table(frame: Frame, metrics: Sequence[str], dataset: str, attack: str, known: Known) -> Table | None:
    found: dict[str, dict[str, Interval]] = {}
    for system in frame.systems:
        own = {name: mean(frame.values(dataset, attack, system, known, name)) for name in metrics}
        if any(interval.n for interval in own.values()):
            found[system] = own
    shown = [name for name in metrics if any(_is_shown(name, own[name]) for own in found.values())]
    if not shown:
        return None
    best = {name: _best(name, [own[name].value for own in found.values()]) for name in shown}
    first = shown[0] if shown[0] != "fp@5" else "clean ndcg@5"
    order = sorted(found, key=lambda system: -np.nan_to_num(found[system][first].value, nan=-1.0))
    rows = [
        (Cell(frame.title(system)), *(_cell(name, found[system][name], best[name]) for name in shown))
        for system in order
    ]
    n = max(own[name].n for own in found.values() for name in shown)
    n_rows = {len(frame.rows(dataset, attack, system, known)) for system in found}
    caption = f"{dataset}, {attack}: {said(known)}; {n} questions"
    notes = () if len(n_rows) == 1 else ("Not every system has answered every question yet.",)
    return Table(("system", *(NAMES.get(name, name) for name in shown)), tuple(rows), caption, notes)


def _is_shown(metric: str, interval: Interval) -> bool:
    """Whether there is something to show: a number, and of costs one that is not 0."""
    return interval.n > 0 and (metric not in ("calls", "tokens") or interval.value > 0)


def _best(metric: str, values: Sequence[float]) -> float | None:
    known = [value for value in values if not math.isnan(value)]
    if metric in ("calls", "tokens", "seconds", "abstained") or len(set(known)) < 2:
        return None
    return min(known) if metric in LOWER else max(known)


def _cell(metric: str, interval: Interval, best: float | None) -> Cell:
    if not interval.n:
        return Cell("")
    mark = "best" if best is not None and interval.value == best else ""
    if metric in ("calls", "tokens"):
        return Cell(f"{interval.value:,.4g}" if interval.value < 1000 else f"{interval.value:,.0f}", mark)
    text = f"{interval.value:.3f}"
    if metric in _WITH_INTERVAL:
        text += f" [{interval.low:.2f}, {interval.high:.2f}]"
    return Cell(text, mark)


def words(*lines: str) -> Text:
    """A paragraph."""
    return Text(lines)
