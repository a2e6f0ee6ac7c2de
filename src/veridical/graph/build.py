"""From evidence on passage pairs to the document graph: the strongest evidence speaks for its documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sqlalchemy as sa

from veridical.corpus.split import sentence_around
from veridical.graph import evidence, voices
from veridical.graph.arrays import Graph, IntArray
from veridical.graph.evidence import SURE, Item, Rows
from veridical.stores import derived, questions, schema
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

    @property
    def n_relations(self) -> dict[RelationKind, int]:
        """How many pairs of documents are related, by kind; those not sure enough to show are left out."""
        graph = self.graph
        sure = ~graph.answered | (graph.weights >= SURE)
        later = ~graph.superseded_by_answers | (graph.supersede_weights >= SURE)
        return {
            RelationKind.SUPPORTS: int((sure & (graph.signs > 0)).sum()),
            RelationKind.CONTRADICTS: int((sure & (graph.signs < 0)).sum()),
            RelationKind.SUPERSEDES: int(later.sum()),
        }


@dataclass(frozen=True)
class Side:
    """A passage, where it starts in its document, and the document's date."""

    document_id: int
    text: str
    start: int
    date: str | None = None

    def span(self, start: int | None, end: int | None) -> Span | None:
        """Return a stretch of the passage with its place in the document."""
        if start is None or end is None:
            return None
        return Span(self.text[start:end], self.start + start, self.start + end)

    def sentence(self, start: int | None, end: int | None) -> Span | None:
        """Return the sentence, or the sentences, that a stretch of the passage lies in."""
        if start is None or end is None:
            return None
        return self.span(*sentence_around(self.text, start, end))


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
    voice_group = voices.voices(connection, [row.text_hash for row in rows])
    edges = document_edges(evidence.rows(connection, ids), text_group, voice_group)
    later, earlier = _split_by_date(edges, [row.date for row in rows])
    plain = later < 0
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
            voice_group=voice_group,
            by_answers=edges.answered[plain],
            margins=edges.margins[plain],
            superseded_by_answers=edges.answered[~plain],
        ),
        ids,
        sources,
    )


def document_edges(found: Rows, text_group: IntArray, voice_group: IntArray | None = None) -> Rows:
    """Return one edge a document pair: the strongest evidence's kind and weight.

    Parameters
    ----------
    found
        All evidence on pairs of documents.
    text_group
        Shape (n_documents,): a copy says nothing new of its original, so nothing is said within a group.
    voice_group
        Shape (n_documents,): near-duplicates do not support each other, but may contradict each other.
    """
    apart = text_group[found.heads] != text_group[found.tails]
    if voice_group is not None:
        apart &= (found.signs < 0) | (voice_group[found.heads] != voice_group[found.tails])
    return evidence.strongest(found.at(apart))


def _split_by_date(edges: Rows, dates: Sequence[str | None]) -> tuple[IntArray, IntArray]:
    """Return the later and the earlier document of contradictions across dates, -1 for all other edges."""
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


def kind_of(sign: int, left_date: str | None, right_date: str | None) -> tuple[RelationKind, bool]:
    """Say how one document stands to another, and whether they change places: the later one comes first."""
    if sign > 0:
        return RelationKind.SUPPORTS, False
    order = compare_dates(left_date, right_date)
    return (RelationKind.SUPERSEDES, order < 0) if order else (RelationKind.CONTRADICTS, False)


def sides(connection: sa.Connection, items: Iterable[Item]) -> dict[int, Side]:
    """Return the passages that evidence is on, by passage id."""
    passages, docs = schema.passages, schema.documents
    wanted = sorted({i for item in items for i in (item.low, item.high)})
    found: dict[int, Side] = {}
    for begin in range(0, len(wanted), 500):
        query = (
            sa.select(passages.c.id, passages.c.document_id, passages.c.text, passages.c.start, docs.c.date)
            .join(docs, docs.c.id == passages.c.document_id)
            .where(passages.c.id.in_(wanted[begin : begin + 500]))
        )
        for row in connection.execute(query):
            found[row.id] = Side(row.document_id, row.text, row.start, row.date)
    return found


def sentences_of(item: Item, known: Mapping[int, Side]) -> tuple[Span | None, Span | None]:
    """Return the sentences of the lower and the higher passage that decided it, where that is known."""
    low, high = known[item.low], known[item.high]
    a, b, c, d = item.places
    if item.basis == "answers":
        return low.sentence(a, b), high.sentence(c, d)
    return low.span(a, b), high.span(c, d)


def relation_of(item: Item, known: Mapping[int, Side]) -> Relation:
    """Read evidence as a relation between the two documents."""
    low, high = known[item.low], known[item.high]
    left, right = sentences_of(item, known)
    head, tail = (low.document_id, item.low, left), (high.document_id, item.high, right)
    kind, turned = kind_of(item.sign, low.date, high.date)
    if turned:
        head, tail = tail, head
    return Relation(head[0], tail[0], kind, item.weight, head[1], tail[1], head[2], tail[2])


def relations_among(
    connection: sa.Connection,
    passage_ids: Sequence[int],
    shares: tuple[float, float, float] | None = None,
) -> list[Relation]:
    """Relations between the passages given, one a pair of passages, those that are worth most first.

    Parameters
    ----------
    shares
        Set where the passages answer one question: the class shares for which inferences are stated.
        Such passages clash or agree far more often than neighbours in a corpus, so they are restated for
        ``QUESTION_SHARES``.
    """
    if len(passage_ids) < 2:
        return []
    judged = derived.judgements(connection, list(passage_ids))
    if shares is not None:
        judged = [at_prior(judgement, shares, QUESTION_SHARES) for judgement in judged]
    items = [evidence.of_judgement(judgement) for judgement in judged]
    items += [evidence.of_question(pair) for pair in questions.pairs(connection, list(passage_ids))]
    return _relations(connection, [item for item in items if item is not None])


def relations_of_document(connection: sa.Connection, document_id: int) -> list[Relation]:
    """Relations between one document and any other, one a pair of passages, most worth first."""
    return _relations(connection, evidence.of_document(connection, document_id))


def _relations(connection: sa.Connection, items: Sequence[Item]) -> list[Relation]:
    best: dict[tuple[int, int], Item] = {}
    for item in sorted(items, key=lambda one: one.rank):
        if item.is_sure:
            best.setdefault((item.low, item.high), item)
    known = sides(connection, best.values())
    return [relation_of(item, known) for item in best.values()]
