"""Why a document is trusted as it is, and how all documents and sources stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from veridical.answer.context import trust_label
from veridical.feedback import record
from veridical.graph.arrays import Graph, IntArray
from veridical.graph.build import LoadedGraph, relations_of_document
from veridical.methods.base import Method
from veridical.pipeline import beliefs
from veridical.stores import Store, derived, documents, values
from veridical.trust.explain import Influences, RelationInfluence, influences
from veridical.types import Document, Feedback, NodeKind, Record, Relation, TrustLabel


@dataclass(frozen=True, slots=True)
class TrustedNode(Record):
    """A document or source with its trust, ``None`` where nothing is known of it."""

    kind: NodeKind
    ref: str
    name: str
    trust: float | None
    label: TrustLabel | None
    raw: float | None
    source: str | None = None
    n_documents: int = 1
    n_judged: int = 0


@dataclass(frozen=True, slots=True)
class AnchorShare(Record):
    """What the judgements of one document add to the trust explained.

    ``contribution`` is signed, in units of trust before calibration; ``share`` is its part of all absolute
    contributions.
    """

    ref: str
    name: str
    value: float
    contribution: float
    share: float
    given: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelationShare(Record):
    """One relation that influence on the document passes over.

    ``kind`` is that of the relation, or ``SAME_SOURCE`` or ``SAME_TEXT`` for what no evidence joins.
    ``flow`` is the part of all influence that comes this way, in [0, 1]; ``effect`` by how much the trust
    (before calibration) would change, to first order, were the relation not there.
    """

    kind: str
    head: str
    tail: str
    weight: float
    flow: float
    effect: float
    sentences: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Explanation(Record):
    """Everything behind one document's trust.

    ``raw = 1/2 + constant + anchor_contribution + prior_contribution + unfinished``; ``trust`` is ``raw``
    calibrated, and for a judged document its own judgement beside it. Contributions are those of the exact
    optimum; ``unfinished`` is how far from it the method's solver stopped, 0 up to its tolerance for
    ``veridical``, more for the published gradient of ``trustprop``.
    """

    document: Document
    method: str
    trust: float | None
    label: TrustLabel | None
    calibrated: bool
    raw: float
    constant: float
    prior_contribution: float
    anchor_contribution: float
    unfinished: float
    anchors: tuple[AnchorShare, ...]
    relations: tuple[RelationShare, ...]
    feedback: tuple[Feedback, ...]
    sources: tuple[TrustedNode, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrustOverview(Record):
    """Documents and sources in order of trust, most trusted first."""

    method: str
    calibrated: bool
    documents: tuple[TrustedNode, ...]
    sources: tuple[TrustedNode, ...]
    notes: tuple[str, ...] = ()


def overview(store: Store, method: Method) -> TrustOverview:
    """List every document and source with its trust."""
    with store.read() as connection:
        known = {(row.kind, row.key): row for row in derived.trust(connection, method.name)}
        feedback = record.every(connection)
        everything = documents.every(connection)
        calibrated = values.state(connection, f"calibrated:{method.name}") == "yes"
        built = bool(values.state(connection, "built"))
        uncalibrated = beliefs.uncalibrated_note(connection, method.name)
    judged = {item.document_id for item in feedback if item.state == "active"}
    nodes = [
        _node(
            "document",
            d.ref,
            d.title or d.key,
            known.get(("document", str(d.id))),
            d.source,
            1,
            d.id in judged,
        )
        for d in everything
    ]
    sources = _sources(everything, known, judged)
    return TrustOverview(
        method.name, calibrated, _ordered(nodes), _ordered(sources), _notes(built, len(judged), uncalibrated)
    )


def explain(store: Store, method: Method, ref: str, *, top: int = 10) -> Explanation:
    """Explain one document's trust by one linear solve.

    Parameters
    ----------
    ref
        Short id or key.
    top
        How many anchors and relations to name.

    Raises
    ------
    NotFoundError
        No document is called that.
    """
    with store.read() as connection:
        document = documents.find(connection, ref)
        loaded, state = beliefs.solve(connection, method)
        feedback = record.every(connection)
        everything = {d.id: d for d in documents.every(connection)}
        relations = relations_of_document(connection, document.id)
        built = bool(values.state(connection, "built"))
        known = {(row.kind, row.key): row for row in derived.trust(connection, method.name)}
    number = loaded.place[document.id]
    found = influences(state.problem, state.solution, number, top)
    names = [everything[i].ref for i in loaded.document_ids] + [f"source {name}" for name in loaded.sources]
    judged = {item.document_id for item in feedback if item.state == "active"}
    trust = float(state.trust[number])
    return Explanation(
        document=document,
        method=method.name,
        trust=None if math.isnan(trust) else trust,
        label=None if math.isnan(trust) else trust_label(trust),
        calibrated=state.calibrated,
        raw=found.trust,
        constant=found.constant,
        prior_contribution=found.prior_contribution,
        anchor_contribution=found.anchor_contribution,
        unfinished=found.trust
        - (0.5 + found.constant + found.anchor_contribution + found.prior_contribution),
        anchors=_anchors(found, loaded, everything, feedback),
        relations=_relations(found, names, relations, loaded),
        feedback=tuple(item for item in feedback if item.key == document.key),
        sources=_ordered(_sources(list(everything.values()), known, judged)),
        notes=state.notes if built and judged else _notes(built, len(judged), ""),
    )


def _anchors(
    found: Influences, loaded: LoadedGraph, everything: dict[int, Document], feedback: Sequence[Feedback]
) -> tuple[AnchorShare, ...]:
    text = dict(zip(loaded.document_ids, loaded.graph.text_group.tolist(), strict=True))
    given: dict[int, list[Feedback]] = {}  # a judgement is of all copies of a text
    for item in feedback:
        if item.state == "active" and item.document_id is not None:
            given.setdefault(text[item.document_id], []).append(item)
    shares = []
    for anchor in found.anchors:
        document = everything[loaded.document_ids[anchor.node]]
        items = given.get(text[document.id], [])
        total = sum(item.weight for item in items) or 1.0
        shares.append(
            AnchorShare(
                ref=document.ref,
                name=document.title or document.key,
                value=sum(item.weight * item.value for item in items) / total,
                contribution=anchor.contribution,
                share=anchor.share,
                given=tuple(f"{item.ref}: {item.value:g} by {item.by}" for item in items),
            )
        )
    return tuple(shares)


def _relations(
    found: Influences, names: Sequence[str], relations: Sequence[Relation], loaded: LoadedGraph
) -> tuple[RelationShare, ...]:
    sentences: dict[frozenset[str], tuple[str, str]] = {}
    for relation in relations:
        pair = frozenset((f"d{relation.head}", f"d{relation.tail}"))
        if relation.head_span and relation.tail_span and pair not in sentences:
            sentences[pair] = (
                f"d{relation.head}: {relation.head_span.text}",
                f"d{relation.tail}: {relation.tail_span.text}",
            )
    kinds = _Kinds(loaded.graph)
    return tuple(
        RelationShare(
            kind=kinds.of(edge),
            head=names[edge.head],
            tail=names[edge.tail],
            weight=edge.weight,
            flow=edge.flow,
            effect=edge.effect,
            sentences=sentences.get(frozenset((names[edge.head], names[edge.tail]))),
        )
        for edge in found.relations
    )


class _Kinds:
    """What joins two nodes of the trust problem."""

    def __init__(self, graph: Graph) -> None:
        self._text = graph.text_group.tolist()
        self._judged = _pairs(graph.heads, graph.tails)
        self._dated = _pairs(graph.later, graph.earlier)

    def of(self, edge: RelationInfluence) -> str:
        pair = frozenset((edge.head, edge.tail))
        if pair in self._dated:
            return "SUPERSEDES"
        if pair in self._judged:
            return "SUPPORTS" if edge.sign > 0 else "CONTRADICTS"
        texts = {self._text[node] if node < len(self._text) else -1 for node in pair}
        # A document and its source's node, or, in method trustprop, two documents of one source.
        return "SAME_TEXT" if len(texts) == 1 else "SAME_SOURCE"


def _pairs(left: IntArray, right: IntArray) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in zip(left.tolist(), right.tolist(), strict=True)}


def _sources(
    everything: Sequence[Document],
    known: dict[tuple[NodeKind, str], derived.NodeTrust],
    judged: set[int | None],
) -> list[TrustedNode]:
    members: dict[str, list[Document]] = {}
    for document in everything:
        if document.source is not None:
            members.setdefault(document.source, []).append(document)
    return [
        _node(
            "source",
            name,
            name,
            known.get(("source", name)),
            None,
            len(own),
            sum(document.id in judged for document in own),
        )
        for name, own in sorted(members.items())
    ]


def _node(
    kind: NodeKind,
    ref: str,
    name: str,
    row: derived.NodeTrust | None,
    source: str | None,
    n_documents: int,
    n_judged: int,
) -> TrustedNode:
    trust = None if row is None else row.trust
    label = None if trust is None else trust_label(trust)
    raw = None if row is None else row.raw
    return TrustedNode(kind, ref, name, trust, label, raw, source, n_documents, int(n_judged))


def _ordered(nodes: Sequence[TrustedNode]) -> tuple[TrustedNode, ...]:
    return tuple(sorted(nodes, key=lambda node: -(0.5 if node.trust is None else node.trust)))


def _notes(built: bool, n_judged: int, uncalibrated: str) -> tuple[str, ...]:
    if not built:
        return ("This knowledge base is not built yet; run 'veridical build'.",)
    if not n_judged:
        return ("No document has been judged yet, so nothing is known of any; see 'veridical feedback'.",)
    return (uncalibrated,) if uncalibrated else ()
