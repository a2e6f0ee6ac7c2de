"""Everything that a run needs of one data set under one attack, computed once and shared by all systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from veridical.bench import beliefs, cache, relating
from veridical.bench import layout as layouts
from veridical.bench.answers import N_READ
from veridical.bench.attacks.base import Attack
from veridical.bench.beliefs import World
from veridical.bench.known import Known
from veridical.bench.layout import Layout
from veridical.bench.protocol import BoolArray, FloatArray, Pool
from veridical.bench.protocols import Protocol
from veridical.bench.shared import CachedEncoder, CachedReader
from veridical.bench.systems.base import Retrieved, Task
from veridical.evidence.credibility import Evaluator
from veridical.graph import evidence
from veridical.graph.arrays import Anchors
from veridical.graph.from_questions import MIN_SIMILARITY, POOL_SIZE
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.nli.base import NLIModel
from veridical.reading.base import Reading

_MOST_TASKS = 500
IDEAL_TRUE, IDEAL_FALSE, UNJUDGED = 10.0, 1.0, 5.0
Progress = Callable[[str, int | None], Callable[[int], None]]
"""Begins a stage, given its title and how much there is to do; returns what to call with what was done."""


def _silent(title: str, total: int | None) -> Callable[[int], None]:
    del title, total
    return lambda _: None


@dataclass(frozen=True, eq=False)
class Making:
    """What scenes are made with.

    Attributes
    ----------
    folder
        Where vectors, readings and judgements are kept.
    encoder, reader, nli
        The embedded models, by default.
    encode
        Gets the vectors of a scene's passages, so that systems need not compute them.
    evaluator
        Judges passages from 0 to 10; ``None`` where there is no language model.
    """

    folder: Path
    encoder: TextEncoder
    reader: CachedReader
    nli: NLIModel
    encode: CachedEncoder
    evaluator: Evaluator | None = None
    progress: Progress = field(default=_silent)


class Scene:
    """One layout, its pools, and what can be known of its documents.

    Parameters
    ----------
    layout, protocol
        What is asked of which corpus.
    making
        The models and the folder.
    attack
        What the corpus is under, which may bend the feedback, too; ``None`` for nothing that does.
    """

    def __init__(
        self, layout: Layout, protocol: Protocol, making: Making, attack: Attack | None = None
    ) -> None:
        self.layout, self.protocol, self.making, self.attack = layout, protocol, making, attack
        self._tasks: dict[tuple[int, str | None, Known], Task] = {}
        self._trust: dict[tuple[str, float, float], FloatArray] = {}
        self.judged: dict[int, float] = {}
        """What the evaluator said of documents, 0 to 10."""

    @property
    def title(self) -> str:
        """For progress."""
        return f"{self.layout.dataset}, {self.layout.attack}"

    @property
    def true(self) -> BoolArray:
        """Shape (n,): which documents are factual."""
        return self.layout.corpus.true

    @cached_property
    def digest(self) -> str:
        """What rows of this corpus are told apart by from those of another."""
        made = (self.protocol.pool, str(self.protocol.n_pool), self.protocol.order)
        return self.layout.digest(*made, self.making.encoder.name, self.making.reader.name)

    @cached_property
    def vectors(self) -> Float32Array:
        """Shape (n, d): of the documents."""
        return self._encoded(self.layout.shown, f"{self.title}: passages")

    @cached_property
    def pools(self) -> list[Pool]:
        """What is retrieved for each question."""
        texts = [question.text for question in self.layout.questions]
        asked = self._encoded(texts, f"{self.title}: questions")
        return layouts.pools(self.layout, self.vectors, asked, self.protocol)

    @cached_property
    def world(self) -> World:
        """What there is to believe by: sources, relations from the questions asked, and inference."""
        corpus = self.layout.corpus
        texts = [question.text for question in self.layout.questions]
        rows, _ = relating.answered(texts, [_compared(pool) for pool in self.pools], corpus, self._read)
        pairs = relating.neighbour_pairs(corpus, self.vectors)
        tick = self.making.progress(f"{self.title}: inference", len(pairs))
        judged = cache.judgements(
            self.making.folder, self.making.nli, [(corpus.texts[i], corpus.texts[j]) for i, j in pairs], tick
        )
        return World(corpus.texts, self.layout.source_of, rows, relating.inferred(pairs, judged))

    @cached_property
    def unrelated(self) -> World:
        """The same without any relation, for beliefs that need none."""
        none = np.empty(0, dtype=np.int64)
        rows = evidence.rows_of(none, none, np.empty(0), np.empty(0))
        return World(self.layout.corpus.texts, self.layout.source_of, rows, rows)

    def anchors(self, known: Known) -> Anchors:
        """The simulated feedback, as it is under the attack."""
        seed = self.layout.seed
        given = beliefs.judge(self.true, known.share, accuracy=known.accuracy, seed=seed)
        return given if self.attack is None else self.attack.rate(given, self.layout.corpus.asked, seed=seed)

    def trust(self, belief: str, known: Known) -> FloatArray:
        """Trust of each document by one way and one feedback, computed once; shape (n,), NaN: unknown."""
        key = (belief, known.share, known.accuracy)
        if key not in self._trust:
            way = beliefs.WAYS.get(belief)
            bare = way is not None and not (way.questions or way.inference)
            world = self.unrelated if bare else self.world
            self._trust[key] = beliefs.believe(belief, world, self.anchors(known))
        return self._trust[key]

    def task(self, place: int, belief: str | None, known: Known) -> Task:
        """One question with its pool, as a system gets it; systems that take the same get the same."""
        key = (place, belief, known)
        if key not in self._tasks:
            if len(self._tasks) >= _MOST_TASKS:
                self._tasks.clear()
            self._tasks[key] = self._task(place, belief, known)
        return self._tasks[key]

    def _task(self, place: int, belief: str | None, known: Known) -> Task:
        pool = self.pools[place]
        trust = None if belief is None else self.trust(belief, known)
        found = [
            self.layout.retrieved(document, cosine)
            for document, cosine in zip(pool.documents.tolist(), pool.similarity.tolist(), strict=True)
        ]
        if trust is not None:
            found = [replace(one, trust=_known(trust[one.document])) for one in found]
        if known.credibility != "none":
            judged = self._judged(found, known)
            found = [replace(one, credibility=value) for one, value in zip(found, judged, strict=True)]
        return Task(self.layout.questions[place].text, tuple(found), seed=self.layout.seed)

    def _judged(self, found: Sequence[Retrieved], known: Known) -> list[float]:
        """Judgements from 0 to 10: by the labels, or by the model, 5 where it gave nothing usable."""
        if known.credibility == "ideal":
            return [IDEAL_TRUE if self.true[one.document] else IDEAL_FALSE for one in found]
        if self.making.evaluator is None:
            return [UNJUDGED] * len(found)
        todo = [one for one in found if one.document not in self.judged]
        judged = self.making.evaluator.judge_documents([(one.title, one.text) for one in todo])
        for one, value in zip(todo, judged, strict=True):
            self.judged[one.document] = UNJUDGED if value is None else 10.0 * value
        return [self.judged[one.document] for one in found]

    def read_ahead(self, limit: int | None = None) -> None:
        """Read what relations and the board will ask for, of the first questions only if there is a limit."""
        corpus = self.layout.corpus
        pairs = [
            (question.text, corpus.texts[document])
            for question, pool in islice(zip(self.layout.questions, self.pools, strict=True), limit)
            for document in islice(pool.documents.tolist(), N_READ)
        ]
        self._read(pairs)

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        tick = self.making.progress(f"{self.title}: readings", None)
        return self.making.reader.read_pairs(pairs, tick)

    def _encoded(self, texts: Sequence[str], title: str) -> Float32Array:
        tick = self.making.progress(title, None)
        rows = cache.vectors(self.making.folder, self.making.encoder, texts, tick)
        self.making.encode.learn(texts, rows)
        return rows


def _compared(pool: Pool) -> list[int]:
    """The documents that a build would put the question to: the nearest ones, as far as they are near."""
    near = sorted(zip(pool.similarity.tolist(), pool.documents.tolist(), strict=True), key=lambda p: -p[0])
    return [document for cosine, document in near[:POOL_SIZE] if cosine >= MIN_SIMILARITY]


def _known(trust: float) -> float | None:
    return None if np.isnan(trust) else float(trust)
