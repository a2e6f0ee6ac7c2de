"""The command tree, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from veridical import __version__
from veridical.cli import bench, demo, documents, feedback, log, models, output, questions, relations, trust
from veridical.errors import VeridicalError

INTERRUPTED = 130

app = typer.Typer(
    name="veridical",
    help="Question answering over documents that learns which of them to trust.\n\n"
    "Start with: veridical ingest PATH..., veridical build, veridical ask QUESTION.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"veridical {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    del version


documents.register(app)
questions.register(app)
app.add_typer(log.app, name="questions")
app.add_typer(feedback.app, name="feedback")
app.add_typer(trust.app, name="trust")
app.add_typer(models.app, name="models")
app.add_typer(bench.app, name="bench")
relations.register(app)
demo.register(app)


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Exit codes: 0 done; 1 something was found wrong; 2 bad input; 3 a file cannot be read; 4 the knowledge
    base cannot be opened; 5 it is busy; 6 a model cannot be had; 7 the language model failed; 8 no solution;
    130 stopped by the user.
    """
    output.harden_streams()
    try:
        code: Any = app(args=arguments, prog_name="veridical", standalone_mode=False)
        sys.stdout.flush()
    except VeridicalError as error:
        output.print_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:
        code = _usage(error)
    if code == INTERRUPTED:
        output.err.print("\nStopped. Nothing is lost: run the same command again to go on.")
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Exception) -> int:
    """Show a usage error as the parser means it; let anything else go on as the bug that it is."""
    show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
    if type(error).__name__ == "Abort":
        return INTERRUPTED
    if show is None or code is None:
        raise error
    show()
    return int(code)
