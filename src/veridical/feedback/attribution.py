"""From a vote on a candidate answer to the documents that give it, and how much each is judged.

A document is judged as far as it gives the answer itself: by how surely it was read to say so, and how surely
it is about the question. That is its part in the candidate's weight without what comes from elsewhere: its
trust, which is what a vote is there to teach, and what it lost to near-duplicates or to others of its source.
Leaving one document out at a time would find that neither of two copies matters, and let off exactly those
who plant a text twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from veridical.types import Candidate

LEAST_SHARE = 0.5
"""Documents below this share of the surest one's are not judged: they hardly gave the answer."""


def shares(candidate: Candidate) -> dict[int, float]:
    """How surely each document gives a candidate answer, beside the one that gives it most surely.

    A passage counts with its probability of giving the answer times that of being relevant; a document with
    several witnesses counts by its surest one.

    Returns
    -------
    dict
        Share in [0, 1] by document id, the largest first, which is 1. Empty where nobody gives the answer.
    """
    alone: dict[int, float] = {}
    for witness in candidate.witnesses:
        sure = witness.probability * witness.relevance
        alone[witness.document_id] = max(alone.get(witness.document_id, 0.0), sure)
    most = max(alone.values(), default=0.0)
    if most <= 0.0:
        return {}
    return {document: sure / most for document, sure in sorted(alone.items(), key=lambda item: -item[1])}


def vote_weights(shares: Mapping[str, float], weight: float = 1.0) -> dict[str, float]:
    """Weight of a vote for each document that it reaches.

    A document's anchor is as sure as its share of the answer, ``weight * share``; those below ``LEAST_SHARE``
    get none, so that nobody is judged for an answer that was hardly theirs.

    Parameters
    ----------
    shares
        In [0, 1], by any name of a document.
    weight
        How much the vote counts beside other feedback.
    """
    return {document: weight * share for document, share in shares.items() if share >= LEAST_SHARE}
