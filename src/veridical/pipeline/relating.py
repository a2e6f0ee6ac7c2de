"""What documents say of one another: the evidence side by side, and which side trust favours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import sqlalchemy as sa

from veridical.answer.context import shown_trust, trust_label
from veridical.errors import InputError
from veridical.feedback import record
from veridical.graph import evidence
from veridical.graph.build import Side, kind_of, sentences_of, sides
from veridical.graph.evidence import SURE, WORTH, Item
from veridical.methods.base import Method
from veridical.nli.clashes import clashes
from veridical.stores import Store, derived, documents, schema, values
from veridical.stores.questions import LEAST_SAID
from veridical.types import Document, RelationEvidence, RelationKind, RelationView, Span

KINDS = {
    "supports": RelationKind.SUPPORTS,
    "contradicts": RelationKind.CONTRADICTS,
    "supersedes": RelationKind.SUPERSEDES,
}
_AS_GOOD = 0.05  # trusts nearer to each other than this favour neither side
_PAGE = 200  # pairs that are looked at between two looks at the database


def relations(store: Store, method: Method, ref: str, *, kind: str | None = None) -> list[RelationView]:
    """Say how a document stands to every other, what is worth most first; see `Veridical.relations`."""
    wanted = _kind(kind)
    with store.read() as connection:
        document = documents.find(connection, ref)
        items = evidence.of_document(connection, document.id)
        views = _views(connection, method, items, judged=_any_judged(connection))
    return [view for view in views if wanted is None or view.kind is wanted]


def conflicts(
    store: Store, method: Method, *, top: int = 20, source: str | None = None
) -> list[RelationView]:
    """List the surest contradictions; see `Veridical.conflicts`."""
    if not isinstance(top, int) or top < 1:
        raise InputError(f"top must be a whole number from 1 up, not {top!r}.")
    found: list[RelationView] = []
    with store.read() as connection:
        if source is not None:
            _check_source(connection, source)
        judged = _any_judged(connection)
        for left, right in _clashing(connection, source):
            items = evidence.of_document(connection, left, right)
            views = _views(connection, method, items, judged=judged)
            found += [view for view in views if view.kind is not RelationKind.SUPPORTS]
            if len(found) >= top:
                break
    return found[:top]


def advice(store: Store) -> str:
    """Say what to do where there is no relation to show."""
    with store.read() as connection:
        if not values.state(connection, "built"):
            return "This knowledge base is not built yet; run 'veridical build'."
        n_asked = connection.execute(sa.select(sa.func.count()).select_from(schema.questions)).scalar_one()
    if not n_asked:
        return (
            "Relations are surest where two documents answer the same question: ask some with "
            "'veridical ask', or give a file of them to 'veridical build --questions FILE'."
        )
    return (
        "More questions find more: 'veridical ask', or 'veridical build --questions FILE'; then build again."
    )


def _kind(name: str | None) -> RelationKind | None:
    if name is None:
        return None
    if name.lower() not in KINDS:
        raise InputError(f"{name!r} is no kind of relation.", "There are: " + ", ".join(KINDS))
    return KINDS[name.lower()]


def _check_source(connection: sa.Connection, source: str) -> None:
    column = schema.documents.c.source
    if connection.execute(sa.select(column).where(column == source).limit(1)).first():
        return
    near = connection.execute(
        sa.select(column).where(column.contains(source, autoescape=True)).distinct().order_by(column).limit(5)
    ).scalars()
    listed = ", ".join(str(name) for name in near)
    hint = f"Did you mean {listed}?" if listed and source else "'veridical trust top' lists the sources."
    raise InputError(f"No document is of a source called {source!r}.", hint)


def _clashing(connection: sa.Connection, source: str | None) -> Iterator[tuple[int, int]]:
    """Pairs of documents with evidence of a contradiction, what is worth most first, a page at a time."""
    judged, asked = schema.judgements, schema.question_pairs
    neutral = 1.0 - judged.c.entailment - judged.c.contradiction
    rows = sa.union_all(
        sa.select(
            judged.c.low_passage,
            judged.c.high_passage,
            (WORTH["inference"] * judged.c.contradiction).label("worth"),
            sa.literal(1).label("sure"),
        ).where(judged.c.contradiction > judged.c.entailment, judged.c.contradiction > neutral),
        sa.select(
            asked.c.low_passage,
            asked.c.high_passage,
            (WORTH["answers"] * asked.c.contradiction).label("worth"),
            sa.case((asked.c.contradiction >= SURE, 1), else_=0).label("sure"),
        ).where(asked.c.contradiction > asked.c.support, asked.c.contradiction >= LEAST_SAID),
    ).subquery()
    low, high = schema.passages.alias(), schema.passages.alias()
    one, other = schema.documents.alias(), schema.documents.alias()
    first = sa.case((one.c.id < other.c.id, one.c.id), else_=other.c.id)
    second = sa.case((one.c.id < other.c.id, other.c.id), else_=one.c.id)
    worth = sa.func.max(rows.c.worth)
    query = (
        sa.select(first.label("first"), second.label("second"))
        .select_from(rows)
        .join(low, low.c.id == rows.c.low_passage)
        .join(high, high.c.id == rows.c.high_passage)
        .join(one, one.c.id == low.c.document_id)
        .join(other, other.c.id == high.c.document_id)
        .where(one.c.text_hash != other.c.text_hash)
        .group_by(first, second)
        .having(sa.func.max(rows.c.sure) == 1)
        .order_by(worth.desc(), first, second)
    )
    if source is not None:
        query = query.where((one.c.source == source) | (other.c.source == source))
    page = 0
    while found := connection.execute(query.limit(_PAGE).offset(page * _PAGE)).all():
        yield from ((row.first, row.second) for row in found)
        page += 1


def _any_judged(connection: sa.Connection) -> bool:
    return any(item.state == "active" for item in record.every(connection))


def _views(
    connection: sa.Connection, method: Method, items: Sequence[Item], *, judged: bool
) -> list[RelationView]:
    """Join evidence to relations of documents, in the order of what is worth most."""
    known = sides(connection, items)
    pairs = evidence.by_documents(items, {i: side.document_id for i, side in known.items()})
    ids = sorted({i for pair in pairs for i in pair})
    found = documents.by_ids(connection, ids)
    trust = _trust(connection, method, ids)
    return [
        _view(found[left], found[right], pair, known, trust, judged=judged)
        for (left, right), pair in pairs.items()
    ]


def _trust(connection: sa.Connection, method: Method, ids: Sequence[int]) -> dict[int, float]:
    rows = derived.trust(connection, method.name, kind="document", keys=[str(i) for i in ids])
    return {int(row.key): row.trust for row in rows if row.trust is not None}


def _view(
    left: Document,
    right: Document,
    items: Sequence[Item],
    known: Mapping[int, Side],
    trust: Mapping[int, float],
    *,
    judged: bool,
) -> RelationView:
    best = items[0]
    kind, turned = kind_of(best.sign, left.date, right.date)
    head, tail = (right, left) if turned else (left, right)
    favours, verdict = None, ""
    if kind is not RelationKind.SUPPORTS:
        favours, verdict = _favours(head, tail, trust, judged=judged)
    head_trust, tail_trust = trust.get(head.id), trust.get(tail.id)
    return RelationView(
        head=head,
        tail=tail,
        kind=kind,
        weight=best.weight,
        evidence=tuple(_evidence(item, head, tail, known) for item in items),
        head_trust=head_trust,
        tail_trust=tail_trust,
        head_label=None if head_trust is None else trust_label(head_trust),
        tail_label=None if tail_trust is None else trust_label(tail_trust),
        favours=favours,
        verdict=verdict,
    )


def _favours(
    head: Document, tail: Document, trust: Mapping[int, float], *, judged: bool
) -> tuple[int | None, str]:
    """Say which side trust favours; nothing known of a document counts as one half."""
    ours, theirs = trust.get(head.id), trust.get(tail.id)
    if ours is None and theirs is None:
        return None, "nothing is known of either yet" if judged else "no feedback yet"
    shown = {d.id: "unknown" if t is None else shown_trust(t) for d, t in ((head, ours), (tail, theirs))}
    ahead, behind = head, tail
    if (0.5 if theirs is None else theirs) > (0.5 if ours is None else ours):
        ahead, behind = tail, head
    apart = abs((0.5 if ours is None else ours) - (0.5 if theirs is None else theirs))
    between = f"({shown[ahead.id]} to {shown[behind.id]})"
    if apart < _AS_GOOD:
        return None, f"trust favours neither {between}"
    return ahead.id, f"trust favours {ahead.ref} {between}"


def _evidence(item: Item, head: Document, tail: Document, known: Mapping[int, Side]) -> RelationEvidence:
    low, high = known[item.low], known[item.high]
    kind, _ = kind_of(item.sign, head.date, tail.date)
    left, right = sentences_of(item, known)
    ours, theirs = _values(item, low, high, left, right)
    sides_of = [(item.low, left, ours), (item.high, right, theirs)]
    if low.document_id != head.id:
        sides_of.reverse()
    (head_passage, head_sentence, head_values), (tail_passage, tail_sentence, tail_values) = sides_of
    origin = "inference" if item.basis == "inference" else "made" if item.asker else "asked"
    return RelationEvidence(
        kind=kind,
        weight=item.weight,
        origin=origin,  # type: ignore[arg-type]
        backend=item.backend,
        head_passage=head_passage,
        tail_passage=tail_passage,
        head_sentence=head_sentence,
        tail_sentence=tail_sentence,
        head_values=head_values,
        tail_values=tail_values,
        question=item.question,
        made_of=known[item.asker].document_id if item.asker else None,
    )


def _values(
    item: Item, low: Side, high: Side, left: Span | None, right: Span | None
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the answers, or where the sentences of a contradiction part."""
    if item.basis == "answers":
        a, b, c, d = item.places
        return tuple(s for s in (low.span(a, b),) if s), tuple(s for s in (high.span(c, d),) if s)
    if item.sign > 0 or left is None or right is None:
        return (), ()
    ours, theirs = clashes(left.text, right.text)
    return (
        tuple(Span(s.text, left.start + s.start, left.start + s.end) for s in ours),
        tuple(Span(s.text, right.start + s.start, right.start + s.end) for s in theirs),
    )
