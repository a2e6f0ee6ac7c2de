"""Pairs of passages of which it is known how they stand to one another, and how well a judge tells.

A pair is *fakes* where each passage is as the data has it, and *style-neutral* where one of them was changed
by nothing but an answer, so that contradicting pairs are written in one style and supporting ones in two. For
evaluation only: gold answers and labels decide what is expected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains, normalise
from veridical.bench.substitute import substitute

Expected = Literal["contradicts", "supports", "neither"]
Family = Literal["fakes", "style-neutral", "unclear"]

MAX_PAIRS = 10
"""Pairs of one class taken from one question: a question with 50 passages must not speak for all."""


@dataclass(frozen=True, slots=True)
class Case:
    """Two passages, the question that both are asked, and how they stand to one another."""

    question_id: str
    question: str
    left: str
    right: str
    expected: Expected
    kind: str
    family: Family = "fakes"


def clear_wrong(question: Question) -> tuple[str, ...]:
    """The wrong answers of a question that cannot be taken for a right one.

    The named wrong answer, or without one the choices that are offered and not right.
    """
    named = (question.wrong_answer,) if question.wrong_answer else question.choices
    return tuple(
        wrong
        for wrong in named
        if normalise(wrong)
        and not contains(wrong, question.answers)
        and not any(contains(answer, [wrong]) for answer in question.answers)
    )


def argued(question: Question, passage: LabelledPassage) -> str | None:
    """The wrong answer that a fake argues for: the only one that it mentions; None if that is not clear.

    Nor is it clear of a fake that sets the right answer against the wrong one ("Oslo, not Bergen") and never
    the other way round: some that were meant to mislead do not.
    """
    mentioned = [wrong for wrong in clear_wrong(question) if contains(passage.text, [wrong])]
    if len(mentioned) != 1:
        return None
    wrong, right = mentioned, question.answers
    if sets_against(passage.text, right, wrong) and not sets_against(passage.text, wrong, right):
        return None
    return wrong[0]


_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+")


def sets_against(text: str, first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a sentence says one of the first answers, and then that it is none of the second."""
    one, other = ("|".join(_longest_first(answers)) for answers in (first, second))
    if not one or not other:
        return False
    pattern = re.compile(
        rf"\b(?:{one})(?: \S+){{0,8}}? (?:not(?! until)|rather than|instead of)(?: \S+){{0,2}}? (?:{other})\b"
    )
    return any(pattern.search(normalise(sentence)) for sentence in _SENTENCE_END.split(text))


def _longest_first(answers: Sequence[str]) -> list[str]:
    return [re.escape(a) for a in sorted({normalise(a) for a in answers} - {""}, key=lambda a: (-len(a), a))]


def cases_of(question: Question, rng: np.random.Generator, other_answer: str | None = None) -> list[Case]:
    """All pairs within one question, at most ``MAX_PAIRS`` of each kind.

    Parameters
    ----------
    question
        With its passages.
    rng
        Draws where there are more.
    other_answer
        What to replace the answer by where the question names no wrong one (an answer of another question).
    """
    real = question.labelled("factual")
    having = [p.text for p in real if contains(p.text, question.answers)]
    lacking = [p.text for p in real if not contains(p.text, question.answers)]
    old = [p.text for p in question.labelled("outdated") if not contains(p.text, question.answers)]
    fakes = [(p.text, argued(question, p)) for p in question.labelled("misinformation")]
    found = _Cases(question, rng)
    found.add("two real", "supports", list(combinations(having, 2)))
    found.add("real with and without", "neither", [(a, b) for a in having for b in lacking])
    found.add("current and outdated", "contradicts", [(a, b) for a in having for b in old])
    found.add("fake and real", "contradicts", [(a, b) for a, wrong in fakes if wrong for b in having])
    unclear = [a for a, wrong in fakes if not wrong]
    found.add("unclear fake and real", "contradicts", [(a, b) for a in unclear for b in having], "unclear")
    mixed = [(a, b) for (a, v), (b, w) in combinations(fakes, 2) if not (v and w)]
    found.add("two fakes, one unclear", "supports", mixed, "unclear")
    told = [(a, b, v == w) for (a, v), (b, w) in combinations(fakes, 2) if v and w]
    found.add("two fakes", "supports", [(a, b) for a, b, same in told if same])
    found.add("two fakes apart", "contradicts", [(a, b) for a, b, same in told if not same])
    _style_neutral(found, having, fakes, other_answer)
    return found.cases


def _style_neutral(
    found: _Cases, having: Sequence[str], fakes: Sequence[tuple[str, str | None]], other_answer: str | None
) -> None:
    question = found.question
    argued_for = clear_wrong(question) if fakes else ((other_answer,) if other_answer else ())
    changed = [
        (place, wrong, text)
        for place, real in enumerate(having)
        for wrong in argued_for
        if (text := substitute(real, question.answers, wrong)) is not None
    ]
    found.add(
        "changed real and real",
        "contradicts",
        [(text, other) for i, _, text in changed for j, other in enumerate(having) if i != j],
        "style-neutral",
    )
    for expected, same in (("supports", True), ("contradicts", False)):
        found.add(
            "changed real and fake" if same else "changed real and fake apart",
            expected,  # type: ignore[arg-type]
            [
                (text, fake)
                for _, w, text in changed
                for fake, wrong in fakes
                if wrong and (w == wrong) == same
            ],
            "style-neutral",
        )
    mended = [
        text for fake, wrong in fakes if wrong and (text := mend(fake, question.answers, wrong, having))
    ]
    found.add("mended fake and real", "supports", [(a, b) for a in mended for b in having], "style-neutral")
    if not fakes:
        found.add(
            "two changed real",
            "supports",
            [(a, b) for (_, _, a), (_, _, b) in combinations(changed, 2)],
            "style-neutral",
        )


class _Cases:
    """Collects the cases of one question."""

    def __init__(self, question: Question, rng: np.random.Generator) -> None:
        self.question = question
        self.cases: list[Case] = []
        self._rng = rng

    def add(
        self,
        kind: str,
        expected: Expected,
        pairs: Sequence[tuple[str, str]],
        family: Family = "fakes",
    ) -> None:
        pairs = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
        if len(pairs) > MAX_PAIRS:
            pairs = [pairs[i] for i in sorted(self._rng.choice(len(pairs), MAX_PAIRS, replace=False))]
        q = self.question
        self.cases += [Case(q.id, q.text, a, b, expected, kind, family) for a, b in pairs]


_MARK = "Zzrightzz"


def mend(fake: str, answers: Sequence[str], wrong: str, real: Sequence[str]) -> str | None:
    """Put the right answer into a fake, and the wrong one where it names a right one to refute it.

    Parameters
    ----------
    fake, answers, wrong
        The text, all aliases of the right answer, the wrong one.
    real
        Passages that name the right answer: the first alias that one of them has is put in.

    Returns
    -------
    str or None
        ``None`` if the fake does not name the wrong answer, or the two cannot be told apart.
    """
    right = next((a for a in answers if any(contains(text, [a]) for text in real)), None)
    if right is None:
        return None
    marked = substitute(fake, answers, _MARK) or fake
    changed = substitute(marked, [wrong], right)
    return None if changed is None else changed.replace(_MARK, wrong)
