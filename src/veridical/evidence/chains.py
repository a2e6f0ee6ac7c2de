"""Chains of triples that lead to an answer, found by beam search over reliable triples (ReliableRAG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
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

_ONLY_TO_STOP: FloatArray = np.ones(1)


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
        Weighs the choices; called once a hop, with all the hop's steps. No step comes twice.
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


@dataclass(frozen=True, slots=True, eq=False)
class _Open:
    """An unfinished chain at one hop, and what is offered to it."""

    beam: Beam
    offer: Offer
    relevance: FloatArray
    step: Step


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
        if len({triple.id for triple in triples}) < len(triples):
            raise InputError("Two triples have the same id.", "Number them, so that a trace can name each.")
        self.question, self.encode, self.selector, self.settings = question, encode, selector, settings
        self.pool = [triples[place] for place in places]
        self.rows = rows[places]
        self.credibility = np.array([_credibility(triple) for triple in self.pool], dtype=np.float64)
        self.texts = [written(triple.head, triple.relation, triple.tail) for triple in self.pool]
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
        unfinished = self._offers(number, [beam for beam in beams if not beam.finished])
        weighed = self._ask([each.step for each in unfinished])
        made = iter(
            Choices(each.offer.places.tolist(), probabilities)
            for each, probabilities in zip(unfinished, weighed, strict=True)
        )
        after = expand(beams, [None if beam.finished else next(made) for beam in beams], self.settings)
        kept = {(beam.triples, beam.finished) for beam in after}
        steps = tuple(
            self._told(each, probabilities, kept)
            for each, probabilities in zip(unfinished, weighed, strict=True)
        )
        return after, Hop(number, steps, sum(beam.finished for beam in beams))

    def _offers(self, number: int, beams: Sequence[Beam]) -> list[_Open]:
        chains = [tuple(self.texts[place] for place in beam.triples) for beam in beams]
        if not self.pool:
            steps = [Step(self.question, number, chain, ()) for chain in chains]
            pairs = zip(beams, steps, strict=True)
            return [_Open(beam, offer([], []), np.empty(0), step) for beam, step in pairs]
        queries = _rows(self.encode([query_text(self.question, chain) for chain in chains]), len(chains))
        if queries.shape[1] != self.rows.shape[1]:
            raise InputError(
                f"Triples have vectors of {self.rows.shape[1]} numbers, the query has {queries.shape[1]}.",
                "Encode both with the same encoder.",
            )
        # Rounded, so that equal triples tie however the product is carried out.
        cosines = np.round(queries @ self.rows.T, 12)
        found = []
        for beam, chain, query, relevance in zip(beams, chains, queries, cosines, strict=True):
            offered = offer(
                relevance,
                self.credibility,
                beam.triples,
                relevance_weight=self.settings.relevance_weight,
                top_k=self.settings.top_k,
            )
            own = StepVectors(query, self.rows[list(beam.triples)], self.rows[offered.places])
            options = tuple(self.texts[place] for place in offered.places)
            found.append(_Open(beam, offered, relevance, Step(self.question, number, chain, options, own)))
        return found

    def _ask(self, steps: Sequence[Step]) -> list[FloatArray]:
        """Put the steps to the selector, all at once; where no triple is left, to stop is certain.

        No two of them are the same: chains of a hop differ, and so do the texts of the pool.
        """
        asked = [step for step in steps if step.options]
        answers = self.selector.select(asked) if asked else []
        self.n_prompts += len(asked)
        if len(answers) != len(asked):
            raise InputError(
                f"The selector {self.selector.name!r} answered {len(answers)} of {len(asked)} steps.",
                "It has to return one array for each step.",
            )
        left = iter(answers)
        return [
            _probabilities(next(left), step, self.selector.name) if step.options else _ONLY_TO_STOP
            for step in steps
        ]

    def _told(
        self, each: _Open, probabilities: FloatArray, kept: set[tuple[tuple[int, ...], bool]]
    ) -> ChainStep:
        chain, chances = each.beam.triples, probabilities.tolist()
        options = [ChainOption(LABELS[0], None, chances[0], kept=(chain, True) in kept)]
        for label, place in enumerate(each.offer.places.tolist(), start=1):
            stays = ((*chain, place), False) in kept
            options.append(self._option(each, place, LABELS[label], chances[label], stays))
        out = [self._option(each, place, "", 0.0, False) for place in each.offer.kept_out.tolist()]
        return ChainStep(
            self.ids(chain), each.beam.confidence, tuple(options), tuple(out), asked=bool(each.step.options)
        )

    def _option(self, each: _Open, place: int, label: str, chance: float, kept: bool) -> ChainOption:
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
