"""How well judges tell contradicting from supporting pairs: in ranking, as edges, and over a whole corpus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.bench.relation_corpus import Pair, RelationCorpus, found_kinds, questions_of_pairs, score
from veridical.bench.relations import Case, Expected, Family, auc_interval
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
        """An edge is where the one outweighs the other by as much as the graph asks for to show it."""
        difference = support - contradiction
        kinds = np.sign(difference) * (np.abs(difference) >= SURE)
        return cls._of(support, contradiction, kinds, WORTH["answers"] * difference)

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
    """Lay the figures out as text, one line a setting and method."""
    lines: list[str] = []
    for dataset in dict.fromkeys(row.dataset for row in found):
        own = [row for row in found if row.dataset == dataset]
        for setting in dict.fromkeys(row.setting for row in own):
            for method in dict.fromkeys(row.method for row in own if row.setting == setting):
                cells = [_cell(row) for row in own if row.setting == setting and row.method == method]
                lines.append(f"{dataset:<13}{setting:<46}{method:<15}" + "  ".join(cells))
        lines.append("")
    return "\n".join(lines)


def _cell(row: Result) -> str:
    if row.metric.startswith("pairs "):
        value = f"{row.value:.0f}" if row.value > 1 else f"{row.value:.4f}"
    else:
        value = "-" if math.isnan(row.value) else f"{row.value:.3f}"
    interval = "" if math.isnan(row.low) else f" [{row.low:.2f},{row.high:.2f}]"
    return f"{row.metric} {value}{interval} n={row.n}"
