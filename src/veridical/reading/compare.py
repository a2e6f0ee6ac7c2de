"""How two passages that were asked the same question stand to one another, by what each answers."""

from __future__ import annotations

from dataclasses import dataclass

from veridical.reading.base import ReadAnswer, Reading
from veridical.reading.squad import normalise
from veridical.types import Record

#: Changes whenever the same two readings may be judged differently, so that stored verdicts are made again.
COMPARE_VERSION = "products-1"


@dataclass(frozen=True, slots=True)
class Verdict(Record):
    """Two passages and one question.

    Attributes
    ----------
    support
        How sure it is that both answer and mean the same, in [0, 1].
    contradiction
        How sure it is that both answer and mean different things; with ``support`` at most 1.
    left, right
        The two answers that speak most for the larger of the two; None where a passage has none.
    """

    support: float
    contradiction: float
    left: ReadAnswer | None
    right: ReadAnswer | None


def compare_readings(question: str, left: Reading, right: Reading) -> Verdict:  # noqa: ARG001
    """Compare what two passages answer to one question.

    With p and q the probabilities of the answers and a their agreement, in [0, 1], support is
    ``sum p_i q_j a_ij`` and contradiction ``sum p_i q_j (1 - a_ij)``: a passage that does not answer says
    neither. Symmetric but for the order of the two answers.
    """
    support = contradiction = 0.0
    best: dict[bool, tuple[float, ReadAnswer | None, ReadAnswer | None]] = {}
    for ours in left.answers:
        for theirs in right.answers:
            both = ours.probability * theirs.probability
            agreed = float(normalise(ours.text) == normalise(theirs.text))
            support += both * agreed
            contradiction += both * (1.0 - agreed)
            for same, weight in ((True, both * agreed), (False, both * (1.0 - agreed))):
                if same not in best or weight > best[same][0]:
                    best[same] = (weight, ours, theirs)
    total = max(1.0, support + contradiction)
    _, said, heard = best.get(support >= contradiction, (0.0, left.best, right.best))
    return Verdict(support / total, contradiction / total, said, heard)
