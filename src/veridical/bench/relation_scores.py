"""How well judges tell contradicting from supporting pairs: in ranking, as edges, and over a whole corpus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.bench.metrics.roc import auc_interval
from veridical.bench.relation_corpus import Pair, RelationCorpus, found_kinds, questions_of_pairs, score
from veridical.bench.relations import Case, Expected, Family
from veridical.bench.results import Bootstrap, Result
from veridical.graph import evidence
from veridical.graph.evidence import SURE, WORTH, Rows

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FAMILIES: dict[str, frozenset[Family]] = {
    "fakes": frozenset({"fakes"}),
    "style-neutral": frozenset({"style-neutral"}),
    "fakes as labelled": frozenset({"fakes", "unclear"}),
}
SIGNS: dict[Expected, int] = {"supports": 1, "contradicts": -1, "neither": 0}
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_LITTLE = 1e-4


@dataclass(frozen=True)
class Judged:
    """What a judge says of pairs, shape (n,) each.

    Attributes
    ----------
    ratio
        ``log(contradiction / support)``, smoothed: which of the two, given that it is one.
    difference
        ``contradiction - support``.
    kinds
        The edge by default: 1 supports, -1 contradicts, 0 none.
    worth
        What the evidence is worth beside other evidence, signed as ``kinds``, whether it is an edge or not.
    """

    ratio: FloatArray
    difference: FloatArray
    kinds: IntArray
    worth: FloatArray

    @classmethod
    def of_inference(cls, support: FloatArray, contradiction: FloatArray) -> Judged:
        """An edge is what is likelier than neutral."""
        larger = np.maximum(support, contradiction)
        kept = larger > 1.0 - support - contradiction
        signs = np.where(support >= contradiction, 1, -1)
        return cls._of(support, contradiction, signs * kept, WORTH["inference"] * larger * signs * kept)

    @classmethod
    def of_answers(cls, support: FloatArray, contradiction: FloatArray) -> Judged:
        """An edge is what is as probable as the graph asks for to show it."""
        larger = np.maximum(support, contradiction)
        signs = np.where(support >= contradiction, 1, -1)
        return cls._of(support, contradiction, signs * (larger >= SURE), WORTH["answers"] * larger * signs)

    @classmethod
    def worthiest(cls, judged: Sequence[Judged]) -> Judged:
        """For each pair what is worth most, as the graph does."""
        best = np.abs(np.stack([one.worth for one in judged])).argmax(axis=0)
        at = np.arange(len(best))
        worth = np.stack([one.worth for one in judged])[best, at]
        kinds = np.stack([one.kinds for one in judged])[best, at]
        return cls(-worth, -worth, kinds, worth)

    @classmethod
    def _of(
        cls, support: FloatArray, contradiction: FloatArray, kinds: npt.ArrayLike, worth: FloatArray
    ) -> Judged:
        ratio = np.log(contradiction + _LITTLE) - np.log(support + _LITTLE)
        return cls(ratio, contradiction - support, np.asarray(kinds, dtype=np.int64), worth)


def pair_results(
    dataset: str, cases: Sequence[Case], judged: Mapping[str, Judged], *, seed: int = 0
) -> list[Result]:
    """AUC, precision and recall of each judge and family, and what it says of each kind of pair.

    Precision and recall are those of default edges among all clear pairs, kinds as often as there are of
    them. Intervals draw whole questions.
    """
    signs = np.array([SIGNS[case.expected] for case in cases])
    family = np.array([case.family for case in cases])
    kinds = np.array([f"{case.kind} ({case.expected})" for case in cases])
    clusters = np.array([case.question_id for case in cases])
    clear = np.flatnonzero(family != "unclear")
    bootstrap = Bootstrap(clusters[clear].tolist(), seed=seed)
    found: list[Result] = []
    for method, one in judged.items():
        for title, members in FAMILIES.items():
            rows = np.flatnonzero(np.isin(family, sorted(members)) & (signs != 0))
            for metric, scores in (("AUC", one.ratio), ("AUC of the difference", one.difference)):
                at = auc_interval(scores[rows], signs[rows] < 0, clusters[rows].tolist(), seed=seed)
                found.append(Result(dataset, title, method, metric, at.value, at.low, at.high, at.n))
        for kind, sign in (("contradicts", -1), ("supports", 1)):
            said, true = one.kinds[clear] == sign, signs[clear] == sign
            for metric, values in (
                ("precision", np.where(said, true, np.nan)),
                ("recall", np.where(true, said, np.nan)),
            ):
                at = bootstrap.mean(values)
                found.append(
                    Result(dataset, "pairs", method, f"{kind} {metric}", at.value, at.low, at.high, at.n)
                )
        found += _by_kind(dataset, method, one, kinds)
    return found


def _by_kind(dataset: str, method: str, one: Judged, kinds: npt.NDArray[np.str_]) -> list[Result]:
    """Shares of pairs of each kind that are said to contradict and to support."""
    nan = math.nan
    return [
        Result(
            dataset,
            f"kind: {kind}",
            method,
            metric,
            float(np.mean(one.kinds[kinds == kind] == sign)),
            nan,
            nan,
            int(np.sum(kinds == kind)),
        )
        for kind in sorted(set(kinds.tolist()))
        for metric, sign in (("contradicts", -1), ("supports", 1))
    ]


def corpus_results(
    dataset: str,
    corpus: RelationCorpus,
    runs: Mapping[str, tuple[Rows, int]],
    asked: Iterable[tuple[str, Iterable[int]]],
    *,
    seed: int = 0,
) -> list[Result]:
    """Precision and recall of a corpus's edges over all pairs, by default and along thresholds.

    Parameters
    ----------
    runs
        Name to evidence and the number of pairs that were looked at for it.
    asked
        Each question's id and the documents that it was put to.
    """
    asked_by = questions_of_pairs(asked)
    nan = math.nan
    found: list[Result] = []
    for method, (rows, n_examined) in runs.items():
        share = n_examined / max(1, corpus.n_pairs)
        found.append(Result(dataset, "corpus", method, "pairs examined", share, nan, nan, n_examined))
        edges = evidence.strongest(rows)
        sure = found_kinds(edges, 0.0)
        least = dict(zip(_pairs(edges), edges.answered.tolist(), strict=True))
        default = {pair: edge for pair, edge in sure.items() if not least[pair] or edge[1] >= SURE}
        for title, truth in (("strict", corpus.strict), ("by label", corpus.by_label)):
            for kind in ("contradicts", "supports"):
                scored = score(corpus, truth, default, kind, asked_by)
                for metric, flags, clusters in (
                    ("precision", scored.right, scored.right_of),
                    ("recall", scored.found, scored.found_of),
                ):
                    at = Bootstrap(clusters, seed=seed).mean(np.array(flags, dtype=float))
                    found.append(
                        Result(
                            dataset,
                            f"corpus, {title}",
                            method,
                            f"{kind} {metric}",
                            at.value,
                            at.low,
                            at.high,
                            len(flags),
                        )
                    )
                if title == "strict" and method == "answers":
                    found += _curve(dataset, corpus, rows, kind, asked_by)
    return found


def _pairs(rows: Rows) -> list[Pair]:
    return list(zip(rows.heads.tolist(), rows.tails.tolist(), strict=True))


def _curve(
    dataset: str, corpus: RelationCorpus, rows: Rows, kind: Expected, asked_by: Mapping[Pair, str]
) -> list[Result]:
    """Precision and recall of edges with at least so much weight."""
    edges, nan = evidence.strongest(rows), math.nan
    found = []
    for least in THRESHOLDS:
        scored = score(corpus, corpus.strict, found_kinds(edges, least), kind, asked_by)
        for metric, flags in (("precision", scored.right), ("recall", scored.found)):
            value = float(np.mean(flags)) if flags else nan
            found.append(
                Result(
                    dataset,
                    f"curve: {kind}, weight at least {least}",
                    "answers",
                    metric,
                    value,
                    nan,
                    nan,
                    len(flags),
                )
            )
    return found


def show(found: Sequence[Result]) -> str:
    """Lay the figures out as text, data set by data set."""
    lines: list[str] = []
    for dataset in dict.fromkeys(row.dataset for row in found):
        own = {(r.setting, r.method, r.metric): r for r in found if r.dataset == dataset}
        methods = list(dict.fromkeys(method for setting, method, _ in own if setting == "pairs"))
        lines += [f"{dataset}: pairs of one question", f"{'':16}" + _head((*FAMILIES, *_EDGES))]
        for method in methods:
            cells = [own.get((family, method, "AUC")) for family in FAMILIES]
            cells += [own.get(("pairs", method, metric)) for metric in _EDGES]
            lines.append(f"{method:16}" + "".join(map(_cell, cells)))
        lines += ["", f"{dataset}: said to contradict / to support", *_kind_lines(own, methods)]
        runs = list(dict.fromkeys(method for setting, method, _ in own if setting == "corpus"))
        for title in ("strict", "by label"):
            lines += ["", f"{dataset}: all pairs of the corpus, {title}", f"{'':16}" + _head(_EDGES)]
            for method in runs:
                cells = [own.get((f"corpus, {title}", method, metric)) for metric in _EDGES]
                examined = own["corpus", method, "pairs examined"]
                lines.append(
                    f"{method:16}" + "".join(map(_cell, cells)) + f"{examined.value:9.4f} of pairs examined"
                )
        lines += ["", f"{dataset}: answers, edges of at least so much weight (precision / recall)"]
        lines += _curve_lines(own)
        lines += [
            f"{method}: {metric} {row.value:.0f}"
            for (setting, method, metric), row in own.items()
            if setting == "speed"
        ]
        lines.append("")
    return "\n".join(lines)


_EDGES = ("contradicts precision", "contradicts recall", "supports precision", "supports recall")


def _head(titles: Iterable[str]) -> str:
    return "".join(f"{title:>23}" for title in titles)


def _cell(row: Result | None) -> str:
    if row is None or math.isnan(row.value):
        return f"{'-':>23}"
    return f"{f'{row.value:.3f} [{row.low:.2f},{row.high:.2f}]':>23}"


def _kind_lines(own: Mapping[tuple[str, str, str], Result], methods: Sequence[str]) -> list[str]:
    kinds = list(dict.fromkeys(setting for setting, _, _ in own if setting.startswith("kind: ")))
    lines = [f"{'':42}{'pairs':>7}" + "".join(f"{method:>16}" for method in methods)]
    for kind in kinds:
        pairs = [
            (own[kind, method, "contradicts"].value, own[kind, method, "supports"].value)
            for method in methods
        ]
        n = own[kind, methods[0], "contradicts"].n
        cells = "".join(f"{f'{against:.2f} / {support:.2f}':>16}" for against, support in pairs)
        lines.append(f"{kind.removeprefix('kind: '):42}{n:>7}{cells}")
    return lines


def _curve_lines(own: Mapping[tuple[str, str, str], Result]) -> list[str]:
    lines = [f"{'':16}" + "".join(f"{least:>14}" for least in THRESHOLDS)]
    for kind in ("contradicts", "supports"):
        cells = []
        for least in THRESHOLDS:
            at = [
                own[f"curve: {kind}, weight at least {least}", "answers", m].value
                for m in ("precision", "recall")
            ]
            precision = "-" if math.isnan(at[0]) else f"{at[0]:.2f}"
            cells.append(f"{f'{precision} / {at[1]:.2f}':>14}")
        lines.append(f"{kind:16}" + "".join(cells))
    return lines
