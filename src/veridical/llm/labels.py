"""Probabilities of labels: checked requests, spellings summed, and what was not seen given the floor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from veridical.errors import InputError
from veridical.llm.base import FLOOR, Message, check_request

MAX_LABELS = 1000
MAX_TOP = 1000
_MOST_LOG = 1e9
_WORD_STARTS = "▁Ġ"  # how vocabularies write the space before a word, where a server does not decode it


def check_choice(messages: Sequence[Message], labels: Sequence[str], n_votes: int) -> None:
    """Refuse a choice that no model could make, before anything is sent.

    Raises
    ------
    InputError
        If the messages are no request, there are fewer than two labels or more than `MAX_LABELS`, two are
        alike, one is empty or has white space around it, or ``n_votes`` < 1.
    """
    check_request(messages, max_tokens=1, temperature=0.0)
    if not 2 <= len(labels) <= MAX_LABELS:
        raise InputError(f"There are {len(labels)} labels to choose from.", f"Pass 2 to {MAX_LABELS}.")
    for label in labels:
        if not label or label.strip() != label:
            raise InputError(f"The label {label!r} is empty, or has white space around it.", "Pass a letter.")
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if list(labels).count(label) > 1)
        raise InputError(f"The label {twice!r} is there more than once.", "Pass each label once.")
    if n_votes < 1:
        raise InputError(f"n_votes is {n_votes}.", "Pass 1 or more.")


def check_continuation(messages: Sequence[Message], continuation: str) -> None:
    """Refuse a text that cannot be scored.

    Raises
    ------
    InputError
        If the messages are no request, or the continuation is empty.
    """
    check_request(messages, max_tokens=1, temperature=0.0)
    if not continuation:
        raise InputError("There is no text to score.", "Pass a continuation of one character or more.")


def check_next(messages: Sequence[Message], n_top: int) -> None:
    """Refuse a request for next tokens that no model could serve.

    Raises
    ------
    InputError
        If the messages are no request, or ``n_top`` is not between 1 and `MAX_TOP`.
    """
    check_request(messages, max_tokens=1, temperature=0.0)
    if not 1 <= n_top <= MAX_TOP:
        raise InputError(f"n_top is {n_top}.", f"Pass 1 to {MAX_TOP}.")


def read_top(logprobs: object) -> list[tuple[str, float]] | None:
    """Take the likeliest tokens at the first position out of a reply's ``logprobs``, and trust nothing in it.

    Returns
    -------
    list or None
        Each with its natural log-probability, without the white space around it. Empty where the server
        gives log-probabilities and none can be used this time; ``None`` where it gives none.
    """
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list):
        return None
    if not content:
        return []
    top = content[0].get("top_logprobs") if isinstance(content[0], Mapping) else None
    if not isinstance(top, list) or not top:
        return None
    found = []
    for entry in top:
        text, value = (_text(entry), entry.get("logprob")) if isinstance(entry, Mapping) else (None, None)
        if text is None or not isinstance(value, (int, float)) or isinstance(value, bool):
            continue
        if -_MOST_LOG < value < _MOST_LOG:  # which NaN is not, nor an integer that no float can hold
            found.append((text, float(value)))
    return found


def _text(entry: Mapping[str, Any]) -> str | None:
    """Return what a token says. Its bytes tell, where it has any; ``token`` may be a number or an escape."""
    raw = entry.get("bytes")
    if isinstance(raw, list) and raw:
        try:
            text: object = bytes(raw).decode("utf-8")
        except (ValueError, TypeError):  # no bytes, or a part of a character
            return None
    else:
        text = entry.get("token")
    if not isinstance(text, str):
        return None
    text = text.strip()
    return text[1:].strip() if len(text) > 1 and text[0] in _WORD_STARTS else text


def masses(top: Iterable[tuple[str, float]], labels: Sequence[str]) -> dict[str, float]:
    """Sum the probability of each label's spellings, up to a common factor.

    Only a token that says the label and nothing else counts: ``Also`` is no ``A``. Labels that no token says
    are left out. The largest term is 1, so that very unlikely labels do not all vanish.
    """
    wanted = set(labels)
    seen = [(text, value) for text, value in top if text in wanted]
    highest = max((value for _, value in seen), default=0.0)
    found: dict[str, float] = {}
    for text, value in seen:
        found[text] = found.get(text, 0.0) + math.exp(value - highest)
    return found


def shares(weights: Mapping[str, float], labels: Sequence[str]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Normalise weights over the labels.

    Parameters
    ----------
    weights
        At least one positive; those missing or 0 were not seen.
    labels
        Between 2 and `MAX_LABELS` of them.

    Returns
    -------
    dict, tuple
        Probabilities in the order of ``labels``, summing to one: those not seen have `FLOOR` each, and those
        seen share the rest in proportion to their weights. Then the labels that were not seen.
    """
    seen = {label: weights[label] for label in labels if weights.get(label, 0.0) > 0.0}
    unseen = tuple(label for label in labels if label not in seen)
    total, rest = sum(seen.values()), 1.0 - FLOOR * len(unseen)
    found = {label: rest * (seen[label] / total) if label in seen else FLOOR for label in labels}
    return found, unseen
