"""Which side of a clash stands out, whoever was judged: which answers the more outright."""

from __future__ import annotations

import numpy as np

from veridical.graph.arrays import FloatArray, Graph

MOST = 0.125


def outrightness(graph: Graph) -> FloatArray:
    r"""Say how much more outright a document answers than the one that contradicts it most surely.

    A text that is planted to be quoted has to answer the question; a text that merely bears on it often does
    not. Whether that means anything where documents clash is left to judgements (`Calibration.clash`).

    With j the document whose contradiction of d has the largest weight w, and p the probabilities with which
    a reader finds an answer in d and in j, it is

    .. math:: x_d = w \, (p_d - p_j)

    kept within 1/8. Only the surest contradiction counts, so that nobody moves it by writing many texts.

    Parameters
    ----------
    graph
        Documents, and what they answered to the same questions.

    Returns
    -------
    numpy.ndarray
        Shape (n_nodes,), in [-1/8, 1/8]; 0 for sources, for what nobody contradicts, and where the surest
        contradiction rests on no question.
    """
    against = np.flatnonzero(graph.signs < 0)
    margins = graph.answer_margins[against]
    ends = np.concatenate([graph.heads[against], graph.tails[against]])
    weights = np.tile(graph.weights[against], 2)
    lead = np.concatenate([margins, -margins])
    # The surest last, so that it is the one that stays; of equally sure ones the more outright opponent.
    order = np.lexsort((-lead, weights))
    found = np.zeros(graph.n_nodes)
    found[ends[order]] = (weights * lead)[order]
    return np.clip(found, -MOST, MOST)
