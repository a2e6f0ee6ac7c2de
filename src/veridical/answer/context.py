"""Put retrieved passages into a prompt as numbered, trust-labelled, escaped data.

Document text is data (decision 12): whatever it holds, it can neither close its delimiter nor pass for a
marker, a label, a role or a special token of a chat template. Escaping replaces characters one for one, so
that a place in the shown text is the same place in the passage.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from veridical import prompts
from veridical.errors import InputError
from veridical.types import Conflict, Document, Hit, Passage, Record, TrustLabel

Style = Literal["veridical", "trustprop", "plain"]
STYLES: tuple[Style, ...] = ("veridical", "trustprop", "plain")

HIGH_FROM = 0.7
LOW_TO = 0.3
PAPER_CHARS = 500
DEFAULT_BUDGET_TOKENS = 1500

_LEAST_CHARS = 120
_ABOUT_CHARS = 120
_CHARS_PER_TOKEN = 4
_JOINERS = {"\u200c", "\u200d", "\u00ad"}
_BRACKETS = {
    "<": "‹", "＜": "‹", "﹤": "‹", ">": "›", "＞": "›", "﹥": "›",
    "[": "(", "［": "(", "【": "(", "〔": "(", "]": ")", "］": ")", "】": ")", "〕": ")",
}  # fmt: skip


class _Escapes(dict[int, str]):
    """Decides for each character once, and remembers it."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if char in _BRACKETS:
            put = _BRACKETS[char]
        elif kind == "Cs":
            put = "\ufffd"
        elif kind in {"Cc", "Zl", "Zp"} or (kind == "Cf" and char not in _JOINERS):
            put = " "  # line breaks could begin a role's turn; invisible characters could hide an order
        else:
            put = char
        self[code] = put
        return put


_ESCAPES = _Escapes()


@dataclass(frozen=True, slots=True)
class ContextEntry(Record):
    """One passage as the model sees it: ``passage.text[:n_shown]``, under ``[marker]``.

    Where only some of its sentences are shown, ``places`` holds their (start, end) in the passage.
    """

    marker: int
    passage: Passage
    document: Document
    trust: float | None
    label: TrustLabel | None
    n_shown: int
    places: tuple[tuple[int, int], ...] = ()

    def shows(self, start: int) -> bool:
        """Whether the model saw what begins at ``start`` of the passage."""
        if not self.places:
            return start < self.n_shown
        return any(low <= start < high for low, high in self.places)


@dataclass(frozen=True, slots=True)
class Context(Record):
    """The numbered passages, in the order of their numbers, and their text as it stands in the prompt."""

    entries: tuple[ContextEntry, ...]
    text: str
    notes: tuple[str, ...] = ()

    def entry(self, marker: int) -> ContextEntry | None:
        """Return the entry under ``[marker]``, if there is one."""
        return next((entry for entry in self.entries if entry.marker == marker), None)


def trust_label(trust: float | None) -> TrustLabel | None:
    """HIGH from 0.7 on, LOW up to 0.3, else MEDIUM; ``None`` where trust is not known."""
    if trust is None or trust != trust:
        return None
    return "HIGH" if trust >= HIGH_FROM else "LOW" if trust <= LOW_TO else "MEDIUM"


def shown_trust(trust: float) -> str:
    """Two decimals that never contradict the label: 0.6999 is MEDIUM and reads 0.69, not 0.70."""
    rounded = round(trust, 2)
    if trust_label(rounded) != trust_label(trust):
        rounded += -0.01 if rounded > trust else 0.01
    return f"{rounded:.2f}"


def escape(text: str) -> str:
    """Make text harmless inside a prompt; the result has the same length.

    Angle and square brackets become look-alikes, control and invisible characters become spaces. Without
    them no delimiter, marker, special token or new line can be written.
    """
    return text.translate(_ESCAPES)


def build_context(
    hits: Sequence[Hit],
    *,
    style: Style = "veridical",
    budget_tokens: int = DEFAULT_BUDGET_TOKENS,
    max_chars_each: int | None = None,
) -> Context:
    """Number the passages and write them down for a prompt.

    Parameters
    ----------
    hits
        Most useful first.
    style
        ``veridical`` (label, trust, source, date and title), ``trustprop`` (label and trust, 500 characters
        each, arXiv 2609.00543) or ``plain`` (numbers only).
    budget_tokens
        About how many tokens all passages may take (four characters a token; one for scripts without
        spaces). Passages are shortened, and then left out, from the least useful on; the first one stays.
    max_chars_each
        The most characters shown of a passage; 500 by default in the styles ``trustprop`` and ``plain``.

    Raises
    ------
    InputError
        If the style is unknown or a limit is below 1.
    """
    if style not in STYLES:
        raise InputError(f"Unknown prompt style {style!r}.", f"Use one of: {', '.join(STYLES)}.")
    each = PAPER_CHARS if max_chars_each is None and style != "veridical" else max_chars_each
    if budget_tokens < 1 or (each is not None and each < 1):
        raise InputError("A context without room was asked for.", "Pass limits of 1 or more.")
    lengths = _fit([hit.passage.text[:each] for hit in hits], budget_tokens * _CHARS_PER_TOKEN)
    entries = tuple(
        ContextEntry(
            marker=place + 1,
            passage=hit.passage,
            document=hit.document,
            trust=hit.trust,
            label=hit.label or trust_label(hit.trust),
            n_shown=length,
        )
        for place, (hit, length) in enumerate(zip(hits, lengths, strict=False))
    )
    left_out = len(hits) - len(entries)
    notes = (f"{left_out} of {len(hits)} passages did not fit into the prompt",) if left_out else ()
    return Context(entries, "\n\n".join(write_entry(entry, style) for entry in entries), notes)


def conflict_lines(context: Context, conflicts: Sequence[Conflict]) -> str:
    """Say which numbered documents contradict each other, one line each; empty if none do."""
    marker: dict[int, int] = {}
    for entry in context.entries:
        marker.setdefault(entry.document.id, entry.marker)
    pairs = {
        tuple(sorted((marker[c.left_document], marker[c.right_document])))
        for c in conflicts
        if c.left_document in marker and c.right_document in marker and c.left_document != c.right_document
    }
    lines = [f"Documents [{left}] and [{right}] contradict each other." for left, right in sorted(pairs)]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def token_quarters(text: str) -> int:
    """About how many quarters of a token a text takes, see `build_context`."""
    return sum(map(_cost, text))


def _cost(char: str) -> int:
    """Quarter tokens: a letter of a spaced script is one, an ideograph or symbol a whole token."""
    return 1 if ord(char) < 0x2E80 else _CHARS_PER_TOKEN


def _fit(texts: Sequence[str], budget: int) -> list[int]:
    """Characters to show of each text; shorter than ``texts`` if the last ones have no room at all."""
    lengths: list[int] = []
    for text in texts:
        length = 0
        for char in text:
            if budget < _cost(char):
                break
            budget -= _cost(char)
            length += 1
        if length < len(text):
            # What is left goes to nobody else: later passages are less useful than the rest of this one.
            budget = 0
            if lengths and length < _LEAST_CHARS:
                break
        lengths.append(length)
        if not budget:
            break
    return lengths


def write_entry(entry: ContextEntry, style: Style) -> str:
    """Write one passage, or the sentences of it that are shown, as the style has it."""
    places = entry.places or ((0, entry.n_shown),)
    text = " ... ".join(escape(entry.passage.text[start:end]).strip() for start, end in places)
    marker, label = str(entry.marker), entry.label or "UNKNOWN"
    known = entry.trust is not None and entry.label is not None
    if style == "plain":
        return prompts.render("plain_document", marker=marker, text=text)
    if style == "trustprop":
        # The paper's plain rounding: 0.6999 stands as MEDIUM beside 0.70.
        trust = f"{entry.trust:.2f}" if known else "not known"
        return prompts.render("trustprop_document", marker=marker, label=label, trust=trust, text=text)
    cut = " ..." if not entry.places and entry.n_shown < len(entry.passage.text) else ""
    trust = f" ({shown_trust(entry.trust)})" if known and entry.trust is not None else ""
    return prompts.render(
        "veridical_document",
        marker=marker,
        label=label,
        trust=trust,
        about=_about(entry.document),
        text=text + cut,
    )


def _about(document: Document) -> str:
    """Source, date and title. They come from outside as much as the text does, so they stand inside."""
    known = (("source", document.source), ("date", document.date), ("title", document.title))
    parts = [f"{name}: {escape(value)[:_ABOUT_CHARS].strip()}" for name, value in known if value]
    return "; ".join(parts) + "\n" if parts else ""
