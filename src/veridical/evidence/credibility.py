"""How far a claim is believed: by a language model's own knowledge, by trust in its document, or by both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError
from veridical.evidence.reliability import PRIOR
from veridical.types import CredibilitySource

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Tick = Callable[[], object]
Judged = list[float | None]
"""Credibilities in [0, 1]; ``None`` where the judge gave nothing usable."""


@runtime_checkable
class Evaluator(Protocol):
    """Says how credible claims and passages are, whatever they are used for."""

    @property
    def name(self) -> str:
        """What judgements are stored under: it changes whenever the same text could be judged otherwise."""
        ...

    def judge_triples(self, triples: Sequence[str], *, tick: Tick | None = None) -> Judged:
        """Judge claims, each written ``<head; relation; tail>``.

        Returns
        -------
        list of float or None
            One a claim, in order, in [0, 1]; ``None`` where the judge gave nothing usable of this claim.
            The same claim twice is judged once. ``tick`` is called once a claim.
        """
        ...

    def judge_documents(self, documents: Sequence[tuple[str, str]], *, tick: Tick | None = None) -> Judged:
        """Judge passages, each its document's title and a text; otherwise as `judge_triples`."""
        ...


def combine(
    source: CredibilitySource,
    judged: npt.ArrayLike,
    trust: npt.ArrayLike,
    *,
    prior: float = PRIOR,
) -> tuple[FloatArray, BoolArray]:
    """Give each claim the credibility that chains are searched with (the paper's eta).

    Parameters
    ----------
    source
        ``none``: the prior for all. The same number for all changes no order, so relevance alone decides.
        ``llm``: what was judged; the prior where the judge failed.
        ``trust``: trust in the document; the prior where it is not known.
        ``joint``: the product of the two. Where the judge failed, the prior stands in for its judgement, so
        that no claim gains by breaking the judge. Where trust is not known, the judgement stands alone: the
        product would count against a document that it is new.
    judged, trust
        Shape (n,), in [0, 1]; NaN or ``None`` where unknown. One that ``source`` has no use for may be all
        NaN.
    prior
        In [0, 1]: credibility of what nobody can judge.

    Returns
    -------
    values : numpy.ndarray
        Shape (n,), in [0, 1].
    imputed : numpy.ndarray
        Shape (n,), bool: the prior stands in for a judge that failed. Trust that is not known is no failure.

    Raises
    ------
    InputError
        If the source is unknown, the shapes differ, or a number is outside [0, 1].
    """
    if source not in get_args(CredibilitySource):
        raise InputError(
            f"There is no source of credibility {source!r}.",
            f"Use one of: {', '.join(get_args(CredibilitySource))}.",
        )
    if not 0.0 <= prior <= 1.0:
        raise InputError(f"prior is {prior}.", "Pass a number from 0 to 1, such as 0.5.")
    said, trusted = _column(judged, "judgement"), _column(trust, "trust")
    if said.shape != trusted.shape:
        raise InputError(
            f"There are {len(said)} judgements and {len(trusted)} trusts.",
            "Pass one of each for every claim.",
        )
    failed = np.isnan(said) & (source in ("llm", "joint"))
    believed = np.where(np.isnan(said), prior, said)
    if source == "llm":
        values = believed
    elif source == "trust":
        values = np.where(np.isnan(trusted), prior, trusted)
    elif source == "joint":
        values = believed * np.where(np.isnan(trusted), 1.0, trusted)
    else:
        values = np.full(said.shape, prior)
    return values, failed


def _column(values: npt.ArrayLike, what: str) -> FloatArray:
    """Return numbers in [0, 1] or NaN, shape (n,)."""
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1:
        raise InputError(f"The {what}s have shape {column.shape}.", "Pass one number for each claim.")
    wrong = column[(column < 0.0) | (column > 1.0)]
    if len(wrong):
        raise InputError(f"A {what} is {wrong[0]}.", "It has to lie in [0, 1].")
    return column
