"""How far a triple can be relied on for a question: relevance and credibility, and what that offers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

PRIOR = 0.5
"""Credibility of a triple that nobody judged: neither believed nor doubted."""


def reliability(
    relevance: npt.ArrayLike, credibility: npt.ArrayLike, relevance_weight: float = 0.4
) -> FloatArray:
    """Mix relevance and credibility: ``R = w cos + (1 - w) eta`` (ReliableRAG eq. 3, the paper's alpha is w).

    Parameters
    ----------
    relevance
        Any shape: cosines of query and triple, in [-1, 1].
    credibility
        The same shape: in [0, 1]; NaN, where nobody judged, counts as 1/2.
    relevance_weight
        In [0, 1]. At 1 credibility plays no part.

    Raises
    ------
    InputError
        If the weight is out of range.
    """
    if not 0.0 <= relevance_weight <= 1.0:
        raise InputError(f"relevance_weight is {relevance_weight}.", "Pass a number from 0 to 1.")
    believed = known(credibility)
    cosine = np.asarray(relevance, dtype=np.float64)
    result: FloatArray = relevance_weight * cosine + (1.0 - relevance_weight) * believed
    return result


def known(credibility: npt.ArrayLike) -> FloatArray:
    """Return credibilities with the prior in place of NaN."""
    values = np.asarray(credibility, dtype=np.float64)
    result: FloatArray = np.where(np.isnan(values), PRIOR, values)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """What is offered to continue one chain.

    Attributes
    ----------
    places
        Places of at most K triples in the pool, most reliable first.
    kept_out
        Places of the triples that relevance alone would have offered instead, most relevant first.
    reliability
        Shape (n,): of all triples of the pool.
    """

    places: IntArray
    kept_out: IntArray
    reliability: FloatArray


def offer(
    relevance: npt.ArrayLike,
    credibility: npt.ArrayLike,
    used: Collection[int] = (),
    *,
    relevance_weight: float = 0.4,
    top_k: int = 20,
) -> Offer:
    """Choose the K most reliable triples that the chain does not hold yet.

    Used triples are left out, not masked with a low number: where fewer than K others are left, fewer are
    offered, and none comes twice. Of equally reliable ones the more relevant comes first, then the earlier.

    Parameters
    ----------
    relevance, credibility
        Shape (n,): as for `reliability`.
    used
        Places of the triples that the chain holds.
    relevance_weight, top_k
        The paper's alpha, and K, at least 1.
    """
    cosine = np.asarray(relevance, dtype=np.float64)
    mixed = reliability(cosine, credibility, relevance_weight)
    free = np.ones(len(cosine), dtype=np.bool_)
    free[list(used)] = False
    left = np.flatnonzero(free)
    # lexsort sorts by its last key first; places ascend already, and it is stable.
    places = left[np.lexsort((-cosine[left], -mixed[left]))][:top_k]
    relevant = left[np.argsort(-cosine[left], kind="stable")][:top_k]
    return Offer(places, relevant[~np.isin(relevant, places)], mixed)
