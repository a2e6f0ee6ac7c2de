"""TrustRAG (arXiv 2501.00879): passages too much alike are dropped, then own knowledge is weighed in."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.answer.chains_answer import read_answer
from veridical.answer.context import escape
from veridical.bench.systems.answering import from_passages, numbered, say
from veridical.bench.systems.base import TOP_K, About, Reply, Retrieved, Task, Tools, nearest
from veridical.bench.systems.helpers import SIMCSE, helper, require
from veridical.bench.systems.rouge import overlapping, rouge_l
from veridical.errors import InputError, MissingExtraError
from veridical.llm.usage import measure
from veridical.types import Record

ALIKE_FROM = 0.88
OVERLAP = 0.25
_PAPER = "arXiv 2501.00879"
_STAND_IN = "the run's encoder in place of SimCSE-BERT-base"
_DIFFERS = (
    f"{_STAND_IN}, unless it is there, with SimCSE's threshold; kept passages stay in the order of their "
    "ranks; of two passages that make a cluster each, the better ranked is kept"
)
_NOTE_TOKENS, _MERGED_TOKENS = 80, 250

Rows = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Kept(Record):
    """Places that stay, rising, and why: a word for the case that decided."""

    places: tuple[int, ...]
    case: str


class TrustRAGFilter:
    """Drop passages that are too much alike, then answer from the rest (stage 1 alone; 1 call).

    See `trustworthy` for the rule. It looks for planted copies by likeness, so that it drops true passages
    that repeat each other too, such as news of one agency, and may drop everything; then the question is
    answered without passages.

    Parameters
    ----------
    tools
        With an encoder, and a language model or else a reader.
    top_k
        Passages looked at.
    alike, overlap
        Thresholds of the cosine and of ROUGE-L.

    Raises
    ------
    MissingExtraError
        If scikit-learn or the stemmer is not installed.
    """

    name = "trustrag_stage1"
    about = About("TrustRAG (stage 1)", _PAPER, _DIFFERS, "1", frozenset({"encoder"}))

    def __init__(
        self, tools: Tools, *, top_k: int = TOP_K, alike: float = ALIKE_FROM, overlap: float = OVERLAP
    ) -> None:
        require("bench", "TrustRAG", "sklearn", "snowballstemmer")
        self.tools, self.top_k, self.alike, self.overlap = tools, top_k, alike, overlap

    def answer(self, task: Task) -> Reply:
        """Answer from what the filter keeps; see `System.answer`."""
        with measure() as spent:
            kept, ranking = self._kept(task)
            text, probability = self._said(task.question, [task.pool[place] for place in ranking])
        notes = () if helper(self.tools, SIMCSE) else (f"stand-in: {_STAND_IN}",)
        return Reply(text, ranking, probability, spent.total, notes, {"case": kept.case})

    def _kept(self, task: Task) -> tuple[Kept, tuple[int, ...]]:
        encode = helper(self.tools, SIMCSE) or self.tools.encode
        if encode is None:
            raise InputError("There is no encoder.", "Pass one that turns texts into vectors.")
        places = nearest(task, self.top_k)
        texts = [task.pool[place].text for place in places]
        kept = trustworthy(texts, np.asarray(encode(texts)), alike=self.alike, overlap=self.overlap)
        return kept, tuple(places[i] for i in kept.places)

    def _said(self, question: str, passages: Sequence[Retrieved]) -> tuple[str, float | None]:
        said = from_passages(self.tools, question, passages)
        return said.text, said.probability


class TrustRAG(TrustRAGFilter):
    """Filter as stage 1 does, then weigh what is left against the model's own knowledge (3 calls).

    The model writes a note from memory, merges note and passages leaving out what is planted, off the subject
    or at odds, and answers from both the note and the merged text.
    """

    name = "trustrag"
    about = About("TrustRAG", _PAPER, _DIFFERS, "3", frozenset({"encoder", "llm"}))

    def _said(self, question: str, passages: Sequence[Retrieved]) -> tuple[str, float | None]:
        asked = escape(question).strip()
        note = say(
            self.tools, "bench_trustrag_note", stage="note", max_tokens=_NOTE_TOKENS, question=asked
        ).text
        merged = say(
            self.tools,
            "bench_trustrag_merge",
            stage="merge",
            max_tokens=_MERGED_TOKENS,
            question=asked,
            passages=numbered(passages) or "(none)",
            note=escape(note),
        ).text
        said = say(
            self.tools,
            "bench_trustrag_weigh",
            stage="answer",
            question=asked,
            merged=escape(merged),
            note=escape(note),
        )
        return read_answer(said.text), None


def trustworthy(
    texts: Sequence[str], rows: Rows, *, alike: float = ALIKE_FROM, overlap: float = OVERLAP
) -> Kept:
    """Keep the passages that do not look planted, by TrustRAG's first stage.

    If no two texts have a ROUGE-L above ``overlap``, all stay. Else the rows are standardised by column,
    scaled to unit length and parted in two by k-means (10 starts, 500 rounds, seed 0). Let m be the mean
    cosine of the pairs inside a cluster, of the rows as they were.

    - One cluster is a single text: if m of the other is above ``alike``, the single one stays, unless its
      cosine with the other's first is above ``alike`` too, then none does; if not, the other cluster stays.
    - Else, of the higher m and the lower: none stays if the lower is above ``alike``; both do, without what
      overlaps inside each, if the higher is below it; otherwise the lower one, without what overlaps in it.

    Where this says nothing: of two texts the first stays, and of rows that are all equal none does, being
    one cluster of m = 1.

    Parameters
    ----------
    texts
        n of them, best first.
    rows
        Shape (n, d), of any length each.

    Raises
    ------
    MissingExtraError
        If scikit-learn or the stemmer is not installed.
    """
    n = len(texts)
    everyone = tuple(range(n))
    pairs = ((i, j) for i in everyone for j in range(i + 1, n))
    if not any(rouge_l(texts[i], texts[j]) > overlap for i, j in pairs):
        return Kept(everyone, "nothing overlaps")
    first, second = clusters(rows)
    if not second:
        return Kept((), "all are equal")
    if len(first) == len(second) == 1:
        return Kept((0,), "two passages")
    if min(len(first), len(second)) == 1:
        single, others = (first, second) if len(first) == 1 else (second, first)
        if inner_cosine(rows[list(others)]) <= alike:
            return Kept(others, "a single one is dropped")
        if cosine(rows[single[0]], rows[others[0]]) > alike:
            return Kept((), "the single one is like the others")
        return Kept(single, "a single one is kept")
    means = inner_cosine(rows[list(first)]), inner_cosine(rows[list(second)])
    looser = second if means[0] >= means[1] else first
    if min(means) > alike:
        return Kept((), "both clusters are alike inside")
    if max(means) < alike:
        kept = _distinct(texts, first, overlap) + _distinct(texts, second, overlap)
        return Kept(tuple(sorted(kept)), "no cluster is alike inside")
    return Kept(_distinct(texts, looser, overlap), "a cluster is alike inside")


def clusters(rows: Rows) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Part rows in two by k-means, that of the first row first; the second is empty if all are equal.

    Columns without spread stay 0, and a row that is the mean of all stays the zero vector.
    """
    try:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
    except ImportError as error:
        raise MissingExtraError("bench", "k-means") from error
    values = np.asarray(rows, dtype=np.float64)
    spread = values.std(axis=0)
    flat = spread <= 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0, initial=0.0))
    scaled = (values - values.mean(axis=0)) / np.where(flat, 1.0, spread)
    scaled[:, flat] = 0.0
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    scaled /= np.where(length == 0, 1.0, length)
    if len(values) < 2 or not scaled.any():
        return tuple(range(len(values))), ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = KMeans(n_clusters=2, n_init=10, max_iter=500, random_state=0).fit(scaled).labels_
    mine = labels == labels[0]
    return tuple(np.flatnonzero(mine).tolist()), tuple(np.flatnonzero(~mine).tolist())


def inner_cosine(rows: Rows) -> float:
    """Return the mean cosine of all pairs of two or more rows."""
    unit = np.array([_unit(row) for row in rows])
    upper = np.triu_indices(len(unit), 1)
    return float((unit @ unit.T)[upper].mean())


def cosine(left: Rows, right: Rows) -> float:
    """Return the cosine of two rows, 0 if one is zero."""
    return float(_unit(left) @ _unit(right))


def _unit(row: Rows) -> npt.NDArray[np.float64]:
    values = np.asarray(row, dtype=np.float64)
    length = float(np.linalg.norm(values))
    return values / length if length else values


def _distinct(texts: Sequence[str], places: tuple[int, ...], overlap: float) -> tuple[int, ...]:
    out = overlapping([texts[place] for place in places], overlap)
    return tuple(place for i, place in enumerate(places) if i not in out)
