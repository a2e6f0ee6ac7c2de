"""The commands ``veridical models ...``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.options import KB_DEFAULT, Json, Kb
from veridical.cli.output import announce, out, print_json

if TYPE_CHECKING:
    from veridical.llm.cache import CacheReport

app = typer.Typer(help="Models that veridical fetches by name.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name that 'models list' shows.")]


@app.command(name="list")
def list_(as_json: Json = False) -> None:
    """List the models of the manifest, their licences and sizes, and whether they are here.

    Example: veridical models list
    """
    from veridical.models import ModelStore, load_manifest
    from veridical.settings import Settings

    store = ModelStore(Settings.from_env().models_dir)
    rows = [
        {
            "name": entry.name,
            "kind": entry.kind,
            "title": entry.title,
            "license": entry.license,
            "download_bytes": entry.download_bytes,
            "present": store.present(entry.name),
            "path": str(store.path(entry.name)),
        }
        for entry in load_manifest().values()
    ]
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("name", "kind", "licence", "download", "here", "what it is"):
        table.add_column(name, overflow="fold")
    for row in rows:
        size = f"{int(str(row['download_bytes'])) / 1e6:.0f} MB"
        here = "yes" if row["present"] else "no"
        cells = (row["name"], row["kind"], row["license"], size, here, row["title"])
        table.add_row(*(Text(str(cell)) for cell in cells))
    out.print(table)


@app.command()
def pull(name: Name, as_json: Json = False) -> None:
    """Fetch a model and verify its sha256.

    Example: veridical models pull minilm-l6-int8
    """
    from veridical.errors import ModelError
    from veridical.models import ModelStore
    from veridical.models.manifest import find
    from veridical.settings import Settings

    settings = Settings.from_env()
    store = ModelStore(settings.models_dir, offline=settings.offline, announce=announce)
    folder = store.resolve(name)
    wrong = store.verify(name)
    if wrong:
        raise ModelError(
            f"{folder}: {', '.join(wrong)} differ from the manifest's sha256.",
            f"Delete the folder and run 'veridical models pull {name}' again.",
        )
    if as_json:
        print_json({"name": name, "path": str(folder), "verified": find(name).verified})
    else:
        out.print(Text(f"{folder} (sha256 {'verified' if find(name).verified else 'not known'})"))


@app.command()
def path(name: Name, as_json: Json = False) -> None:
    """Print the folder of a model, whether it is there yet or not.

    Example: ls "$(veridical models path minilm-l6-int8)"
    """
    from veridical.models import ModelStore
    from veridical.settings import Settings

    folder = str(ModelStore(Settings.from_env().models_dir).path(name))
    if as_json:
        print_json({"name": name, "path": folder})
    else:
        typer.echo(folder)


@app.command()
def cache(
    kb: Kb = KB_DEFAULT,
    clear: Annotated[bool, typer.Option("--clear", help="Forget all of them.")] = False,
    as_json: Json = False,
) -> None:
    """Show what is kept of language models' replies, or forget it.

    A request that was answered before is not sent again. VERIDICAL_LLM_CACHE=0 keeps nothing, and a path
    keeps it elsewhere than in the knowledge base.

    Example: veridical models cache --clear
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        v.store  # noqa: B018 - says so where there is no knowledge base
        n_forgotten = v.forget_replies() if clear else 0
        reports = v.cached_replies()
    if as_json:
        print_json({"forgotten": n_forgotten, "caches": reports})
    elif clear:
        out.print(f"Forgot {n_forgotten:,} replies of language models.")
    else:
        for report in reports:
            out.print(Text(_described(report)))


def _described(report: CacheReport) -> str:
    if report.oldest is None:
        return f"No replies of language models are kept in {report.path}."
    day = datetime.fromtimestamp(report.oldest, UTC).date()
    money = f" and {report.money:,.2f} of money" if report.money else ""
    return (
        f"{report.n_replies:,} replies of language models in {report.path} ({report.bytes / 1e6:.1f} MB), "
        f"the first from {day}. They took {report.calls:,} calls, {report.tokens:,} tokens{money}."
    )
