"""From compared sentences to a judgement of the passages that they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from veridical.nli.align import best_matches
from veridical.nli.compare import same_value, values_of
from veridical.nli.dates import When
from veridical.nli.quantities import Quantity
from veridical.nli.values import Facts

FloatArray = npt.NDArray[np.float64]
N_EVIDENCE = 7
_EPS = 1e-6
_LEAST_WORDS = 4  # a shorter sentence says nothing of its own when it is repeated


@dataclass(frozen=True, slots=True)
class Scaling:
    """Multinomial logistic scaling of the strongest sentence evidence to passage probabilities.

    A passage pair with evidence x (``passage_evidence``) has softmax(W x + b). ``intercepts`` hold the log
    prior, so that another prior is a shift.
    """

    coefficients: FloatArray
    intercepts: FloatArray
    prior: tuple[float, ...]

    def at_prior(self, prior: Sequence[float] | None) -> Scaling:
        """Return the scaling for other class shares: b + log(new / old)."""
        if prior is None:
            return self
        shift = np.log(np.asarray(prior)) - np.log(np.asarray(self.prior))
        return Scaling(self.coefficients, self.intercepts + shift, tuple(prior))

    def apply(self, evidence: FloatArray) -> FloatArray:
        """Return probabilities of entailment, neutral and contradiction; they sum to one."""
        z = self.coefficients @ evidence + self.intercepts
        weights = np.exp(z - z.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Said:
    """What a passage says and denies, all its sentences together."""

    words: frozenset[str]
    denied_names: frozenset[str]
    values: tuple[Quantity | When, ...]
    denied_values: tuple[Quantity | When, ...]


def said_of(facts: Sequence[Facts]) -> Said:
    """Sum up the sentences of a passage. A name that it denies in one place and says in another is said."""
    words = frozenset[str]().union(*(own.words - own.denied for own in facts))
    denied = frozenset[str]().union(*(own.denied & own.names for own in facts))
    values = [value for own in facts for value in values_of(own)]
    return Said(
        words=words,
        denied_names=denied - words,
        values=tuple(value for value in values if not value.denied),
        denied_values=tuple(value for value in values if value.denied),
    )


def denials(left: Said, right: Said) -> int:
    """Count the names and values that one passage denies and the other says, both ways."""
    count = 0
    for denier, other in ((left, right), (right, left)):
        count += len(denier.denied_names & other.words)
        count += sum(any(same_value(v, w) for w in other.values) for v in denier.denied_values)
    return count


def passage_evidence(
    probabilities: FloatArray,
    overlaps: npt.NDArray[np.float32],
    copies: npt.NDArray[np.bool_],
    n_denials: int = 0,
) -> tuple[FloatArray, int, int]:
    """Sum up the sentence pairs of one passage pair.

    Parameters
    ----------
    probabilities
        Shape (n, 3), n at least 1, of the sentence pairs.
    overlaps
        Shape (n,): Jaccard overlap of their words.
    copies
        Shape (n,): whether a pair is one sentence twice.
    n_denials
        What one passage denies and the other says, as ``denials`` counts it.

    Returns
    -------
    tuple
        x = (logit e, logit c, o, o logit e, copied, copied logit c, log(1 + denials)) and the rows of e and
        c: the largest probabilities of entailment and of contradiction, with o the overlap at e. A copy is
        taken for e before all else, and never for c. Contradiction has no such term: a clash need not share
        words.
    """
    any_copy = bool(copies.any())
    at_e = int(copies.argmax()) if any_copy else int(probabilities[:, 0].argmax())
    contradiction = np.where(copies, 0.0, probabilities[:, 2])
    at_c = int(contradiction.argmax())
    e, c = _logit(np.array([probabilities[at_e, 0], contradiction[at_c]]))
    overlap = float(overlaps[at_e])
    seen = np.array([e, c, overlap, overlap * e, any_copy, any_copy * c, np.log1p(n_denials)])
    return seen, at_e, at_c


def comparable(
    similarities: npt.NDArray[np.float32],
    left: Sequence[Facts],
    right: Sequence[Facts],
    repeated: Sequence[tuple[int, int]],
    max_pairs: int,
) -> list[tuple[int, int]]:
    """Align sentences, but leave out pairs with nothing in common and lines too short to be a statement.

    Of sentences that are ``repeated`` only one pair is compared, last, beside what is not.
    """
    pairs = [*best_matches(similarities, max_pairs, repeated=repeated), *repeated[:1]]
    return [
        (i, j)
        for i, j in pairs
        if similarities[i, j] > 0 and len(left[i].words) > 1 and len(right[j].words) > 1
    ]


def repeats(left: Sequence[str], right: Sequence[str], facts: Sequence[Facts]) -> list[tuple[int, int]]:
    """Sentences that both passages have, (left index, right index), longest first; short ones left out.

    Parameters
    ----------
    facts
        Of the left sentences.
    """
    places = {text: j for j, text in reversed(list(enumerate(right)))}
    found = [
        (i, places[text])
        for i, text in enumerate(left)
        if text in places and len(facts[i].words) >= _LEAST_WORDS
    ]
    return sorted(found, key=lambda pair: (-len(facts[pair[0]].words), pair))


def _logit(p: FloatArray) -> FloatArray:
    clipped = np.clip(p, _EPS, 1.0 - _EPS)
    return np.asarray(np.log(clipped / (1.0 - clipped)), dtype=np.float64)
