"""Style-neutral poison: a real passage in which the right answer is replaced by a wrong one.

Made misinformation is usually prose of another kind than the passages beside it, so that a method could pass
by its style. Here every word but the answer is that of the real passage. For evaluation only: it takes gold
answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from veridical.bench.metrics.answers import contains, normalise


def substitute(text: str, answers: Sequence[str], wrong: str) -> str | None:
    """Replace every mention of a right answer by the wrong one.

    Mentions are found at the bounds of words, whatever their case and whatever punctuation stands between
    their words; where two aliases could be meant the longer one is. The wrong answer takes a capital where
    the mention had one.

    Parameters
    ----------
    text
        A passage that gives a right answer.
    answers
        Gold answers, all aliases.
    wrong
        What is put in their place.

    Returns
    -------
    str or None
        ``None`` if the text mentions no answer, or if the two cannot be told apart: right and wrong answer
        contain one another, or a right answer could still be read from the result.
    """
    if not normalise(wrong) or contains(wrong, answers) or any(contains(a, [wrong]) for a in answers):
        return None
    pattern = _mentions(answers)
    if pattern is None:
        return None
    changed, n = pattern.subn(lambda found: _in_case_of(found.group(), wrong), text)
    return None if n == 0 or contains(changed, answers) else changed


def _mentions(answers: Sequence[str]) -> re.Pattern[str] | None:
    words = sorted({tuple(re.findall(r"\w+", _plain_numbers(a))) for a in answers} - {()}, key=_length)
    if not words:
        return None
    aliases = "|".join(r"[^\w\n]{1,3}".join(map(_word, alias)) for alias in words)
    return re.compile(rf"(?<!\w)(?:{aliases})(?!\w)", re.IGNORECASE)


def _plain_numbers(answer: str) -> str:
    return re.sub(r"(?<=\d),(?=\d)", "", answer)


def _word(word: str) -> str:
    return ",?".join(word) if word.isdecimal() else re.escape(word)


def _length(words: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return -sum(map(len, words)), words


def _in_case_of(mention: str, wrong: str) -> str:
    return wrong[0].upper() + wrong[1:] if mention[0].isupper() else wrong
