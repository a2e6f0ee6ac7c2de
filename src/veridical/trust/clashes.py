"""Which side of a clash stands out, whoever was judged: how surely each document is contradicted."""

from __future__ import annotations

import numpy as np

from veridical.graph.arrays import FloatArray, Graph
from veridical.trust.voices import bundles

_MOST = 0.5


def excess_contradiction(graph: Graph) -> FloatArray:
    r"""Say how much more surely a document is contradicted than those that contradict it.

    With ``s_d`` the weight of the surest contradiction of d, it is

    .. math:: x_d = s_d - \frac{\sum_j w_{dj} s_j}{\sum_j w_{dj}}

    over the documents j that contradict d, kept within 1/2. Where two documents contradict each other and
    nobody else it is 0 for both. The surest counts and not the sum, so that many that say the same make no
    more of it; near-duplicates have one voice in the mean.

    Parameters
    ----------
    graph
        Documents and what they say of one another.

    Returns
    -------
    numpy.ndarray
        Shape (n_nodes,), in [-1/2, 1/2]; 0 for what nobody contradicts, and for sources.
    """
    against = graph.signs < 0
    shared, _ = bundles(graph, graph.weights)
    ends = np.concatenate([graph.heads[against], graph.tails[against]])
    others = np.concatenate([graph.tails[against], graph.heads[against]])
    weights = np.tile(graph.weights[against], 2)
    amounts = np.tile(shared[against], 2)
    surest = np.zeros(graph.n_nodes)
    np.maximum.at(surest, ends, weights)
    total = np.bincount(ends, amounts, graph.n_nodes)
    heard = np.bincount(ends, amounts * surest[others], graph.n_nodes)
    theirs = np.divide(heard, total, out=surest.copy(), where=total > 0.0)
    return np.clip(surest - theirs, -_MOST, _MOST)
