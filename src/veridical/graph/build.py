"""From judged passage pairs to the document graph: the strongest passage pair speaks for its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import sqlalchemy as sa

from veridical.graph.arrays import FloatArray, Graph, IntArray
from veridical.stores import derived, schema
from veridical.stores.derived import Judgement
from veridical.types import Node, Relation, RelationKind, Span

QUESTION_SHARES = (0.25, 0.5, 0.25)
"""Entailment, neutral and contradiction among passages that were retrieved for one question."""


@dataclass(frozen=True)
class LoadedGraph:
    """The graph with the names that its numbers stand for."""

    graph: Graph
    document_ids: tuple[int, ...]
    sources: tuple[str, ...]

    @property
    def place(self) -> dict[int, int]:
        """Number of each document id."""
        return {document_id: number for number, document_id in enumerate(self.document_ids)}


def load_graph(connection: sa.Connection) -> LoadedGraph:
    """Read the whole graph of a knowledge base."""
    docs = schema.documents
    rows = connection.execute(
        sa.select(docs.c.id, docs.c.text_hash, docs.c.source, docs.c.date).order_by(docs.c.id)
    ).all()
    ids = tuple(row.id for row in rows)
    sources = tuple(sorted({row.source for row in rows if row.source is not None}))
    source_number = {source: number for number, source in enumerate(sources)}
    groups: dict[str, int] = {}
    text_group = np.array([groups.setdefault(row.text_hash, len(groups)) for row in rows], dtype=np.int64)
    nodes = tuple([Node("document", str(i)) for i in ids] + [Node("source", source) for source in sources])
    edges = _document_edges(connection, ids, text_group)
    later, earlier = _split_by_date(edges, [row.date for row in rows])
    plain = (later < 0) | (edges.signs > 0)
    return LoadedGraph(
        Graph(
            nodes=nodes,
            n_documents=len(ids),
            source_of=np.array([source_number.get(row.source, -1) for row in rows], dtype=np.int64),
            text_group=text_group,
            heads=edges.heads[plain],
            tails=edges.tails[plain],
            signs=edges.signs[plain],
            weights=edges.weights[plain],
            later=later[~plain],
            earlier=earlier[~plain],
            supersede_weights=edges.weights[~plain],
        ),
        ids,
        sources,
    )


@dataclass(frozen=True)
class _Edges:
    heads: IntArray
    tails: IntArray
    signs: IntArray
    weights: FloatArray


def _document_edges(connection: sa.Connection, ids: Sequence[int], text_group: IntArray) -> _Edges:
    table, passages = schema.judgements, schema.passages
    low, high = passages.alias("low"), passages.alias("high")
    rows = connection.execute(
        sa.select(low.c.document_id, high.c.document_id, table.c.entailment, table.c.contradiction)
        .join(low, low.c.id == table.c.low_passage)
        .join(high, high.c.id == table.c.high_passage)
    ).all()
    data = np.fromiter(chain.from_iterable(rows), dtype=np.float64, count=4 * len(rows)).reshape(-1, 4)
    numbers = np.searchsorted(np.array(ids, dtype=np.int64), data[:, :2].astype(np.int64))
    heads, tails = numbers.min(axis=1), numbers.max(axis=1)
    entailment, contradiction = data[:, 2], data[:, 3]
    neutral = 1.0 - entailment - contradiction
    signs = np.where(entailment >= contradiction, 1, -1)
    weights = np.maximum(entailment, contradiction)
    # A copy says nothing new of its original, and only what beats neutral is said at all.
    keep = np.flatnonzero((weights > neutral) & (text_group[heads] != text_group[tails]))
    order = keep[np.lexsort((signs[keep], -weights[keep], tails[keep], heads[keep]))]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (heads[order][1:] != heads[order][:-1]) | (tails[order][1:] != tails[order][:-1])
    chosen = order[first]
    return _Edges(heads[chosen], tails[chosen], signs[chosen].astype(np.int64), weights[chosen])


def _split_by_date(edges: _Edges, dates: Sequence[str | None]) -> tuple[IntArray, IntArray]:
    later = np.full(len(edges.heads), -1, dtype=np.int64)
    earlier = np.full(len(edges.heads), -1, dtype=np.int64)
    for row in np.flatnonzero(edges.signs < 0):
        head, tail = int(edges.heads[row]), int(edges.tails[row])
        order = compare_dates(dates[head], dates[tail])
        if order:
            later[row], earlier[row] = (head, tail) if order > 0 else (tail, head)
    return later, earlier


def compare_dates(left: str | None, right: str | None) -> int:
    """1 if ``left`` is later, -1 if earlier, 0 if equal at the coarser precision or unknown."""
    if not left or not right:
        return 0
    n = min(len(left), len(right))
    return (left[:n] > right[:n]) - (left[:n] < right[:n])


def at_prior(
    judgement: Judgement, old: tuple[float, float, float], new: tuple[float, float, float]
) -> Judgement:
    """Restate a judgement for other shares of entailment, neutral and contradiction among the pairs judged.

    Bayes: each probability is multiplied by new / old share, and all are scaled to sum to one.
    """
    neutral = 1.0 - judgement.entailment - judgement.contradiction
    weights = [
        p * b / a
        for p, a, b in zip((judgement.entailment, neutral, judgement.contradiction), old, new, strict=True)
    ]
    total = sum(weights)
    return replace(judgement, entailment=weights[0] / total, contradiction=weights[2] / total)


def relation_of(
    judgement: Judgement,
    passages: dict[int, tuple[int, str, int]],
    dates: dict[int, str | None],
) -> Relation | None:
    """Read one judgement as a relation between documents, or ``None`` if it is neutral.

    Parameters
    ----------
    judgement
        Of two passages.
    passages
        Passage id to (document id, text, start of the passage in its document).
    dates
        Document id to date.
    """
    neutral = 1.0 - judgement.entailment - judgement.contradiction
    weight = max(judgement.entailment, judgement.contradiction)
    if weight <= neutral:
        return None
    low, high = passages[judgement.low], passages[judgement.high]
    head = (low[0], judgement.low, _span(low, judgement.low_start, judgement.low_end))
    tail = (high[0], judgement.high, _span(high, judgement.high_start, judgement.high_end))
    kind = RelationKind.SUPPORTS
    if judgement.contradiction > judgement.entailment:
        order = compare_dates(dates.get(head[0]), dates.get(tail[0]))
        kind = RelationKind.SUPERSEDES if order else RelationKind.CONTRADICTS
        if order < 0:
            head, tail = tail, head
    return Relation(head[0], tail[0], kind, weight, head[1], tail[1], head[2], tail[2])


def _span(passage: tuple[int, str, int], start: int | None, end: int | None) -> Span | None:
    if start is None or end is None:
        return None
    _, text, offset = passage
    return Span(text[start:end], offset + start, offset + end)


def relations_among(
    connection: sa.Connection,
    passage_ids: Sequence[int],
    shares: tuple[float, float, float] | None = None,
) -> list[Relation]:
    """Relations between the passages given, strongest first.

    Parameters
    ----------
    shares
        Set where the passages answer one question: the class shares for which the judgements are stated.
        Such passages clash or agree far more often than neighbours in a corpus, so the judgements are
        restated for ``QUESTION_SHARES``.
    """
    if len(passage_ids) < 2:
        return []
    judgements = derived.judgements(connection, list(passage_ids))
    if shares is not None:
        judgements = [at_prior(judgement, shares, QUESTION_SHARES) for judgement in judgements]
    return _relations(connection, judgements)


def relations_of_document(connection: sa.Connection, document_id: int) -> list[Relation]:
    """Relations between one document and any other, strongest first."""
    passages, table = schema.passages, schema.judgements
    own = sa.select(passages.c.id).where(passages.c.document_id == document_id)
    query = sa.select(*derived.JUDGEMENT).where(table.c.low_passage.in_(own) | table.c.high_passage.in_(own))
    return _relations(connection, [Judgement(*row) for row in connection.execute(query)])


def _relations(connection: sa.Connection, judgements: Sequence[Judgement]) -> list[Relation]:
    passages, docs = schema.passages, schema.documents
    wanted = sorted({i for j in judgements for i in (j.low, j.high)})
    found: dict[int, tuple[int, str, int]] = {}
    dates: dict[int, str | None] = {}
    for begin in range(0, len(wanted), 500):
        query = (
            sa.select(passages.c.id, passages.c.document_id, passages.c.text, passages.c.start, docs.c.date)
            .join(docs, docs.c.id == passages.c.document_id)
            .where(passages.c.id.in_(wanted[begin : begin + 500]))
        )
        for row in connection.execute(query):
            found[row.id] = (row.document_id, row.text, row.start)
            dates[row.document_id] = row.date
    relations = [relation_of(judgement, found, dates) for judgement in judgements]
    known = [relation for relation in relations if relation is not None]
    return sorted(known, key=lambda relation: (-relation.weight, relation.head, relation.tail))
