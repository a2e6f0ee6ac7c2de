"""Reciprocal rank fusion of BM25 and dense retrieval."""

from __future__ import annotations

import math
from collections.abc import Sequence

RRF_K = 60


def fuse(runs: Sequence[Sequence[int]], top_k: int, *, k: int = RRF_K) -> list[tuple[int, float]]:
    """Fuse ranked lists of ids: each list adds ``1 / (k + rank)``, rank from 1.

    Parameters
    ----------
    runs
        Ranked passage ids, best first.
    top_k
        How many to return.
    k
        Damping; 60 as in Cormack, Clarke and Buettcher (SIGIR 2009).

    Returns
    -------
    list of (id, fused relevance)
        Best first; ties go to the id with the better single rank, then to the lower id.
    """
    ranks: dict[int, list[int]] = {}
    for run in runs:
        for rank, passage_id in enumerate(run, 1):
            ranks.setdefault(passage_id, []).append(rank)
    # Summed exactly, so that the order of the lists cannot break a tie.
    total = {passage_id: math.fsum(1.0 / (k + rank) for rank in own) for passage_id, own in ranks.items()}
    order = sorted(total, key=lambda passage_id: (-total[passage_id], min(ranks[passage_id]), passage_id))
    return [(passage_id, total[passage_id]) for passage_id in order[:top_k]]
