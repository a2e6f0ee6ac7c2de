"""The compared system ``veridical`` answers as the boards of the benchmark of answers do."""

from __future__ import annotations

import numpy as np
import pytest
from exams import exam, reading

from veridical.bench import answers
from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.veridical import Veridical


class Perfect:
    """Reads as the exam does."""

    name = "perfect"

    def read(self, question, passages):
        return [reading(passage) for passage in passages]

    def read_pairs(self, pairs):
        return [reading(passage) for _, passage in pairs]


@pytest.mark.parametrize("believed", ["true", "false", "unknown"])
def test_it_answers_as_the_boards_of_the_benchmark_of_answers_do(believed: str) -> None:
    taken = exam(n_false=3)
    true = taken.corpus.true
    trust = {"true": np.where(true, 0.8, 0.3), "false": np.where(true, 0.3, 0.8)}.get(
        believed, np.full(len(true), np.nan)
    )
    for place, (question, own) in enumerate(zip(taken.questions, taken.pools, strict=True)):
        pool = tuple(
            Retrieved(d, taken.corpus.texts[d], relevance=float(cosine), trust=float(trust[d]))
            for d, cosine in zip(own.documents.tolist(), own.relevance, strict=True)
        )
        board = answers.board(taken, place, trust)
        reply = Veridical(Tools(reader=Perfect())).answer(Task(question.text, pool))
        assert board.best is not None
        assert (reply.text, reply.detail["status"]) == (board.best.text, board.status)
        assert reply.probability == pytest.approx(board.best.probability)
