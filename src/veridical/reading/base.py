"""What every reader does: say what one passage, read on its own, answers to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from veridical.types import Record

MAX_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class ReadAnswer(Record):
    """One answer that a passage gives: ``text == passage[start:end]``, never empty.

    ``probability`` is that the passage answers here, in this span or one that overlaps it.
    """

    text: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class Reading(Record):
    """What one passage answers.

    Attributes
    ----------
    answers
        Up to three spans that do not overlap, the most probable first.
    no_answer
        Probability that the passage does not answer. With those of ``answers`` it sums to at most 1; what is
        left lies on spans that are not listed.
    """

    answers: tuple[ReadAnswer, ...]
    no_answer: float

    @property
    def best(self) -> ReadAnswer | None:
        """The most probable answer, if there is any span at all."""
        return self.answers[0] if self.answers else None


NOTHING = Reading((), 1.0)


@runtime_checkable
class Reader(Protocol):
    """Extractive reading. ``name`` identifies backend and weights: readings are cached under it, so it must
    change whenever the same passage could be read differently.
    """

    @property
    def name(self) -> str:
        """Backend and version, such as ``embedded-1a2b3c4d``."""
        ...

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """Put one question to passages, each read on its own.

        Returns
        -------
        list of Reading
            One a passage, in order. No passage sees another: a reading does not depend on its neighbours.
        """
        ...

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Read (question, passage) pairs with any questions; otherwise as ``read``."""
        ...
