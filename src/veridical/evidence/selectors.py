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
    query
        Shape (d,): of the chain so far and the question, as one text.
    chain, options
        Shapes (len(chain), d) and (len(options), d).
    """

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
    r"""A softmax over how well the chain that each choice leads to fits the question; needs no LLM.

    With h the vector of *chain so far and question* as one text (what the search compares triples with), and
    s the sum of the vectors of the n triples of the chain so far, the choice k has the logit

    .. math:: (n + 1) \cos(h, s + v_k) / \mathrm{temperature}

    where :math:`v_k` is the vector of the triple, and 0 for the choice to stop (which fits with 0 where the
    chain is empty). So a triple is chosen for what it adds to the chain, both to the question and to what the
    chain has come to, and a chain stops when hardly anything adds to it. This is arithmetic on vectors that
    are there; no chain is encoded with each of its options. The factor n + 1 makes up for a sum of n triples
    being moved by one more about 1 / (n + 1) as far.

    Parameters
    ----------
    encode
        Turns texts into unit vectors, for steps that come without.
    temperature
        Above 0. Cosines of sentence encoders differ by some hundredths to a tenth among the triples that fit
        best, so that 0.05 spreads a choice over about as many options as a beam branches to. It is not fitted
        to anything.
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
        return [softmax(_logits(vectors) / self.temperature) for vectors in found]

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
            own, n_chain = rows[[place[text] for text in _texts(step)]], len(step.chain)
            found.append(StepVectors(own[0], own[1 : 1 + n_chain], own[1 + n_chain :]))
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
    return [query_text(step.question, step.chain), *step.chain, *step.options]


def _logits(vectors: StepVectors) -> FloatArray:
    """Fit of each resulting chain, at temperature 1; the first is the chain as it is."""
    so_far = vectors.chain.sum(axis=0) if len(vectors.chain) else np.zeros_like(vectors.query)
    ends = so_far + np.vstack([np.zeros_like(so_far), vectors.options])
    fits = (ends @ vectors.query) / np.maximum(np.linalg.norm(ends, axis=1), 1e-12)
    result: FloatArray = fits * (1 + len(vectors.chain))
    return result
