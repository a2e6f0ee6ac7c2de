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
    r"""Goes on with what fits the question and is not said yet, by cosines; needs no LLM.

    Let h be the unit vector of *chain so far and question* as one text, C the unit vectors of the chain's
    triples, r what is left of h once its projection on the span of C is taken off, and :math:`v_k` the unit
    vector of option k. Then, with the temperature T,

    .. math::

        P(\mathrm{stop}) = \frac{1}{1 + e^{m / T}}, \qquad
        m = \max_k \left( h \cdot v_k - \max_{c \in C} c \cdot v_k \right)

        P(k) = (1 - P(\mathrm{stop})) \, \mathrm{softmax}_k \left( (h + r) \cdot v_k / 2T \right)

    So a chain stops when every option is nearer to something that the chain says already than to what is
    asked; an empty chain says nothing, and goes on unless nothing fits. Among the options h prefers those
    that follow from the chain, and r those that tell something new. It is arithmetic on vectors that are
    there: no chain is encoded together with each of its options.

    Parameters
    ----------
    encode
        Turns texts into unit vectors, for steps that come without.
    temperature
        Above 0. The triples that fit best differ by some hundredths in cosine, so that 0.03 spreads a choice
        over two to four of them, fewer than a beam branches to. Not fitted to anything.
    """

    name = "embedded"

    def __init__(self, encode: Encode, *, temperature: float = 0.03) -> None:
        if not 0.0 < temperature < float("inf"):
            raise InputError(f"temperature is {temperature}.", "Pass a number above 0, such as 0.03.")
        self._encode = encode
        self.temperature = temperature

    def select(self, steps: Sequence[Step]) -> list[FloatArray]:
        """Weigh the options of each step; see `Selector.select`."""
        return [self._weighed(vectors) for vectors in self._vectors(steps)]

    def _weighed(self, vectors: StepVectors) -> FloatArray:
        relevance, said = vectors.options @ vectors.query, np.zeros(len(vectors.options))
        if len(vectors.chain):
            said = (vectors.options @ vectors.chain.T).max(axis=1)
        going_on = float(np.exp(-np.logaddexp(0.0, -(relevance - said).max() / self.temperature)))
        aim = 0.5 * (vectors.query + _left(vectors.query, vectors.chain))
        chances = softmax(vectors.options @ aim / self.temperature)
        return np.concatenate([[1.0 - going_on], going_on * chances])

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


def _left(query: FloatArray, chain: FloatArray) -> FloatArray:
    """Return the part of a query, shape (d,), at right angles to all of a chain's vectors, shape (n, d)."""
    if not len(chain):
        return query
    weights = np.linalg.lstsq(chain.T, query, rcond=None)[0]
    result: FloatArray = query - chain.T @ weights
    return result
