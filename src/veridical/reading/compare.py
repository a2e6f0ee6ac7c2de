"""How two passages that were asked the same question stand to one another, by what each answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from veridical.nli.align import sentence_spans
from veridical.nli.values import facts_of
from veridical.reading.agree import agreement
from veridical.reading.base import ReadAnswer, Reading
from veridical.reading.denied import undenied, word_denials
from veridical.types import Record

#: Changes whenever the same two readings may be judged differently, so that stored verdicts are made again.
COMPARE_VERSION = "mentions-4"

#: What a verdict is made of, see ``evidence``; without the passages only the first ones are known.
FROM_READINGS = ("differ", "odds", "both", "answered_low", "answered_high")
FROM_PASSAGES = ("named", "denied")

_LITTLE = 0.001
_SMOOTH = 0.02


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


def compare_readings(
    question: str, left: Reading, right: Reading, *, texts: tuple[str, str] | None = None
) -> Verdict:
    """Compare what two passages answer to one question.

    The numbers of ``evidence`` go through a fitted logistic curve with three outcomes: support,
    contradiction, and neither (see ``compare.md``). Symmetric but for the order of the two answers.

    Parameters
    ----------
    question
        What both were asked.
    left, right
        What each answers.
    texts
        The two passages. With them it counts whether each names what the other answers, and answers that a
        passage only denies count little; verdicts are clearly better so.

    Returns
    -------
    Verdict
        Both shares are 0 if a passage has no answer at all.
    """
    if texts is not None:
        left = undenied(texts[0], left, question=question)
        right = undenied(texts[1], right, question=question)
    if not left.answers or not right.answers:
        return Verdict(0.0, 0.0, left.best, right.best)
    found = evidence(question, left, right, texts)
    support, contradiction = _model("readings" if texts is None else "passages").shares(found)
    same = support >= contradiction
    said, heard = max(
        ((a, b) for a in left.answers for b in right.answers),
        key=lambda pair: _weight(question, *pair, same=same),
    )
    return Verdict(support, contradiction, said, heard)


def _weight(question: str, left: ReadAnswer, right: ReadAnswer, *, same: bool) -> float:
    agreed = agreement(left.text, right.text, question=question)
    return left.probability * right.probability * (agreed if same else 1.0 - agreed)


def evidence(
    question: str, left: Reading, right: Reading, texts: tuple[str, str] | None = None
) -> dict[str, float]:
    """Return what two readings, and two passages if given, say about agreement.

    With p and q the probabilities of the answers, and a their agreement, let s = ``sum p_i q_j a_ij`` and
    d = ``sum p_i q_j (1 - a_ij)``.

    Returns
    -------
    dict
        ``differ`` (d - s) / (d + s), in [-1, 1]; ``odds`` log(d / s), smoothed; ``answered_low`` and
        ``answered_high``, the smaller and the larger 1 - P(no answer), and ``both``, their product; with
        texts also ``named``, how much of what one passage answers is said in one sentence of the other, and
        ``denied``, how much of it is denied there, the larger of both ways. All but the first two in [0, 1].
        Nothing depends on which passage is which.
    """
    same = differ = 0.0
    for ours in left.answers:
        for theirs in right.answers:
            both = ours.probability * theirs.probability
            agreed = agreement(ours.text, theirs.text, question=question)
            same += both * agreed
            differ += both * (1.0 - agreed)
    answered = sorted((1.0 - left.no_answer, 1.0 - right.no_answer))
    found = {
        "differ": (differ - same) / (differ + same + _LITTLE),
        "odds": math.log((differ + _SMOOTH) / (same + _SMOOTH)),
        "both": answered[0] * answered[1],
        "answered_low": answered[0],
        "answered_high": answered[1],
    }
    if texts is not None:
        ways = _named(question, left, texts[1]), _named(question, right, texts[0])
        found["named"], found["denied"] = (max(way[place] for way in ways) for place in (0, 1))
    return found


def _named(question: str, reading: Reading, other: str) -> tuple[float, float]:
    """How far the answers of one passage are said, and how far they are denied, in the other."""
    total = sum(answer.probability for answer in reading.answers)
    if total <= 0:
        return 0.0, 0.0
    shares = [(answer.probability / total, named(answer.text, other, question)) for answer in reading.answers]
    return sum(p * said for p, (said, _) in shares), sum(p * denied for p, (_, denied) in shares)


@lru_cache(maxsize=262_144)
def named(answer: str, text: str, question: str = "") -> tuple[float, float]:
    """How much of an answer one sentence of a text says, and how much one denies.

    Returns
    -------
    tuple of float
        Shares in [0, 1] of the answer's content words, those of the question left out where others remain.
    """
    words = facts_of(answer).words
    words = (words - facts_of(question).words) or words
    if not words:
        return 0.0, 0.0
    said = denied = 0.0
    for sentence in _sentences(text):
        levels = [sentence[word] for word in words if word in sentence]
        said = max(said, sum(1.0 - level for level in levels))
        denied = max(denied, sum(levels))
    return said / len(words), denied / len(words)


@lru_cache(maxsize=16_384)
def _sentences(text: str) -> tuple[Mapping[str, float], ...]:
    return tuple(word_denials(span.text) for span in sentence_spans(text))


@dataclass(frozen=True, slots=True)
class CompareModel:
    """Three-way logistic curve: weights of ``evidence`` for support and contradiction, against neither."""

    support: Mapping[str, float]
    contradiction: Mapping[str, float]

    def shares(self, found: Mapping[str, float]) -> tuple[float, float]:
        """Return P(support) and P(contradiction)."""
        s, c = (
            weights["bias"] + sum(weights[name] * found[name] for name in weights if name != "bias")
            for weights in (self.support, self.contradiction)
        )
        top = max(0.0, s, c)
        terms = math.exp(s - top), math.exp(c - top)
        total = sum(terms) + math.exp(-top)
        return terms[0] / total, terms[1] / total


@cache
def _model(name: str) -> CompareModel:
    text = (resources.files("veridical.reading") / "compare.json").read_text(encoding="utf-8")
    weights = json.loads(text)[name]
    return CompareModel(weights["support"], weights["contradiction"])
