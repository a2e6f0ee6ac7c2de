"""Progress of a comparison on stderr: bars on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from veridical.cli.output import err
from veridical.types import Usage

if TYPE_CHECKING:
    from veridical.bench.rows import Row

_EVERY_S = 30.0


class BenchWatch:
    """Shows rows done and left, the time that is left, and what was spent so far.

    Time is told by the new rows alone, so that what was there before makes no promise.
    """

    def __init__(self) -> None:
        self._n_rows = self._n_known = self._n_new = self._n_failed = 0
        self._began = self._told = time.monotonic()
        self._spent = Usage()
        self._progress: Progress | None = None
        self._rows: TaskID | None = None

    def plan(self, n_rows: int, n_known: int) -> None:
        """Say how much there is to do."""
        self._n_rows, self._n_known = n_rows, n_known
        self._began = time.monotonic()
        if not err.is_terminal:
            self.say(f"{n_rows:,} answers, {n_known:,} of them there from before.")
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._progress = Progress(*columns, console=err)
        self._progress.start()
        self._rows = self._progress.add_task("answers", total=n_rows, completed=n_known, left="")

    def stage(self, title: str, total: int | None) -> Callable[[int], None]:
        """Begin something that is done once for many rows."""
        if self._progress is None:
            return lambda _: None
        for task in self._progress.task_ids:
            if task != self._rows:
                self._progress.remove_task(task)
        stage = self._progress.add_task(title, total=total, left="")
        progress = self._progress

        def advance(amount: int) -> None:
            progress.advance(stage, amount)

        return advance

    def row(self, row: Row, spent: Usage) -> None:
        """Take note of a new row."""
        self._n_new += 1
        self._n_failed += row.failed
        self._spent = spent
        if self._progress is not None and self._rows is not None:
            self._progress.update(self._rows, advance=1, left=self._left())
        elif time.monotonic() - self._told > _EVERY_S:
            done = self._n_known + self._n_new
            self.say(f"{done:,} of {self._n_rows:,} answers; {self._left()}.")
            self._told = time.monotonic()

    def say(self, line: str) -> None:
        """Print a line."""
        err.print(Text(line, style="dim"))

    def close(self) -> None:
        """Leave the last state on the screen."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def _left(self) -> str:
        seconds = time.monotonic() - self._began
        n_left = self._n_rows - self._n_known - self._n_new
        parts = [f"{duration(n_left * seconds / self._n_new)} left" if self._n_new else ""]
        if self._spent.calls:
            tokens = self._spent.prompt_tokens + self._spent.completion_tokens
            parts.append(f"{self._spent.calls:,} calls, {tokens:,} tokens")
        if self._spent.money:
            parts.append(f"{self._spent.money:.2f} spent")
        if self._n_failed:
            parts.append(f"{self._n_failed} failed")
        return ", ".join(part for part in parts if part)


@contextmanager
def downloads() -> Iterator[Callable[[str, int | None], Callable[[int], None]]]:
    """Show downloads with the time that is left, on a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress:

        def begin(title: str, total: int | None) -> Callable[[int], None]:
            task = progress.add_task(title, total=total)
            return lambda amount: progress.advance(task, amount)

        yield begin


def duration(seconds: float) -> str:
    """Write a time in its largest fitting unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
