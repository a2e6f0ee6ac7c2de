"""Triples, the chains that they join to, and the trace of how the chains were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from veridical.types.base import Record, Span

CredibilitySource = Literal["none", "llm", "trust", "joint"]


@dataclass(frozen=True, slots=True)
class Triple(Record):
    """One claim of one passage: head, relation and tail, and the sentence that says it.

    ``sentence`` has offsets into the document. ``credibility`` in [0, 1] is how far the claim is believed;
    ``None`` where nobody judged it. ``imputed`` says that the judge gave nothing usable, so that
    ``credibility`` is the prior.
    """

    id: int
    document_id: int
    passage_id: int
    head: str
    relation: str
    tail: str
    sentence: Span
    extractor: str
    credibility: float | None = None
    imputed: bool = False


@dataclass(frozen=True, slots=True)
class ChainOption(Record):
    """One of the choices at a step: a triple, or to stop where ``triple`` is ``None`` (label ``A``).

    ``triple`` is a `Triple.id` of the trace. ``reliability = w relevance + (1 - w) credibility`` with the
    relevance weight w; the three are ``None`` for the choice to stop. ``probability`` is the selector's, over
    the labels of the step; ``kept`` says whether a chain of this hop continues with it.
    """

    label: str
    triple: int | None
    probability: float
    relevance: float | None = None
    credibility: float | None = None
    reliability: float | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class ChainStep(Record):
    """One chain that was continued at a hop: what it held, its confidence, and its options.

    ``kept_out`` are triples that relevance alone would have offered here, and credibility did not.
    ``asked`` is false where no triple was left to choose, so that the chain had to stop.
    """

    chain: tuple[int, ...]
    confidence: float
    options: tuple[ChainOption, ...]
    kept_out: tuple[ChainOption, ...] = ()
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Hop(Record):
    """One round of the beam search, from 1: the chains that were continued, and how many were finished."""

    number: int
    steps: tuple[ChainStep, ...]
    n_finished: int = 0


@dataclass(frozen=True, slots=True)
class Chain(Record):
    """A chain of triples (by `Triple.id`), most confident first in a trace.

    ``confidence`` is the product of the probabilities of its choices, in [0, 1]. ``finished`` says that the
    selector ended it, rather than the limit of hops.
    """

    triples: tuple[int, ...]
    confidence: float
    finished: bool


@dataclass(frozen=True, slots=True)
class Trace(Record):
    """How an answer was reasoned: the triples that were there, hop by hop what was chosen, the chains.

    ``triples`` holds every triple that occurs in ``hops`` and ``chains``. ``n_triples`` counts all that could
    be chosen, ``n_prompts`` the selector's prompts. ``settings`` are those of the search, as plain values.
    """

    question: str
    triples: tuple[Triple, ...]
    hops: tuple[Hop, ...]
    chains: tuple[Chain, ...]
    selector: str
    extractor: str
    credibility: CredibilitySource
    context: Literal["tbs", "sbs"]
    n_triples: int = 0
    n_prompts: int = 0
    settings: Mapping[str, float | int | bool | str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
