"""From what the store knows to trust: solve, record, and say what moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from veridical import registry
from veridical.feedback import record
from veridical.graph.arrays import FloatArray
from veridical.graph.build import LoadedGraph, load_graph
from veridical.methods.base import Method, TrustState
from veridical.stores import derived, documents, values
from veridical.stores.derived import NodeTrust
from veridical.trust.calibrate import MIN_JUDGED
from veridical.types import NodeKind, TrustChange

_MOVED = 0.005  # half a step of the two decimals that are shown
_BEHIND = "beliefs_behind"


def method_named(name: str) -> Method:
    """Return a new instance of a method.

    Raises
    ------
    InputError
        There is no such method; the hint lists those there are.
    """
    method: Method = registry.load("methods", name)()
    return method


@dataclass(frozen=True)
class Beliefs:
    """A method's state with the graph that it is about."""

    loaded: LoadedGraph
    state: TrustState
    changes: tuple[TrustChange, ...]
    n_moved: int


def solve(
    connection: sa.Connection, method: Method, loaded: LoadedGraph | None = None
) -> tuple[LoadedGraph, TrustState]:
    """Solve for trust from the store as it is, warm-started from what is on record."""
    loaded = loaded or load_graph(connection)
    anchors = record.anchors(record.every(connection), loaded.document_ids)
    return loaded, method.believe(loaded.graph, anchors, warm_start=_warm_start(connection, method, loaded))


def update(connection: sa.Connection, method: Method, loaded: LoadedGraph | None = None) -> Beliefs:
    """Solve for trust and put it on record; must run in a write transaction.

    Returns
    -------
    Beliefs
        With the nodes that moved by more than rounding, largest first.
    """
    before = {(row.kind, row.key): row.trust for row in derived.trust(connection, method.name)}
    loaded, state = solve(connection, method, loaded)
    rows = [
        NodeTrust(node.kind, node.key, float(raw), None if math.isnan(trust) else float(trust))
        for node, raw, trust in zip(loaded.graph.nodes, state.raw, state.trust, strict=True)
        if not math.isnan(raw)
    ]
    derived.put_trust(connection, method.name, rows)
    values.set_state(connection, f"calibrated:{method.name}", "yes" if state.calibrated else "no")
    values.set_state(connection, f"neutral:{method.name}", "yes" if state.neutral else "no")
    moved = [
        (row.kind, row.key, before.get((row.kind, row.key)), row.trust)
        for row in rows
        if _distance(before.get((row.kind, row.key)), row.trust) >= _MOVED
    ]
    moved.sort(key=lambda item: -_distance(item[2], item[3]))
    return Beliefs(loaded, state, _named(connection, moved[:50]), len(moved))


def update_all(connection: sa.Connection, first: Method) -> Beliefs:
    """Update a method's beliefs, and drop those of others, which are solved again when they are asked for."""
    beliefs = update(connection, first)
    values.set_state(connection, _BEHIND, "")
    for name in derived.methods_with_trust(connection):
        if name != first.name:
            derived.put_trust(connection, name, [])
    return beliefs


def uncalibrated_note(connection: sa.Connection, method: str) -> str:
    """What to say of trust that is not calibrated; empty where it is, or where there is none."""
    if values.state(connection, f"calibrated:{method}") != "no":
        return ""
    n_judged = len({item.document_id for item in record.every(connection) if item.state == "active"})
    if not n_judged:
        return ""
    if n_judged >= MIN_JUDGED:
        return f"Trust is uncalibrated: method {method} does not do so, or the judged are copies of a few."
    judged = "1 document has" if n_judged == 1 else f"{n_judged} documents have"
    return f"Trust is uncalibrated: {judged} been judged, {MIN_JUDGED} are needed."


def mark_behind(connection: sa.Connection) -> None:
    """Note, in its transaction, that documents have changed, so that a stop before `refresh` is made good."""
    values.set_state(connection, _BEHIND, "yes")


def refresh(connection: sa.Connection, first: Method) -> None:
    """Update all beliefs if documents have changed since; not before the first build."""
    if values.state(connection, "built") and values.state(connection, _BEHIND):
        update_all(connection, first)


def _distance(before: float | None, after: float | None) -> float:
    # Unknown ranks as one half.
    return abs((0.5 if after is None else after) - (0.5 if before is None else before))


def _named(
    connection: sa.Connection, moved: Sequence[tuple[NodeKind, str, float | None, float | None]]
) -> tuple[TrustChange, ...]:
    ids = [int(key) for kind, key, _, _ in moved if kind == "document"]
    found = documents.by_ids(connection, ids)
    changes = []
    for kind, key, before, after in moved:
        if kind == "document":
            document = found[int(key)]
            changes.append(
                TrustChange("document", document.ref, document.title or document.key, before, after)
            )
        else:
            changes.append(TrustChange("source", key, key, before, after))
    return tuple(changes)


def _warm_start(connection: sa.Connection, method: Method, loaded: LoadedGraph) -> FloatArray | None:
    known = {(row.kind, row.key): row.raw for row in derived.trust(connection, method.name)}
    if not known:
        return None
    return np.array([known.get((node.kind, node.key), 0.5) for node in loaded.graph.nodes])
