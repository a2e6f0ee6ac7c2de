"""The commands ``veridical feedback ...``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.options import KB_DEFAULT, REFERENCE, By, Json, Kb, Note
from veridical.cli.output import announce, export_lines, out, print_json
from veridical.errors import InputError
from veridical.types import Feedback, FeedbackReport

app = typer.Typer(
    help="Say which documents or answers were right or wrong; trust follows at once.", no_args_is_help=True
)
Target = Annotated[
    str,
    typer.Argument(
        metavar="DOC_OR_ANSWER", help=f"{REFERENCE}; or an answer (a3), or one of its candidates (a3.2)."
    ),
]
Weight = Annotated[float, typer.Option(metavar="W", help="How much it counts beside other feedback.")]
_SHOWN = 10


@app.command()
def good(
    target: Target,
    kb: Kb = KB_DEFAULT,
    by: By = None,
    note: Note = "",
    weight: Weight = 1.0,
    as_json: Json = False,
) -> None:
    """Judge a document, or the documents behind an answer or a candidate answer, as right.

    Examples:

      veridical feedback good a1 --by anna --note "checked with the vendor"

      veridical feedback good a1.2
    """
    _give(kb, target, 1.0, by, note, weight, as_json)


@app.command()
def bad(
    target: Target,
    kb: Kb = KB_DEFAULT,
    by: By = None,
    note: Note = "",
    weight: Weight = 1.0,
    as_json: Json = False,
) -> None:
    """Judge a document, or the documents behind an answer or a candidate answer, as wrong.

    Example: veridical feedback bad d12
    """
    _give(kb, target, 0.0, by, note, weight, as_json)


@app.command()
def grade(
    target: Target,
    value: Annotated[float, typer.Option("--value", metavar="0..1", help="0 is bad, 1 is good.")],
    kb: Kb = KB_DEFAULT,
    by: By = None,
    note: Note = "",
    weight: Weight = 1.0,
    as_json: Json = False,
) -> None:
    """Give a document, or the documents behind an answer or a candidate answer, a grade from 0 to 1.

    Example: veridical feedback grade d12 --value 0.3 --note "right once, now old"
    """
    _give(kb, target, value, by, note, weight, as_json)


def _give(
    kb: Path, target: str, value: float, by: str | None, note: str, weight: float, as_json: bool
) -> None:
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb, announce=announce) as v:
        _print(v.feedback(target, value, by=by, note=note, weight=weight), as_json, "Recorded")


@app.command()
def undo(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FEEDBACK_OR_ANSWER", help="f3; or a1 for all on an answer, a1.2 for all on a candidate."
        ),
    ],
    kb: Kb = KB_DEFAULT,
    as_json: Json = False,
) -> None:
    """Take feedback back; trust returns to what it would be without. It stays on record.

    Example: veridical feedback undo f3
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        _print(v.undo_feedback(target), as_json, "Undone")


@app.command(name="list")
def list_(kb: Kb = KB_DEFAULT, as_json: Json = False) -> None:
    """List all feedback, with who gave it and whether it counts.

    Example: veridical feedback list
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        items = v.list_feedback()
    if as_json:
        print_json(items)
        return
    if not items:
        out.print("No feedback yet. Give some: veridical feedback good d12")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("id", "document", "value", "on", "by", "when", "state", "note"):
        table.add_column(name, overflow="fold")
    for item in items:
        document = item.key if item.document_id is None else f"d{item.document_id} {item.key}"
        style = "" if item.state == "active" else "dim"
        cells = (item.ref, document, _value(item), _on(item), item.by, item.at, item.state, item.note)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    out.print(table)


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: stdout.")] = None,
    kb: Kb = KB_DEFAULT,
    as_json: Json = False,
) -> None:
    """Write all feedback as JSON lines.

    Example: veridical feedback export feedback.jsonl
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        lines = list(v.export_feedback())
    export_lines(lines, file, as_json=as_json, key="n_feedback", said=f"{len(lines)} items of feedback")


@app.command(name="import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines that export wrote.")],
    kb: Kb = KB_DEFAULT,
    as_json: Json = False,
) -> None:
    """Add exported feedback; what is known already is left alone.

    Example: veridical feedback import feedback.jsonl
    """
    from veridical.pipeline.facade import Veridical

    try:
        lines = file.read_text(encoding="utf-8").split("\n")  # notes may hold other line separators
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from error
    with Veridical.open(kb) as v:
        _print(v.import_feedback(lines, where=str(file)), as_json, "Recorded")


def _print(report: FeedbackReport, as_json: bool, verb: str) -> None:
    if as_json:
        print_json(report)
        return
    for item in report.recorded:
        document = item.key if item.document_id is None else f"d{item.document_id} ({item.key})"
        out.print(Text(f"{verb} {item.ref}: {_value(item)} on {document} by {item.by}"))
    if not report.recorded:
        out.print("Nothing new.")
    if report.moved:
        out.print(moved_table(report, _SHOWN))
    if report.n_moved > _SHOWN:
        out.print(Text(f"... {report.n_moved} documents and sources moved in all.", style="dim"))
    for note in report.notes:
        out.print(Text(f"note: {note}", style="dim"))


def _value(item: Feedback) -> str:
    return f"{item.value:g}" + ("" if item.weight == 1.0 else f" (weight {item.weight:.2g})")


def _on(item: Feedback) -> str:
    """The answer or candidate that was voted on; empty where the document itself was judged."""
    if item.answer_id is None:
        return ""
    return f"a{item.answer_id}" + ("" if item.candidate is None else f".{item.candidate}")


def moved_table(report: FeedbackReport, n: int) -> Any:
    """What moved, from where to where."""
    from veridical.answer.context import trust_label
    from veridical.cli.output import trust_text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("trust of", "from", "to", "title"):
        table.add_column(name, overflow="fold")
    for change in report.moved[:n]:
        what = change.key if change.kind == "document" else f"source {change.key}"
        table.add_row(
            Text(what),
            trust_text(change.before, trust_label(change.before)),
            trust_text(change.after, trust_label(change.after)),
            Text(change.title if change.kind == "document" else "", style="dim"),
        )
    return table
