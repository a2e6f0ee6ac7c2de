"""Two systems of one run, or one run against another, metric by metric."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from veridical.bench.metrics.significance import holm
from veridical.bench.report.frame import Frame, measure
from veridical.bench.report.stats import Paired, mean, paired
from veridical.bench.rows import Row
from veridical.errors import InputError, NotFoundError

METRICS = ("strict", "containment", "f1", "attack", "abstained", "fp@5", "clean ndcg@5", "tokens")


@dataclass(frozen=True)
class Compared:
    """One metric in one setting: both means, the first minus the second, and p after Holm's correction over
    all lines of the metric.
    """

    dataset: str
    attack: str
    system: str
    known: str
    metric: str
    first: float
    second: float
    difference: Paired
    p: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


_Numbers = dict[tuple[str, int], float]
_Line = tuple[str, str, str, str, str, _Numbers, _Numbers]


def systems(frame: Frame, first: str, second: str) -> list[Compared]:
    """Compare two systems wherever both have rows.

    Raises
    ------
    InputError
        One of them has none.
    """
    for name in (first, second):
        if name not in frame.systems:
            raise InputError(f"{name!r} has no rows.", "Those that have: " + ", ".join(frame.systems))
    lines: list[_Line] = []
    for dataset in frame.datasets:
        for attack in frame.attacks:
            seen = set()
            for known in frame.known:
                named = (frame.of(first, known), frame.of(second, known))
                if named in seen:
                    continue
                seen.add(named)
                pair = [frame.rows(dataset, attack, name, known) for name in (first, second)]
                lines += _lines(dataset, attack, "", named[0] or named[1], pair[0], pair[1])
    return _compared(lines)


def runs(first: Frame, second: Frame) -> list[Compared]:
    """Compare each system of one run with itself in another, question by question.

    Raises
    ------
    NotFoundError
        They have nothing in common.
    """
    lines: list[_Line] = []
    for dataset in first.datasets:
        for attack in first.attacks:
            for system in first.systems:
                if system not in second.systems:
                    continue
                seen = set()
                for known in first.known:
                    named = first.of(system, known)
                    if named in seen:
                        continue
                    seen.add(named)
                    pair = [one.rows(dataset, attack, system, known) for one in (first, second)]
                    lines += _lines(dataset, attack, system, named, pair[0], pair[1])
    if not lines:
        raise NotFoundError("The two runs have no data set, attack and system in common.")
    return _compared(lines)


def _lines(
    dataset: str,
    attack: str,
    system: str,
    known: str,
    first: dict[tuple[str, int], Row],
    second: dict[tuple[str, int], Row],
) -> list[_Line]:
    shared = first.keys() & second.keys()
    found: list[_Line] = []
    for metric in METRICS if shared else ():
        both = [
            {at: value for at in shared if (value := measure(rows[at], metric)) is not None}
            for rows in (first, second)
        ]
        if both[0].keys() & both[1].keys():
            found.append((dataset, attack, system, known, metric, both[0], both[1]))
    return found


def _compared(lines: list[_Line]) -> list[Compared]:
    gaps = [paired(first, second) for *_, first, second in lines]
    adjusted: dict[int, float] = {}
    for metric in METRICS:
        places = [place for place, line in enumerate(lines) if line[4] == metric]
        adjusted.update(zip(places, holm([gaps[place].p for place in places]), strict=True))
    return [
        Compared(*line[:5], mean(line[5]).value, mean(line[6]).value, gap, adjusted[place])
        for place, (line, gap) in enumerate(zip(lines, gaps, strict=True))
    ]
