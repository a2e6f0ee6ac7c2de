"""From the rows of several runs to averages with intervals, and to a table that can be read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from veridical.bench.protocol import METRICS
from veridical.bench.results import Bootstrap, Result
from veridical.bench.retrieval import Row

SPLITS = ("", " (own judged)", " (none judged)")
GAIN = "clean ndcg@5 over plain"


def setting_name(row: Row) -> str:
    """Return the text under which a row's setting stands in the results."""
    return f"{row.retriever} | {row.setting} | feedback {row.feedback:.0%}"


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
        Each metric of `METRICS`, over all questions and split by whether a question had a judged document of
        its own, and the gain in nDCG over plain retrieval of the same setting (paired).
    """
    bootstrap = Bootstrap([question for rows in runs for question in rows[0].questions], n_draws=n_draws)
    results: list[Result] = []
    baseline: dict[str, npt.NDArray[np.float64]] = {}
    for rows in zip(*runs, strict=True):
        name, method = setting_name(rows[0]), rows[0].method
        judged = np.concatenate([row.judged for row in rows])
        values = {metric: np.concatenate([row.values[metric] for row in rows]) for metric in METRICS}
        if method == "plain":
            baseline[name] = values["clean ndcg@5"]
        plain = baseline[name]
        values[GAIN] = values["clean ndcg@5"] - plain
        for metric, numbers in values.items():
            for split, inside in zip(SPLITS, (None, judged, ~judged), strict=True):
                kept = numbers if inside is None else np.where(inside, numbers, np.nan)
                mean = bootstrap.mean(kept)
                results.append(
                    Result(dataset, name, method, metric + split, mean.value, mean.low, mean.high, mean.n)
                )
    return results


_COLUMNS = (
    ("fp@5", "FP@5"),
    ("fp@5 narrow", "narrow"),
    ("clean recall@5", "recall"),
    ("poison kept@5", "poison"),
    ("answer recall@5", "answer"),
)


def table(results: Iterable[Result], dataset: str) -> str:
    """Lay out one data set's results as text, one line a setting and method."""
    found = {(r.setting, r.method, r.metric): r for r in results if r.dataset == dataset}
    keys = list(dict.fromkeys((setting, method) for setting, method, _ in found))
    retrievers = list(dict.fromkeys(setting.split(" | ")[0] for setting, _ in keys))
    place = {setting: number for number, (setting, _) in enumerate(reversed(keys))}
    keys.sort(key=lambda at: (retrievers.index(at[0].split(" | ")[0]), -place[at[0]]))
    lines = []
    previous = ""
    for setting, method in keys:
        retriever, sources, feedback = setting.split(" | ")
        if retriever != previous:
            lines += ["", f"{dataset}, {retriever}", _HEAD]
            previous = retriever
        if method == "plain":
            lines.append("")
        cells = [_number(found[setting, method, metric]) for metric, _ in _COLUMNS]
        ndcg = found[setting, method, "clean ndcg@5"]
        splits = [_number(found[setting, method, "clean ndcg@5" + split]) for split in SPLITS[1:]]
        lines.append(
            f"{sources:<33}{feedback.removeprefix('feedback '):>4}  {method:<15}"
            + "".join(f"{cell:>8}" for cell in cells)
            + f"{_interval(ndcg):>18}"
            + f"{_interval(found[setting, method, GAIN], sign=True):>21}"
            + "".join(f"{cell:>8}" for cell in splits)
        )
    return "\n".join(lines)


_HEAD = (
    f"{'sources':<33}{'fb':>4}  {'method':<15}"
    + "".join(f"{title:>8}" for _, title in _COLUMNS)
    + f"{'nDCG@5':>18}{'over plain':>21}{'judged':>8}{'not':>8}"
)


def _number(result: Result) -> str:
    return "-" if math.isnan(result.value) else f"{result.value:.3f}"


def _interval(result: Result, *, sign: bool = False) -> str:
    if math.isnan(result.value):
        return "-"
    form, short = ("+.3f", "+.2f") if sign else (".3f", ".2f")
    return f"{result.value:{form}} [{result.low:{short}},{result.high:{short}}]"
