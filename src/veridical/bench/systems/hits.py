"""Retrieved passages as the product's records, so that its own code ranks, reads and shows them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.answer.context import trust_label
from veridical.bench.systems.base import Retrieved
from veridical.evidence.rescore import FloatArray
from veridical.methods.base import Candidates
from veridical.types import Document, Hit, Passage


def candidates(pool: Sequence[Retrieved], superseded: Sequence[int] | None = None) -> Candidates:
    """What methods rank by; trust that is not known is NaN."""
    cosines = np.array([own.relevance for own in pool], dtype=np.float64)
    return Candidates(cosines, cosines, trust_of(pool), "dense", superseded)


def trust_of(pool: Sequence[Retrieved]) -> FloatArray:
    """Shape (p,): trust of each passage, NaN where unknown."""
    return np.array([np.nan if own.trust is None else own.trust for own in pool], dtype=np.float64)


def as_hits(pool: Sequence[Retrieved], utility: Sequence[float]) -> list[Hit]:
    """Write passages as hits, in the order given; the id of each passage is its place, from 1."""
    return [_hit(place, own, value) for place, (own, value) in enumerate(zip(pool, utility, strict=True), 1)]


def as_passage(place: int, own: Retrieved) -> Passage:
    """Write a passage as a whole document's only one."""
    return Passage(place, own.document, 0, 0, len(own.text), own.text)


def _hit(place: int, own: Retrieved, utility: float) -> Hit:
    trust = None if own.trust is None or np.isnan(own.trust) else own.trust
    return Hit(
        passage=as_passage(place, own),
        document=Document(
            own.document,
            f"document {own.document}",
            "",
            own.title,
            own.source,
            date=own.date,
            n_passages=1,
            n_chars=len(own.text),
        ),
        relevance=own.relevance,
        relevance_rank=place,
        utility=float(utility),
        trust=trust,
        label=trust_label(trust),
        similarity=own.relevance,
    )
