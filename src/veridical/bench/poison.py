"""What a corpus is poisoned with: nothing, made misinformation, or real passages with another answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from veridical.bench.attacks.substitution import altered_copies
from veridical.bench.datasets.questions import Question

Poison = Literal["clean", "written", "neutral"]
POISONS: tuple[Poison, ...] = get_args(Poison)


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
    n_wanted = len(question.labelled("misinformation")) if poison == "neutral" else 0
    planted = altered_copies(question, n_wanted)
    return replace(question, passages=(*question.labelled("factual"), *planted))
