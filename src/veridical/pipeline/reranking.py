"""Trust for passages that come from anybody's retriever."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import sqlalchemy as sa

from veridical.answer.context import trust_label
from veridical.errors import InputError
from veridical.index.encoder import TextEncoder
from veridical.methods.base import Candidates, Method
from veridical.stores import Store, derived, documents, schema
from veridical.types import RankedPassage, Reason


@dataclass(frozen=True)
class _Given:
    text: str
    id: str | None
    source: str | None
    similarity: float | None


def rerank(
    store: Store,
    method: Method,
    encoder: TextEncoder,
    query: str,
    passages: Sequence[str | Mapping[str, Any]],
    *,
    top_k: int | None = None,
    trust_weight: float | None = None,
) -> list[RankedPassage]:
    """Rank passages by relevance and trust; see `Veridical.rerank`."""
    if isinstance(passages, str):
        raise InputError("One text was given where a list of passages is wanted.", "Put it into a list.")
    if top_k is not None and top_k < 1:
        raise InputError(f"top_k must be 1 or more, not {top_k}.")
    if trust_weight is not None and not 0.0 <= trust_weight <= 1.0:
        raise InputError(f"The trust weight must lie between 0 and 1; {trust_weight:g} does not.")
    given = [_read(passage, number) for number, passage in enumerate(passages)]
    if not given:
        return []
    similarity = _similarities(given, query, encoder)
    # The methods take a pool in the retriever's order.
    order = np.argsort(-similarity, kind="stable")
    with store.read() as connection:
        known = [_look_up(connection, method, item) for item in given]
    trust = np.array([math.nan if t is None else t for t, _ in known])
    candidates = Candidates(similarity[order], similarity[order], trust[order], "dense")
    utility = np.empty(len(given))
    utility[order] = method.rank(candidates, trust_weight=trust_weight)
    place = np.empty(len(given), dtype=np.int64)
    place[order] = np.arange(len(given))
    final = sorted(range(len(given)), key=lambda i: (-utility[i], place[i]))
    return [
        RankedPassage(
            text=given[i].text,
            index=i,
            utility=float(utility[i]),
            similarity=float(similarity[i]),
            trust=known[i][0],
            label=trust_label(known[i][0]),
            id=given[i].id,
            source=given[i].source,
            reasons=known[i][1],
        )
        for i in final[:top_k]
    ]


def _read(passage: str | Mapping[str, Any], number: int) -> _Given:
    if isinstance(passage, str):
        return _Given(passage, None, None, None)
    if not isinstance(passage, Mapping):
        raise InputError(
            f"Passage {number} is a {type(passage).__name__}.",
            "Give its text, or a mapping with text and, where known, id, source and similarity.",
        )
    unknown = set(passage) - {"text", "id", "source", "similarity"}
    text = passage.get("text")
    if not isinstance(text, str) or unknown:
        wrong = f"has unknown fields {sorted(unknown)}" if unknown else "has no text"
        raise InputError(
            f"Passage {number} {wrong}.", "Its fields are text and, where known, id, source and similarity."
        )
    similarity = passage.get("similarity")
    numeric = isinstance(similarity, Real) and not isinstance(similarity, bool)
    if similarity is not None and not (numeric and math.isfinite(similarity)):
        raise InputError(f"Passage {number}: similarity {similarity!r} is no finite number.")
    names = [None if passage.get(f) is None else str(passage[f]) for f in ("id", "source")]
    return _Given(text, names[0], names[1], None if similarity is None else float(similarity))


def _similarities(given: Sequence[_Given], query: str, encoder: TextEncoder) -> np.ndarray:
    if all(item.similarity is not None for item in given):
        return np.array([item.similarity for item in given], dtype=np.float64)
    # One scale for all: a mixture of somebody's numbers and our cosines would compare unlike things.
    vectors = encoder.encode([query, *(item.text for item in given)])
    return np.asarray(vectors[1:] @ vectors[0], dtype=np.float64)


def _look_up(
    connection: sa.Connection, method: Method, item: _Given
) -> tuple[float | None, tuple[Reason, ...]]:
    """Trust of a passage: by its own text, else by its source, else unknown."""
    found = _documents(connection, item)
    keys = [str(i) for i in found]
    known = {
        int(row.key): row.trust
        for row in derived.trust(connection, method.name, kind="document", keys=keys)
        if row.trust is not None
    }
    if known:
        # One text under several keys: the same source's comes first, then the least trusted.
        best = min(known, key=lambda i: (found[i] != item.source, known[i], i))
        return known[best], (Reason(f"its text is that of d{best}", known[best]),)
    if item.source is not None:
        rows = derived.trust(connection, method.name, kind="source", keys=[storable(item.source)])
        if rows and rows[0].trust is not None:
            return rows[0].trust, (Reason(f"its source {item.source} is known", rows[0].trust),)
    return None, (Reason("nothing is known of it"),)


def storable(text: str) -> str:
    """Replace what the database could not be asked for: lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _documents(connection: sa.Connection, item: _Given) -> dict[int, str | None]:
    """Documents that hold a passage's text, with their sources. An id alone proves nothing."""
    docs, passages = schema.documents, schema.passages
    text = item.text.strip()
    if not text:
        return {}
    digest = documents.text_hash(text)
    parts = sa.select(passages.c.document_id).where(passages.c.text_hash == digest)
    holds = (docs.c.text_hash == digest) | docs.c.id.in_(parts)
    if item.id is not None:
        holds |= (docs.c.key == storable(item.id)) & (sa.func.instr(docs.c.text, storable(text)) > 0)
    return {
        row.id: row.source for row in connection.execute(sa.select(docs.c.id, docs.c.source).where(holds))
    }
