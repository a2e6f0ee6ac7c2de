"""What compared systems take out of replies that are longer than an answer."""

from __future__ import annotations

import re

from veridical.answer.chains_answer import read_answer

_LINE = re.compile(r"\b(?:final\s+)?answer\s*[*_]*\s*:\s*[*_]*[ \t]*(\S[^\n]*)", re.IGNORECASE)
_MARK = re.compile(r"\A\s*\[\d{1,3}\][\s:.]*")  # a small model begins with the number of a passage
_CONFIDENCE = re.compile(r"\bconfidence\s*[*_]*\s*:\s*[*_]*\s*(\d{1,3}(?:\.\d+)?)\s*(%?)", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:do not|don['’]t|cannot|can['’]t)\s+(?:know|say|tell|recall|answer)\b", re.IGNORECASE
)


def tagged(text: str, tag: str) -> str | None:
    """Return what stands between the last ``<TAG>`` and its end, or the reply's; ``None`` without a tag."""
    found = re.findall(rf"<{tag}>(.*?)(?:</{tag}>|\Z)", text, re.IGNORECASE | re.DOTALL)
    return found[-1].strip() if found else None


def final_answer(text: str) -> str:
    """Return the answer that a reply comes to.

    That is what its last answer tag holds, else what follows the last ``answer:`` on its line, else what
    `read_answer` takes out of it.
    """
    said = tagged(text, "answer")
    if said is None:
        lines = _LINE.findall(text)
        said = lines[-1] if lines else text
    return read_answer(_MARK.sub("", said))


def confidence(text: str) -> float | None:
    """Return the last confidence that a reply states, as ``confidence: 80%`` or ``0.8``, in [0, 1]."""
    found = _CONFIDENCE.findall(text)
    if not found:
        return None
    value, percent = float(found[-1][0]), found[-1][1]
    return min(1.0, value / 100.0 if percent or value > 1.0 else value)


def is_unsure(text: str) -> bool:
    """Whether a reply begins by saying that the model does not know."""
    return _UNSURE.search(text[:60]) is not None
