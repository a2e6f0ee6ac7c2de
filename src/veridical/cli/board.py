"""The evidence board in a terminal: each candidate answer, how likely it is, and who gives it."""

from __future__ import annotations

import re

from rich.table import Table
from rich.text import Text

from veridical.cli.output import out, trust_text
from veridical.types import Answer, Candidate, Witness

MAX_CANDIDATES = 5
MAX_WITNESSES = 3

_LEAST = 0.01
_BAR = 8
_NARROW = 60
_BESIDE = 90
_EIGHTHS = " ▏▎▍▌▋▊▉"


def print_board(answer: Answer) -> None:
    """Print the candidates of an answer; nothing where there are none."""
    if not answer.candidates:
        return
    table = Table(
        title="Candidate answers", title_style="bold", title_justify="left", box=None, padding=(0, 1)
    )
    for name in ("id", "likely"):
        table.add_column(name, no_wrap=True, header_style="dim")
    table.add_column("answer, and who gives it", overflow="fold", header_style="dim")
    bars = out.width >= _NARROW
    shown = [c for c in answer.candidates[:MAX_CANDIDATES] if c.number == 1 or c.probability >= _LEAST]
    for candidate in shown:
        ref = f"{answer.ref}.{candidate.number}" if answer.id else str(candidate.number)
        likely = f"{candidate.probability:>4.0%}"
        bar = f" {_bar(candidate.probability)}" if bars else ""
        table.add_row(Text(ref, style="bold"), Text.assemble(likely, (bar, "cyan")), _who(candidate))
    out.print(table)
    n_more = len(answer.candidates) - len(shown)
    if n_more > 0:
        out.print(Text(f" ... {n_more} more; --json lists them.", style="dim"))


def _bar(share: float) -> str:
    """A bar of eight cells, in steps of an eighth of one."""
    eighths = round(min(max(share, 0.0), 1.0) * _BAR * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(_BAR)


def _who(candidate: Candidate) -> Text:
    first: dict[int, Witness] = {}
    for witness in candidate.witnesses:
        first.setdefault(witness.document_id, witness)
    lines = [Text(_line(candidate.text), style="bold")]
    for witness in list(first.values())[:MAX_WITNESSES]:
        name = _line(witness.title or witness.key)
        about = f"d{witness.document_id} {name}".rstrip()
        lines.append(Text.assemble(about, " · ", trust_text(witness.trust, witness.label)))
        lines.append(_said(witness))
    n_more = len(first) - MAX_WITNESSES
    if n_more > 0:
        lines.append(Text(f"+ {n_more} more document{'s' if n_more > 1 else ''}", style="dim"))
    return Text("\n").join(lines)


def _said(witness: Witness) -> Text:
    """The sentence with the answer marked in it, shortened around the answer."""
    sentence, answer = witness.sentence, witness.answer
    start, end = answer.start - sentence.start, answer.end - sentence.start
    if not 0 <= start < end <= len(sentence.text):
        return Text(f"  “{_line(sentence.text)[: 2 * _BESIDE]}”", style="italic")
    parts = (sentence.text[:start], sentence.text[start:end], sentence.text[end:])
    before, marked, after = (re.sub(r"\s+", " ", part) for part in parts)
    if len(before) > _BESIDE:
        before = "..." + before[-_BESIDE:]
    if len(after) > _BESIDE:
        after = after[:_BESIDE].rstrip() + "..."
    return Text.assemble(
        ("  “", "italic"), (before, "italic"), (marked, "bold underline"), (after, "italic"), ("”", "italic")
    )


def _line(text: str) -> str:
    return " ".join(text.split())
