"""Printing: tables for people, JSON for programs, progress and errors on stderr."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.text import Text

from veridical.errors import InputError, VeridicalError
from veridical.types import plain

# What could steer a terminal, show text in another order than it has, or hide in it. Line ends and tabs are
# left, and the joiners U+200C and U+200D, which scripts need.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


class _PlainConsole(Console):
    """A console on which text is text: no markup, no emoji codes, no control characters from documents."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or not _STEERING.search(segment.text):
                yield segment
            else:
                yield segment._replace(text=_STEERING.sub("", segment.text))


out = _PlainConsole(highlight=False, markup=False, emoji=False)
err = _PlainConsole(stderr=True, highlight=False, markup=False, emoji=False)

LABEL_STYLE = {"HIGH": "bold green", "MEDIUM": "yellow", "LOW": "bold red", None: "dim"}
_SHOW_AFTER_S = 0.4


def export_lines(lines: Sequence[str], file: Path | None, *, as_json: bool, key: str, said: str) -> None:
    """Write JSON lines to a file and say so, or to stdout (as one list with ``as_json``).

    Parameters
    ----------
    lines
        Without line ends.
    key
        What their number is called in JSON.
    said
        How many of what they are, for people.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    ended = [line + "\n" for line in lines]
    if file is None:
        if as_json:
            print_json([json.loads(line) for line in ended])
        else:
            sys.stdout.writelines(ended)
        return
    try:
        file.write_text("".join(ended), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from error
    if as_json:
        print_json({"path": str(file), key: len(ended)})
    else:
        out.print(f"{said} in {file}.")


def counted(n: int, what: str) -> str:
    """Write a number with its noun, as in ``1 question`` and ``1,200 questions``."""
    return f"{n:,} {what if n == 1 else what + 's'}"


def print_json(value: Any) -> None:
    """Print a record, or anything made of records, as JSON on stdout."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.write(_STEERING.sub(_json_escape, text) + "\n")


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def harden_streams() -> None:
    """Let what the terminal's encoding lacks be shown as an escape rather than stop the command."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def print_error(error: VeridicalError) -> None:
    """Say what is wrong and what to do, on stderr."""
    err.print(Text.assemble(("error: ", "bold red"), error.message))
    if error.hint:
        err.print(Text(error.hint, style="dim"))


def announce(line: str) -> None:
    """Tell the user of a download before it begins."""
    err.print(Text(line, style="cyan"))


def trust_text(trust: float | None, label: str | None) -> Text:
    """Trust with its label, in the label's colour."""
    if trust is None:
        return Text("unknown", style="dim")
    from veridical.answer.context import shown_trust

    return Text(f"{shown_trust(trust)} {label}", style=LABEL_STYLE.get(label, ""))


class Bars:
    """Progress bars with the time left, on stderr; nothing where stderr is no terminal, or for short work."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._name = ""
        self._total: float | None = None
        self._done = 0.0
        self._began = 0.0

    def stage(self, name: str, total: float | None, unit: str) -> None:
        """Begin a stage; its bar appears once it has taken a moment."""
        del unit
        self._name, self._total, self._done = name, total, 0.0
        self._began = time.monotonic()
        self._progress = self._task = None
        if total is None and err.is_terminal:
            self._open()

    def advance(self, amount: float) -> None:
        """Move the bar."""
        self._done += amount
        if self._progress is None:
            if not err.is_terminal or time.monotonic() - self._began < _SHOW_AFTER_S:
                return
            self._open()
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=self._done)

    def done(self) -> None:
        """End the stage and leave its last line."""
        if self._progress is not None:
            if self._task is not None and self._total:
                self._progress.update(self._task, completed=self._total)
            self._progress.stop()
        self._progress = None

    def _open(self) -> None:
        columns = [SpinnerColumn(), TextColumn("{task.description:<14}")]
        if self._total is not None:
            columns += [BarColumn(), MofNCompleteColumn()]
        columns += [TimeElapsedColumn()]
        if self._total is not None:
            columns += [TextColumn("left"), TimeRemainingColumn()]
        self._progress = Progress(*columns, console=err, transient=False)
        self._task = self._progress.add_task(self._name, total=self._total)
        self._progress.start()
