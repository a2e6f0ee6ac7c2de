"""From questions that a language model was examined on to figures with intervals, and to tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from veridical.bench.chain_llm import CREDIBILITIES, Examined, Judged
from veridical.bench.chain_marks import CHAIN_MARKS
from veridical.bench.metrics.roc import auc_interval
from veridical.bench.results import Bootstrap, Result

ANSWERS = ("strict", "f1", "containment", "attack", "calls", "prompt tokens", "computed tokens", "seconds")
_LEFT_OUT = ("chosen triples", "best chain")
CHAINS = (
    *(mark for mark in CHAIN_MARKS if mark not in _LEFT_OUT),
    "published prompts",
    "published tokens",
    "computed share",
)


def summarise(dataset: str, examined: Sequence[Examined], llm: str) -> list[Result]:
    """Average over questions, with 95% intervals that draw whole questions.

    Returns
    -------
    list of Result
        For each method and credibility the marks of `ANSWERS` and `CHAINS`, and ``strict over top 5``, the
        paired difference to plain passages under the same poison. As setting ``offline | STEP`` what a
        question's extraction and judging cost. As setting ``credibility | FROM`` the AUC by which true
        triples (passages) stand above those of the poison, ties half: ``triple auc`` with every triple of
        the poison, as in the paper, ``triple auc, altered`` without those that a true passage has, too;
        ``triples judged`` and ``passages judged``: the share that was judged at all. What was not judged
        counts as 1/2.
    """
    if not examined:
        return []
    bootstrap = Bootstrap([one.question for one in examined])
    results = []

    def add(setting: str, metric: str, values: Iterable[float]) -> None:
        mean = bootstrap.mean(np.array(list(values), dtype=np.float64))
        results.append(Result(dataset, setting, llm, metric, mean.value, mean.low, mean.high, mean.n))

    for name in examined[0].answers:
        for metric in (*ANSWERS, *CHAINS):
            add(name, metric, [one.answers[name].get(metric, math.nan) for one in examined])
        add(
            name,
            "strict over top 5",
            [one.answers[name]["strict"] - one.answers["top 5"]["strict"] for one in examined],
        )
    for step in examined[0].offline:
        for metric, _ in next(iter(examined)).offline[step].marks().items():
            add(f"offline | {step}", metric, [one.offline[step].marks()[metric] for one in examined])
    for source in CREDIBILITIES:
        results += _aucs(dataset, examined, source, llm)
    return results


def _aucs(dataset: str, examined: Sequence[Examined], source: str, llm: str) -> list[Result]:
    found = []
    ids = [one.question for one in examined]
    for name, judged, of_altered in (
        ("triple auc", [one.triples for one in examined], False),
        ("triple auc, altered", [one.triples for one in examined], True),
        ("passage auc", [one.passages for one in examined], False),
    ):
        scores, true, owner = _pooled(ids, judged, source, of_altered=of_altered)
        interval = auc_interval(scores, true, owner)
        row = (interval.value, interval.low, interval.high, interval.n)
        found.append(Result(dataset, f"credibility | {source}", llm, name, *row))
    for name, judged in (
        ("triples judged", [one.triples for one in examined]),
        ("passages judged", [one.passages for one in examined]),
    ):
        known = [float(np.mean(~np.isnan(j.scores[source]))) if len(j.false) else math.nan for j in judged]
        mean = Bootstrap(ids).mean(known)
        row = (mean.value, mean.low, mean.high, mean.n)
        found.append(Result(dataset, f"credibility | {source}", llm, name, *row))
    return found


def _pooled(
    ids: Sequence[str], judged: Sequence[Judged], source: str, *, of_altered: bool
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    scores, true, owner = [], [], []
    for name, one in zip(ids, judged, strict=True):
        kept = ~one.copied if of_altered else np.ones_like(one.false)
        values = one.scores[source][kept]
        scores.append(np.where(np.isnan(values), 0.5, values))
        true.append(~one.false[kept])
        owner += [name] * len(values)
    return np.concatenate(scores), np.concatenate(true), owner


_FORMS: Mapping[str, str] = {
    "calls": ".1f",
    "prompt tokens": ",.0f",
    "computed tokens": ",.0f",
    "seconds": ".1f",
    "triples": ".1f",
    "prompts": ".1f",
    "published prompts": ".1f",
    "published tokens": ",.0f",
    "computed share": ".3f",
}


def table(results: Sequence[Result], dataset: str) -> str:
    """Lay out what `summarise` returned: answers, where they were lost, and how credibility fared."""
    found = {(r.setting, r.metric): r for r in results if r.dataset == dataset}
    if not found:
        return f"{dataset}: no question was finished."
    model = next(iter(found.values())).method
    n = max(result.n for result in found.values())
    special = ("offline | ", "credibility | ")
    names = list(dict.fromkeys(s for s, _ in found if not s.startswith(special)))
    by_chains = [name for name in names if name.startswith("TBS")]
    lines = [f"{dataset}, {n} questions, language model {model}", ""]
    lines += _block("answered from", names, found, ("strict", "strict over top 5", "f1", *ANSWERS[2:]))
    lines += ["", *_block("chains by", by_chains, found, CHAINS)]
    offline = [s for s in dict.fromkeys(s for s, _ in found) if s.startswith("offline")]
    costs = ("calls", "prompt tokens", "computed tokens", "written tokens", "seconds")
    lines += ["", *_block("before a question", offline, found, costs)]
    judged = [s for s in dict.fromkeys(s for s, _ in found) if s.startswith("credibility")]
    metrics = ("triple auc", "triple auc, altered", "passage auc", "triples judged", "passages judged")
    lines += ["", *_block("true above poison", judged, found, metrics)]
    return "\n".join(lines)


def _block(
    title: str, names: Sequence[str], found: Mapping[tuple[str, str], Result], metrics: Sequence[str]
) -> list[str]:
    wide = {"strict", "strict over top 5", "f1", "attack", "triple auc", "triple auc, altered", "passage auc"}
    widths = [max(len(metric) + 2, 21 if metric in wide else 0) for metric in metrics]
    head = f"{title:<26}" + "".join(f"{m:>{w}}" for m, w in zip(metrics, widths, strict=True))
    lines = [head]
    for name in names:
        cells = [
            f"{_cell(found[name, metric], wide=metric in wide):>{width}}"
            for metric, width in zip(metrics, widths, strict=True)
        ]
        lines.append(f"{name:<26}" + "".join(cells))
    return lines


def _cell(result: Result, *, wide: bool) -> str:
    if math.isnan(result.value):
        return "-"
    sign = "+" if " over " in result.metric else ""
    text = f"{result.value:{_FORMS.get(result.metric, sign + '.2f')}}"
    return f"{text} [{result.low:{sign}.2f},{result.high:{sign}.2f}]" if wide else text
