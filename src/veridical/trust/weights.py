"""From a relation graph and feedback to the trust problem of the default method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.graph.arrays import Anchors, Graph
from veridical.trust.priors import class_weights, relation_reliability, source_strength
from veridical.trust.problem import TrustProblem
from veridical.trust.voices import Voices, bundles, voices_of

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
    by_answers, by_inference
        How far relations are relied on before any pair of judged documents bears them out or not, in [0, 1]:
        those that rest on answers to one question, and those that rest on inference between sentences.
    """

    anchor: float = 10.0
    source: float = 1.0
    relation: float = 1.0
    copy: float = 10.0
    document_prior: float = 0.05
    by_answers: float = 0.5
    by_inference: float = 0.25


@dataclass(frozen=True)
class Reliability:
    """How far relations of each kind are relied on, in [0, 1], by what they rest on."""

    support: float
    contradiction: float
    answered_support: float
    answered_contradiction: float

    def of(self, graph: Graph) -> FloatArray:
        """Return the reliability of each relation, shape (m,)."""
        table = np.array(
            [
                [self.contradiction, self.support],
                [self.answered_contradiction, self.answered_support],
            ]
        )
        result: FloatArray = table[graph.answered.astype(np.int64), (graph.signs > 0).astype(np.int64)]
        return result


@dataclass(frozen=True)
class Assembled:
    """The problem, and what was learned on the way to it.

    Attributes
    ----------
    problem
        Nodes numbered as in the graph.
    anchors
        Its feedback: one row a judged text, on the first judged document that has it.
    balance
        Shape (f,): how much each of these counts: its class weight (`class_weights`), shared among judged
        near-duplicates.
    judgement
        Shape (n_documents,): the row of ``anchors`` that is of each document's text, -1 where none is.
    source_strength
        Prior strength of a source, in judgements; NaN without sources.
    reliability
        How far relations are relied on.
    """

    problem: TrustProblem
    anchors: Anchors
    balance: FloatArray
    judgement: IntArray
    source_strength: float
    reliability: Reliability


@dataclass(frozen=True)
class _Edges:
    heads: IntArray
    tails: IntArray
    signs: IntArray
    weights: FloatArray


def assemble(graph: Graph, anchors: Anchors, settings: WeightSettings | None = None) -> Assembled:
    """Build the trust problem of method ``veridical``.

    Sources are nodes, held to 1/2 as strongly as the judgements of all sources warrant (`source_strength`).
    Supports and contradictions are scaled by how reliable judged pairs show their kind to be
    (`relation_reliability`), apart for those by answers and by inference, and divided by the larger degree of
    their two ends, ``w / max(1, D_i, D_j)``, so that those of one document weigh at most 1 together. The
    edges of a judged document carry its class weight (`class_weights`).

    Near-duplicates are one voice (`veridical.trust.voices`): what k of them say to another voice, with one
    sign, weighs together what the strongest of them says, and each has 1/k of a source's edge, of a prior and
    of an anchor. So k copies weigh what one does, and each of them is as trusted as one alone would be.
    Copies of exactly one text are also tied together, and judged together.

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
    voices = voices_of(graph, anchors)
    balance = class_weights(voices.anchors.values, voices.anchors.weights * voices.shares)
    loud = np.ones(graph.n_documents)
    loud[voices.judged] = balance[voices.judgement[voices.judged]]
    reliability = _reliability(graph, voices, loud, settings)
    parts = [
        _source_edges(graph, loud / voices.sizes, settings),
        _relation_edges(graph, loud, settings, reliability),
        _copy_edges(graph, settings),
    ]
    strength = _strength(graph, anchors, voices, loud)
    at = voices.anchors.documents
    problem = TrustProblem(
        n_nodes=graph.n_nodes,
        heads=np.concatenate([part.heads for part in parts]),
        tails=np.concatenate([part.tails for part in parts]),
        signs=np.concatenate([part.signs for part in parts]).astype(np.int8),
        weights=np.concatenate([part.weights for part in parts]),
        anchors=at,
        anchor_targets=voices.anchors.values,
        anchor_weights=settings.anchor * voices.anchors.weights * voices.copies[at] / voices.sizes[at],
        prior_weights=_prior_weights(graph, voices, settings, strength),
    )
    return Assembled(
        problem, voices.anchors, balance * voices.shares, voices.judgement, strength, reliability
    )


def _source_edges(graph: Graph, loud: FloatArray, settings: WeightSettings) -> _Edges:
    documents = np.flatnonzero(graph.source_of >= 0)
    return _Edges(
        documents,
        graph.n_documents + graph.source_of[documents],
        np.ones(len(documents), dtype=np.int64),
        settings.source * loud[documents],
    )


def _relation_edges(
    graph: Graph, loud: FloatArray, settings: WeightSettings, reliability: Reliability
) -> _Edges:
    relied = reliability.of(graph)
    most = float(relied.max(initial=0.0))
    signs = graph.signs.astype(np.int64)
    if most == 0.0:
        return _Edges(graph.heads, graph.tails, signs, np.zeros(len(graph.heads)))
    # Relied on less, a relation takes less of the room that a document's relations have together.
    shared, degree = bundles(graph, graph.weights * relied / most)
    busier = np.maximum(np.maximum(degree[graph.heads], degree[graph.tails]), 1.0)
    weights = settings.relation * most * shared / busier
    weights *= np.sqrt(loud[graph.heads] * loud[graph.tails])
    return _Edges(graph.heads, graph.tails, signs, weights)


def _copy_edges(graph: Graph, settings: WeightSettings) -> _Edges:
    """Tie every document to the first of the same text, which costs one edge a copy."""
    groups, first = np.unique(graph.text_group, return_index=True)
    leader = first[np.searchsorted(groups, graph.text_group)]
    copies = np.flatnonzero(leader != np.arange(graph.n_documents))
    ties = np.full(len(copies), settings.copy)
    return _Edges(leader[copies].astype(np.int64), copies, np.ones(len(copies), dtype=np.int64), ties)


def _strength(graph: Graph, anchors: Anchors, voices: Voices, loud: FloatArray) -> float:
    if graph.n_sources == 0:
        return float("nan")
    documents = anchors.documents
    _, voice, sizes = np.unique(graph.voices[documents], return_inverse=True, return_counts=True)
    amounts = loud[documents] / sizes[voice]
    values = voices.anchors.values[voices.judgement[documents]]
    source = graph.source_of[documents]
    has = source >= 0
    good = np.bincount(source[has], (amounts * values)[has], graph.n_sources)
    bad = np.bincount(source[has], (amounts * (1.0 - values))[has], graph.n_sources)
    return source_strength(good, bad)


def _prior_weights(graph: Graph, voices: Voices, settings: WeightSettings, strength: float) -> FloatArray:
    weights = np.full(graph.n_nodes, settings.document_prior)
    has = np.flatnonzero(graph.source_of >= 0)
    members = np.bincount(graph.source_of[has], 1.0 / voices.sizes[has], graph.n_sources)
    weights[has] /= np.maximum(members[graph.source_of[has]], 1.0)
    weights[: graph.n_documents] /= voices.sizes
    weights[graph.n_documents :] = settings.source * strength
    return weights


def _reliability(graph: Graph, voices: Voices, loud: FloatArray, settings: WeightSettings) -> Reliability:
    values = np.full(graph.n_documents, np.nan)
    values[voices.judged] = voices.anchors.values[voices.judgement[voices.judged]]
    pairs = ~np.isnan(values[graph.heads]) & ~np.isnan(values[graph.tails])
    pairs &= graph.voices[graph.heads] != graph.voices[graph.tails]  # that copies agree bears nothing out
    shared, _ = bundles(graph, np.where(pairs, graph.weights, 0.0))
    amounts = shared * loud[graph.heads] * loud[graph.tails]
    apart = np.abs(values[graph.heads] - values[graph.tails])

    def relied(sign: int, *, answered: bool) -> float:
        of_kind = pairs & (graph.signs == sign) & (graph.answered == answered)
        agreement = 1.0 - apart[of_kind] if sign > 0 else apart[of_kind]
        prior = settings.by_answers if answered else settings.by_inference
        return relation_reliability(agreement, amounts[of_kind], prior=prior)

    return Reliability(
        support=relied(1, answered=False),
        contradiction=relied(-1, answered=False),
        answered_support=relied(1, answered=True),
        answered_contradiction=relied(-1, answered=True),
    )
