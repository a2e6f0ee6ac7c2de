"""Relations for a benchmark corpus: inferred between neighbours, from questions, and by label as a bound.

A passage is a document here, so what a build keeps of passages goes for documents. What is asked and read is
the product's own (`veridical.graph`); only `labelled` looks at labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from veridical.bench.protocol import Corpus
from veridical.graph import evidence
from veridical.graph.arrays import Graph
from veridical.graph.candidates import candidate_pairs, update_neighbours
from veridical.graph.evidence import Rows
from veridical.graph.from_questions import MIN_SIMILARITY, pairs_of, update_pools
from veridical.graph.made_questions import Neighbour, questions_of
from veridical.graph.rare import fact_keys, rare_pairs
from veridical.reading.base import Reading
from veridical.stores.questions import QuestionPair

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Pair = tuple[int, int]
Read = Callable[[Sequence[tuple[str, str]]], list[Reading]]


def neighbour_pairs(corpus: Corpus, texts: Float32Array) -> list[Pair]:
    """Return the document pairs that a build would judge: neighbours, and those that share what is rare."""
    ids = np.arange(len(texts), dtype=np.int64)
    near = candidate_pairs(update_neighbours(ids, ids, texts, {}))
    rare = rare_pairs(ids, ids, [fact_keys("", text) for text in corpus.texts])
    return sorted({*near, *rare})


def inferred(pairs: Sequence[Pair], judged: Float32Array) -> Rows:
    """Return what was inferred of some pairs; ``judged`` has shape (len(pairs), 2), as from `judgements`."""
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    numbers = judged.astype(np.float64)
    return evidence.rows_of(ends[:, 0], ends[:, 1], numbers[:, 0], numbers[:, 1])


def question_pools(texts: Float32Array, questions: Float32Array) -> list[list[int]]:
    """Return the documents that each question is put to, nearest first; unit rows (n, d) and (q, d)."""
    ids, numbers = np.arange(len(texts), dtype=np.int64), np.arange(len(questions), dtype=np.int64)
    pools = update_pools(numbers, questions, ids, texts, {}, up_to=-1)
    return [
        [i for i, cosine in sorted(pools[q].items(), key=lambda item: -item[1]) if cosine >= MIN_SIMILARITY]
        for q in numbers.tolist()
    ]


def answered(
    questions: Sequence[str], pools: Sequence[Sequence[int]], corpus: Corpus, read: Read
) -> tuple[Rows, list[Mapping[int, Reading]]]:
    """Put questions to their pools and compare what is answered.

    Returns
    -------
    Rows
        What the answers say of document pairs, one row a question and pair.
    list of mapping
        For each question, what each document of its pool answers.
    """
    asked = [(text, corpus.texts[i]) for text, pool in zip(questions, pools, strict=True) for i in pool]
    found = iter(read(asked))
    readings = [{i: next(found) for i in pool} for pool in pools]
    owner = {i: i for i in range(len(corpus.texts))}
    pairs = [
        pair
        for number, (text, own) in enumerate(zip(questions, readings, strict=True))
        for pair in pairs_of(number, text, own, owner, reader="", texts={i: corpus.texts[i] for i in own})
    ]
    table = np.array(
        [(pair.low_passage, pair.high_passage, pair.support, pair.contradiction) for pair in pairs],
        dtype=np.float64,
    ).reshape(-1, 4)
    ends = table[:, :2].astype(np.int64)
    margins = np.array([_margin(pair, readings) for pair in pairs], dtype=np.float64)
    found_rows = evidence.rows_of(
        ends[:, 0], ends[:, 1], table[:, 2], table[:, 3], answered=True, margins=margins
    )
    return found_rows, list(readings)


def _margin(pair: QuestionPair, readings: Sequence[Mapping[int, Reading]]) -> float:
    own = readings[pair.question_id or 0]
    return own[pair.high_passage].no_answer - own[pair.low_passage].no_answer


def made(corpus: Corpus, pairs: Sequence[Pair], n: int, read: Read) -> Rows:
    """Have each document put ``n`` questions at most to those that it is paired with, and compare."""
    near: dict[int, list[Neighbour]] = {}
    for low, high in pairs:
        for own, other in ((low, high), (high, low)):
            near.setdefault(own, []).append(Neighbour(other, other, "", corpus.texts[other]))
    asked = [
        question
        for own, neighbours in sorted(near.items())
        for question in questions_of(
            {own: corpus.texts[own]}, "", {own: sorted(neighbours, key=lambda one: one.id)}, n
        )
    ]
    readings = read([(question.question, question.window.text) for question in asked])
    verdicts = [question.verdict(reading) for question, reading in zip(asked, readings, strict=True)]
    return evidence.rows_of(
        np.array([question.asker for question in asked], dtype=np.int64),
        np.array([question.other for question in asked], dtype=np.int64),
        np.array([verdict.support for verdict in verdicts], dtype=np.float64),
        np.array([verdict.contradiction for verdict in verdicts], dtype=np.float64),
        answered=True,
    )


def labelled(corpus: Corpus, pools: Sequence[Sequence[int]]) -> Rows:
    """Return what a reader without fault would say: which of a question's own documents are of one kind.

    Only pairs that the reader is asked about: both documents in the question's pool. Whether they answer the
    question is not asked, so that this bounds what any comparison of answers can give.
    """
    rows = []
    for asked, pool in zip(corpus.asked, pools, strict=True):
        own = [i for i in pool if i in asked.own_true or i in asked.own_false]
        for i, j in combinations(sorted(own), 2):
            rows.append((i, j, int((i in asked.own_true) == (j in asked.own_true))))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    same = table[:, 2].astype(np.float64)
    return evidence.rows_of(table[:, 0], table[:, 1], same, 1.0 - same, answered=True)


def relate(graph: Graph, found: Rows) -> Graph:
    """Return the graph with one edge a document pair, as a build makes it from evidence."""
    edges = evidence.strongest(found)
    return replace(
        graph,
        heads=edges.heads,
        tails=edges.tails,
        signs=edges.signs,
        weights=np.minimum(edges.weights, 1.0),
        by_answers=edges.answered,
        margins=edges.margins,
    )
