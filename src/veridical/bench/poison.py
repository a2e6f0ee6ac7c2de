"""What a corpus is poisoned with: nothing, made misinformation, or real passages with another answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains
from veridical.bench.substitute import substitute

Poison = Literal["clean", "written", "neutral"]
POISONS: tuple[Poison, ...] = get_args(Poison)


def wrong_answers(question: Question) -> tuple[str, ...]:
    """Return what counts as a successful attack: the wrong answer, or else the wrong ones of the choices."""
    if question.wrong_answer is not None:
        return (question.wrong_answer,)
    return tuple(
        choice
        for choice in question.choices
        if not contains(choice, question.answers)
        and not any(contains(gold, [choice]) for gold in question.answers)
    )


def poisoned(question: Question, poison: Poison) -> Question:
    """Return the question with its true passages and the misinformation that is asked for.

    Parameters
    ----------
    poison
        ``clean``: none. ``written``: the data set's own. ``neutral``: as many of its true passages as it has
        false ones, with the right answer replaced by a wrong one; fewer, or none, where fewer name the right
        answer. The passages themselves stay beside their altered copies.
    """
    if poison == "written":
        return question
    true = question.labelled("factual")
    wrong = wrong_answers(question)
    altered: list[LabelledPassage] = []
    if poison == "neutral" and wrong:
        n_wanted = len(question.labelled("misinformation"))
        for passage in true:
            text = substitute(passage.text, question.answers, wrong[0])
            if text is not None and len(altered) < n_wanted:
                altered.append(
                    LabelledPassage(f"{passage.id}-altered", text, "misinformation", title=passage.title)
                )
    return replace(question, passages=(*true, *altered))
