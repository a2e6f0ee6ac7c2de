"""The commands ``veridical questions ...``: the query log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.options import KB_DEFAULT, Json, Kb
from veridical.cli.output import counted, export_lines, out, print_json

app = typer.Typer(
    help="The questions that were asked. Documents are compared by what they answer to them.",
    no_args_is_help=True,
)
_SHOWN = 50


@app.command(name="list")
def list_(
    kb: Kb = KB_DEFAULT,
    show_all: Annotated[bool, typer.Option("--all", help=f"Not only the last {_SHOWN}.")] = False,
    as_json: Json = False,
) -> None:
    """List the questions in the log, the latest last.

    Example: veridical questions list --all
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        logged, is_on = v.questions.every(), v.questions.is_on
    if as_json:
        print_json(logged)
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("Question", "Asked", "First"):
        table.add_column(name, justify="right" if name == "Asked" else "left")
    for item in logged if show_all else logged[-_SHOWN:]:
        times = f"{item.n_asked}x" if item.n_asked else "never"
        table.add_row(Text(item.text), Text(times), Text(f"{item.at} ({item.origin})", style="dim"))
    if logged:
        out.print(table)
    hidden = 0 if show_all else max(0, len(logged) - _SHOWN)
    more = f" ({hidden} more with --all)" if hidden else ""
    out.print(f"{counted(len(logged), 'question')}{more}; the log is {'on' if is_on else 'off'}.")


@app.command()
def add(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help='One question a line, or JSON lines with "question".')
    ],
    kb: Kb = KB_DEFAULT,
    as_json: Json = False,
) -> None:
    """Add questions from a file, such as one that export wrote; what is known already is left alone.

    Example: veridical questions add faq.txt
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        n_added = v.questions.add(file)
    if as_json:
        print_json({"n_added": n_added})
        return
    out.print(f"{counted(n_added, 'question')} added from {file}.")
    if n_added:
        out.print("Next: veridical build")


@app.command()
def clear(kb: Kb = KB_DEFAULT, as_json: Json = False) -> None:
    """Forget all questions, and all that was learned from them.

    What was asked is taken out of the answers on record, too. Answers and feedback stay.

    Example: veridical questions clear
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        n = v.questions.clear()
    if as_json:
        print_json({"n_cleared": n})
    else:
        out.print(f"{counted(n, 'question')} forgotten.")


@app.command()
def on(kb: Kb = KB_DEFAULT, as_json: Json = False) -> None:
    """Log questions from now on.

    Example: veridical questions on
    """
    _switch(kb, as_json, on=True)


@app.command()
def off(kb: Kb = KB_DEFAULT, as_json: Json = False) -> None:
    """Log no question from now on; those in the log stay until they are cleared.

    Example: veridical questions off
    """
    _switch(kb, as_json, on=False)


def _switch(kb: Path, as_json: bool, *, on: bool) -> None:
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        v.questions.switch(on=on)
        n = len(v.questions.every())
    if as_json:
        print_json({"query_log": on, "n_questions": n})
    elif on:
        out.print("Questions are logged from now on.")
    else:
        kept = f" {counted(n, 'question')} in it; to forget them: veridical questions clear" if n else ""
        out.print(f"Questions are not logged from now on.{kept}")


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: stdout.")] = None,
    kb: Kb = KB_DEFAULT,
    as_json: Json = False,
) -> None:
    """Write all questions as JSON lines.

    Example: veridical questions export questions.jsonl
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        lines = list(v.questions.export_lines())
    export_lines(lines, file, as_json=as_json, key="n_questions", said=counted(len(lines), "question"))
