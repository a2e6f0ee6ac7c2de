"""The questions of a run: data sets by name, and what an attack adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from veridical.bench.attacks.base import Attack
from veridical.bench.datasets import find
from veridical.bench.datasets.questions import Question
from veridical.bench.layout import order, without_false
from veridical.bench.protocols import Protocol
from veridical.bench.wrong_answers import wrong_answers, wrong_answers_for


def questions(data: Path, name: str) -> list[Question]:
    """Read a data set of a folder; questions without a wrong answer get one where one can be found.

    See `veridical.bench.datasets.find.load` for where it is looked for, and for what is raised.
    """
    return with_wrong_answers(find.load(data, name))


def with_wrong_answers(asked: Sequence[Question]) -> list[Question]:
    """Give each question that has no wrong answer one of the kind of the right one, where there is one."""
    found = wrong_answers_for([question for question in asked if not wrong_answers(question)])
    return [
        replace(question, wrong_answer=found[question.id]) if question.id in found else question
        for question in asked
    ]


def clean(asked: Sequence[Question]) -> list[Question]:
    """The questions with their true passages only."""
    return [without_false(question) for question in asked]


def attacked(
    asked: Sequence[Question], attack: Attack, protocol: Protocol, *, seed: int, n_asked: int | None = None
) -> list[Question]:
    """Attack those questions that a seed draws to be asked; the others have their true passages only.

    Parameters
    ----------
    asked
        As the data set has them.
    attack
        What plants passages. Where a language model writes them, only the first ``n_asked`` are attacked,
        since each costs calls.
    protocol, seed
        Say which questions are drawn.

    Returns
    -------
    list of Question
        In the order of ``asked``. Where the attack can do nothing to a question it has no false passage.
    """
    _, n_attacked = protocol.sample.sizes(len(asked))
    drawn = order(len(asked), seed)[:n_attacked].tolist()
    if attack.needs_llm:
        drawn = drawn[:n_asked]
    found = clean(asked)
    for index, question in zip(drawn, attack.apply([asked[i] for i in drawn], seed=seed), strict=True):
        found[index] = question
    return found
