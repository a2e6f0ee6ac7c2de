"""Whether what a protocol claimed before the first run holds, data set by data set and attack by attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veridical.bench.known import Known
from veridical.bench.report.blocks import Block, Cell, Heading, Table, Text
from veridical.bench.report.frame import Frame
from veridical.bench.report.stats import mean
from veridical.bench.report.tables import NAMES, Test, headlines, said, tests


@dataclass(frozen=True)
class Verdict:
    """The claim in one setting.

    Attributes
    ----------
    first
        ``first``, ``not inferior`` (the interval of the difference stays within the margin), ``open`` (it
        does not, but the difference does), or ``behind``.
    ahead
        The best other system in that metric, and by how much it is ahead (negative: behind).
    lowest
        ``lowest`` (below every other, each time significantly), ``open`` (below or level, not each time
        significantly), ``not lowest``; empty where the metric is undefined.
    n_below, n_level, n_above
        Other systems that it is significantly below, not told apart from, and significantly above.
    """

    dataset: str
    attack: str
    known: Known
    first: str
    ahead: tuple[str, float, float, float]
    lowest: str
    n_below: int
    n_level: int
    n_above: int
    lower: tuple[str, ...]


def verdicts(frame: Frame) -> list[Verdict]:
    """Judge the claim in every setting in which its system and another one have rows."""
    claim = frame.facts["protocol"]["claim"]
    system = str(claim["system"])
    if system not in frame.systems:
        return []
    found = []
    for dataset in frame.datasets:
        for attack in frame.attacks:
            for known in headlines(frame):
                made = _verdict(frame, claim, system, dataset, attack, known)
                if made is not None:
                    found.append(made)
    return found


def _others(frame: Frame, system: str, found: list[Test]) -> list[Test]:
    """Every system that is neither an ablation nor another setting of the one in question."""
    own = frame.about(system)["name"]
    abouts = ((test, frame.about(test.system)) for test in found)
    return [test for test, about in abouts if own not in (about["ablation_of"], about["name"])]


def _verdict(
    frame: Frame, claim: dict[str, Any], system: str, dataset: str, attack: str, known: Known
) -> Verdict | None:
    first = _others(frame, system, tests(frame, dataset, attack, known, claim["first_in"], system))
    if not first:
        return None
    best = max(first, key=lambda test: test.paired.difference)
    gap = best.paired
    if gap.difference <= 0:
        place = "first"
    elif gap.high < claim["margin"]:
        place = "not inferior"
    else:
        place = "open" if gap.difference <= claim["margin"] else "behind"
    lowest = _others(frame, system, tests(frame, dataset, attack, known, claim["lowest_in"], system))
    alpha = float(claim["alpha"])
    sure = [test for test in lowest if test.p < alpha]
    below = [test for test in sure if test.paired.difference > 0]
    above = [test for test in sure if test.paired.difference < 0]
    lower = tuple(test.system for test in lowest if test.paired.difference < 0)
    verdict = ""
    if lowest and not attack.startswith("clean"):
        all_below = len(below) == len(lowest)
        verdict = "lowest" if all_below else "not lowest" if lower else "open"
    return Verdict(
        dataset,
        attack,
        known,
        place,
        (best.system, gap.difference, gap.low, gap.high),
        verdict,
        len(below),
        len(lowest) - len(sure),
        len(above),
        lower,
    )


def section(frame: Frame) -> list[Block]:
    """The claim, the verdicts, and what stands against it."""
    claim = frame.facts["protocol"]["claim"]
    system = claim["system"]
    blocks: list[Block] = [Heading("The claim that was fixed before the run")]
    found = verdicts(frame)
    if not found:
        return [
            *blocks,
            Text((f"There is nothing to judge it by: {system} and others have no rows together.",)),
        ]
    name, first, lowest = frame.title(system), NAMES[claim["first_in"]], NAMES[claim["lowest_in"]]
    blocks.append(
        Text(
            (
                f"At {claim['feedback']:.0%} feedback {name} is first in {first}, or at most "
                f"{claim['margin']:.2f} behind the first, and lowest in {lowest} (each other system, "
                f"p < {claim['alpha']:g} after Holm's correction). Its own ablations and other settings are "
                "no others.",
                _summed(found, first, lowest),
            )
        )
    )
    columns = (
        "data set and attack",
        f"in {first}",
        "best other",
        "ahead by",
        f"in {lowest}",
        "below / level / above",
    )
    rows = tuple(_row(frame, verdict, len(headlines(frame)) > 1) for verdict in found)
    notes = (
        "first: no other is ahead. not inferior: the 95% interval of the difference stays within the margin. "
        "open: the difference is within the margin, and its interval is not. behind: the difference is not.",
        "lowest: significantly below every other. open: below or level with every other, not each time "
        "significantly. not lowest: at least one other is lower, however little. below / level / above: "
        f"other systems whose {lowest} is significantly higher, not told apart, and significantly lower.",
    )
    blocks.append(Table(columns, rows, "The claim, setting by setting", notes))
    return [*blocks, *_against(frame, found, lowest)]


def _summed(found: list[Verdict], first: str, lowest: str) -> str:
    n, attacked = len(found), [verdict for verdict in found if verdict.lowest]
    n_first = sum(verdict.first in ("first", "not inferior") for verdict in found)
    n_open = sum(verdict.first == "open" for verdict in found)
    n_lowest = sum(verdict.lowest == "lowest" for verdict in attacked)
    n_level = sum(verdict.lowest == "open" for verdict in attacked)
    return (
        f"It holds in {first} in {n_first} of {n} settings and is open in {n_open}; in {lowest} it holds in "
        f"{n_lowest} of {len(attacked)} and is open in {n_level}."
    )


def _row(frame: Frame, verdict: Verdict, several: bool) -> tuple[Cell, ...]:
    other, gap, low, high = verdict.ahead
    at = f"{verdict.dataset}, {verdict.attack}" + (f", {said(verdict.known)}" if several else "")
    good = {
        "first": "best",
        "not inferior": "best",
        "lowest": "best",
        "behind": "worst",
        "not lowest": "worst",
    }
    return (
        Cell(at),
        Cell(verdict.first, good.get(verdict.first, "")),
        Cell(frame.title(other)),
        Cell(f"{gap:+.3f} [{low:+.2f}, {high:+.2f}]"),
        Cell(verdict.lowest, good.get(verdict.lowest, "")),
        Cell(f"{verdict.n_below} / {verdict.n_level} / {verdict.n_above}" if verdict.lowest else ""),
    )


def _against(frame: Frame, found: list[Verdict], lowest: str) -> list[Block]:
    """Where the claim fails: who is ahead or lower, and what that costs them."""
    system = frame.facts["protocol"]["claim"]["system"]
    lines = []
    for verdict in found:
        at = f"{verdict.dataset}, {verdict.attack}"
        if verdict.first == "behind":
            other, gap, *_ = verdict.ahead
            lines.append(f"{at}: {frame.title(other)} is ahead by {gap:.3f}.")
        for other in verdict.lower if verdict.lowest == "not lowest" else ():
            lines.append(
                f"{at}: {frame.title(other)} is lower in {lowest}" + _price(frame, verdict, other, system)
            )
    if not lines:
        return []
    return [Heading("Where it does not hold", 3), Text(tuple(lines), as_list=True)]


def _price(frame: Frame, verdict: Verdict, other: str, system: str) -> str:
    """Strict EM and abstention of one that is lower, beside those of the system in question."""
    at = (verdict.dataset, verdict.attack)
    pairs = []
    for metric, what in (("strict", "strict EM"), ("abstained", "without an answer")):
        theirs = mean(frame.values(*at, other, verdict.known, metric)).value
        ours = mean(frame.values(*at, system, verdict.known, metric)).value
        pairs.append(f"{what} {theirs:.3f} against {ours:.3f}")
    return f" ({', '.join(pairs)})."
