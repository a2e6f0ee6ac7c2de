"""Choosing the triple that carries a chain on, or to stop: the protocol, and a selector without an LLM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError

FloatArray = npt.NDArray[np.float64]
Encode = Callable[[Sequence[str]], npt.NDArray[Any]]
"""Texts to vectors of unit length, one row a text, as `TextEncoder.encode` does."""


@dataclass(frozen=True, slots=True)
class StepVectors:
    """Unit vectors of a step, which the search has anyway.

    Attributes
    ----------
    question
        Shape (d,): of the question alone.
    query
        Shape (d,): of the chain so far and the question, as one text.
    chain, options
        Shapes (len(chain), d) and (len(options), d).
    """

    question: FloatArray
    query: FloatArray
    chain: FloatArray
    options: FloatArray


@dataclass(frozen=True, slots=True)
class Step:
    """One choice to make: how to go on with a chain.

    Attributes
    ----------
    question
        What was asked.
    hop
        Which choice of the chain it is, from 1.
    chain
        The triples chosen so far, as ``<head; relation; tail>``; empty at hop 1.
    options
        The triples that can be chosen, most reliable first; at least one. They stand for the labels B, C, ...
        in this order. Label A, to stop, is always there and not listed.
    vectors
        For selectors that compare vectors; ``None`` where there are none.
    """

    question: str
    hop: int
    chain: tuple[str, ...]
    options: tuple[str, ...]
    vectors: StepVectors | None = field(default=None, compare=False, repr=False)


@runtime_checkable
class Selector(Protocol):
    """Says how probable each way to go on with a chain is."""

    @property
    def name(self) -> str:
        """What traces say the choices were made by."""
        ...

    def select(self, steps: Sequence[Step]) -> list[FloatArray]:
        """Weigh the options of each step.

        Parameters
        ----------
        steps
            Any number, all of one hop of a search: they can be sent at once.

        Returns
        -------
        list of numpy.ndarray
            One for each step, in order, of shape (1 + len(options),): probabilities that sum to one. Place 0
            is to stop, place i the i-th option.

        Raises
        ------
        LLMError
            If a language model is needed and fails.
        """
        ...


class EmbeddedSelector:
    """A softmax over how well the chain that each choice leads to fits the question; needs no LLM.

    Parameters
    ----------
    encode
        Turns texts into unit vectors, for steps that come without.
    temperature
        Above 0.
    """

    name = "embedded"

    def __init__(self, encode: Encode, *, temperature: float = 0.05) -> None:
        if not 0.0 < temperature < float("inf"):
            raise InputError(f"temperature is {temperature}.", "Pass a number above 0, such as 0.05.")
        self._encode = encode
        self.temperature = temperature

    def select(self, steps: Sequence[Step]) -> list[FloatArray]:
        """Weigh the options of each step; see `Selector.select`."""
        found = self._vectors(steps)
        return [softmax(_fits(vectors) / self.temperature) for vectors in found]

    def _vectors(self, steps: Sequence[Step]) -> list[StepVectors]:
        """Return the vectors of all steps; whatever has to be encoded is encoded once, in one call."""
        bare = [step for step in steps if step.vectors is None]
        texts = list(dict.fromkeys(text for step in bare for text in _texts(step)))
        rows = np.asarray(self._encode(texts), dtype=np.float64) if texts else np.empty((0, 0))
        place = {text: row for row, text in enumerate(texts)}
        found = []
        for step in steps:
            if step.vectors is not None:
                found.append(step.vectors)
                continue
            own = rows[[place[text] for text in _texts(step)]]
            n_chain = len(step.chain)
            found.append(StepVectors(own[0], own[1], own[2 : 2 + n_chain], own[2 + n_chain :]))
        return found


def query_text(question: str, chain: Sequence[str]) -> str:
    """Return what triples are compared with: those of the chain so far, then the question."""
    return " ".join([*chain, question])


def softmax(logits: FloatArray) -> FloatArray:
    """Return probabilities in proportion to ``exp(logits)``, of the same shape (k,), k at least 1."""
    powers = np.exp(logits - logits.max())
    result: FloatArray = powers / powers.sum()
    return result


def _texts(step: Step) -> list[str]:
    return [step.question, query_text(step.question, step.chain), *step.chain, *step.options]


def _fits(vectors: StepVectors) -> FloatArray:
    """Cosine of the question and the sum of each resulting chain; the first is the chain as it is."""
    so_far = vectors.chain.sum(axis=0) if len(vectors.chain) else np.zeros_like(vectors.question)
    ends = so_far + np.vstack([np.zeros_like(so_far), vectors.options])
    result: FloatArray = (ends @ vectors.question) / np.maximum(np.linalg.norm(ends, axis=1), 1e-12)
    return result
