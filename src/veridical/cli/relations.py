"""The commands ``relations`` and ``conflicts``: what documents say of one another, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from veridical.cli.options import KB_DEFAULT, REFERENCE, Json, Kb, Method
from veridical.cli.output import out, print_json, trust_text
from veridical.types import Document, RelationEvidence, RelationKind, RelationView, Span

_MOST_EVIDENCE = 3
_WORDS = {
    RelationKind.SUPPORTS: ("agrees with", "green"),
    RelationKind.CONTRADICTS: ("contradicts", "bold red"),
    RelationKind.SUPERSEDES: ("is later than, and contradicts,", "bold yellow"),
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(relations)
    app.command()(conflicts)


def relations(
    document: Annotated[str, typer.Argument(metavar="DOC", help=f"{REFERENCE}.")],
    kb: Kb = KB_DEFAULT,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only supports, contradicts or supersedes.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="How many documents to print.")] = 10,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """Show which documents agree with one and which contradict it, and on what evidence.

    Examples:

      veridical relations d3

      veridical relations handbook/vpn.md --kind contradicts --json
    """
    from veridical.pipeline import relating
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        found = v.relations(document, kind=kind, method=method)
        hint = "" if found else relating.advice(v.store)
    if as_json:
        print_json(found)
        return
    if not found:
        what = "No other document is known to agree with it or to contradict it."
        if kind is not None:
            what = f"No relation of kind {kind.lower()} is known of it."
        _print_nothing(what, hint)
    print_views(found[:top], len(found))


def conflicts(
    kb: Kb = KB_DEFAULT,
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="How many pairs of documents.")] = 10,
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only pairs with a document of this source.")
    ] = None,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """List the documents that contradict each other, the surest first, both sides' words side by side.

    Examples:

      veridical conflicts

      veridical conflicts --top 50 --source wiki --json
    """
    from veridical.pipeline import relating
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        found = v.conflicts(top=top, source=source, method=method)
        hint = "" if found else relating.advice(v.store)
    if as_json:
        print_json(found)
        return
    if not found:
        of = "" if source is None else f" of source {source}"
        _print_nothing(f"No two documents{of} are known to contradict each other.", hint)
    print_views(found, len(found))


def _print_nothing(what: str, hint: str) -> None:
    out.print(Text(what, style="bold"))
    out.print(Text(hint, style="dim"))


def print_views(views: Sequence[RelationView], n: int) -> None:
    """Print relations with their evidence; ``n`` is how many there are."""
    for view in views:
        out.print(_view(view))
    if n > len(views):
        out.print(Text(f"... {n} in all; --top N prints more, --json has them all.", style="dim"))


def _view(view: RelationView) -> Panel:
    words, style = _WORDS.get(view.kind, (view.kind.value, ""))
    title = Text.assemble((view.head.ref, "bold"), " ", (words, style), " ", (view.tail.ref, "bold"))
    title.append(f"  {view.weight:.2f}", style="dim")
    table = Table(box=None, padding=(0, 1), show_header=False, expand=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    table.add_row(
        _side(view.head, view.head_trust, view.head_label), _side(view.tail, view.tail_trust, view.tail_label)
    )
    for item in view.evidence[:_MOST_EVIDENCE]:
        table.add_row(Text(""))
        _add_evidence(table, item)
    left = len(view.evidence) - _MOST_EVIDENCE
    if left > 0:
        table.add_row(Text(f"... and {left} more; --json has them all.", style="dim"))
    verdict = Text(f" {view.verdict}", style="" if view.favours is not None else "dim")
    inside = Group(verdict, table) if view.verdict else table
    return Panel(inside, title=title, title_align="left", border_style="dim")


def _side(document: Document, trust: float | None, label: str | None) -> Text:
    text = Text.assemble((document.title or document.key, "bold"), "\n")
    about = [document.key if document.title else "", document.source or "", document.date or "", "trust "]
    text.append(" · ".join(part for part in about if part), style="dim")
    return text.append_text(trust_text(trust, label))


def _add_evidence(table: Table, item: RelationEvidence) -> None:
    words, style = _WORDS.get(item.kind, (item.kind.value, ""))
    if item.question is not None:
        about = Text.assemble(("Q: ", "dim"), (item.question, "italic"))
        if item.made_of is not None:
            about.append(f"  (made of d{item.made_of})", style="dim")
        answers = [", ".join(span.text for span in spans) for spans in (item.head_values, item.tail_values)]
        table.add_row(about, Text(f"{item.backend} · {words.strip(',')} {item.weight:.2f}", style="dim"))
        table.add_row(*(Text(answer or "(no answer)", style="bold") for answer in answers))
    else:
        table.add_row(
            Text("inference between two sentences", style="dim"),
            Text(f"{item.backend} · {words.strip(',')} {item.weight:.2f}", style="dim"),
        )
    table.add_row(
        _sentence(item.head_sentence, item.head_values, style),
        _sentence(item.tail_sentence, item.tail_values, style),
    )


def _sentence(sentence: Span | None, values: Sequence[Span], style: str) -> Text:
    """The sentence, with what clashes in it, or agrees, in the colour of the relation."""
    if sentence is None:
        return Text("(the sentence is not on record)", style="dim")
    text = Text(sentence.text)
    for value in values:
        text.stylize(f"{style} underline", value.start - sentence.start, value.end - sentence.start)
    return text
