"""Pools of triples with vectors made by hand, and selectors that follow a script."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from veridical.evidence.selectors import FloatArray, Step
from veridical.types import Span, Triple


def triple(number: int, text: str, credibility: float | None = None) -> Triple:
    """Make a triple of "head; relation; tail"."""
    head, relation, tail = text.split("; ")
    return Triple(number, 1, 1, head, relation, tail, Span(text, 0, len(text)), "hand", credibility)


def lookup(vectors: Mapping[str, Sequence[float]]) -> Callable[[Sequence[str]], npt.NDArray[np.float64]]:
    """An encoder that knows a few texts, and fails at any other."""

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([vectors[text] for text in texts], dtype=np.float64)

    return encode


def spread(texts: Sequence[str], dimensions: int = 6) -> npt.NDArray[np.float64]:
    """An encoder that gives every text a vector of its own, drawn by its hash."""
    rows = [np.random.default_rng(_seed(text)).normal(size=dimensions) for text in texts]
    return np.array(rows).reshape(len(texts), dimensions)


class ByChain:
    """Gives the probabilities written down for a chain, and keeps the steps it was asked, call by call."""

    name = "by-chain"

    def __init__(self, script: Mapping[tuple[str, ...], Sequence[float]]) -> None:
        self.script = script
        self.calls: list[list[Step]] = []

    def select(self, steps: Sequence[Step]) -> list[FloatArray]:
        self.calls.append(list(steps))
        return [np.array(self.script[step.chain], dtype=np.float64) for step in steps]


class Drawn:
    """Draws probabilities from the seed and the step; ``sharpness`` 0 gives all choices the same."""

    name = "drawn"

    def __init__(self, seed: int, sharpness: float) -> None:
        self.seed, self.sharpness = seed, sharpness
        self.calls: list[list[Step]] = []

    def select(self, steps: Sequence[Step]) -> list[FloatArray]:
        self.calls.append(list(steps))
        rows = []
        for step in steps:
            generator = np.random.default_rng(_seed(f"{self.seed} {step.chain} {step.options}"))
            powers = np.exp(self.sharpness * generator.normal(size=1 + len(step.options)))
            rows.append(powers / powers.sum())
        return rows


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
