r"""Whether style alone gives planted passages away: a few plain statistics of planted and true passages.

A method that reads style is not one that finds falsehood. Each statistic is compared by the area under its
ROC curve, folded: :math:`\max(AUC, 1 - AUC)` is how well the better of "above" and "below a threshold" tells
planted from true passages. A half tells nothing; what is far above it is a giveaway.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains
from veridical.bench.metrics.roc import auc
from veridical.bench.wrong_answers import wrong_answers

GIVEAWAY = 0.8
"""A statistic that tells planted from true passages this well is pointed out."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_QUOTES = re.compile(r"[\"“”«»]")
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _length(text: str) -> float:
    return float(len(_words(text)))


def _type_token(text: str) -> float:
    words = _words(text)
    return len(set(words)) / len(words) if words else math.nan


def _digits(text: str) -> float:
    return 100.0 * sum(char.isdigit() for char in text) / max(len(_words(text)), 1)


def _quotes(text: str) -> float:
    return 100.0 * len(_QUOTES.findall(text)) / max(len(_words(text)), 1)


def _sentence(text: str) -> float:
    return len(_words(text)) / max(len(_SENTENCE.findall(text)), 1)


STATISTICS: dict[str, Callable[[str], float]] = {
    "words": _length,
    "type-token ratio": _type_token,
    "digits per 100 words": _digits,
    "quotation marks per 100 words": _quotes,
    "words a sentence": _sentence,
}


@dataclass(frozen=True)
class Compared:
    """One statistic: its means, and how well it tells planted from true passages (NaN without one kind)."""

    name: str
    true: float
    planted: float
    auc: float


@dataclass(frozen=True)
class Style:
    """Planted beside true passages.

    Attributes
    ----------
    statistics
        Of single passages (`STATISTICS`).
    names_right, names_wrong
        Shares of true and of planted passages that contain a right answer, and a wrong one.
    copied
        Share of the planted passages that are word for word another one of the same question.
    n_true, n_planted
        Passages.
    """

    statistics: tuple[Compared, ...]
    names_right: Compared
    names_wrong: Compared
    copied: float
    n_true: int
    n_planted: int

    @property
    def best(self) -> Compared | None:
        """The statistic that tells most; ``None`` without passages of both kinds."""
        known = [found for found in self.statistics if not math.isnan(found.auc)]
        return max(known, key=lambda found: found.auc, default=None)

    def facts(self) -> dict[str, object]:
        """Return plain JSON values, each statistic as [true, planted, AUC]; empty if nothing is planted."""
        if not self.n_planted or not self.n_true:
            return {}
        every = (*self.statistics, self.names_right, self.names_wrong)
        found: dict[str, object] = {
            one.name: None if math.isnan(one.auc) else [one.true, one.planted, one.auc] for one in every
        }
        return {"statistics": found, "copied": self.copied, "verdict": self.verdict()}

    def lines(self) -> list[str]:
        """Return a table in Markdown, and what stands out of it."""
        rows = ["| | true | planted | AUC |", "|---|---|---|---|"]
        for found in (*self.statistics, self.names_right, self.names_wrong):
            rows.append(f"| {found.name} | {found.true:.2f} | {found.planted:.2f} | {found.auc:.2f} |")
        return [*rows, "", self.verdict()]

    def verdict(self) -> str:
        """Say in a sentence what the best single statistic tells."""
        best = self.best
        if best is None:
            return "There are no planted passages to compare."
        sizes = f"{self.n_planted} planted and {self.n_true} true passages"
        said = f"The best single statistic ({best.name}) tells {sizes} apart with an AUC of {best.auc:.2f}"
        copied = (
            f" {self.copied:.0%} of the planted ones are copies of one another."
            if self.copied >= 0.005
            else ""
        )
        return said + (": a giveaway." if best.auc >= GIVEAWAY else ".") + copied


def style(questions: Sequence[Question]) -> Style:
    """Compare what is planted with the true passages of the same questions.

    Parameters
    ----------
    questions
        As `veridical.bench.attacks.base.Attack.apply` returns them; those without planted passages do not
        count.
    """
    attacked = [
        question for question in questions if len(question.labelled("factual")) < len(question.passages)
    ]
    true = [(question, p) for question in attacked for p in question.labelled("factual")]
    planted = [(question, p) for question in attacked for p in question.passages if p.label != "factual"]
    n_copied = sum(
        len(texts) - len(set(texts))
        for texts in ([p.text for p in q.passages if p.label != "factual"] for q in attacked)
    )
    return Style(
        tuple(
            _compared(name, [value(p.text) for _, p in true], [value(p.text) for _, p in planted])
            for name, value in STATISTICS.items()
        ),
        _share("contains a right answer", true, planted, lambda q: q.answers),
        _share("contains a wrong answer", true, planted, wrong_answers),
        n_copied / len(planted) if planted else 0.0,
        len(true),
        len(planted),
    )


_Own = Sequence[tuple[Question, LabelledPassage]]


def _share(name: str, true: _Own, planted: _Own, answers: Callable[[Question], Sequence[str]]) -> Compared:
    first, second = (
        [float(contains(passage.text, answers(question))) for question, passage in own]
        for own in (true, planted)
    )
    return _compared(name, first, second)


def _compared(name: str, true: Sequence[float], planted: Sequence[float]) -> Compared:
    first, second = (np.array([v for v in own if not math.isnan(v)]) for own in (true, planted))
    area = auc(first, second)
    low, high = (float(own.mean()) if len(own) else math.nan for own in (first, second))
    return Compared(name, low, high, max(area, 1.0 - area))
