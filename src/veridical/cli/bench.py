"""The commands ``veridical bench ...``: compare systems under misinformation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.options import Json
from veridical.cli.output import announce, counted, out, print_json

if TYPE_CHECKING:
    from veridical.bench.config import Config
    from veridical.bench.report.compare import Compared
    from veridical.bench.run import Outcome

app = typer.Typer(
    help="Compare systems that answer from documents of which some are false.", no_args_is_help=True
)
Results = Annotated[Path, typer.Argument(metavar="RESULTS", help="The file that 'bench run' wrote.")]
KINDS = ("systems", "attacks", "datasets", "protocols", "beliefs")


@app.command()
def run(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="What to compare.")],
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where rows are kept. Default: the configuration's name, ending in .db."
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where vectors, readings and replies are kept. Default: the user's cache."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The data sets, in place of the configuration's folder."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Answer so many questions of each data set only.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Answers that are worked out at once.")] = 1,
    llm: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH", help="In place of the configuration's: none, settings, or a GGUF file."
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try failed answers again.")] = False,
    again: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM", help="Forget this system's rows first (may be repeated)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Answer every question with every system in every setting, and keep each answer as it comes.

    It may be stopped at any time: run it again and it goes on. It exits with 7 when the language model's
    budget is used up or nobody can be reached; what was done is kept.

    Examples:

      veridical bench run bench.toml

      veridical bench run bench.toml --limit 10 --llm model.gguf
    """
    from dataclasses import replace

    from veridical.bench import config as configs

    read = configs.load(config, data)
    if llm is not None:
        read = replace(read, llm=llm if llm in ("none", "settings") else str(Path(llm).absolute()))
    where = results or config.with_suffix(".db")
    outcome = _run(read, where, work, limit, workers, retry, again or [])
    if as_json:
        print_json(outcome.to_dict() | {"results": str(where)})
    else:
        _print_outcome(outcome, where)
    if outcome.stopped:
        raise typer.Exit(7)


def _run(
    config: Config,
    where: Path,
    work: Path | None,
    limit: int | None,
    workers: int,
    retry: bool,
    again: list[str],
) -> Outcome:
    import platformdirs

    from veridical.bench.equip import equip
    from veridical.bench.rows import Results as Rows
    from veridical.bench.run import Run
    from veridical.cli.bench_watch import BenchWatch
    from veridical.pipeline.models import Models
    from veridical.settings import Settings

    watch = BenchWatch()
    settings = Settings.from_env()
    folder = work or platformdirs.user_cache_path("veridical") / "bench"
    models = Models(settings, announce=announce)
    making, tools = equip(config, settings, folder, models=models, progress=watch.stage)
    with Rows(where) as rows:
        for system in again:
            watch.say(f"Forgot {counted(rows.forget(system), 'row')} of {system}.")
        try:
            return Run(config, rows, making, tools, limit=limit, workers=workers, retry=retry, watch=watch)()
        finally:
            watch.close()


def _print_outcome(outcome: Outcome, where: Path) -> None:
    from veridical.cli.bench_watch import duration

    spent = outcome.spent
    line = f"{counted(outcome.n_new, 'new answer')} in {duration(outcome.seconds)}"
    if spent.calls:
        tokens = spent.prompt_tokens + spent.completion_tokens
        line += f", {counted(spent.calls, 'call')}, {tokens:,} tokens"
    if spent.money:
        line += f", {spent.money:.2f} of money"
    out.print(f"{line}; {outcome.n_known + outcome.n_new:,} of {outcome.n_rows:,} are there.")
    if outcome.n_failed:
        out.print(Text(f"{counted(outcome.n_failed, 'answer')} failed; --retry tries again.", style="yellow"))
    if outcome.not_run:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for name in ("not run", "lacks"):
            table.add_column(name, overflow="fold")
        for system, lacks in outcome.not_run.items():
            table.add_row(Text(system), Text(", ".join(lacks)))
        out.print(table)
    if outcome.stopped:
        out.print(Text(f"Stopped: {outcome.stopped}", style="bold red"))
    out.print(Text(f"Next: veridical bench report {where}", style="dim"))


@app.command()
def report(
    results: Results,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", metavar="FILE", help="A .html or .md file (may be repeated)."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="SYSTEM", help="Test the others against this one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write what a run found: tables with intervals and tests, curves, calibration, cost, limitations.

    Without --output it writes RESULTS with the endings .html and .md.

    Examples:

      veridical bench report bench.db

      veridical bench report bench.db -o report.html --against vanilla
    """
    from veridical.bench.report.build import build
    from veridical.bench.report.frame import Frame
    from veridical.bench.report.render import write
    from veridical.bench.rows import Results as Rows

    with Rows(results, read_only=True) as rows:
        made = build(Frame(rows), against)
    paths = output or [results.with_suffix(".html"), results.with_suffix(".md")]
    for path in paths:
        write(made, path)
    if as_json:
        print_json({"written": [str(path) for path in paths]})
        return
    for path in paths:
        out.print(Text(str(path)))


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A system, or a file of results.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The results in which two systems are compared.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two systems of one run, or one run with another, question by question.

    Examples:

      veridical bench compare veridical vanilla --results bench.db

      veridical bench compare before.db after.db
    """
    from veridical.bench.report import compare as comparing
    from veridical.bench.report.frame import Frame
    from veridical.bench.rows import Results as Rows
    from veridical.errors import InputError

    if results is not None:
        with Rows(results, read_only=True) as rows:
            found = comparing.systems(Frame(rows), first, second)
    elif Path(first).is_file() and Path(second).is_file():
        with Rows(Path(first), read_only=True) as ours, Rows(Path(second), read_only=True) as theirs:
            found = comparing.runs(Frame(ours), Frame(theirs))
    else:
        raise InputError(
            f"{first!r} and {second!r} are not two files of results.",
            "Give two files, or two systems and --results FILE.",
        )
    if as_json:
        print_json(found)
        return
    _print_compared(found, first, second)


def _print_compared(found: list[Compared], first: str, second: str) -> None:
    from veridical.bench.report.tables import NAMES, p_text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    several = any(line.system for line in found)
    for name in ("data set", "attack", *(["system"] if several else []), "known", "metric"):
        table.add_column(name, overflow="fold")
    for name in (first, second, "difference", "p (Holm)", "n"):
        table.add_column(name, justify="right", overflow="fold")
    for line in found:
        gap = line.difference
        shown = (
            f"{line.first:.3f}",
            f"{line.second:.3f}",
            f"{gap.difference:+.3f} [{gap.low:+.2f}, {gap.high:+.2f}]",
        )
        head = (line.dataset, line.attack, *([line.system] if several else []), line.known or "nothing")
        cells = (*head, NAMES.get(line.metric, line.metric), *shown, p_text(line.p), str(gap.n))
        table.add_row(*map(Text, cells))
    out.print(table)


@app.command(name="list")
def list_(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="systems, attacks, datasets, protocols or beliefs.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what there is to compare, and what each system needs.

    Examples:

      veridical bench list

      veridical bench list systems --json
    """
    from veridical.bench.listing import listed
    from veridical.errors import InputError

    if kind is not None and kind not in KINDS:
        raise InputError(f"{kind!r} cannot be listed.", "There are: " + ", ".join(KINDS))
    found = {name: listed(name) for name in KINDS if kind in (None, name)}
    if as_json:
        print_json(found)
        return
    for name, rows in found.items():
        table = Table(title=name, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
        for column in rows[0] if rows else ():
            table.add_column(column, overflow="fold", header_style="dim")
        for row in rows:
            table.add_row(*(Text(str(value)) for value in row.values()))
        out.print(table)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that 'bench list datasets' shows.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Folder of data sets.")] = Path("data"),
    as_json: Json = False,
) -> None:
    """Bring a published data set into DATA/NAME, and check its hash.

    A file whose hash nobody has measured is pinned: later ones have to have the same.

    Example: veridical bench fetch hotpotqa data
    """
    from veridical.bench.datasets import fetch as fetching
    from veridical.cli.bench_watch import downloads
    from veridical.settings import Settings

    with downloads() as progress:
        found = fetching.fetch(name, data, offline=Settings.from_env().offline, progress=progress)
    if as_json:
        print_json(found)
        return
    for file in found:
        out.print(Text(f"{file.path} ({file.bytes / 1e6:.1f} MB, {file.how}, sha256 {file.sha256[:12]}...)"))


@app.command()
def export(
    results: Results,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go.")],
    as_json: Json = False,
) -> None:
    """Write rankings and relevance judgements in TREC format.

    Example: veridical bench export bench.db trec
    """
    from veridical.bench import trec
    from veridical.bench.rows import Results as Rows

    with Rows(results, read_only=True) as rows:
        paths = trec.export(rows, folder)
    if as_json:
        print_json({"written": [str(path) for path in paths]})
    else:
        out.print(f"{counted(len(paths), 'file')} in {folder}.")
