"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Kb = Annotated[
    Path, typer.Option("--kb", metavar="PATH", help="Folder of the knowledge base.", show_default=True)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Method: veridical, trustprop or reliable. Default: the knowledge base's own."
    ),
]
By = Annotated[str | None, typer.Option(metavar="WHO", help="Who judges. Default: the user of this machine.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the feedback.")]
REFERENCE = "A short id (d12) or a key; id:12 and key:d12 say which of them is meant"
KB_DEFAULT = Path(".veridical")
