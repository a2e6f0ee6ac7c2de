"""From the rows of several runs of the benchmark of answers to figures with intervals, and to a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from veridical.bench import answer_misses
from veridical.bench.answer_runs import FEEDBACK, BoolArray, FloatArray, IntArray, Row, Run, Setting
from veridical.bench.metrics.calibration import calibration_error, risk_coverage
from veridical.bench.results import Bootstrap, Result

METHOD = "veridical"
SPLITS = ("", " (own touched)", " (none touched)")
AT_FULL = ("strict", "containment", "f1", "attack")
COVERAGES = tuple(step / 10 for step in range(1, 11))
_N_RESAMPLES = 200


def summarise(dataset: str, runs: Sequence[Sequence[Row]], *, n_draws: int = 1000) -> list[Result]:
    """Average the rows of one data set over questions and seeds, with 95% intervals.

    Parameters
    ----------
    dataset
        Its name.
    runs
        The rows of each seed, all with the same settings in the same order.
    n_draws
        Resamples of the bootstrap, which draws whole questions.

    Returns
    -------
    list of Result
        At full coverage (the leading candidate is always given) the marks of `AT_FULL`, over all questions
        and split by whether anything of their own was judged; and for each ``... against clean``, the
        difference to the same question in the clean corpus with the same sources and no feedback. With
        abstention ``coverage`` and the marks ``of those given``. ``risk@c`` and ``attack@c`` are the shares
        without a gold answer, and of attacks that succeed, when only the surest share ``c`` is answered;
        ``aurc`` the area under the former; ``calibration error`` that of the probabilities.
    """
    bootstrap = Bootstrap([q for rows in runs for q in rows[0].questions], n_draws=n_draws)
    clean: dict[str, Mapping[str, FloatArray]] = {}
    results: list[Result] = []
    for rows in zip(*runs, strict=True):
        setting = rows[0].setting
        marks = {name: np.concatenate([row.marks[name] for row in rows]) for name in rows[0].marks}
        scored, touched = (np.concatenate([getattr(r, name) for r in rows]) for name in ("scored", "touched"))
        if setting.poison == "clean" and setting.belief == "feedback 0%":
            clean[setting.sources] = marks
        figures = _figures(marks, clean[setting.sources], touched)
        results += [
            _result(dataset, setting, name, bootstrap, np.where(scored, v, np.nan)) for name, v in figures
        ]
        results += _curves(dataset, setting, [row.questions for row in rows], marks, scored)
    return results


def _figures(
    marks: Mapping[str, FloatArray], clean: Mapping[str, FloatArray], touched: BoolArray
) -> Iterable[tuple[str, FloatArray]]:
    for name in AT_FULL:
        for split, inside in zip(SPLITS, (None, touched, ~touched), strict=True):
            yield name + split, marks[name] if inside is None else np.where(inside, marks[name], np.nan)
        yield f"{name} against clean", marks[name] - clean[name]
    given = marks["given"] > 0
    yield "coverage", marks["given"]
    for name in AT_FULL:
        yield f"{name} of those given", np.where(given, marks[name], np.nan)


def _result(dataset: str, setting: Setting, metric: str, bootstrap: Bootstrap, values: FloatArray) -> Result:
    mean = bootstrap.mean(values)
    return Result(dataset, setting.name, METHOD, metric, mean.value, mean.low, mean.high, mean.n)


def _curves(
    dataset: str,
    setting: Setting,
    questions: Sequence[Sequence[str]],
    marks: Mapping[str, FloatArray],
    scored: BoolArray,
) -> list[Result]:
    """The figures that are no means over questions: resampled by question all the same."""
    clusters = np.unique([q for seed in questions for q in seed], return_inverse=True)[1]
    rows = np.flatnonzero(scored)
    statistics = _statistics(marks)
    found = np.array([statistic(rows) for statistic in statistics.values()])
    members = [rows[clusters[rows] == cluster] for cluster in np.unique(clusters[rows])]
    rng = np.random.default_rng(0)
    draws = np.full((_N_RESAMPLES if members else 0, len(statistics)), np.nan)
    for draw in draws:
        again = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        draw[:] = [statistic(again) for statistic in statistics.values()]
    low, high = np.percentile(draws, [2.5, 97.5], axis=0) if members else (found, found)
    return [
        Result(dataset, setting.name, METHOD, name, float(value), float(a), float(b), len(members))
        for name, value, a, b in zip(statistics, found, low, high, strict=True)
    ]


def _statistics(marks: Mapping[str, FloatArray]) -> dict[str, Callable[[IntArray], float]]:
    sure, wrong, attack = marks["probability"], 1.0 - marks["containment"], marks["attack"]
    statistics: dict[str, Callable[[IntArray], float]] = {
        "aurc": lambda rows: risk_coverage(sure[rows], wrong[rows]).area,
        "calibration error": lambda rows: calibration_error(sure[rows], marks["containment"][rows]),
    }
    for coverage in COVERAGES:
        for name, loss in (("risk", wrong), ("attack", attack)):
            statistics[f"{name}@{coverage:g}"] = lambda rows, c=coverage, x=loss: risk_coverage(  # type: ignore[misc]
                sure[rows], x[rows]
            ).at(c)
    return statistics


def misses(dataset: str, runs: Sequence[Run]) -> tuple[list[Result], str]:
    """Return how often each kind of miss occurs, by poison, and the same as text."""
    results, texts = [], []
    for poison in runs[0].misses:
        belief = f"feedback {max(FEEDBACK):.0%}"
        rows = [next(r for r in run.rows if _is(r.setting, poison, belief)) for run in runs]
        asked = [[q for q, counts in zip(r.questions, r.scored, strict=True) if counts] for r in rows]
        found = [run.misses[poison] for run in runs]
        results += answer_misses.summarise(dataset, rows[0].setting.name, found, asked)
        texts.append(answer_misses.table(f"{dataset}, {rows[0].setting.name}", found, sum(map(len, asked))))
    return results, "\n\n".join(texts)


def _is(setting: Setting, poison: str, belief: str) -> bool:
    return (setting.poison, setting.sources, setting.belief) == (poison, "no sources", belief)


def table(results: Iterable[Result], dataset: str) -> str:
    """Lay out one data set's results as text, one line a setting."""
    found = {(r.setting, r.metric): r for r in results if r.dataset == dataset and "miss:" not in r.metric}
    lines = ["", dataset, _HEAD]
    previous: tuple[str, str] | None = None
    for setting in dict.fromkeys(setting for setting, _ in found):
        poison, sources, belief = setting.split(" | ")
        if (poison, sources) != previous:
            lines.append("")
        previous = (poison, sources)
        cells = [
            _interval(found[setting, "strict"]),
            _interval(found[setting, "strict against clean"], sign=True),
            _interval(found[setting, "f1"]),
            _interval(found[setting, "f1 against clean"], sign=True),
            _interval(found[setting, "attack"]),
        ]
        cells = [f"{cell:>21}" for cell in cells]
        cells += [f"{_number(found[setting, name]):>9}" for name, _ in _COLUMNS]
        lines.append(f"{poison:<8} {sources:<13} {belief:<14}" + "".join(cells))
    lines += ["", *_curve_lines(found)]
    return "\n".join(lines)


_COLUMNS = (
    ("containment", "contain"),
    ("attack (none touched)", "att.none"),
    ("coverage", "cover"),
    ("containment of those given", "c.given"),
    ("attack of those given", "a.given"),
    ("aurc", "AURC"),
    ("calibration error", "ECE"),
)
_HEAD = (
    f"{'poison':<8} {'sources':<13} {'known':<14}"
    + "".join(
        f"{title:>21}" for title in ("strict EM", "against clean", "F1", "against clean", "attack success")
    )
    + "".join(f"{title:>9}" for _, title in _COLUMNS)
)


def _curve_lines(found: Mapping[tuple[str, str], Result]) -> list[str]:
    lines = [f"{'share answered, the surest first':<54}" + "".join(f"{c:>7.0%}" for c in COVERAGES)]
    for setting in dict.fromkeys(setting for setting, _ in found):
        for name, title in (("risk", "no right answer"), ("attack", "attack succeeds")):
            cells = "".join(f"{_number(found[setting, f'{name}@{c:g}']):>7}" for c in COVERAGES)
            lines.append(f"{setting:<38}{title:<16}{cells}")
    return lines


def _number(result: Result) -> str:
    return "-" if math.isnan(result.value) else f"{result.value:.3f}"


def _interval(result: Result, *, sign: bool = False) -> str:
    if math.isnan(result.value):
        return "-"
    form, short = ("+.3f", "+.2f") if sign else (".3f", ".2f")
    return f"{result.value:{form}} [{result.low:{short}},{result.high:{short}}]"
