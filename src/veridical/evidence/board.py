"""The evidence board: candidate answers to one question, who gives each, and how far it can be believed."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Literal

import numpy as np
import numpy.typing as npt

from veridical.corpus.dedupe import near_duplicates
from veridical.corpus.split import sentence_around
from veridical.evidence.groups import Reply, form_of, grouped
from veridical.reading.base import Reading
from veridical.types import Candidate, Passage, Record, Span, TrustLabel, Witness

BoardStatus = Literal["answered", "thin", "tied", "nothing"]

MAX_CANDIDATES = 10
_LEAST = 0.03  # an answer that a passage gives with less is no witness
_NEXT_OF_SOURCE = 0.5
_PARAPHRASE = 0.9  # cosine from which two passages say one thing in two wordings

Float32Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PassageRead(Record):
    """A passage that was read on its own, and what is known about it.

    ``relevance`` is P(relevant to the question), ``trust`` that of its document, NaN where nothing is known;
    both in [0, 1]. ``source`` is None where it is unknown.
    """

    passage: Passage
    source: str | None
    reading: Reading
    relevance: float
    trust: float
    label: TrustLabel | None = None


@dataclass(frozen=True, slots=True)
class Board(Record):
    """Candidate answers, heaviest first, and whether the first can be given as the answer.

    ``status`` is ``nothing`` (no passage says anything), ``thin`` (the best is too likely to be wrong),
    ``tied`` (the second is as good as the first) or ``answered``. ``n_read`` passages were read, and
    ``n_silent`` of them give none of the candidates.
    """

    candidates: tuple[Candidate, ...]
    status: BoardStatus
    n_read: int = 0
    n_silent: int = 0

    @property
    def best(self) -> Candidate | None:
        """The heaviest candidate, whatever the status."""
        return self.candidates[0] if self.candidates else None


@dataclass(frozen=True, slots=True)
class BoardModel:
    """The constants that turn readings into weights, and weights into probabilities.

    Attributes
    ----------
    reading_power, relevance_power
        Exponents of the reader's probability and of P(relevant) in a witness's weight.
    trust_power, most_trust
        Exponent of the odds of trust, and the most that a document's trust can multiply its weight by.
    sharpness, missing
        ``P(c) = W_c^sharpness / (missing + sum_d W_d^sharpness)``; ``missing`` stands for all answers that
        are not on the board.
    thin
        An answer with less probability is not given.
    tied
        Nor is one whose probability is ahead of the next one's by less.
    """

    reading_power: float
    relevance_power: float
    trust_power: float
    most_trust: float
    sharpness: float
    missing: float
    thin: float
    tied: float

    def factor(self, trust: float) -> float:
        """How much a document counts: ``min(most_trust, (t / (1 - t))^trust_power)``.

        It is 1 at 1/2 and where nothing is known, and falls to 0 with trust. There is a cap, as trust makes
        an honest witness and no better a reader of one: without it a trusted document that hardly fits the
        question would outweigh those that answer it.
        """
        if math.isnan(trust):
            return 1.0
        if trust >= 1.0:
            return self.most_trust
        return float(min(self.most_trust, (max(trust, 0.0) / (1.0 - trust)) ** self.trust_power))

    def alone(self, trust: float, probability: float, relevance: float) -> float:
        """What a passage weighs that has no near-duplicates and nothing else from its source."""
        return float(self.factor(trust) * probability**self.reading_power * relevance**self.relevance_power)

    def probabilities(self, weights: Sequence[float]) -> list[float]:
        """P(right) of each candidate by its weight; their sum is below 1.

        A candidate's own weight raises it, every other weight lowers it.
        """
        powers = [weight**self.sharpness for weight in weights]
        total = self.missing + math.fsum(powers)
        return [power / total for power in powers]


@cache
def board_model() -> BoardModel:
    """Return the model that ships with the package (see ``evidence/board.md`` for how it was fitted)."""
    text = resources.files("veridical.evidence").joinpath("board.json").read_text(encoding="utf-8")
    return BoardModel(**json.loads(text)["constants"])


def build_board(
    question: str,
    reads: Sequence[PassageRead],
    *,
    vectors: Float32Array | None = None,
    model: BoardModel | None = None,
) -> Board:
    """Group what passages answer, and weigh each group.

    Passage i gives answer a with weight
    ``w = min(most_trust, odds(trust_i)^trust_power) * p_ia^reading_power * relevance_i^relevance_power``.
    A group's weight is the sum over its passages of ``w * voice``. Among near-duplicates, be they copies or
    paraphrases, only the heaviest counts (their voices share its weight in proportion), and the k-th passage
    of one source or document counts 1/2^(k-1).

    Parameters
    ----------
    question
        What was asked.
    reads
        One for each passage, in any order: it makes no difference.
    vectors
        Shape (n, d): the passages' unit vectors, by which paraphrases are found among them; rows of NaN for
        passages without one. Copies are found by their words in any case.
    model
        Other constants than those that ship.

    Returns
    -------
    Board
        At most ``MAX_CANDIDATES`` candidates. Raising the trust of a witness never lowers the weight of its
        candidate. The sum of all probabilities is below 1.
    """
    return board_of(hear(question, reads, vectors), model=model)


def board_of(hearing: Hearing, *, model: BoardModel | None = None) -> Board:
    """Weigh what was heard; see `build_board`. One hearing can be weighed under several beliefs."""
    model = model or board_model()
    heard = hearing.weighed(model)
    chances = model.probabilities([group.weight for group in heard])
    candidates = tuple(
        group.candidate(number, chance, hearing.reads)
        for number, (group, chance) in enumerate(zip(heard, chances, strict=True), 1)
        if number <= MAX_CANDIDATES
    )
    spoke = {place for group in heard[:MAX_CANDIDATES] for place in group.contributions}
    n_read = len(hearing.reads)
    return Board(candidates, _status(candidates, model), n_read, n_read - len(spoke))


@dataclass(frozen=True, slots=True)
class Hearing:
    """What passages say to a question before anything is weighed: nothing here depends on trust.

    ``copies`` is the number of each passage's group of near-duplicates, ``groups`` holds the answers that
    mean the same.
    """

    reads: tuple[PassageRead, ...]
    copies: tuple[int, ...]
    groups: tuple[tuple[Reply, ...], ...]

    def weighed(self, model: BoardModel) -> list[Heard]:
        """The groups that have any weight, heaviest first."""
        heard = [Heard.of(group, self.reads, self.copies, model) for group in self.groups]
        return sorted((group for group in heard if group.weight > 0), key=lambda g: (-g.weight, g.text))


def hear(question: str, reads: Sequence[PassageRead], vectors: Float32Array | None = None) -> Hearing:
    """Put passages in an order of their own, and group what they answer and which are copies."""
    order = sorted(range(len(reads)), key=lambda i: _order(reads[i]))
    ordered = tuple(reads[i] for i in order)
    replies = [
        Reply(place, number, answer.text, answer.probability)
        for place, read in enumerate(ordered)
        for number, answer in enumerate(read.reading.answers)
        if answer.probability >= _LEAST and read.relevance > 0
    ]
    copies = near_duplicates([read.passage.text for read in ordered], same_facts=False)
    if vectors is not None:
        copies = _with_paraphrases(copies, vectors[order])
    return Hearing(ordered, tuple(copies), tuple(map(tuple, grouped(question, replies))))


def _with_paraphrases(groups: Sequence[int], vectors: Float32Array) -> list[int]:
    """Join the groups of passages whose vectors all but agree."""
    joined = list(groups)
    with np.errstate(invalid="ignore"):
        close = vectors @ vectors.T >= _PARAPHRASE
    for i, j in np.argwhere(np.triu(close, 1)).tolist():
        if joined[i] != joined[j]:
            old, new = joined[j], joined[i]
            joined = [new if group == old else group for group in joined]
    return joined


def _order(read: PassageRead) -> tuple[object, ...]:
    return read.passage.id, read.passage.document_id, read.passage.start, read.passage.text


def _status(candidates: Sequence[Candidate], model: BoardModel) -> BoardStatus:
    if not candidates:
        return "nothing"
    first = candidates[0].probability
    if first < model.thin:
        return "thin"
    if len(candidates) > 1 and first - candidates[1].probability < model.tied:
        return "tied"
    return "answered"


@dataclass(frozen=True, slots=True)
class Heard:
    """A group of answers with what each passage (by place) contributes to its weight."""

    text: str
    weight: float
    said: Mapping[int, Reply]  # the likeliest answer of each passage
    probability: Mapping[int, float]
    voices: Mapping[int, float]
    contributions: Mapping[int, float]

    @classmethod
    def of(
        cls, group: Sequence[Reply], reads: Sequence[PassageRead], copies: Sequence[int], model: BoardModel
    ) -> Heard:
        said: dict[int, Reply] = {}
        probability: dict[int, float] = defaultdict(float)
        for item in sorted(group, key=lambda item: (-item.probability, item.number)):
            said.setdefault(item.place, item)
            probability[item.place] = min(1.0, probability[item.place] + item.probability)
        alone = {
            place: model.alone(reads[place].trust, p, reads[place].relevance)
            for place, p in probability.items()
        }
        voices = _voices(alone, reads, copies)
        contributions = {place: alone[place] * voices[place] for place in alone}
        text = form_of([(item.text, contributions[item.place] * item.probability) for item in group])
        return cls(text, math.fsum(contributions.values()), said, probability, voices, contributions)

    def candidate(self, number: int, chance: float, reads: Sequence[PassageRead]) -> Candidate:
        """The record of this group."""
        order = sorted(self.contributions, key=lambda place: (-self.contributions[place], place))
        witnesses = tuple(
            replace(
                _witness(reads[place], self.said[place]),
                probability=self.probability[place],
                voice=self.voices[place],
                part=self.contributions[place] / self.weight,
            )
            for place in order
        )
        return Candidate(number, self.text, self.weight, chance, witnesses)


def _voices(
    alone: Mapping[int, float], reads: Sequence[PassageRead], copies: Sequence[int]
) -> dict[int, float]:
    """How far each passage of a group counts beside its near-duplicates and others of its source."""
    bundles: dict[int, list[int]] = defaultdict(list)
    for place in alone:
        bundles[copies[place]].append(place)
    of_source: dict[Hashable, list[int]] = defaultdict(list)
    for bundle, places in bundles.items():
        sources = {_source(reads[place]) for place in places}
        # Copies in several places are one voice, but none of these places' own.
        of_source[sources.pop() if len(sources) == 1 else ("copies", bundle)].append(bundle)
    voices: dict[int, float] = {}
    for found in of_source.values():
        heaviest = {bundle: max(alone[place] for place in bundles[bundle]) for bundle in found}
        for rank, bundle in enumerate(sorted(found, key=lambda b: (-heaviest[b], b))):
            total = math.fsum(alone[place] for place in bundles[bundle])
            share = heaviest[bundle] / total if total else 1.0 / len(bundles[bundle])
            voices |= dict.fromkeys(bundles[bundle], share * _NEXT_OF_SOURCE**rank)
    return voices


def _source(read: PassageRead) -> Hashable:
    return ("source", read.source) if read.source else ("document", read.passage.document_id)


def _witness(read: PassageRead, said: Reply) -> Witness:
    answer, offset = read.reading.answers[said.number], read.passage.start
    start, end = sentence_around(read.passage.text, answer.start, answer.end)
    return Witness(
        document_id=read.passage.document_id,
        passage_id=read.passage.id,
        answer=Span(answer.text, offset + answer.start, offset + answer.end),
        sentence=Span(read.passage.text[start:end], offset + start, offset + end),
        probability=answer.probability,
        relevance=read.relevance,
        trust=None if math.isnan(read.trust) else read.trust,
        label=read.label,
    )
