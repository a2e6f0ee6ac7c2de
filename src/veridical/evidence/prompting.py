"""Foreign text in prompts: made harmless, shortened, and its tokens estimated."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from veridical.llm.base import Message

MESSAGE_TOKENS = 8
"""About what a chat template puts around a message."""

_JOINERS = {"\u200c", "\u200d", "\u00ad"}
_BRACKETS = str.maketrans("<＜﹤〈⟨>＞﹥〉⟩[［【〔]］】〕", "‹‹‹‹‹›››››(((())))")
_CUT = "…"
_LEAST_TOKENS = 3


class _Escapes(dict[int, str]):
    """Decides for each character once, and remembers it."""

    def __missing__(self, code: int) -> str:
        char, kind = chr(code), unicodedata.category(chr(code))
        if kind == "Cs":
            put = "\ufffd"
        elif kind in {"Cc", "Zl", "Zp"} or (kind == "Cf" and char not in _JOINERS):
            put = " "  # line breaks could begin a line of the prompt's own; invisible characters hide orders
        else:
            put = char.translate(_BRACKETS)
        self[code] = put
        return put


_ESCAPES = _Escapes()


def escape(text: str) -> str:
    """Make text harmless inside a prompt; the result has the same length.

    Angle and square brackets become look-alikes, control and invisible characters become spaces. Without
    them no delimiter, special token or new line can be written.
    """
    return text.translate(_ESCAPES)


def one_line(text: str, max_chars: int) -> str:
    """Escape a text, put it on one line, and cut it to ``max_chars`` characters, the last one a "…"."""
    line = " ".join(escape(text).split())
    return line if len(line) <= max_chars else line[: max(0, max_chars - 1)].rstrip() + _CUT


def shown_triple(triple: str, n_tokens: int) -> str:
    """Write ``<head; relation; tail>`` for a prompt: escaped, and its longest parts cut.

    Parameters
    ----------
    triple
        As `veridical.evidence.triples.written` has it. Text without the brackets is taken as it is.
    n_tokens
        About how many tokens the three parts may take together; each keeps three at least.

    Returns
    -------
    str
        One line in angle brackets, with none inside.
    """
    inside = triple[1:-1] if triple.startswith("<") and triple.endswith(">") else triple
    parts = [shortened(one_line(part, 4 * n_tokens), n_tokens) for part in inside.rsplit(";", 2)]
    sizes = [about_tokens(part) for part in parts]
    most = max(sizes)
    while most > _LEAST_TOKENS and sum(min(size, most) for size in sizes) > n_tokens:
        most -= 1
    return f"<{'; '.join(shortened(part, most) for part in parts)}>"


def shortened(text: str, n_tokens: int) -> str:
    """Cut a text to about ``n_tokens`` tokens, with a "…" where it was cut."""
    room = 4 * n_tokens
    for place, char in enumerate(text):
        room -= _quarters(char)
        if room < 0:
            return text[: max(0, place - 1)].rstrip() + _CUT
    return text


def about_tokens(text: str) -> int:
    """About how many tokens a text takes, rounded up: a letter a quarter of one, an ideograph a whole one."""
    return -(-sum(map(_quarters, text)) // 4)


def message_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens messages take, with what a chat template puts around them."""
    return sum(about_tokens(message.content) + MESSAGE_TOKENS for message in messages)


def fitting(shots: Sequence[Sequence[Message]], n_tokens: int) -> list[Message]:
    """Return the messages of as many examples as fit, those at the end dropped first.

    Parameters
    ----------
    shots
        Examples, each one or more messages, the most useful first.
    n_tokens
        About how many tokens there is room for; may be negative.
    """
    found: list[Message] = []
    for shot in shots:
        n_tokens -= message_tokens(shot)
        if n_tokens < 0:
            break
        found.extend(shot)
    return found


def _quarters(char: str) -> int:
    return 1 if ord(char) < 0x2E80 else 4
