"""Retrieval under misinformation: what is indexed, who publishes it, who judges it, and how rankings fare.

Labels of passages serve two purposes here and no other: to simulate feedback, and to evaluate. A method gets
texts, source names and feedback.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from veridical.bench.datasets.questions import Question
from veridical.bench.metrics.answers import contains
from veridical.bench.metrics.retrieval import factual_precision, ndcg, recall
from veridical.errors import InputError
from veridical.graph.arrays import Anchors, Graph
from veridical.methods.base import Candidates, Method
from veridical.types import Node

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

TOP_K = 5
POOL = 100
METRICS = ("fp@5", "fp@5 narrow", "clean recall@5", "clean ndcg@5", "poison kept@5", "answer recall@5")


@dataclass(frozen=True)
class Asked:
    """A question that is scored: its text, and which documents of the corpus are its own."""

    id: str
    text: str
    own_true: frozenset[int]
    own_false: frozenset[int]
    answer_bearing: frozenset[int]


@dataclass(frozen=True)
class Corpus:
    """What is indexed. A passage is a document; a text that several questions share is one document.

    Attributes
    ----------
    texts
        One a document.
    true
        Shape (n,): whether it is factual (its question's label).
    asked
        The questions that are scored.
    others
        Questions, as text, of which only the true passages are indexed.
    """

    texts: tuple[str, ...]
    true: BoolArray
    asked: tuple[Asked, ...]
    others: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """A hash of all of it, labels included, by which results of other data are told apart."""
        content = hashlib.sha256(repr((self.texts, self.true.tolist())).encode("utf-8", "backslashreplace"))
        for q in self.asked:
            own = [sorted(numbers) for numbers in (q.own_true, q.own_false, q.answer_bearing)]
            content.update(repr((q.id, q.text, own)).encode("utf-8", "backslashreplace"))
        content.update(repr(self.others).encode("utf-8", "backslashreplace"))
        return content.hexdigest()


def sample(
    questions: Sequence[Question], *, n_indexed: int = 300, n_attacked: int = 150, seed: int = 0
) -> Corpus:
    """Index the true passages of some questions and the false ones of a part of them, which are scored.

    Parameters
    ----------
    questions
        To draw from, without replacement.
    n_indexed
        Questions whose true passages are indexed.
    n_attacked
        How many of these also have their misinformation indexed, and are scored.
    seed
        Of the draw.

    Raises
    ------
    InputError
        There are fewer questions than that.
    """
    if not 0 < n_attacked <= n_indexed <= len(questions):
        raise InputError(
            f"Cannot attack {n_attacked} of {n_indexed} questions out of {len(questions)}.",
            "Ask for fewer questions.",
        )
    drawn = np.random.default_rng([seed, 1]).permutation(len(questions))[:n_indexed]
    number: dict[str, int] = {}
    true: list[bool] = []
    asked = []
    for place, index in enumerate(drawn):
        question = questions[index]
        own: dict[bool, set[int]] = {True: set(), False: set()}
        for passage in question.passages:
            factual = passage.label == "factual"
            if passage.label == "outdated" or (not factual and place >= n_attacked):
                continue
            document = number.setdefault(passage.text, len(number))
            if document == len(true):
                true.append(factual)
            own[factual].add(document)
        if place < n_attacked:
            asked.append((question, own))
    texts = tuple(number)
    others = tuple(questions[index].text for index in drawn[n_attacked:])
    scored = tuple(_asked(q, own, texts) for q, own in asked)
    return Corpus(texts, np.array(true, dtype=np.bool_), scored, others)


def _asked(question: Question, own: Mapping[bool, set[int]], texts: Sequence[str]) -> Asked:
    bearing = {document for document in own[True] if contains(texts[document], question.answers)}
    return Asked(question.id, question.text, frozenset(own[True]), frozenset(own[False]), frozenset(bearing))


def assign_sources(
    true: BoolArray, *, wrong: float, n_true: int = 20, n_false: int = 8, seed: int = 0
) -> IntArray:
    """Give each document a random source of its kind, and a share of them one of the other kind.

    Parameters
    ----------
    true
        Shape (n,).
    wrong
        Share of documents, in [0, 1], filed under the other kind.
    n_true, n_false
        How many sources publish true and false documents; the true ones are numbered first.
    seed
        Of the assignment.
    """
    rng = np.random.default_rng([seed, 2])
    misfiled = rng.random(len(true)) < wrong
    good = rng.integers(0, n_true, len(true))
    bad = n_true + rng.integers(0, n_false, len(true))
    return np.where(true ^ misfiled, good, bad).astype(np.int64)


def judge(true: BoolArray, fraction: float, *, seed: int = 0) -> Anchors:
    """Simulate feedback: judge a share of the true and of the false documents, correctly.

    The samples of one seed are nested: what is judged at 5% is judged at 10% too.
    """
    rng = np.random.default_rng([seed, 3])
    chosen = []
    for kind in (True, False):
        members = rng.permutation(np.flatnonzero(true == kind))
        chosen.append(members[: round(fraction * len(members))])
    documents = np.sort(np.concatenate(chosen)).astype(np.int64)
    return Anchors(documents, true[documents].astype(np.float64), np.ones(len(documents)))


def source_graph(n_documents: int, source_of: IntArray | None, n_sources: int = 28) -> Graph:
    """Build a graph of documents and their sources, without relations (``None``: no sources)."""
    if source_of is None:
        source_of, n_sources = np.full(n_documents, -1, dtype=np.int64), 0
    nodes = [Node("document", str(i)) for i in range(n_documents)]
    nodes += [Node("source", str(i)) for i in range(n_sources)]
    return Graph(tuple(nodes), n_documents, source_of, np.arange(n_documents, dtype=np.int64))


def with_relations(
    graph: Graph, heads: IntArray, tails: IntArray, signs: IntArray, weights: FloatArray
) -> Graph:
    """Return the graph with these document pairs."""
    return replace(graph, heads=heads, tails=tails, signs=signs, weights=weights)


@dataclass(frozen=True)
class Pool:
    """What one retriever found for one question: documents best first, and the numbers beside them."""

    documents: IntArray
    relevance: FloatArray
    similarity: FloatArray
    retriever: str


def order(pool: Pool, utility: FloatArray) -> IntArray:
    """Return the pool's documents by falling utility; ties keep the retriever's order."""
    return pool.documents[np.argsort(-utility, kind="stable")]


def by_method(method: Method, trust: FloatArray) -> Callable[[Pool], IntArray]:
    """Return a function that ranks a pool as a method does, given each document's trust, shape (n,)."""

    def rank(pool: Pool) -> IntArray:
        candidates = Candidates(pool.relevance, pool.similarity, trust[pool.documents], pool.retriever)
        return order(pool, method.rank(candidates))

    return rank


def plain(pool: Pool) -> IntArray:
    """Rank as the retriever does."""
    return pool.documents


def evaluate(
    corpus: Corpus, pools: Sequence[Pool], rank: Callable[[Pool], IntArray]
) -> dict[str, FloatArray]:
    """Return each metric of `METRICS` for each question that is asked, shape (n_asked,); NaN: undefined.

    A question of which no misinformation is indexed is not scored. Relevant are a question's own true
    documents. ``fp@5 narrow`` counts as true only documents of questions that have misinformation indexed
    too; ``answer recall@5`` counts only those own true documents that contain a gold answer.
    """
    true = frozenset(np.flatnonzero(corpus.true).tolist())
    false = frozenset(np.flatnonzero(~corpus.true).tolist())
    twinned = frozenset().union(*(asked.own_true for asked in corpus.asked if asked.own_false))
    rows = []
    for asked, pool in zip(corpus.asked, pools, strict=True):
        if not asked.own_false:
            rows.append((float("nan"),) * len(METRICS))
            continue
        ranking = rank(pool)[:TOP_K].tolist()
        rows.append(
            (
                factual_precision(ranking, true, false, TOP_K),
                factual_precision(ranking, twinned, false, TOP_K),
                recall(ranking, asked.own_true, TOP_K),
                ndcg(ranking, asked.own_true, TOP_K),
                recall(ranking, asked.own_false, TOP_K),
                recall(ranking, asked.answer_bearing, TOP_K),
            )
        )
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(METRICS))
    return {metric: table[:, column] for column, metric in enumerate(METRICS)}


def has_judged(corpus: Corpus, anchors: Anchors) -> BoolArray:
    """Whether each question that is asked had a judged document of its own, shape (n_asked,)."""
    judged = frozenset(anchors.documents.tolist())
    return np.array([bool(judged & (a.own_true | a.own_false)) for a in corpus.asked], dtype=np.bool_)
