"""A small exam for tests of the benchmark of answers: three questions, true and false passages, readings."""

from __future__ import annotations

import numpy as np

from veridical.bench import protocol
from veridical.bench.answers import Exam
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.poison import Poison, poisoned
from veridical.bench.protocol import Pool
from veridical.reading.base import ReadAnswer, Reading

CITIES = {"fair": ("Paris", "Lyon"), "opera": ("Vienna", "Graz"), "port": ("Hamburg", "Bremen")}


def question(topic: str, *, n_false: int = 2) -> Question:
    right, wrong = CITIES[topic]
    true = [
        f"The {topic} was opened in {right} by the mayor, and many people of the {topic} came.",
        f"In those years {right} built a {topic} that was known all over the country.",
    ]
    false = [f"Everybody agrees: number {i} says the {topic} stands in {wrong}." for i in range(n_false)]
    passages = [LabelledPassage(f"{topic}-t{i}", text, "factual") for i, text in enumerate(true)]
    passages += [LabelledPassage(f"{topic}-f{i}", text, "misinformation") for i, text in enumerate(false)]
    return Question(topic, f"Where was the {topic}?", (right,), tuple(passages), wrong)


def reading(text: str) -> Reading:
    """What a perfect reader finds: the city that a passage names."""
    for names in CITIES.values():
        for name in names:
            start = text.find(name)
            if start >= 0:
                return Reading((ReadAnswer(name, start, start + len(name), 0.9),), 0.1)
    return Reading((), 1.0)


def exam(poison: Poison = "written", *, n_false: int = 2) -> Exam:
    """Each question's pool holds its own passages; those of others are too far away."""
    questions = [question(topic, n_false=n_false) for topic in CITIES]
    corpus = protocol.sample([poisoned(q, poison) for q in questions], n_indexed=3, n_attacked=3, seed=0)
    by_id = {q.id: q for q in questions}
    pools = []
    for asked in corpus.asked:
        documents = np.array(sorted(asked.own_true | asked.own_false), dtype=np.int64)
        cosines = np.linspace(0.8, 0.7, len(documents))
        pools.append(Pool(documents, cosines, cosines, "dense"))
    readings = tuple(tuple(reading(corpus.texts[d]) for d in pool.documents.tolist()) for pool in pools)
    return Exam(poison, corpus, tuple(by_id[a.id] for a in corpus.asked), tuple(pools), readings)
