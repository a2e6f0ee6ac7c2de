"""Chains of triples that lead to an answer, found by beam search over reliable triples (ReliableRAG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError
from veridical.evidence.beam import DEFAULTS, LABELS, Beam, ChainSettings, Choices, expand, ranked
from veridical.evidence.reliability import PRIOR, Offer, offer
from veridical.evidence.selectors import Encode, FloatArray, Selector, Step, StepVectors, query_text
from veridical.evidence.triples import written
from veridical.types import Chain, ChainOption, ChainStep, CredibilitySource, Hop, Trace, Triple

__all__ = ["ChainSettings", "search"]

_SURE: FloatArray = np.ones(1)


def search(
    question: str,
    triples: Sequence[Triple],
    vectors: npt.ArrayLike,
    encode: Encode,
    selector: Selector,
    settings: ChainSettings = DEFAULTS,
    *,
    extractor: str,
    credibility: CredibilitySource,
    context: Literal["tbs", "sbs"],
) -> Trace:
    """Search for chains of reliable triples that lead to an answer, and keep how they were found.

    Parameters
    ----------
    question
        What was asked.
    triples
        The pool, with a credibility in [0, 1] or ``None``, which counts as 1/2. Triples that are written the
        same are one claim: the most credible of them (then the first) stands for all.
    vectors
        Shape (n_triples, d): of the triples as they are written. Scaled to unit length here.
    encode
        Turns texts into vectors of the same d; called once a hop, for the queries.
    selector
        Weighs the choices; asked once a hop, with every different prompt once.
    settings
        Widths and limits of the search.
    extractor, credibility, context
        What the trace says about where the triples and their credibilities are from, and what they are for.

    Returns
    -------
    Trace
        With at most ``settings.most_prompts`` prompts. The empty chain, where the selector stops at once or
        nothing can be chosen, is a chain too: one without evidence.

    Raises
    ------
    InputError
        If the shapes differ, a vector or credibility is out of range, or the selector returns something else
        than probabilities.
    LLMError
        If the selector's language model fails.
    """
    run = _Search(question, triples, vectors, encode, selector, settings)
    beams = [Beam()]
    hops: list[Hop] = []
    while len(hops) < settings.max_hops and not all(beam.finished for beam in beams):
        beams, hop = run.hop(len(hops) + 1, beams)
        hops.append(hop)
    chains = tuple(
        Chain(run.ids(beam.triples), beam.confidence, beam.finished) for beam in ranked(beams, settings)
    )
    return Trace(
        question=question,
        triples=run.seen(hops, chains),
        hops=tuple(hops),
        chains=chains,
        selector=selector.name,
        extractor=extractor,
        credibility=credibility,
        context=context,
        n_triples=len(run.pool),
        n_prompts=run.n_prompts,
        settings=asdict(settings),
    )


@dataclass(slots=True)
class _Asked:
    """What is known of one unfinished chain at one hop, before it is continued."""

    beam: Beam
    offer: Offer
    relevance: FloatArray
    step: Step
    first: bool = True
    probabilities: FloatArray = field(default_factory=lambda: _SURE)


class _Search:
    """One question's pool of triples, and a hop over it."""

    def __init__(
        self,
        question: str,
        triples: Sequence[Triple],
        vectors: npt.ArrayLike,
        encode: Encode,
        selector: Selector,
        settings: ChainSettings,
    ) -> None:
        rows = _rows(vectors, len(triples))
        places = _claims(triples)
        self.question, self.encode, self.selector, self.settings = question, encode, selector, settings
        self.pool = [triples[place] for place in places]
        self.rows = rows[places]
        self.credibility = np.array([_credibility(triple) for triple in self.pool], dtype=np.float64)
        self.texts = [written(triple.head, triple.relation, triple.tail) for triple in self.pool]
        self.alone: FloatArray | None = None  # the question's own vector, known after the first hop
        self.n_prompts = 0

    def ids(self, places: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.pool[place].id for place in places)

    def seen(self, hops: Sequence[Hop], chains: Sequence[Chain]) -> tuple[Triple, ...]:
        """Return the triples that occur anywhere in a trace, in the order of the pool."""
        ids = {id_ for chain in chains for id_ in chain.triples}
        for step in (step for hop in hops for step in hop.steps):
            ids.update(step.chain)
            ids.update(o.triple for o in (*step.options, *step.kept_out) if o.triple is not None)
        return tuple(triple for triple in self.pool if triple.id in ids)

    def hop(self, number: int, beams: Sequence[Beam]) -> tuple[list[Beam], Hop]:
        """Continue each unfinished chain, and tell how."""
        asked = self._offers(number, [beam for beam in beams if not beam.finished])
        self._ask(asked)
        by_chain = iter([Choices(each.offer.places.tolist(), each.probabilities) for each in asked])
        choices = [None if beam.finished else next(by_chain) for beam in beams]
        after = expand(beams, choices, self.settings)
        kept = {(beam.triples, beam.finished) for beam in after}
        steps = tuple(self._told(each, kept) for each in asked)
        return after, Hop(number, steps, sum(beam.finished for beam in beams))

    def _offers(self, number: int, beams: Sequence[Beam]) -> list[_Asked]:
        chains = [tuple(self.texts[place] for place in beam.triples) for beam in beams]
        if not self.pool:
            nothing = offer([], [])
            return [
                _Asked(beam, nothing, np.empty(0), Step(self.question, number, chain, ()))
                for beam, chain in zip(beams, chains, strict=True)
            ]
        queries = _rows(self.encode([query_text(self.question, chain) for chain in chains]), len(chains))
        if self.alone is None:
            self.alone = queries[0]
        # Rounded, so that equal triples tie however the product is carried out.
        cosines = np.round(queries @ self.rows.T, 12)
        asked = []
        for beam, chain, query, relevance in zip(beams, chains, queries, cosines, strict=True):
            found = offer(
                relevance,
                self.credibility,
                beam.triples,
                relevance_weight=self.settings.relevance_weight,
                top_k=self.settings.top_k,
            )
            own = StepVectors(self.alone, query, self.rows[list(beam.triples)], self.rows[found.places])
            options = tuple(self.texts[place] for place in found.places)
            asked.append(_Asked(beam, found, relevance, Step(self.question, number, chain, options, own)))
        return asked

    def _ask(self, asked: Sequence[_Asked]) -> None:
        """Put each different prompt to the selector, all at once; where nothing is left, only to stop is."""
        prompts: dict[Step, list[_Asked]] = {}
        for each in asked:
            each.first = bool(each.step.options) and each.step not in prompts
            if each.step.options:
                prompts.setdefault(each.step, []).append(each)
        if not prompts:
            return
        answers = self.selector.select(list(prompts))
        self.n_prompts += len(prompts)
        if len(answers) != len(prompts):
            raise InputError(
                f"The selector {self.selector.name!r} answered {len(answers)} of {len(prompts)} steps.",
                "It has to return one array for each step.",
            )
        for (step, same), answer in zip(prompts.items(), answers, strict=True):
            probabilities = _probabilities(answer, step, self.selector.name)
            for each in same:
                each.probabilities = probabilities

    def _told(self, each: _Asked, kept: set[tuple[tuple[int, ...], bool]]) -> ChainStep:
        chain = each.beam.triples
        chances = each.probabilities.tolist()
        stop = ChainOption(LABELS[0], None, chances[0], kept=(chain, True) in kept)
        options = [
            self._option(each, place, label, chance, ((*chain, place), False) in kept)
            for place, label, chance in zip(each.offer.places.tolist(), LABELS[1:], chances[1:], strict=False)
        ]
        out = [self._option(each, place, "", 0.0, False) for place in each.offer.kept_out.tolist()]
        confidence = each.beam.confidence
        return ChainStep(self.ids(chain), confidence, (stop, *options), tuple(out), each.first)

    def _option(self, each: _Asked, place: int, label: str, chance: float, kept: bool) -> ChainOption:
        return ChainOption(
            label,
            self.pool[place].id,
            chance,
            float(each.relevance[place]),
            float(self.credibility[place]),
            float(each.offer.reliability[place]),
            kept,
        )


def _claims(triples: Sequence[Triple]) -> list[int]:
    """Places of the triples that stand for all that are written as they are."""
    best: dict[str, int] = {}
    for place, triple in enumerate(triples):
        text = written(triple.head, triple.relation, triple.tail)
        if text not in best or _credibility(triple) > _credibility(triples[best[text]]):
            best[text] = place
    return sorted(best.values())


def _credibility(triple: Triple) -> float:
    if triple.credibility is None:
        return PRIOR
    if not 0.0 <= triple.credibility <= 1.0:
        raise InputError(
            f"The credibility of triple {triple.id} is {triple.credibility}.", "It has to lie in [0, 1]."
        )
    return triple.credibility


def _rows(vectors: npt.ArrayLike, n_rows: int) -> FloatArray:
    """Return vectors scaled to unit length, shape (n_rows, d); one of zeros stays."""
    rows = np.asarray(vectors, dtype=np.float64)
    if n_rows == 0:
        return np.empty((0, rows.shape[1] if rows.ndim == 2 else 0))
    if rows.ndim != 2 or len(rows) != n_rows:
        raise InputError(f"The vectors have shape {rows.shape}.", f"{n_rows} rows are wanted, one a text.")
    if not np.isfinite(rows).all():
        raise InputError("A vector holds NaN or infinity.", "Encode the texts anew.")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    result: FloatArray = rows / np.where(norms > 0, norms, 1.0)
    return result


def _probabilities(answer: npt.ArrayLike, step: Step, name: str) -> FloatArray:
    values = np.asarray(answer, dtype=np.float64)
    wanted = 1 + len(step.options)
    if values.shape != (wanted,) or not (values >= 0).all() or abs(float(values.sum()) - 1.0) > 1e-6:
        raise InputError(
            f"The selector {name!r} did not return {wanted} probabilities that sum to one.",
            "Place 0 is to stop, and each option has one.",
        )
    return values
