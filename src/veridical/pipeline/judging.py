"""Feedback and what follows from it: recorded, propagated and reported in one transaction."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterable
from typing import Literal

import sqlalchemy as sa

from veridical.errors import InputError
from veridical.feedback import record
from veridical.methods.base import Method
from veridical.pipeline import beliefs
from veridical.stores import Store, values
from veridical.types import Feedback, FeedbackReport

Judgement = Literal["good", "bad"] | float
Change = Callable[[sa.Connection], list[Feedback]]


def judge(
    store: Store, method: Method, ref: str, value: Judgement, *, by: str | None, note: str, weight: float
) -> FeedbackReport:
    """Record a judgement; see `Veridical.feedback`."""
    if isinstance(value, str):
        if value not in ("good", "bad"):
            raise InputError(f"{value!r} is no judgement.", "Say good, bad, or a number from 0 to 1.")
        value = 1.0 if value == "good" else 0.0
    who = by or _user()
    return revise(store, method, lambda c: record.add(c, ref, value, by=who, note=note, weight=weight))


def import_lines(store: Store, method: Method, lines: Iterable[str], *, where: str) -> FeedbackReport:
    """Record exported feedback that is new; see `Veridical.import_feedback`."""

    def add(connection: sa.Connection) -> list[Feedback]:
        before = {item.id for item in record.every(connection)}
        record.import_lines(connection, lines, where=where)
        return [item for item in record.every(connection) if item.id not in before]

    return revise(store, method, add)


def revise(store: Store, method: Method, change: Change) -> FeedbackReport:
    """Change what is on record, and bring trust up to date with it, both or neither."""
    with store.write() as connection:
        recorded = change(connection)
        if not values.state(connection, "built"):
            notes = ("It counts from the first 'veridical build' on.", *record.not_counted(recorded))
            return FeedbackReport(tuple(recorded), (), 0, False, notes)
        believed = beliefs.update_all(connection, method)
    state = believed.state
    notes = (*record.not_counted(recorded), *state.notes)
    return FeedbackReport(tuple(recorded), believed.changes, believed.n_moved, state.calibrated, notes)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without a user database
        return "anonymous"
