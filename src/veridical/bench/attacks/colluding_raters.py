"""Colluding raters: part of the feedback is wrong on purpose. An attack on the trust layer itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from veridical.bench.attacks.base import Attack, create, share
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.protocol import Asked
from veridical.graph.arrays import Anchors


class ColludingRaters(Attack):
    """Raters who praise what was planted and blame what is true, question by question.

    Where raters err by chance, their mistakes contradict one another; these agree: all that is judged of a
    question is turned round before the next question is touched, so that its fakes are vouched for and its
    true passages discredited at once.

    Parameters
    ----------
    bent
        The share of all judgements that is theirs, in [0, 1].
    of
        The attack that plants what they praise; one that needs no language model.
    """

    def __init__(self, *, bent: float = 0.2, of: str = "substitution") -> None:
        self.bent = share(bent, "judgements that are bent")
        self.of = create(of)

    def plant(self, question: Question, rng: np.random.Generator) -> Sequence[LabelledPassage]:
        """See `Attack.plant`."""
        return self.of.plant(question, rng)

    def rate(self, anchors: Anchors, asked: Sequence[Asked], *, seed: int = 0) -> Anchors:
        """See `Attack.rate`; judgements of documents that belong to no question are bent last."""
        n_bent = round(self.bent * len(anchors))
        place_of = {document: place for place, document in enumerate(anchors.documents.tolist())}
        rng = np.random.default_rng([seed, 9])
        turned: dict[int, None] = {}
        for at in rng.permutation(len(asked)).tolist():
            own = sorted(asked[at].own_false) + sorted(asked[at].own_true)
            turned.update(dict.fromkeys(place_of[document] for document in own if document in place_of))
        turned.update(dict.fromkeys(rng.permutation(len(anchors)).tolist()))
        places = list(turned)[:n_bent]
        values = anchors.values.copy()
        values[places] = 1.0 - values[places]
        return replace(anchors, values=values)
