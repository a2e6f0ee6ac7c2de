"""From a pool of passage ids to hits: what is stored of them, their trust, their order, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sqlalchemy as sa

from veridical.answer.context import LOW_TO, shown_trust, trust_label
from veridical.evidence.rescore import MARGIN
from veridical.feedback import record
from veridical.graph.build import compare_dates, relations_among
from veridical.methods.base import Candidates, Method
from veridical.pipeline.retrieval import Pool
from veridical.stores import derived, documents, values
from veridical.types import Conflict, Document, Hit, Passage, Reason, Relation, RelationKind


@dataclass(frozen=True)
class Ranked:
    """The first passages in the method's order, and what trust kept out of them.

    ``pool`` is everything that was ranked, in the retriever's order and without reasons; ``relations`` are
    those among it.
    """

    hits: list[Hit]
    kept_out: list[Hit]
    n_left_out: int
    pool: list[Hit] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)


@dataclass(frozen=True)
class _Row:
    passage: Passage
    document: Document
    relevance: float
    similarity: float


def rank(
    connection: sa.Connection,
    pool: Pool,
    method: Method | None,
    *,
    top_k: int,
    trust_weight: float | None = None,
    as_of: str | None = None,
) -> Ranked:
    """Order a pool and describe its first ``top_k``.

    Parameters
    ----------
    method
        ``None`` leaves the retriever's order alone.
    as_of
        Leave out documents of later dates.
    """
    rows, n_left_out = _rows(connection, pool, as_of)
    trust = _trust(connection, rows, method)
    relations = relations_among(connection, [row.passage.id for row in rows])
    relevance = np.array([row.relevance for row in rows], dtype=np.float64)
    if method is None or not rows:
        utility = relevance
    else:
        candidates = Candidates(
            relevance=relevance,
            similarity=np.array([row.similarity for row in rows], dtype=np.float64),
            trust=trust,
            retriever=pool.retriever,
            superseded=_superseded(rows, relations),
        )
        utility = method.rank(candidates, trust_weight=trust_weight)
    order = np.argsort(-utility, kind="stable").tolist()
    reasons = _Reasons(connection, method, rows, relations, trust)
    shown = order[:top_k]
    pushed = [place for place in range(min(top_k, len(rows))) if place not in shown]
    everything = [
        Hit(
            passage=row.passage,
            document=row.document,
            relevance=row.relevance,
            relevance_rank=i + 1,
            utility=float(utility[i]),
            trust=_known(trust[i]),
            label=trust_label(trust[i]),
            similarity=_known(row.similarity),
        )
        for i, row in enumerate(rows)
    ]
    hits, kept_out = (
        [replace(everything[i], reasons=reasons.of(i, order.index(i))) for i in places]
        for places in (shown, pushed)
    )
    return Ranked(hits, kept_out, n_left_out, everything, relations)


def conflicts_on_record(connection: sa.Connection, hits: Sequence[Hit]) -> tuple[Conflict, ...]:
    """Contradictions between retrieved passages as far as a build has found them, the surest first."""
    shares = json.loads(values.state(connection, "nli_shares", "null"))
    ids = [hit.passage.id for hit in hits]
    return conflicts_among(hits, relations_among(connection, ids, tuple(shares) if shares else None))


def conflicts_among(hits: Sequence[Hit], relations: Sequence[Relation]) -> tuple[Conflict, ...]:
    """Contradictions between retrieved passages, with the two sentences, the surest first."""
    shown = {hit.passage.id for hit in hits}
    return tuple(
        Conflict(r.head, r.tail, r.head_span, r.tail_span, r.weight, r.kind)
        for r in relations
        if r.kind in (RelationKind.CONTRADICTS, RelationKind.SUPERSEDES)
        and r.head_passage in shown
        and r.tail_passage in shown
        and r.head_span is not None
        and r.tail_span is not None
    )


def _rows(connection: sa.Connection, pool: Pool, as_of: str | None) -> tuple[list[_Row], int]:
    passages = documents.passages_by_ids(connection, pool.ids)
    found = documents.by_ids(connection, sorted({p.document_id for p in passages.values()}))
    rows = [
        _Row(passages[i], found[passages[i].document_id], relevance, similarity)
        for i, relevance, similarity in zip(pool.ids, pool.relevance, pool.similarity, strict=True)
        if i in passages
    ]
    kept = [row for row in rows if not (as_of and compare_dates(row.document.date, as_of) > 0)]
    return kept, len(rows) - len(kept)


def _trust(connection: sa.Connection, rows: Sequence[_Row], method: Method | None) -> np.ndarray:
    values = np.full(len(rows), np.nan)
    if method is None:
        return values
    keys = sorted({str(row.document.id) for row in rows})
    known = {r.key: r.trust for r in derived.trust(connection, method.name, kind="document", keys=keys)}
    for place, row in enumerate(rows):
        trust = known.get(str(row.document.id))
        if trust is not None:
            values[place] = trust
    return values


def _superseded(rows: Sequence[_Row], relations: Sequence[Relation]) -> list[int]:
    place = {row.passage.id: i for i, row in enumerate(rows)}
    successor = [-1] * len(rows)
    for relation in relations:  # strongest first
        if relation.kind is RelationKind.SUPERSEDES and relation.tail_passage is not None:
            earlier = place[relation.tail_passage]
            if successor[earlier] < 0 and relation.head_passage is not None:
                successor[earlier] = place[relation.head_passage]
    return successor


class _Reasons:
    """Says for each passage what moved it, from what is on record."""

    def __init__(
        self,
        connection: sa.Connection,
        method: Method | None,
        rows: Sequence[_Row],
        relations: Sequence[Relation],
        trust: np.ndarray,
    ) -> None:
        self._rows = rows
        self._trust = trust
        self._method = method
        self._relations = relations
        self._by_document = {
            row.document.id: float(t) for row, t in zip(rows, trust, strict=True) if not math.isnan(t)
        }
        self._feedback: dict[int, list[str]] = {}
        self._sources: dict[str, float | None] = {}
        if method is not None and self._by_document:
            for item in record.every(connection):
                if item.state == "active" and item.document_id in self._by_document:
                    line = f"judged {item.value:g} by {item.by} ({item.ref})"
                    self._feedback.setdefault(item.document_id, []).append(line)
            self._sources = {r.key: r.trust for r in derived.trust(connection, method.name, kind="source")}

    def of(self, row: int, place: int) -> tuple[Reason, ...]:
        document = self._rows[row].document
        reasons = [Reason(f"place {row + 1} by relevance, {place + 1} after trust")] if row != place else []
        if self._method is None or math.isnan(self._trust[row]):
            return tuple(reasons)
        reasons += [Reason(line) for line in self._feedback.get(document.id, [])]
        source = self._sources.get(document.source or "")
        if source is not None:
            reasons.append(Reason(f"source {document.source} has trust {shown_trust(source)}", source))
        passage = self._rows[row].passage.id
        for relation in self._relations:
            if passage in (relation.head_passage, relation.tail_passage):
                reasons.append(self._relation(relation, passage))
            if len(reasons) >= 6:
                break
        return tuple(reasons)

    def _believed(self, relation: Relation) -> bool:
        """Whether the later document is trusted enough for its date to count, as in `behind_successors`."""
        later, earlier = (self._by_document.get(i) for i in (relation.head, relation.tail))
        return later is not None and later > max(LOW_TO, (0.5 if earlier is None else earlier) - MARGIN)

    def _relation(self, relation: Relation, passage: int) -> Reason:
        is_head = relation.head_passage == passage
        other = relation.tail if is_head else relation.head
        trust = self._by_document.get(other)
        known = "" if trust is None else f" (trust {shown_trust(trust)})"
        if relation.kind is RelationKind.SUPERSEDES and not self._believed(relation):
            said = "is later than" if is_head else "differs from the later"
            return Reason(f"{said} d{other}{known}, a date that is not believed", relation.weight)
        words = {
            RelationKind.SUPPORTS: "agrees with",
            RelationKind.CONTRADICTS: "contradicts",
            RelationKind.SUPERSEDES: "supersedes" if is_head else "is superseded by",
            RelationKind.SAME_SOURCE: "shares its source with",
        }[relation.kind]
        return Reason(f"{words} d{other}{known}", relation.weight)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
