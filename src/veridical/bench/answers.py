"""Answers from a poisoned corpus without a language model: what is read, trusted and answered.

Labels and gold answers serve to simulate feedback and to evaluate. What answers gets texts, source names and
feedback: the evidence board (`veridical.evidence.board`) and the default method, as in the product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from veridical.answer.context import trust_label
from veridical.bench import protocol, relating
from veridical.bench.datasets.questions import Question
from veridical.bench.metrics.answers import attack_succeeds, best_f1, contains, strict_match
from veridical.bench.poison import Poison
from veridical.bench.protocol import BoolArray, Corpus, FloatArray, IntArray, Pool
from veridical.bench.wrong_answers import wrong_answers
from veridical.corpus.dedupe import near_duplicates
from veridical.evidence.board import Board, Hearing, PassageRead, board_of, hear
from veridical.evidence.rescore import relevance_model
from veridical.feedback.attribution import shares, vote_weights
from veridical.graph.arrays import Anchors, Graph
from veridical.graph.evidence import Rows
from veridical.graph.from_questions import MIN_SIMILARITY, POOL_SIZE
from veridical.index.dense import top_rows
from veridical.index.encoder import Float32Array
from veridical.methods.veridical import Veridical
from veridical.reading.base import Reading
from veridical.types import Candidate, Passage

N_READ = 20


@dataclass(frozen=True, eq=False)
class Exam:
    """A corpus, the questions put to it, and what the nearest passages of each answer when read alone.

    Attributes
    ----------
    poison
        What the corpus is poisoned with.
    corpus
        What is indexed and asked.
    questions
        Those that are asked, in the corpus's order, with their gold answers.
    pools
        The ``N_READ`` nearest documents of each question.
    readings
        Of these, in their order.
    vectors
        Shape (n_documents, d): unit rows; ``None`` leaves paraphrases unnoticed.
    """

    poison: Poison
    corpus: Corpus
    questions: tuple[Question, ...]
    pools: tuple[Pool, ...]
    readings: tuple[tuple[Reading, ...], ...]
    vectors: Float32Array | None = None

    @cached_property
    def hearings(self) -> tuple[Hearing, ...]:
        """What is said to each question, whoever is believed."""
        return tuple(_heard(self, place) for place in range(len(self.questions)))

    @property
    def n_documents(self) -> int:
        """How many documents are indexed."""
        return len(self.corpus.texts)

    @property
    def attacked(self) -> BoolArray:
        """Shape (n_asked,): whether the corpus holds misinformation for a question."""
        return np.array([bool(asked.own_false) for asked in self.corpus.asked], dtype=np.bool_)


def nearest(texts: Float32Array, questions: Float32Array) -> tuple[Pool, ...]:
    """Return the nearest documents of each question; unit rows of shapes (n, d) and (n_asked, d)."""
    found = []
    for vector in questions:
        cosines = (texts @ vector).astype(np.float64)
        near = top_rows(cosines, N_READ).astype(np.int64)
        found.append(Pool(near, cosines[near], cosines[near], "dense"))
    return tuple(found)


def question_relations(exam: Exam) -> Rows:
    """Compare what the nearest passages of each question that is asked answer to it, as a build does."""
    pools = [_compared(pool) for pool in exam.pools]
    found = [reading for pool, own in zip(pools, exam.readings, strict=True) for reading in own[: len(pool)]]
    texts = [question.text for question in exam.questions]
    return relating.answered(texts, pools, exam.corpus, lambda _: found)[0]


def _compared(pool: Pool) -> list[int]:
    """The documents that a build would put the question to: the nearest ones, as far as they are near."""
    near = zip(pool.documents.tolist(), pool.similarity.tolist(), strict=True)
    return [document for document, cosine in islice(near, POOL_SIZE) if cosine >= MIN_SIMILARITY]


def build_graph(exam: Exam, source_of: IntArray | None = None) -> Graph:
    """Build the graph of an exam: its sources, its relations from questions, and who shares a voice."""
    bare = protocol.source_graph(exam.n_documents, source_of)
    voices = np.array(near_duplicates(exam.corpus.texts), dtype=np.int64)
    return replace(relating.relate(bare, question_relations(exam)), voice_group=voices)


def with_sources(graph: Graph, source_of: IntArray | None) -> Graph:
    """Return the graph with other sources (``None``: with none)."""
    bare = protocol.source_graph(graph.n_documents, source_of)
    return replace(graph, nodes=bare.nodes, source_of=bare.source_of)


def without_relations(graph: Graph) -> Graph:
    """Return the graph as it is before any question was asked."""
    none = np.empty(0, dtype=np.int64)
    return replace(
        protocol.with_relations(graph, none, none, none, none.astype(np.float64)),
        by_answers=none.astype(np.bool_),
    )


def board(exam: Exam, place: int, trust: FloatArray, source_of: IntArray | None = None) -> Board:
    """Lay out what the nearest passages answer to one question.

    Parameters
    ----------
    place
        Which of the questions that are asked.
    trust
        Shape (n_documents,): NaN where nothing is known.
    source_of
        Shape (n_documents,): who publishes each document; ``None`` if nobody knows.
    """
    heard = exam.hearings[place]
    reads = []
    for read in heard.reads:
        document = read.passage.document_id
        believed = float(trust[document])
        source = None if source_of is None else f"source {source_of[document]}"
        reads.append(replace(read, source=source, trust=believed, label=trust_label(believed)))
    return board_of(replace(heard, reads=tuple(reads)))


def _heard(exam: Exam, place: int) -> Hearing:
    """What is said to one question, before anything is known of who says it."""
    pool = exam.pools[place]
    logs = relevance_model().log_probability(pool.relevance, pool.similarity, dense=True)
    texts = exam.corpus.texts
    reads = [
        PassageRead(Passage(i, i, 0, 0, len(texts[i]), texts[i]), None, reading, relevance, math.nan)
        for i, reading, relevance in zip(
            pool.documents.tolist(), exam.readings[place], np.exp(logs).tolist(), strict=True
        )
    ]
    vectors = None if exam.vectors is None else exam.vectors[pool.documents]
    return hear(exam.questions[place].text, reads, vectors)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The answers to all questions under one belief, each array of shape (n_asked,).

    Attributes
    ----------
    text
        The leading candidate, whether or not it would be given; empty where no passage answers.
    given
        Whether it is given: the evidence is neither thin nor tied.
    probability
        That of the leading candidate, 0 where there is none.
    strict, containment, f1
        Against the gold answers.
    attack
        Whether a wrong answer is named and no gold answer is.
    """

    text: tuple[str, ...]
    given: FloatArray
    probability: FloatArray
    strict: FloatArray
    containment: FloatArray
    f1: FloatArray
    attack: FloatArray


def answer_all(exam: Exam, trust: FloatArray, source_of: IntArray | None = None) -> Sheet:
    """Answer every question of an exam; see `board`."""
    boards = [board(exam, place, trust, source_of) for place in range(len(exam.questions))]
    return mark(exam.questions, boards)


def mark(questions: Sequence[Question], boards: Sequence[Board]) -> Sheet:
    """Compare leading candidates with the gold answers."""
    leaders = [found.candidates[0] if found.candidates else None for found in boards]
    texts = ["" if leader is None else leader.text for leader in leaders]
    pairs = list(zip(texts, questions, strict=True))
    return Sheet(
        text=tuple(texts),
        given=np.array([found.status == "answered" for found in boards], dtype=np.float64),
        probability=np.array([0.0 if leader is None else leader.probability for leader in leaders]),
        strict=np.array([strict_match(text, q.answers) for text, q in pairs], dtype=np.float64),
        containment=np.array([contains(text, q.answers) for text, q in pairs], dtype=np.float64),
        f1=np.array([best_f1(text, q.answers) for text, q in pairs], dtype=np.float64),
        attack=np.array([attacked(text, q) for text, q in pairs], dtype=np.float64),
    )


def attacked(text: str, question: Question) -> bool:
    """Whether an answer names a wrong answer and no right one."""
    return any(attack_succeeds(text, question.answers, wrong) for wrong in wrong_answers(question))


def believe(graph: Graph, anchors: Anchors) -> FloatArray:
    """Return the trust of each document by the default method, shape (n_documents,)."""
    return Veridical().believe(graph, anchors).trust[: graph.n_documents]


def unknown(exam: Exam) -> FloatArray:
    """Return the trust of a corpus of which nothing is known."""
    return np.full(exam.n_documents, np.nan)


def vote(
    exam: Exam, graph: Graph, n_votes: Sequence[int], *, seed: int = 0
) -> dict[int, tuple[FloatArray, BoolArray]]:
    """Simulate a user who votes on the leading candidate of one random question after another.

    Good if it names a right answer and no wrong one, else bad. A vote reaches the documents that give the
    candidate as in the product, and trust is believed anew before the next question is asked. Where no
    passage answers there is nothing to vote on, and the next question is asked.

    Parameters
    ----------
    n_votes
        After how many votes to look.

    Returns
    -------
    dict
        For each of these: the trust, shape (n_documents,), and which questions were voted on, (n_asked,);
        with fewer questions than votes what stands after the last one.
    """
    order = np.random.default_rng([seed, 4]).permutation(len(exam.questions))
    trust = unknown(exam)
    voted = np.zeros(len(exam.questions), dtype=np.bool_)
    judged: dict[int, list[tuple[float, float]]] = {}
    found: dict[int, tuple[FloatArray, BoolArray]] = {}
    for place in order.tolist():
        if voted.sum() >= max(n_votes):
            break
        candidates = board(exam, place, trust).candidates
        if not candidates:
            continue
        voted[place] = True
        for document, given in votes(candidates[0], exam.questions[place]).items():
            judged.setdefault(document, []).append(given)
        trust = believe(graph, as_anchors(judged))
        if voted.sum() in n_votes:
            found[int(voted.sum())] = (trust, voted.copy())
    return {n: found.get(n, (trust, voted)) for n in n_votes}


def votes(candidate: Candidate, question: Question) -> dict[int, tuple[float, float]]:
    """Return value and weight of one vote for each document that it reaches."""
    names_wrong = any(contains(candidate.text, [wrong]) for wrong in wrong_answers(question))
    value = float(contains(candidate.text, question.answers) and not names_wrong)
    by_name = {str(document): share for document, share in shares(candidate).items()}
    return {int(name): (value, weight) for name, weight in vote_weights(by_name).items()}


def as_anchors(judged: dict[int, list[tuple[float, float]]]) -> Anchors:
    """Average the votes that reached each document, by their weights."""
    documents = sorted(judged)
    weights = np.array([sum(weight for _, weight in judged[d]) for d in documents], dtype=np.float64)
    sums = np.array([sum(value * weight for value, weight in judged[d]) for d in documents])
    return Anchors(np.array(documents, dtype=np.int64), sums / weights, weights)
