"""The contract of a compared system: a question and its retrieved passages in, an answer out.

A system never sees a label, a gold answer or a wrong one. What it may know of a passage besides its text is
in `Retrieved`, and each field is filled in for all passages of a run or for none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from veridical.errors import InputError
from veridical.index.encoder import Float32Array
from veridical.llm.managed import ManagedLLM
from veridical.nli.base import NLIModel
from veridical.reading.base import Reader
from veridical.types import Record, Usage

TOP_K = 5
"""Passages that answers are given from, unless a system says otherwise."""

Need = Literal["llm", "choices", "next tokens", "credibility", "trust", "nli", "encoder", "reader", "weights"]
"""What a system cannot run without: a model that writes; probabilities of labels; probabilities of the next
token; judgements of passages (0-10); propagated trust; relations by inference; vectors; the embedded reader;
weights of its own, which are named in the manifest."""


@dataclass(frozen=True, slots=True)
class Retrieved(Record):
    """One passage that was retrieved for a question.

    Attributes
    ----------
    document
        Its number in the corpus of the run.
    text, title, source, date
        What it says, and where from; empty or ``None`` where the run has none.
    relevance
        Cosine of question and passage.
    trust
        Of its document, in [0, 1], by what the system's `About.belief` names; ``None`` where nothing is
        known.
    credibility
        A judge's 0 to 10; ``None`` where nobody judged it.
    """

    document: int
    text: str
    title: str = ""
    source: str | None = None
    date: str | None = None
    relevance: float = 0.0
    trust: float | None = None
    credibility: float | None = None


@dataclass(frozen=True, slots=True)
class Task(Record):
    """A question and its pool, best first as the retriever has it. ``seed`` fixes what is left to chance."""

    question: str
    pool: tuple[Retrieved, ...]
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Reply(Record):
    """What a system makes of a task.

    Attributes
    ----------
    text
        The answer; empty where there is none.
    ranking
        Places in the pool in the system's own order, those it dropped left out. What it answers from comes
        first. Retrieval is measured on it.
    probability
        How sure it is, in [0, 1]; ``None`` where it does not say.
    usage
        Calls and tokens.
    notes
        What the row of this answer should say, such as that a stand-in was used.
    detail
        Plain values worth keeping, such as what was found in between.
    """

    text: str
    ranking: tuple[int, ...]
    probability: float | None = None
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def abstained(self) -> bool:
        """Whether there is no answer."""
        return not self.text


@dataclass(frozen=True, slots=True)
class About(Record):
    """What tables and pages say of a system.

    Attributes
    ----------
    title
        As it stands in tables.
    paper
        Where it is published, in a few words; empty for what is ours.
    differs
        What is not as published, and every stand-in; empty if nothing.
    calls
        Calls of a language model a question with k passages, as a formula in words: ``"k + 1"``.
    needs
        What it cannot run without.
    belief
        What trust it takes: a name of `veridical.bench.beliefs`, or ``None`` for none.
    weights
        Name in the manifest of the weights that it waits for.
    ablation_of
        The system that it is an ablation of.
    """

    title: str
    paper: str = ""
    differs: str = ""
    calls: str = "1"
    needs: frozenset[Need] = frozenset()
    belief: str | None = None
    weights: str | None = None
    ablation_of: str | None = None


@dataclass(frozen=True)
class Tools:
    """What systems are made of; any may be missing, and `missing` says which a system lacks.

    ``llm`` is used by its stages, cached and counted. ``encode`` turns texts into unit rows. Where there is
    no ``llm``, the ``reader`` answers, see `veridical.bench.systems.answering`. Without ``answers`` only the
    ranking is wanted, and no passage needs to be read for an answer.
    """

    llm: ManagedLLM | None = None
    reader: Reader | None = None
    nli: NLIModel | None = None
    encode: Callable[[Sequence[str]], Float32Array] | None = None
    weights: Mapping[str, Any] = field(default_factory=dict)
    answers: bool = True

    def has(self, need: Need) -> bool:
        """Whether a need is met by a tool; credibility and trust come with a task, not from here."""
        engine = None if self.llm is None else self.llm.llm
        return {
            "llm": engine is not None,
            "choices": hasattr(engine, "choose"),
            "next tokens": hasattr(engine, "next_tokens"),
            "credibility": True,
            "trust": True,
            "nli": self.nli is not None,
            "encoder": self.encode is not None,
            "reader": self.reader is not None,
            "weights": True,
        }[need]


@runtime_checkable
class System(Protocol):
    """A compared system. It is made from `Tools` and settings by keyword; constructors are light."""

    @property
    def name(self) -> str:
        """The keyword in the registry (kind ``systems``)."""
        ...

    @property
    def about(self) -> About:
        """What it is."""
        ...

    def answer(self, task: Task) -> Reply:
        """Answer a question from its pool.

        Raises
        ------
        LLMError
            If a call fails for good; the row says so.
        BudgetError
            If the budget is used up; the run stops there and goes on later.
        """
        ...


def missing(about: About, tools: Tools) -> tuple[str, ...]:
    """Say what a system lacks to run: needs that no tool meets, and weights that are not there."""
    lacks: list[str] = [need for need in sorted(about.needs) if not tools.has(need)]
    if about.weights is not None and about.weights not in tools.weights:
        lacks.append(f"weights {about.weights}")
    return tuple(lacks)


def nearest(task: Task, k: int = TOP_K) -> tuple[int, ...]:
    """The first k places of the pool."""
    return tuple(range(min(k, len(task.pool))))


def best_first(values: Sequence[float]) -> tuple[int, ...]:
    """Places by falling value; equals keep their order.

    Raises
    ------
    InputError
        If a value is NaN.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if np.isnan(numbers).any():
        raise InputError("A value to rank by is NaN.", "Fill in what is unknown first.")
    return tuple(np.argsort(-numbers, kind="stable").tolist())
