"""What calls to language models cost, counted by stage, for a whole process or for one question."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from veridical.types import Usage

UNNAMED = "other"
"""The stage of a call that was made within none."""

_STAGE: ContextVar[str] = ContextVar("veridical_llm_stage", default=UNNAMED)
_METERS: ContextVar[tuple[Meter, ...]] = ContextVar("veridical_llm_meters", default=())


class Meter:
    """Adds up usage by stage, from any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stages: dict[str, Usage] = {}
        self._notes: dict[str, None] = {}

    def add(self, stage: str, usage: Usage, notes: Iterable[str] = ()) -> None:
        """Count a call, and keep what there is to say about it, each note once."""
        with self._lock:
            self._stages[stage] = self._stages.get(stage, Usage()) + usage
            self._notes.update(dict.fromkeys(notes))

    def by_stage(self) -> dict[str, Usage]:
        """What was used so far, by stage, in the order in which they began."""
        with self._lock:
            return dict(self._stages)

    @property
    def total(self) -> Usage:
        """The sum over the stages."""
        return sum(self.by_stage().values(), Usage())

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong around the calls without costing an answer, such as a cache that is damaged."""
        with self._lock:
            return tuple(self._notes)


@contextmanager
def measure() -> Iterator[Meter]:
    """Count what the calls inside cost, of every managed language model.

    Two measurements at once in two threads do not mix, and one inside another is counted by both. Threads
    started inside belong to it if they run in a copy of the context, as those of the managed model do.
    """
    meter = Meter()
    token = _METERS.set((*_METERS.get(), meter))
    try:
        yield meter
    finally:
        _METERS.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Count the calls inside under a name."""
    token = _STAGE.set(name)
    try:
        yield
    finally:
        _STAGE.reset(token)


def record(usage: Usage, notes: Iterable[str] = (), *, own: Meter) -> None:
    """Count a call in a meter of its own and in all those that are measuring here."""
    for meter in (own, *_METERS.get()):
        meter.add(_STAGE.get(), usage, notes)
