"""A planted document that cites and agrees with trusted ones: an attack on the trust layer itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

import numpy as np

from veridical.bench.attacks.base import Attack, counted
from veridical.bench.attacks.substitution import needed_first
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains
from veridical.bench.substitute import substitute
from veridical.bench.wrong_answers import wrong_answers
from veridical.corpus.split import sentences

_WHOLE = re.compile(r"[\"“‘']?[A-Z0-9](?:\S+\s+){2,}\S*[^.\s][.!?][\"”’']?", re.DOTALL)
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
        At most so many true sentences are repeated, none of which names a right answer; fewer where the
        passage would become longer than the question's true ones are.
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
        others = [passage for passage in true if passage is not liar]
        n_words = int(median(len(passage.text.split()) for passage in true)) - len(false.split())
        repeated = self._repeated(others, question, n_words) or self._repeated([liar], question, n_words)
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
        self, passages: Sequence[LabelledPassage], question: Question, n_words: int
    ) -> list[tuple[LabelledPassage, str]]:
        """The first whole sentences of each passage in turn that name no right answer: at least one."""
        told = [[span.text for span in sentences(passage.text)] for passage in passages]
        found: dict[str, LabelledPassage] = {}
        for depth in range(max(map(len, told), default=0)):
            for passage, own in zip(passages, told, strict=True):
                text = own[depth] if depth < len(own) else ""
                if not _WHOLE.fullmatch(text) or contains(text, question.answers):
                    continue
                n_words -= len(text.split())
                if found and (n_words < 0 or len(found) == self.n_sentences):
                    return [(passage, text) for text, passage in found.items()]
                found.setdefault(text, passage)
        return [(passage, text) for text, passage in found.items()]


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
