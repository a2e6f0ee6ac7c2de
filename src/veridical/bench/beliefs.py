"""How far documents of a corpus are trusted, by each of the ways that compared systems name.

Labels serve to simulate feedback, and no other purpose. All ways get the same feedback, and the same sources
and relations as far as they take them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from veridical.bench import protocol, relating
from veridical.bench.baselines import NoPropagation
from veridical.bench.metrics import roc as metrics
from veridical.bench.protocol import BoolArray, FloatArray, IntArray
from veridical.corpus.dedupe import near_duplicates, text_hash
from veridical.errors import InputError
from veridical.graph import evidence
from veridical.graph.arrays import Anchors, Graph
from veridical.graph.evidence import Rows
from veridical.methods.base import Method
from veridical.methods.trustprop import TrustProp
from veridical.methods.veridical import Veridical


@dataclass(frozen=True)
class Way:
    """One way to come from feedback to trust.

    Attributes
    ----------
    method
        What propagates it.
    sources, questions, inference
        Whether it knows who publishes what; what documents answer to the questions asked; and what is
        inferred between neighbours.
    about
        The same in words, for tables.
    """

    method: Callable[[], Method]
    sources: bool
    questions: bool
    inference: bool
    about: str


WAYS: dict[str, Way] = {
    "veridical": Way(
        Veridical, True, True, True, "the default method: sources, questions asked, and inference"
    ),
    "veridical, no questions": Way(
        Veridical, True, False, True, "the default method without relations from questions"
    ),
    "veridical, no sources": Way(Veridical, False, True, True, "the default method without sources"),
    "trustprop": Way(TrustProp, True, False, True, "TrustPropRAG: same-source pairs, and inference"),
    "trustprop, nli only": Way(TrustProp, False, False, True, "TrustPropRAG without same-source pairs"),
    "feedback only": Way(
        NoPropagation, False, False, False, "judged documents .9 or .1, all others 1/2: no propagation"
    ),
}
NAMES = tuple(WAYS)


@dataclass(frozen=True, eq=False)
class World:
    """What there is to believe by.

    Attributes
    ----------
    texts
        One a document.
    source_of
        Shape (n,): who publishes each, -1 for nobody known; ``None`` where sources are unknown.
    asked, inferred
        Relations from questions, and between neighbours.
    """

    texts: tuple[str, ...]
    source_of: IntArray | None
    asked: Rows
    inferred: Rows

    @cached_property
    def _voices(self) -> tuple[IntArray, IntArray]:
        """Which documents have exactly the same text, and which nearly the same."""
        groups: dict[str, int] = {}
        same = np.array([groups.setdefault(text_hash(text), len(groups)) for text in self.texts], np.int64)
        near = np.array(near_duplicates(self.texts), dtype=np.int64)
        return same, _merged(near, same)

    def graph(self, *, sources: bool, questions: bool, inference: bool) -> Graph:
        """Build the graph of what one way knows."""
        source_of = self.source_of if sources else None
        n_sources = 0 if source_of is None else int(source_of.max(initial=-1)) + 1
        bare = protocol.source_graph(len(self.texts), source_of, n_sources)
        same, near = self._voices
        graph = replace(bare, text_group=same, voice_group=near)
        parts = [rows for rows, known in ((self.asked, questions), (self.inferred, inference)) if known]
        return relating.relate(graph, evidence.joined(parts)) if parts else graph


def _merged(near: IntArray, same: IntArray) -> IntArray:
    """Join groups of nearly the same text that share a text, so that each text lies in one of them."""
    parent = list(range(int(near.max(initial=-1)) + 1))

    def root(group: int) -> int:
        while parent[group] != group:
            group = parent[group]
        return group

    first: dict[int, int] = {}
    for group, text in zip(near.tolist(), same.tolist(), strict=True):
        parent[root(group)] = root(first.setdefault(text, group))
    return np.array([root(group) for group in near.tolist()], dtype=np.int64)


def believe(name: str, world: World, anchors: Anchors) -> FloatArray:
    """Return the trust of each document.

    Parameters
    ----------
    name
        One of `NAMES`.
    world
        The corpus.
    anchors
        Feedback, see `judge`.

    Returns
    -------
    numpy.ndarray
        Shape (n,), in [0, 1]; NaN where nothing is known of a document.

    Raises
    ------
    InputError
        There is no such way.
    """
    way = WAYS.get(name)
    if way is None:
        raise InputError(f"{name!r} is no way to believe documents.", "There are: " + ", ".join(NAMES))
    graph = world.graph(sources=way.sources, questions=way.questions, inference=way.inference)
    trust: FloatArray = way.method().believe(graph, anchors).trust[: len(world.texts)]
    return trust


def judge(true: BoolArray, share: float, *, accuracy: float = 1.0, seed: int = 0) -> Anchors:
    """Simulate feedback: a share of the true and of the false documents is judged, some of it wrongly.

    Samples of one seed are nested: what is judged at 5% is judged at 10% too, and what is judged wrongly at
    an accuracy of .9 is judged wrongly at .8 too.

    Parameters
    ----------
    true
        Shape (n,).
    share
        In [0, 1].
    accuracy
        In [0, 1]: how probably a judgement is right.
    seed
        Of the sample and of the mistakes.

    Raises
    ------
    InputError
        A number is out of range.
    """
    for name, value in (("share", share), ("accuracy", accuracy)):
        if not 0.0 <= value <= 1.0:
            raise InputError(f"The {name} of feedback is {value}.", "Pass 0 to 1.")
    right = protocol.judge(true, share, seed=seed)
    luck = np.random.default_rng([seed, 5]).random(len(true))
    wrong = luck[right.documents] >= accuracy
    return replace(right, values=np.where(wrong, 1.0 - right.values, right.values))


def auc(trust: FloatArray, true: BoolArray, left_out: Sequence[int] = ()) -> float:
    """How probably a true document is trusted more than a false one; see `veridical.bench.metrics.roc`.

    Parameters
    ----------
    trust
        Shape (n,); NaN counts as 1/2.
    true
        Shape (n,).
    left_out
        Documents that do not count, such as those that were judged.

    Returns
    -------
    float
        In [0, 1]; NaN where there are none of one kind.
    """
    values, labels = _kept(trust, true, left_out)
    return metrics.auc(values[~labels], values[labels])


def roc(trust: FloatArray, true: BoolArray, left_out: Sequence[int] = ()) -> FloatArray:
    """The receiver operating characteristic of "trusted more than t" for "true"; see `auc`.

    Returns
    -------
    numpy.ndarray
        Shape (p, 2): shares of false and of true documents above each threshold.
    """
    return metrics.curve(*_kept(trust, true, left_out))


def _kept(trust: FloatArray, true: BoolArray, left_out: Sequence[int]) -> tuple[FloatArray, BoolArray]:
    kept = np.ones(len(true), dtype=np.bool_)
    kept[np.asarray(left_out, dtype=np.int64)] = False
    return np.nan_to_num(trust[kept], nan=0.5), true[kept]
