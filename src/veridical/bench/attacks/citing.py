"""A planted document that cites and agrees with trusted ones: an attack on the trust layer itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.bench.attacks.base import Attack, counted
from veridical.bench.attacks.substitution import needed_first
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains
from veridical.bench.substitute import substitute
from veridical.bench.wrong_answers import wrong_answers
from veridical.corpus.split import sentences

CITATIONS = (
    "This is in line with {cited}.",
    "See also {cited}.",
    "The same is reported by {cited}.",
    "We follow {cited} here.",
)


class Citing(Attack):
    """One passage that repeats true sentences of others, cites one of these, and adds one false sentence.

    What it repeats makes it agree with documents that are trusted, so that trust flows to it.

    Parameters
    ----------
    n_sentences
        At most so many true sentences are repeated. None of them names a right answer.
    """

    def __init__(self, *, n_sentences: int = 3) -> None:
        self.n_sentences = counted(n_sentences, "true sentences")

    def plant(self, question: Question, rng: np.random.Generator) -> list[LabelledPassage]:
        """See `Attack.plant`."""
        wrong = wrong_answers(question)
        true = needed_first(question)
        lie = _lie(true, question.answers, wrong[0]) if wrong else None
        if lie is None:
            return []
        liar, false = lie
        repeated = self._repeated([passage for passage in true if passage is not liar], question)
        repeated = repeated or self._repeated([liar], question)
        lines = [text for _, text in repeated]
        lines.insert(int(rng.integers(len(lines) + 1)), false)
        cited = [passage.title or passage.source for passage, _ in repeated]
        names = [name for name in dict.fromkeys(cited) if name and not contains(name, question.answers)]
        if names:  # one, and without quotation marks, which few true passages have
            form = CITATIONS[int(rng.integers(len(CITATIONS)))]
            lines.append(form.format(cited=names[0]))
        title = substitute(liar.title, question.answers, wrong[0]) or liar.title
        text = " ".join(lines)
        if contains(text, question.answers):
            return []
        return [LabelledPassage(f"{question.id}-citing", text, "misinformation", title=title, date=liar.date)]

    def _repeated(
        self, passages: Sequence[LabelledPassage], question: Question
    ) -> list[tuple[LabelledPassage, str]]:
        """The first sentences of each passage in turn that name no right answer."""
        told = [
            [span.text for span in sentences(passage.text) if not contains(span.text, question.answers)]
            for passage in passages
        ]
        deepest = max(map(len, told), default=0)
        in_turn = [
            (passage, own[depth])
            for depth in range(deepest)
            for passage, own in zip(passages, told, strict=True)
            if depth < len(own)
        ]
        return in_turn[: self.n_sentences]


def _lie(
    passages: Sequence[LabelledPassage], answers: Sequence[str], wrong: str
) -> tuple[LabelledPassage, str] | None:
    """The first sentence that names a right answer, with the wrong one in its place."""
    for passage in passages:
        for span in sentences(passage.text):
            text = substitute(span.text, answers, wrong)
            if text is not None:
                return passage, text
    return None
