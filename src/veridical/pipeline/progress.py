"""How long work reports itself, without knowing who looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Protocol


class Progress(Protocol):
    """Something that shows how far a stage has come."""

    def stage(self, name: str, total: float | None, unit: str) -> None:
        """A stage begins; ``total`` in ``unit``, ``None`` where it cannot be known."""
        ...

    def advance(self, amount: float) -> None:
        """So much more of the stage is done."""
        ...

    def done(self) -> None:
        """The stage has ended."""
        ...


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: float | None, unit: str) -> None:
        """Show nothing."""

    def advance(self, amount: float) -> None:
        """Show nothing."""

    def done(self) -> None:
        """Show nothing."""


class Stages:
    """Times stages and reports them to a `Progress`."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Silent()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def run(self, name: str, total: float | None = None, unit: str = "") -> Iterator[Progress]:
        """Time a stage under its name; several runs of one name add up."""
        began = perf_counter()
        self.progress.stage(name, total, unit)
        try:
            yield self.progress
        finally:
            self.progress.done()
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began
