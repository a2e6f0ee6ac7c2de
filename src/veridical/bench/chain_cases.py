"""Questions with their passages as method ``reliable`` gets them, and the trust that all of them lead to.

A passage is a document here. A text that several questions share under one title is one document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from veridical.bench import protocol, relating
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.multihop import is_false
from veridical.bench.protocol import Asked, BoolArray, Corpus, FloatArray, IntArray
from veridical.corpus.dedupe import near_duplicates
from veridical.evidence.triples import Extraction, Extractor, written
from veridical.graph.arrays import Graph
from veridical.index.encoder import Float32Array
from veridical.methods.veridical import Veridical
from veridical.stores.documents import index_text
from veridical.types import Passage, Span, Triple

Encode = Callable[[Sequence[str]], Float32Array]


@dataclass(frozen=True, eq=False)
class Case:
    """One question and the passages that are searched for its answer, nearest first.

    Attributes
    ----------
    question
        With its gold answers and its wrong answer.
    passages
        Its own, and the poison where it has any, as the retriever orders them.
    documents
        Shape (n,): number of each passage in the corpus of all questions.
    cosines
        Shape (n,): to the question, falling.
    """

    question: Question
    passages: tuple[LabelledPassage, ...]
    documents: IntArray
    cosines: FloatArray

    @property
    def false(self) -> BoolArray:
        """Shape (n,): which passages are the poison."""
        return np.array([is_false(passage) for passage in self.passages], dtype=np.bool_)

    @property
    def supporting(self) -> frozenset[int]:
        """Places of the passages that the answer takes."""
        return frozenset(place for place, passage in enumerate(self.passages) if passage.supporting)

    def titled(self) -> dict[int, tuple[str, Passage]]:
        """Title and passage by id, which is the place from 1."""
        return {
            place: (own.title, Passage(place, place, 0, 0, len(own.text), own.text))
            for place, own in enumerate(self.passages, 1)
        }


@dataclass(frozen=True, eq=False)
class Library:
    """All questions of a data set under one attack, and the corpus that their passages make up.

    ``titles`` has one entry a document, as the corpus's texts. ``vectors`` has shape (n_documents, d).
    """

    cases: tuple[Case, ...]
    corpus: Corpus
    titles: tuple[str, ...]
    vectors: Float32Array


def library(questions: Sequence[Question], encode: Encode) -> Library:
    """Number the passages, encode them as an index does, and order each question's own by cosine.

    Parameters
    ----------
    questions
        As `veridical.bench.multihop.Attacked.under` gives them.
    encode
        Texts to unit rows.
    """
    numbers: dict[tuple[str, str], int] = {}
    true: list[bool] = []
    for question in questions:
        for passage in question.passages:
            if numbers.setdefault((passage.title, passage.text), len(numbers)) == len(true):
                true.append(not is_false(passage))
    vectors = encode([index_text(title, text) for title, text in numbers])
    asked = encode([question.text for question in questions])
    cases = tuple(_case(q, row, numbers, vectors) for q, row in zip(questions, asked, strict=True))
    scored = tuple(_asked(case) for case in cases)
    corpus = Corpus(tuple(text for _, text in numbers), np.array(true, dtype=np.bool_), scored)
    return Library(cases, corpus, tuple(title for title, _ in numbers), vectors)


def _case(
    question: Question,
    vector: Float32Array,
    numbers: Mapping[tuple[str, str], int],
    vectors: Float32Array,
) -> Case:
    own = np.array([numbers[p.title, p.text] for p in question.passages], dtype=np.int64)
    cosines = np.asarray(vectors[own] @ vector, dtype=np.float64)
    order = np.argsort(-cosines, kind="stable")
    return Case(question, tuple(question.passages[i] for i in order), own[order], cosines[order])


def _asked(case: Case) -> Asked:
    own = case.documents.tolist()
    false = frozenset(i for i, wrong in zip(own, case.false.tolist(), strict=True) if wrong)
    return Asked(case.question.id, case.question.text, frozenset(own) - false, false, frozenset())


def related(found: Library, encode: Encode, read: relating.Read) -> Graph:
    """Build the graph of a corpus without sources, after each question was asked once, as a build does."""
    asked = [case.question.text for case in found.cases]
    pools = relating.question_pools(found.vectors, encode(asked))
    rows, _ = relating.answered(asked, pools, found.corpus, read)
    bare = protocol.source_graph(len(found.titles), None)
    voices = np.array(near_duplicates(found.corpus.texts), dtype=np.int64)
    return replace(relating.relate(bare, rows), voice_group=voices)


def believed(graph: Graph, true: BoolArray, share: float, *, seed: int) -> FloatArray:
    """Return the trust of each document after a share of the true and of the false ones was judged."""
    anchors = protocol.judge(true, share, seed=seed)
    return Veridical().believe(graph, anchors).trust[: graph.n_documents]


@dataclass(frozen=True, eq=False)
class Claims:
    """The triples of a case's passages, in the passages' order; ``vectors`` has one unit row a triple."""

    triples: tuple[Triple, ...]
    vectors: Float32Array

    def with_credibility(self, values: FloatArray) -> tuple[Triple, ...]:
        """Return the triples with these credibilities, shape (n_triples,)."""
        return tuple(
            replace(triple, credibility=float(value))
            for triple, value in zip(self.triples, values, strict=True)
        )


def without_poison(case: Case) -> Case:
    """Return the case as it is without its false passage."""
    kept = np.flatnonzero(~case.false)
    passages = tuple(case.passages[i] for i in kept.tolist())
    question = replace(case.question, passages=passages)
    return Case(question, passages, case.documents[kept], case.cosines[kept])


def all_claims(found: Library, extractor: Extractor, encode: Encode) -> list[Claims]:
    """Find the triples of every passage once, encode them in one call, and give each case its own."""
    shown = list(dict.fromkeys((own.title, own.text) for case in found.cases for own in case.passages))
    stated = dict(zip(shown, extractor.extract(shown), strict=True))
    texts = list(dict.fromkeys(text for each in stated.values() for text in _written(each)))
    rows = dict(zip(texts, encode(texts), strict=True))
    name = extractor.name

    def known(some: Sequence[str]) -> Float32Array:
        return np.stack([rows[text] for text in some]) if len(some) else found.vectors[:0]

    return [
        claims(case, [stated[own.title, own.text] for own in case.passages], known, extractor=name)
        for case in found.cases
    ]


def claims(case: Case, extractions: Sequence[Extraction], encode: Encode, *, extractor: str) -> Claims:
    """Number the triples that were found in each passage of a case, and encode them."""
    triples = [
        Triple(
            0, at, at, t.head, t.relation, t.tail, Span(own.text[t.start : t.end], t.start, t.end), extractor
        )
        for at, (own, extraction) in enumerate(zip(case.passages, extractions, strict=True), 1)
        for t in extraction.triples
    ]
    numbered = tuple(replace(triple, id=number) for number, triple in enumerate(triples, 1))
    return Claims(numbered, encode([written(t.head, t.relation, t.tail) for t in numbered]))


def _written(extraction: Extraction) -> list[str]:
    return [written(t.head, t.relation, t.tail) for t in extraction.triples]
