"""Recording feedback, and turning what counts of it into anchors.

Feedback belongs to one version of a document (its content hash), so that a trusted page cannot be edited into
a plant: after an edit the old feedback stays on record, is shown as stale, and does not count.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import sqlalchemy as sa

from veridical.corpus.readers.base import clean, clean_line
from veridical.errors import InputError, NotFoundError
from veridical.feedback.attribution import vote_weights
from veridical.graph.arrays import Anchors
from veridical.stores import answers, documents, schema
from veridical.stores.documents import inserted_id
from veridical.types import Feedback

MIN_WEIGHT, MAX_WEIGHT = 1e-6, 1e6
_FIELDS = ("key", "version", "value", "weight", "by", "note", "at", "answer_id", "candidate", "undone_at")


def check_value(value: float) -> float:
    """Return the value if it is a number in [0, 1], else raise InputError."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= value <= 1.0:
        raise InputError(f"A feedback value must be a number from 0 (bad) to 1 (good), not {_shown(value)}.")
    return float(value)


def check_weight(weight: float) -> float:
    """Return the weight if it is a number from 1e-6 to 1e6, else raise InputError."""
    if isinstance(weight, bool) or not isinstance(weight, Real) or not MIN_WEIGHT <= weight <= MAX_WEIGHT:
        raise InputError(
            f"A feedback weight must be a number from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}, not {_shown(weight)}."
        )
    return float(weight)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def add(
    connection: sa.Connection, ref: str, value: float, *, by: str, note: str, weight: float = 1.0
) -> list[Feedback]:
    """Record feedback on a document, or on an answer or a candidate and so on the documents behind it.

    Parameters
    ----------
    ref
        ``d12``, a document's key, ``a3`` (an answer) or ``a3.2`` (its second candidate).
    value
        1 good, 0 bad, or a grade between.
    weight
        How much it counts beside other feedback, from 1e-6 to 1e6. A vote on a candidate reaches each of its
        documents with this weight times the document's share, see `veridical.feedback.attribution`.

    Raises
    ------
    NotFoundError
        Nothing is called that.
    InputError
        The value or weight is out of range, or the name is malformed.
    """
    value = check_value(value)
    weight = check_weight(weight)
    by, note = clean_line(by) or "anonymous", clean(note)
    given = {"value": value, "by": by, "note": note, "at": answers.now()}
    ids = []
    for target in _targets(connection, ref, weight):
        result = connection.execute(schema.feedback.insert().values(**given, **target))
        ids.append(inserted_id(result))
    return [item for item in every(connection) if item.id in ids]


def _targets(connection: sa.Connection, ref: str, weight: float) -> list[dict[str, Any]]:
    """The versions of documents that feedback reaches, each with its weight."""
    if not answers.is_ref(ref):
        try:
            document = documents.find(connection, ref)
        except NotFoundError:
            answers.check_like_ref(ref)
            raise
        return [{"key": document.key, "version": document.version, "weight": weight}]
    voted = answers.voted_documents(connection, ref)
    versions = {key: version for key, version, _ in voted.documents}
    weights = vote_weights({key: share for key, _, share in voted.documents}, weight)
    return [
        {
            "key": key,
            "version": versions[key],
            "weight": min(max(w, MIN_WEIGHT), MAX_WEIGHT),
            "answer_id": voted.answer_id,
            "candidate": voted.candidate,
        }
        for key, w in weights.items()
    ]


def not_counted(feedback: Sequence[Feedback]) -> tuple[str, ...]:
    """Say how many of these do not count although nobody took them back."""
    n = sum(item.state in ("stale", "gone") for item in feedback)
    if not n:
        return ()
    of = "This judgement does" if n == len(feedback) == 1 else f"{n} of {len(feedback)} judgements do"
    return (f"{of} not count: the document has changed since, or is gone.",)


def undo(connection: sa.Connection, ref: str) -> list[Feedback]:
    """Take feedback back; it stays on record.

    Parameters
    ----------
    ref
        One item (``f3``), all that was given on an answer and its candidates (``a1``), or all on one of its
        candidates (``a1.2``).

    Raises
    ------
    NotFoundError
        There is no such feedback, or all of it is undone already.
    InputError
        The name is malformed.
    """
    table = schema.feedback
    voted = answers.parse(ref)
    if voted is not None:
        answer_id, candidate = voted
        chosen = table.c.answer_id == answer_id
        if candidate is not None:
            chosen = sa.and_(chosen, table.c.candidate == candidate)
    elif re.fullmatch(r"f\d{1,18}", ref.strip()):
        chosen = table.c.id == int(ref.strip()[1:])
    else:
        answers.check_like_ref(ref)
        raise NotFoundError(
            f"{ref!r} names no feedback.",
            "'veridical feedback list' prints ids such as f3; an answer is a1, a candidate a1.2.",
        )
    live = sa.and_(chosen, table.c.undone_at.is_(None))
    ids = list(connection.execute(sa.select(table.c.id).where(live)).scalars())
    if not ids:
        raise NotFoundError(
            f"There is no feedback {ref} that could be undone.",
            "'veridical feedback list' shows what there is.",
        )
    connection.execute(table.update().where(table.c.id.in_(ids)).values(undone_at=answers.now()))
    return [item for item in every(connection) if item.id in ids]


def every(connection: sa.Connection) -> list[Feedback]:
    """All feedback, oldest first, each with whether it counts now."""
    table, docs = schema.feedback, schema.documents
    query = (
        sa.select(table, docs.c.id.label("document_id"), docs.c.version.label("current"))
        .outerjoin(docs, docs.c.key == table.c.key)
        .order_by(table.c.id)
    )
    found = []
    for row in connection.execute(query).mappings():
        fields = {name: row[name] for name in ("id", *_FIELDS)}
        if row["undone_at"] is not None:
            state = "undone"
        elif row["document_id"] is None:
            state = "gone"
        else:
            state = "active" if row["current"] == row["version"] else "stale"
        found.append(Feedback(**fields, document_id=row["document_id"], state=state))  # type: ignore[arg-type]
    return found


def anchors(feedback: Sequence[Feedback], document_ids: Sequence[int]) -> Anchors:
    """Average what counts into one anchor a document.

    The value is the mean over feedback weighted by its weight; the anchor's weight is the total.

    Parameters
    ----------
    feedback
        As ``every`` returns it.
    document_ids
        The graph's documents in order; an anchor names its document by the place in it.
    """
    place = {document_id: number for number, document_id in enumerate(document_ids)}
    totals: dict[int, list[float]] = {}
    for item in feedback:
        if item.state == "active" and item.document_id in place:
            total = totals.setdefault(place[item.document_id], [0.0, 0.0])
            total[0] += item.weight
            total[1] += item.weight * item.value
    numbers = sorted(totals)
    weights = np.array([totals[n][0] for n in numbers], dtype=np.float64)
    sums = np.array([totals[n][1] for n in numbers], dtype=np.float64)
    return Anchors(np.array(numbers, dtype=np.int64), sums / weights, weights)


def export_lines(feedback: Iterable[Feedback]) -> Iterable[str]:
    """One JSON line an item, undone and stale ones included."""
    for item in feedback:
        yield json.dumps({name: getattr(item, name) for name in _FIELDS}, ensure_ascii=False)


def import_lines(connection: sa.Connection, lines: Iterable[str], *, where: str) -> tuple[int, int]:
    """Add exported feedback; what is here already is left alone.

    Returns
    -------
    (n_added, n_known)

    Raises
    ------
    InputError
        A line is not exported feedback; nothing of the file is kept, and the message names the line.
    """
    # Counted, as one person may have given the same judgement several times within a second.
    known = Counter(_identity(dict(row)) for row in connection.execute(sa.select(schema.feedback)).mappings())
    new = []
    n_known = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _parse(line, f"{where}, line {number}")
        if known[_identity(row)] > 0:
            known[_identity(row)] -= 1
            n_known += 1
        else:
            new.append(row)
    if new:
        connection.execute(schema.feedback.insert(), new)
    return len(new), n_known


def check_lines(lines: Iterable[str], *, where: str) -> None:
    """Raise as `import_lines` does if a line is not exported feedback."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            _parse(line, f"{where}, line {number}")


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("key", "version", "value", "weight", "by", "note", "at"))


def _parse(line: str, where: str) -> dict[str, Any]:
    try:
        raw = json.loads(line)
        if not isinstance(raw, dict):
            raise TypeError("it is not a JSON object")
        row = {name: raw.get(name) for name in _FIELDS}
        for name in ("key", "version", "at"):
            if not isinstance(row[name], str) or not row[name]:
                raise ValueError(f"field {name!r} is missing or no text")
        row["value"] = check_value(raw.get("value"))  # type: ignore[arg-type]
        row["weight"] = check_weight(raw.get("weight", 1.0))
        row["by"] = str(raw.get("by") or "anonymous")
        row["note"] = str(raw.get("note") or "")
        row["answer_id"] = row["candidate"] = None  # answers do not travel with feedback
        undone = raw.get("undone_at")
        row["undone_at"] = undone if isinstance(undone, str) else None
        "".join(value for value in row.values() if isinstance(value, str)).encode("utf-8")
        return row
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(
            f"{where}: {str(error).rstrip('.')}.",
            "Each line must be an object as 'veridical feedback export' writes it.",
        ) from error
