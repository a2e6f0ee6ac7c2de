"""In which order to go through passage pairs, so that what is read of a passage is still in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def ranks(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Number the passages of some pairs such that those that are paired get numbers near to one another.

    By the reverse Cuthill-McKee order of the graph of pairs, in time linear in their number.

    Parameters
    ----------
    pairs
        (low id, high id).

    Returns
    -------
    dict
        From 0, by passage id. The same for the same pairs, in whatever order they come.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    if not pairs:
        return {}
    ids, ends = np.unique(np.array(sorted(pairs), dtype=np.int64), return_inverse=True)
    heads, tails = ends.reshape(-1, 2).T
    ones = np.ones(2 * len(heads), dtype=np.int8)
    both = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    graph = coo_array((ones, both), shape=(len(ids), len(ids))).tocsr()
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    return {int(ids[node]): rank for rank, node in enumerate(order.tolist())}


def near_together(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs in an order in which those of one passage stand near to one another."""
    rank = ranks(pairs)
    return sorted(pairs, key=lambda pair: sorted((rank[pair[0]], rank[pair[1]])))
