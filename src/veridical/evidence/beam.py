"""The beam of a search for chains: how wide it is, and how it grows by one choice (ReliableRAG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError

FloatArray = npt.NDArray[np.float64]

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Label of each choice at a step: A is to stop, the others stand for triples."""

_ROUNDING = 1.0 + 1e-9
"""Labels that a model never named have just the floor, which rounding can lift by a last digit."""


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How chains are searched for. The defaults are ReliableRAG's.

    Attributes
    ----------
    relevance_weight
        Share of relevance in reliability, in [0, 1].
    top_k
        Most triples offered to a chain (K), from 1 to 25, as each has a letter.
    n_branches
        Most choices that a chain is continued with (B), at least 1.
    n_beams
        Most chains kept at a hop (F), at least 1.
    max_hops
        Most choices of a chain (L), at least 1.
    floor
        A choice of no more probability is dropped, unless it is the most probable one; in [0, 1).
    n_chains
        Most chains in the trace, at least 1.
    length_normalised
        Rank the chains at the end by the geometric mean of their choices' probabilities. Their product, which
        is ranked by otherwise, falls with every choice and so favours chains that stop early.

    Raises
    ------
    InputError
        If one is out of range.
    """

    relevance_weight: float = 0.4
    top_k: int = 20
    n_branches: int = 5
    n_beams: int = 20
    max_hops: int = 4
    floor: float = 1e-4
    n_chains: int = 5
    length_normalised: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.relevance_weight <= 1.0:
            raise InputError(
                f"relevance_weight is {self.relevance_weight}.", "Pass a number from 0 to 1, such as 0.4."
            )
        most = len(LABELS) - 1
        for name in ("top_k", "n_branches", "n_beams", "max_hops", "n_chains"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value}.", "Pass a whole number, 1 or more.")
        if self.top_k > most:
            raise InputError(f"top_k is {self.top_k}.", f"Pass {most} or less, as each triple has a letter.")
        if not 0.0 <= self.floor < 1.0:
            raise InputError(f"floor is {self.floor}.", "Pass 0 or more and less than 1, such as 0.0001.")

    @property
    def most_prompts(self) -> int:
        """Most prompts of one search: ``sum over hops i of min(B^(i-1), F)``, which is 46 by default."""
        return sum(min(self.n_branches**hop, self.n_beams) for hop in range(self.max_hops))


DEFAULTS = ChainSettings()


@dataclass(frozen=True, slots=True)
class Beam:
    """A chain on its way: places of its triples in the pool, and what became of it.

    ``confidence`` is the product of the probabilities of its ``n_choices`` choices, the one to stop included.
    """

    triples: tuple[int, ...] = ()
    confidence: float = 1.0
    finished: bool = False
    n_choices: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The choices of one chain at one hop: to stop, then the triples at ``places``.

    ``probabilities`` has shape (1 + len(places),) and sums to one.
    """

    places: Sequence[int]
    probabilities: FloatArray


def expand(beams: Sequence[Beam], choices: Sequence[Choices | None], settings: ChainSettings) -> list[Beam]:
    """Continue each chain of a beam by one choice (ReliableRAG, Algorithm 1, one round).

    An unfinished chain branches to its B most probable choices above the floor, each with the chain's
    confidence times the probability. To stop finishes the chain and adds no triple. A finished chain is
    carried over once, as it is. The F most confident of all stay.

    Parameters
    ----------
    beams
        Any number of chains, most confident first.
    choices
        One for each chain; ``None`` for finished ones.
    settings
        B, F and the floor.

    Returns
    -------
    list of Beam
        At most F, most confident first. Of equals, what comes from the earlier chain of ``beams`` is first,
        and of one chain's choices the more probable, then the one with the earlier label.
    """
    grown: list[Beam] = []
    least = settings.floor * _ROUNDING
    for beam, choice in zip(beams, choices, strict=True):
        if beam.finished or choice is None:
            grown.append(beam)
            continue
        likely = np.argsort(-choice.probabilities, kind="stable")[: settings.n_branches].tolist()
        for label in likely:
            probability = float(choice.probabilities[label])
            if probability > least or label == likely[0]:
                grown.append(_continued(beam, choice, label, probability))
    return sorted(grown, key=lambda beam: -beam.confidence)[: settings.n_beams]


def _continued(beam: Beam, choice: Choices, label: int, probability: float) -> Beam:
    """Return a chain with one choice more; where nothing was offered, there was none to make."""
    return Beam(
        beam.triples if label == 0 else (*beam.triples, choice.places[label - 1]),
        beam.confidence * probability,
        label == 0,
        beam.n_choices + (len(choice.places) > 0),
    )


def ranked(beams: Sequence[Beam], settings: ChainSettings) -> list[Beam]:
    """Return the chains of the last hop that are given, best first; see ``length_normalised``."""

    def worth(beam: Beam) -> float:
        if not settings.length_normalised:
            return beam.confidence
        return float(beam.confidence ** (1.0 / max(beam.n_choices, 1)))

    return sorted(beams, key=lambda beam: -worth(beam))[: settings.n_chains]
