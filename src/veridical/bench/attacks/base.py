"""What every attack does: plant passages for questions, and perhaps bend the feedback on them.

For evaluation only: attacks take gold answers and labels.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from veridical import registry
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.protocol import Asked
from veridical.errors import InputError
from veridical.graph.arrays import Anchors
from veridical.llm.managed import ManagedLLM


class Attack:
    """One attack. Subclasses say what they plant; settings are keywords of their constructors.

    Attributes
    ----------
    needs_llm
        Whether its constructor takes a keyword ``llm``, a language model that writes what is planted.
    dated
        Whether dates of passages are part of it: a run keeps them even where having one tells planted from
        true passages.
    """

    needs_llm: ClassVar[bool] = False
    dated: ClassVar[bool] = False

    def plant(self, question: Question, rng: np.random.Generator) -> Sequence[LabelledPassage]:
        """Return the passages that are planted for one question; none where the attack can do nothing.

        They are labelled ``misinformation`` or ``outdated``, and have ids of their own.
        """
        raise NotImplementedError

    def apply(self, questions: Sequence[Question], *, seed: int = 0) -> list[Question]:
        """Return the questions in their order, each with its factual passages and after them what is planted.

        Parameters
        ----------
        questions
            As a data set has them, its own false and outdated passages included, with wrong answers where
            there are any (`veridical.bench.wrong_answers`).
        seed
            Of every draw. What is planted for a question does not depend on the other questions.
        """
        found = []
        for question in questions:
            planted = self.plant(question, np.random.default_rng([seed, _number(question.id)]))
            found.append(replace(question, passages=(*question.labelled("factual"), *planted)))
        return found

    def rate(self, anchors: Anchors, asked: Sequence[Asked], *, seed: int = 0) -> Anchors:
        """Return the feedback as it is under the attack; the same, unless raters are part of it.

        Parameters
        ----------
        anchors
            What was judged, and how.
        asked
            Which documents belong to which question.
        seed
            Of every draw.
        """
        del asked, seed
        return anchors


def create(name: str, settings: Mapping[str, Any] | None = None, *, llm: ManagedLLM | None = None) -> Attack:
    """Make an attack by its name in the registry.

    Raises
    ------
    InputError
        There is no such attack, it does not take a setting or its value, or it needs a language model and
        there is none; the message names it.
    """
    make = registry.load("attacks", name)
    given = dict(settings or {})
    takes = settings_of(make)
    unknown = sorted(set(given) - set(takes))
    if unknown:
        raise InputError(
            f"Attack {name!r} has no setting {unknown[0]!r}.", "It has: " + (", ".join(takes) or "none") + "."
        )
    if make.needs_llm:
        if llm is None:
            raise InputError(
                f"Attack {name!r} needs a language model that writes its passages.", "Name one with --llm."
            )
        given["llm"] = llm
    made: Attack = make(**given)
    return made


def settings_of(make: Any) -> list[str]:
    """Return the settings that an attack takes."""
    parameters = inspect.signature(make).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "llm"]


def counted(value: int, what: str) -> int:
    """Return a number of things if it is a whole number of at least 1. Raises `InputError`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"The number of {what} is {value!r}.", "Pass a whole number of 1 or more.")
    return value


def share(value: float, what: str) -> float:
    """Return a share if it lies in [0, 1]. Raises `InputError`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        raise InputError(f"The share of {what} is {value!r}.", "Pass 0 to 1.")
    return float(value)


def _number(text: str) -> int:
    """A number of an id, the same in every process."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()[:8], "big")
