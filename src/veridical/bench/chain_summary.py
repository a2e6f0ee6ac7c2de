"""From the rows of the benchmark of chains to averages with intervals, and to tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from veridical.bench.chain_runs import Row, Setting
from veridical.bench.protocol import FloatArray
from veridical.bench.results import Bootstrap, Result

METHOD = "reliable"
COMPARED = ("strict", "f1", "attack")
"""Marks that are compared with those of the nearest passages."""
BASE = "top 5"


def summarise(dataset: str, rows: Sequence[Row], *, n_draws: int = 1000) -> list[Result]:
    """Average the rows of one data set over questions (and seeds), with 95% intervals.

    Rows of one setting are seeds of it. Only questions that a row scores count. Besides the marks there are
    the paired differences ``strict over top 5`` (``f1``, ``attack``) to the reader on the nearest passages
    under the same attack, and ``strict over none`` to the same context without credibility.
    """
    by_setting: dict[Setting, list[Row]] = {}
    for row in rows:
        by_setting.setdefault(row.setting, []).append(row)
    results = []
    for setting, own in by_setting.items():
        bootstrap = Bootstrap([question for row in own for question in row.questions], n_draws=n_draws)
        scored = np.concatenate([row.scored for row in own]).astype(np.bool_)
        marks = {name: np.concatenate([row.marks[name] for row in own]) for name in own[0].marks}
        for title, base in (
            (f"over {BASE}", Setting(setting.attack, "none", BASE)),
            ("over none", Setting(setting.attack, "none", setting.context)),
        ):
            if base in by_setting:
                marks |= _differences(marks, by_setting[base][0].marks, len(own), title)
        for name, values in marks.items():
            mean = bootstrap.mean(np.where(scored, values, np.nan))
            results.append(
                Result(dataset, setting.name, METHOD, name, mean.value, mean.low, mean.high, mean.n)
            )
    return results


def _differences(
    marks: Mapping[str, FloatArray], base: Mapping[str, FloatArray], n_seeds: int, title: str
) -> dict[str, FloatArray]:
    return {f"{name} {title}": marks[name] - np.tile(base[name], n_seeds) for name in COMPARED}


_MAIN = (
    ("support recall", "recall", 8),
    ("poisoned chains", "chains", 8),
    ("context poisoned", "context", 8),
    ("strict", "strict EM", 19),
    ("strict over top 5", "over top 5", 21),
    ("strict over none", "over none", 21),
    ("f1", "F1", 19),
    ("containment", "contain", 8),
    ("attack", "attack success", 19),
    ("given", "given", 7),
)
_WHERE = (
    ("answer extracted", "extracted", 10),
    ("answer offered", "offered", 9),
    ("answer chosen", "chosen", 8),
    ("wrong extracted", "extracted", 11),
    ("wrong offered", "offered", 9),
    ("wrong chosen", "chosen", 8),
    ("triples", "triples", 9),
    ("prompts", "prompts", 9),
    ("chosen triples", "in chains", 10),
    ("best chain", "in first", 9),
)


def table(results: Iterable[Result], dataset: str) -> str:
    """Lay out one data set's results, one line a setting: answers, then where triples were lost."""
    found = {(r.setting, r.metric): r for r in results if r.dataset == dataset}
    settings = list(dict.fromkeys(setting for setting, _ in found))
    with_chains = [setting for setting in settings if setting.split(" | ")[1] == "TBS"]
    lead = f"{'poison':<20}{'answered from':<14}{'credibility':<12}{'n':>5}"
    lines = [
        f"{dataset}: evidence and poison in the chains (or passages), and answers",
        lead + _titles(_MAIN),
    ]
    lines += [_line(found, setting, _MAIN, "strict") for setting in settings]
    lines += [
        "",
        f"{dataset}: questions with a triple that bears the answer, and one of the poison's with the wrong",
        lead + _titles(_WHERE),
    ]
    lines += [_line(found, setting, _WHERE, "triples") for setting in with_chains]
    return "\n".join(lines)


_Columns = Sequence[tuple[str, str, int]]


def _titles(columns: _Columns) -> str:
    return "".join(f"{title:>{width}}" for _, title, width in columns)


def _line(found: Mapping[tuple[str, str], Result], setting: str, columns: _Columns, counted: str) -> str:
    attack, context, credibility = setting.split(" | ")
    cells = []
    for name, _, width in columns:
        text = "-"
        if (setting, name) in found:
            text = _cell(found[setting, name], name, width)
        cells.append(f"{text:>{width}}")
    n = found[setting, counted].n
    return f"{attack:<20}{context:<14}{credibility:<12}{n:>5}" + "".join(cells)


def _cell(result: Result, name: str, width: int) -> str:
    if math.isnan(result.value):
        return "-"
    if name in {"triples", "prompts", "chosen triples", "best chain"}:
        return f"{result.value:.1f}"
    sign = "+" if " over " in name else ""
    text = f"{result.value:{sign}.3f}"
    return text if width < 15 else f"{text} [{result.low:{sign}.2f},{result.high:{sign}.2f}]"
