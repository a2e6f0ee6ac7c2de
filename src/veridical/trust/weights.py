"""From a relation graph and feedback to the trust problem of the default method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.graph.arrays import Anchors, Graph
from veridical.trust.priors import class_weights, relation_reliability, source_strength
from veridical.trust.problem import TrustProblem

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WeightSettings:
    """The stated choices of the default method; none is fitted to a question set.

    Attributes
    ----------
    anchor
        Weight of one judgement on its own document: judged documents are pinned.
    source
        Weight of the edge between a document and its source.
    relation
        What the supports and contradictions of a document may weigh together, at most: a hundred noisy edges
        do not drown its source.
    copy
        Weight that ties documents of equal text together.
    document_prior
        Weight of a document's pull to 1/2 (shared among the documents of a source). It makes the system
        positive definite and lets trust fade with distance.
    """

    anchor: float = 10.0
    source: float = 1.0
    relation: float = 1.0
    copy: float = 10.0
    document_prior: float = 0.05


@dataclass(frozen=True)
class Assembled:
    """The problem, and what was learned on the way to it.

    Attributes
    ----------
    problem
        Nodes numbered as in the graph.
    balance
        Shape (f,): class weight of each anchor (`class_weights`).
    source_strength
        Prior strength of a source, in judgements; NaN without sources.
    support_reliability, contradiction_reliability
        How far relations of each kind are relied on, in [0, 1].
    """

    problem: TrustProblem
    balance: FloatArray
    source_strength: float
    support_reliability: float
    contradiction_reliability: float


@dataclass(frozen=True)
class _Edges:
    heads: IntArray
    tails: IntArray
    signs: IntArray
    weights: FloatArray


def assemble(graph: Graph, anchors: Anchors, settings: WeightSettings | None = None) -> Assembled:
    """Build the trust problem of method ``veridical``.

    Sources are nodes, held to 1/2 as strongly as the judgements of all sources warrant (`source_strength`).
    Supports and contradictions are divided by the larger degree of their two ends, ``w / max(1, D_i, D_j)``,
    so that those of one document weigh at most 1 together, and scaled by how reliable judged pairs show their
    kind to be (`relation_reliability`). The edges of a judged document carry
    its class weight (`class_weights`). Copies of a text are tied together and share one voice.

    Parameters
    ----------
    graph
        Documents, sources and relations.
    anchors
        Feedback, one row a judged document.
    settings
        The stated choices.
    """
    settings = settings or WeightSettings()
    balance = class_weights(anchors.values, anchors.weights)
    voice = _voice(graph, anchors, balance)
    supports = _kind_reliability(graph, anchors, balance, sign=1)
    contradictions = _kind_reliability(graph, anchors, balance, sign=-1)
    parts = [
        _source_edges(graph, voice, settings),
        _relation_edges(graph, voice, settings, supports, contradictions),
        _copy_edges(graph, settings),
    ]
    strength = _strength(graph, anchors, voice)
    problem = TrustProblem(
        n_nodes=graph.n_nodes,
        heads=np.concatenate([part.heads for part in parts]),
        tails=np.concatenate([part.tails for part in parts]),
        signs=np.concatenate([part.signs for part in parts]).astype(np.int8),
        weights=np.concatenate([part.weights for part in parts]),
        anchors=anchors.documents,
        anchor_targets=anchors.values,
        anchor_weights=settings.anchor * anchors.weights,
        prior_weights=_prior_weights(graph, settings, strength),
    )
    return Assembled(problem, balance, strength, supports, contradictions)


def _copies(graph: Graph) -> IntArray:
    """How many documents have each document's text, shape (n_documents,)."""
    if graph.n_documents == 0:
        return np.empty(0, dtype=np.int64)
    _, group, sizes = np.unique(graph.text_group, return_inverse=True, return_counts=True)
    result: IntArray = sizes[group].astype(np.int64)
    return result


def _voice(graph: Graph, anchors: Anchors, balance: FloatArray) -> FloatArray:
    """How loudly each document speaks to its neighbours, shape (n_documents,)."""
    voice = 1.0 / _copies(graph)
    voice[anchors.documents] *= balance
    return voice


def _source_edges(graph: Graph, voice: FloatArray, settings: WeightSettings) -> _Edges:
    documents = np.flatnonzero(graph.source_of >= 0)
    return _Edges(
        documents,
        graph.n_documents + graph.source_of[documents],
        np.ones(len(documents), dtype=np.int64),
        settings.source * voice[documents],
    )


def _relation_edges(
    graph: Graph, voice: FloatArray, settings: WeightSettings, supports: float, contradictions: float
) -> _Edges:
    n = graph.n_documents
    weights = graph.weights * np.sqrt(voice[graph.heads] * voice[graph.tails])
    degree = np.bincount(graph.heads, graph.weights, n) + np.bincount(graph.tails, graph.weights, n)
    busier = np.maximum(np.maximum(degree[graph.heads], degree[graph.tails]), 1.0)
    reliability = np.where(graph.signs > 0, supports, contradictions)
    weights = settings.relation * reliability * weights / busier
    return _Edges(graph.heads, graph.tails, graph.signs.astype(np.int64), weights)


def _copy_edges(graph: Graph, settings: WeightSettings) -> _Edges:
    """Tie every document to the first of the same text, which costs one edge a copy."""
    groups, first = np.unique(graph.text_group, return_index=True)
    leader = first[np.searchsorted(groups, graph.text_group)]
    copies = np.flatnonzero(leader != np.arange(graph.n_documents))
    ties = np.full(len(copies), settings.copy)
    return _Edges(leader[copies].astype(np.int64), copies, np.ones(len(copies), dtype=np.int64), ties)


def _strength(graph: Graph, anchors: Anchors, voice: FloatArray) -> float:
    if graph.n_sources == 0:
        return float("nan")
    source = graph.source_of[anchors.documents]
    has = source >= 0
    loud, values = voice[anchors.documents][has], anchors.values[has]
    good = np.bincount(source[has], loud * values, graph.n_sources)
    bad = np.bincount(source[has], loud * (1.0 - values), graph.n_sources)
    return source_strength(good, bad)


def _prior_weights(graph: Graph, settings: WeightSettings, strength: float) -> FloatArray:
    weights = np.full(graph.n_nodes, settings.document_prior)
    has = np.flatnonzero(graph.source_of >= 0)
    sizes = np.bincount(graph.source_of[has], minlength=graph.n_sources)
    weights[has] /= sizes[graph.source_of[has]]
    weights[graph.n_documents :] = settings.source * strength
    return weights


def _kind_reliability(graph: Graph, anchors: Anchors, balance: FloatArray, *, sign: int) -> float:
    value = np.full(graph.n_documents, np.nan)
    value[anchors.documents] = anchors.values
    scale = np.zeros(graph.n_documents)
    scale[anchors.documents] = balance
    of_kind = graph.signs == sign
    heads, tails, weights = graph.heads[of_kind], graph.tails[of_kind], graph.weights[of_kind]
    judged = ~np.isnan(value[heads]) & ~np.isnan(value[tails])
    heads, tails, weights = heads[judged], tails[judged], weights[judged]
    apart = np.abs(value[heads] - value[tails])
    agreement = 1.0 - apart if sign > 0 else apart
    return relation_reliability(agreement, weights * scale[heads] * scale[tails])
