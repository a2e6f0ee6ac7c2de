"""Method ``reliable``: ReliableRAG (arXiv 2608.25487), answers along chains of reliable triples."""

from __future__ import annotations

from veridical.graph.arrays import FloatArray
from veridical.methods.base import Candidates
from veridical.methods.veridical import Veridical


class Reliable(Veridical):
    """Passages in the retriever's own order; what counts is which triples in them can be relied on.

    The paper has no trust in documents. Where the credibility of triples is taken from it, it is that of
    method ``veridical``, by the same relations and feedback. How chains are found is in
    `veridical.pipeline.reasoning`.
    """

    name = "reliable"

    def rank(self, candidates: Candidates, *, trust_weight: float | None = None) -> FloatArray:
        """Return the retriever's own numbers, unless a weight is given, which counts as in ``veridical``."""
        if trust_weight is None:
            return candidates.relevance.copy()
        return super().rank(candidates, trust_weight=trust_weight)
