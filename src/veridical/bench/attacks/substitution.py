"""Entity substitution (Longpre et al. 2021): real passages in which the answer is another one of its kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.bench.attacks.base import Attack, counted
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.substitute import substitute
from veridical.bench.wrong_answers import wrong_answers


def altered(
    passages: Sequence[LabelledPassage], answers: Sequence[str], wrong: str, n: int
) -> list[LabelledPassage]:
    """Copy passages with the wrong answer in the place of every mention of a right one, in the title too.

    Parameters
    ----------
    passages
        True ones; those that name no answer, or cannot be altered, are passed over.
    answers
        Gold answers, all aliases.
    wrong
        What is put in their place.
    n
        At most so many copies, of the first passages that will do.

    Returns
    -------
    list of LabelledPassage
        ``misinformation``, with the date of the passage that each was made of, and without a source.
    """
    found: list[LabelledPassage] = []
    for passage in passages:
        text = substitute(passage.text, answers, wrong) if len(found) < n else None
        if text is not None:
            title = substitute(passage.title, answers, wrong) or passage.title
            found.append(
                LabelledPassage(
                    f"{passage.id}-altered", text, "misinformation", title=title, date=passage.date
                )
            )
    return found


def needed_first(question: Question) -> list[LabelledPassage]:
    """Return the true passages of a question, those that its answer takes before the others."""
    return sorted(question.labelled("factual"), key=lambda passage: not passage.supporting)


def altered_copies(question: Question, n: int) -> list[LabelledPassage]:
    """Return at most ``n`` altered copies of a question's own passages; see `altered`."""
    wrong = wrong_answers(question)
    return altered(needed_first(question), question.answers, wrong[0], n) if wrong else []


class Substitution(Attack):
    """Copies of true passages in which the right answer is replaced by a wrong one of its kind.

    All aliases are replaced, at the bounds of words, so that style gives nothing away. The originals stay.

    Parameters
    ----------
    n
        Passages a question; fewer where fewer of its true passages name the answer.
    """

    def __init__(self, *, n: int = 1) -> None:
        self.n = counted(n, "altered passages")

    def plant(self, question: Question, rng: np.random.Generator) -> list[LabelledPassage]:
        """See `Attack.plant`."""
        del rng
        return altered_copies(question, self.n)
