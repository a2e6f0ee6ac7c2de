"""The command ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.options import Json
from veridical.cli.output import Bars, announce, out, print_json
from veridical.types import Answer

if TYPE_CHECKING:
    from veridical.demo.run import DemoResult


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(
    kb: Annotated[
        Path, typer.Option("--kb", metavar="PATH", help="Where to build it; must be empty or a demo's.")
    ] = Path("demo-output/kb"),
    page: Annotated[Path, typer.Option(metavar="FILE", help="Where to save the HTML page.")] = Path(
        "demo-output/demo.html"
    ),
    as_json: Json = False,
) -> None:
    """Show the whole job on a bundled corpus: ten questions before and after six pieces of feedback.

    Example: veridical demo --page demo.html
    """
    from veridical.demo.page import write_page
    from veridical.demo.run import run_demo

    result = run_demo(kb, progress=Bars(), announce=announce)
    write_page(result, page)
    if as_json:
        print_json(result)
        return
    build = result.build
    out.print(
        f"{build.n_documents} documents from {build.n_sources} sources, {build.n_passages} passages; "
        f"{build.n_supports} pairs support, {build.n_contradicts} contradict, {build.n_supersedes} supersede "
        "each other."
    )
    table = Table(title="Ten questions, before and after six pieces of feedback", title_justify="left")
    for name, ratio in (("question", 4), ("before", 4), ("after", 4)):
        table.add_column(name, ratio=ratio, overflow="fold")
    table.add_column("judged", justify="center")
    for row in result.questions:
        table.add_row(
            Text(row.question),
            _answer(row.before, row.before_verdict, row.before_source),
            _answer(row.after, row.after_verdict, row.after_source),
            "yes" if row.judged else "",
        )
    out.print(table)
    changes = Table(title="The feedback, and what moved", title_justify="left")
    for name, ratio in (("feedback", 3), ("moved most", 4)):
        changes.add_column(name, ratio=ratio, overflow="fold")
    for given in result.feedback:
        moved = "\n".join(
            f"{c.key if c.kind == 'document' else 'source ' + c.key}: "
            f"{_number(c.before)} → {_number(c.after)}  {c.title if c.kind == 'document' else ''}"
            for c in given.report.moved[:4]
        )
        verdict = {0.0: "bad", 1.0: "good"}.get(given.value, f"{given.value:g}")
        changes.add_row(
            Text(f"{verdict}: {given.key}\n“{given.note}” ({given.by})"), Text(moved, style="dim")
        )
    out.print(changes)
    _print_evidence(result)
    before = sum(row.before_verdict == "right" for row in result.questions)
    after = sum(row.after_verdict == "right" for row in result.questions)
    direct = sum(row.judged for row in result.questions)
    out.print(
        Text(
            f"Right answers: {before} of 10 before, {after} of 10 after. Feedback touched documents of "
            f"{direct} questions; the rest follows from sources and relations.",
            style="bold",
        )
    )
    out.print(f"Page: {page}   Try: veridical conflicts --kb {kb}")
    out.print(f'or: veridical ask --kb {kb} "{result.questions[0].question}"')


def _print_evidence(result: DemoResult) -> None:
    """The board behind the first answer that changed, and the surest conflict."""
    from veridical.cli.board import print_board
    from veridical.cli.relations import print_views

    changed = [row for row in result.questions if row.before_verdict != row.after_verdict]
    for row in changed[:1]:
        out.print(Text(f"\nThe evidence after the feedback: {row.question}", style="bold"))
        print_board(row.after)
    if result.conflicts:
        out.print(Text("\nThe surest of the conflicts (veridical conflicts lists them)", style="bold"))
        print_views(result.conflicts[:1], 1)


def _answer(answer: Answer, verdict: str, source: str) -> Text:
    style = {"right": "green", "wrong": "red"}.get(verdict, "yellow")
    mark = {"right": "✓ ", "wrong": "✗ "}.get(verdict, "? ")
    text = answer.text or "no answer: the evidence is thin or tied"
    likely = "" if answer.probability is None else f" {answer.probability:.0%}"
    return Text.assemble((mark + text, style), (likely, "dim"), (f"\n{source}", "dim"))


def _number(value: float | None) -> str:
    from veridical.answer.context import shown_trust

    return "unknown" if value is None else shown_trust(value)
