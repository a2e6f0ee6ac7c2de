"""Who speaks: documents of nearly one text are one voice, and judgements of one text are one judgement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.graph.arrays import Anchors, BoolArray, Graph

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Voices:
    """Documents and judgements by voice.

    Attributes
    ----------
    sizes
        Shape (n_documents,): how many documents share each document's voice.
    copies
        Shape (n_documents,): how many have exactly its text.
    anchors
        One row a judged text, on the first judged document that has it: the mean of the judgements of its
        copies, with the weight of the one that weighs most.
    shares
        Shape (f,): 1 over the number of judged texts that share each of these anchors' voices.
    judgement
        Shape (n_documents,): the row of ``anchors`` that is of each document's text, -1 where none is.
    """

    sizes: FloatArray
    copies: FloatArray
    anchors: Anchors
    shares: FloatArray
    judgement: IntArray

    @property
    def judged(self) -> BoolArray:
        """Shape (n_documents,): whether a document, or one of the same text, is judged."""
        result: BoolArray = self.judgement >= 0
        return result


def voices_of(graph: Graph, anchors: Anchors) -> Voices:
    """Say who shares a voice, and join the judgements of copies."""
    text = _numbered(graph.text_group)
    merged = _one_a_text(text, anchors)
    judgement = np.full(int(text.max(initial=-1)) + 1, -1, dtype=np.int64)
    judgement[text[merged.documents]] = np.arange(len(merged))
    shares = 1.0 / _sizes(graph.voices[merged.documents])
    return Voices(_sizes(graph.voices), _sizes(text), merged, shares, judgement[text])


def _one_a_text(text: IntArray, anchors: Anchors) -> Anchors:
    groups, first, inverse = np.unique(text[anchors.documents], return_index=True, return_inverse=True)
    if len(groups) == len(anchors):
        return anchors
    total = np.bincount(inverse, anchors.weights)
    values = np.bincount(inverse, anchors.weights * anchors.values) / total
    weights = np.zeros(len(groups))
    np.maximum.at(weights, inverse, anchors.weights)
    order = np.argsort(first)
    return Anchors(anchors.documents[first][order], values[order], weights[order])


def bundles(graph: Graph, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Let what one voice says to another, with one sign, weigh no more than the strongest of its relations.

    Parameters
    ----------
    graph
        Whose relations.
    weights
        Shape (m,): their weights >= 0.

    Returns
    -------
    shared
        Shape (m,): the weights, shared out among the relations of the same sign between the same two voices.
    degree
        Shape (n_documents,): what the voices around a document say to it together, each sign apart.
    """
    n = graph.n_documents
    ends = np.concatenate([graph.heads, graph.tails])
    voice = _numbered(graph.voices)
    if len(voice) == int(voice.max(initial=-1)) + 1:
        return weights, np.bincount(ends, np.concatenate([weights, weights]), n).astype(np.float64)
    left, right = voice[graph.heads], voice[graph.tails]
    pair = np.minimum(left, right) * len(voice) + np.maximum(left, right)
    _, bundle, size = np.unique(2 * pair + (graph.signs > 0), return_inverse=True, return_counts=True)
    total = np.bincount(bundle, weights)
    most = np.zeros(len(total))
    np.maximum.at(most, bundle, weights)
    scale = np.divide(most, total, out=np.zeros_like(most), where=total > 0)
    shared = weights * scale[bundle]
    alone = size[bundle] == 1
    said = np.where(alone, weights, 0.0)
    degree = np.bincount(ends, np.concatenate([said, said]), n).astype(np.float64)
    # A document hears a bundle once, however many of its relations end there.
    of_several = np.concatenate([bundle[~alone], bundle[~alone]])
    heard = np.sort(np.concatenate([graph.heads[~alone], graph.tails[~alone]]) * len(total) + of_several)
    once = np.ones(len(heard), dtype=np.bool_)
    once[1:] = heard[1:] != heard[:-1]
    hearers, which = np.divmod(heard[once], max(len(total), 1))
    degree += np.bincount(hearers, most[which], n)
    return shared, degree


def _numbered(groups: IntArray) -> IntArray:
    """Return the same partition with numbers from 0."""
    _, numbers = np.unique(groups, return_inverse=True)
    return numbers.astype(np.int64)


def _sizes(groups: IntArray) -> FloatArray:
    """Return how many share each one's group, the same shape."""
    _, number, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return sizes[number].astype(np.float64)
