"""Metrics of a ranking in which some documents are true, some false, and some belong to the question.

All take ``ranking``, document numbers best first, and look at its first ``k``. A metric that is undefined for
a question (nothing to divide by) is NaN; averages skip it and say how many they stand on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np


def factual_precision(
    ranking: Sequence[int], true: Collection[int], false: Collection[int], k: int = 5
) -> float:
    r"""FP@k: true documents among the first ``k`` that are true or false (TrustPropRAG, section 5).

    .. math:: FP@k = |R_k \cap T| / |R_k \cap (T \cup F)|

    over the first :math:`k` of the ranking, :math:`R_k`; in [0, 1], NaN where none of them is either.
    With ``true`` every true document of the corpus this is the wide reading, which also rewards true
    documents that have nothing to do with the question; with ``true`` the documents that have a false twin,
    the narrow.
    """
    top = ranking[:k]
    n_true = sum(document in true for document in top)
    n_false = sum(document in false for document in top)
    return n_true / (n_true + n_false) if n_true + n_false else float("nan")


def recall(ranking: Sequence[int], relevant: Collection[int], k: int = 5) -> float:
    r"""Share of the relevant documents in the first ``k`` (of ``k``, where there are more than ``k``).

    .. math:: |R_k \cap G| / \min(k, |G|)

    In [0, 1]; NaN without relevant documents. trec_eval divides by :math:`|G|` whatever ``k`` is. Over a
    question's own true passages this is clean recall, over its own false ones poison kept.
    """
    if not relevant:
        return float("nan")
    found = sum(document in relevant for document in ranking[:k])
    return found / min(k, len(relevant))


def ndcg(ranking: Sequence[int], relevant: Collection[int], k: int = 5) -> float:
    r"""Normalised discounted cumulative gain at ``k``, with gains of 0 and 1.

    .. math:: \sum_{i=1}^{k} \frac{[r_i \in G]}{\log_2(i + 1)}
              \Big/ \sum_{i=1}^{\min(k, |G|)} \frac{1}{\log_2(i + 1)}

    with :math:`r_i` the document at rank :math:`i`; in [0, 1], NaN without relevant documents.
    """
    if not relevant:
        return float("nan")
    discounts = 1.0 / np.log2(np.arange(k) + 2.0)
    gains = np.array([document in relevant for document in ranking[:k]], dtype=float)
    return float(gains @ discounts[: len(gains)] / discounts[: min(k, len(relevant))].sum())
