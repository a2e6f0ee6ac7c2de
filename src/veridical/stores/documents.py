"""Documents and their passages: the truth that everything else is derived from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import sqlalchemy as sa

from veridical.errors import InputError, NotFoundError
from veridical.stores import schema
from veridical.types import Document, Passage, SourceDocument, Span

Outcome = Literal["added", "replaced", "unchanged"]
_WHEREABOUTS = {"origin", "metadata"}  # a corpus that moved says what it said
_CHUNK = 500  # SQLite takes a bounded number of parameters in one statement


def index_text(title: str, text: str) -> str:
    """What the indexes see of a passage: its document's title, unless it opens with it, and its text."""
    head = title.strip()
    return text if not head or text.lstrip().startswith(head) else f"{head}\n{text}"


def text_hash(text: str) -> str:
    """Short content hash that equal texts are found by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def chunks(values: Sequence[Any], size: int = _CHUNK) -> Iterable[Sequence[Any]]:
    """Cut a sequence into runs that fit into one statement."""
    for begin in range(0, len(values), size):
        yield values[begin : begin + size]


def inserted_id(result: sa.CursorResult[Any]) -> int:
    """Id of the row that an insert made."""
    key = result.inserted_primary_key
    if key is None:
        raise LookupError("the insert made no row")
    return int(key[0])


def put(
    connection: sa.Connection, document: SourceDocument, spans: Sequence[Span], origin: str | None
) -> tuple[Outcome, int]:
    """Store a document under its key, replacing its older version.

    A passage whose text did not change keeps its id, and with it all that was derived from it. The trust of
    a changed document is dropped: what people thought of the old text says nothing of the new one.

    Returns
    -------
    (outcome, document id)
    """
    table = schema.documents
    row = connection.execute(sa.select(table).where(table.c.key == document.key)).mappings().first()
    fields: dict[str, Any] = {
        "title": document.title,
        "source": document.source,
        "url": document.url,
        "date": document.date,
        "format": document.format,
        "origin": origin,
        "metadata": dict(document.metadata),
    }
    if row is None:
        result = connection.execute(table.insert().values(key=document.key, **_content(document), **fields))
        document_id = inserted_id(result)
        _put_passages(connection, document_id, document, spans)
        return "added", document_id
    document_id = int(row["id"])
    if row["version"] == document.version:
        changed = {name for name, value in fields.items() if row[name] != value}
        if changed:
            connection.execute(table.update().where(table.c.id == document_id).values(**fields))
        return "replaced" if changed - _WHEREABOUTS else "unchanged", document_id
    connection.execute(table.update().where(table.c.id == document_id).values(**_content(document), **fields))
    _put_passages(connection, document_id, document, spans)
    trust = schema.trust
    connection.execute(trust.delete().where(trust.c.kind == "document", trust.c.key == str(document_id)))
    return "replaced", document_id


def _content(document: SourceDocument) -> dict[str, str]:
    return {
        "version": document.version,
        "text": document.text,
        "text_hash": text_hash(document.text.strip()),
    }


def _put_passages(
    connection: sa.Connection, document_id: int, document: SourceDocument, spans: Sequence[Span]
) -> None:
    table = schema.passages
    old: dict[str, list[int]] = {}
    for passage_id, digest in connection.execute(
        sa.select(table.c.id, table.c.index_hash)
        .where(table.c.document_id == document_id)
        .order_by(table.c.id)
    ):
        old.setdefault(digest, []).append(passage_id)
    new = []
    for ordinal, span in enumerate(spans):
        # Not of the index text alone: a title in front of the text can be cut off without changing that.
        digest = text_hash(f"{index_text(document.title, span.text)}\0{len(span.text)}")
        place: dict[str, Any] = {"ordinal": ordinal, "start": span.start, "end": span.end}
        place |= {"text": span.text, "text_hash": text_hash(span.text.strip())}
        if old.get(digest):
            kept = old[digest].pop(0)
            connection.execute(table.update().where(table.c.id == kept).values(**place))
        else:
            new.append({"document_id": document_id, "index_hash": digest, **place})
    gone = [passage_id for ids in old.values() for passage_id in ids]
    for part in chunks(gone):
        connection.execute(table.delete().where(table.c.id.in_(part)))
    if new:
        connection.execute(table.insert(), new)


def delete(connection: sa.Connection, document_id: int) -> None:
    """Remove a document and all that was derived from it; answers and candidates from it lose their text."""
    documents, trust, answers, used = (
        schema.documents,
        schema.trust,
        schema.answers,
        schema.answer_documents,
    )
    key = connection.execute(sa.select(documents.c.key).where(documents.c.id == document_id)).scalar_one()
    quoting = sa.select(used.c.answer_id).where(used.c.key == key, used.c.cited)
    connection.execute(
        answers.update().where(answers.c.id.in_(quoting)).values(text="(a cited document was deleted)")
    )
    candidates, behind = schema.answer_candidates, schema.candidate_documents
    given = sa.select(behind.c.answer_id, behind.c.number).where(behind.c.key == key)
    connection.execute(
        candidates.update()
        .where(sa.tuple_(candidates.c.answer_id, candidates.c.number).in_(given))
        .values(text="(a document that gave it was deleted)")
    )
    connection.execute(trust.delete().where(trust.c.kind == "document", trust.c.key == str(document_id)))
    connection.execute(documents.delete().where(documents.c.id == document_id))


_COLUMNS = (
    schema.documents.c.id,
    schema.documents.c.key,
    schema.documents.c.version,
    schema.documents.c.title,
    schema.documents.c.source,
    schema.documents.c.url,
    schema.documents.c.date,
    schema.documents.c.format,
    sa.func.length(schema.documents.c.text).label("n_chars"),
    sa.select(sa.func.count())
    .where(schema.passages.c.document_id == schema.documents.c.id)
    .scalar_subquery()
    .label("n_passages"),
)


def by_ids(connection: sa.Connection, ids: Sequence[int]) -> dict[int, Document]:
    """Documents by id; ids that do not exist are left out."""
    found = {}
    for part in chunks(list(ids)):
        query = sa.select(*_COLUMNS).where(schema.documents.c.id.in_(part))
        for row in connection.execute(query).mappings():
            found[row["id"]] = Document(**row)
    return found


def every(connection: sa.Connection) -> list[Document]:
    """All documents, by id."""
    query = sa.select(*_COLUMNS).order_by(schema.documents.c.id)
    return [Document(**row) for row in connection.execute(query).mappings()]


def find(connection: sa.Connection, ref: str) -> Document:
    """Find a document by short id (``d12``) or key; ``id:12`` is only an id, ``key:d12`` only a key.

    Raises
    ------
    NotFoundError
        There is none; the hint names near keys.
    InputError
        One document has this short id and another this key.
    """
    ref = ref.encode("utf-8", "replace").decode("utf-8")
    query = sa.select(*_COLUMNS).where(sa.or_(*_meant(ref))).order_by(schema.documents.c.id)
    found = [Document(**row) for row in connection.execute(query).mappings()]
    if len(found) > 1:
        by_key, by_id = sorted(found, key=lambda document: document.key != ref)
        raise InputError(
            f"{ref!r} is the short id of one document ({by_id.key}) and the key of another ({by_key.ref}).",
            f"Say id:{by_id.id} for the first, or key:{by_key.key} for the second.",
        )
    if found:
        return found[0]
    name = ref.rsplit("/", 1)[-1]
    near = connection.execute(
        sa.select(schema.documents.c.id, schema.documents.c.key)
        .where(schema.documents.c.key.contains(name, autoescape=True))
        .limit(5)
    ).all()
    listed = ", ".join(f"d{row.id} ({row.key})" for row in near)
    hint = f"Did you mean {listed}?" if listed and name else "'veridical trust top' and 'ask' print ids."
    raise NotFoundError(f"No document is called {ref!r} (give a short id such as d12, or its key).", hint)


def _meant(ref: str) -> list[sa.ColumnElement[bool]]:
    """What a reference may mean: a short id, a key, or either where a key looks like a short id."""
    table = schema.documents
    if ref.startswith("key:"):
        return [table.c.key == ref.removeprefix("key:")]
    if match := re.fullmatch(r"id:d?(\d{1,18})", ref.strip()):
        return [table.c.id == int(match[1])]
    match = re.fullmatch(r"d(\d{1,18})", ref.strip())
    return [table.c.key == ref, *([table.c.id == int(match[1])] if match else [])]


def text_of(connection: sa.Connection, document_id: int) -> str:
    """A document's whole text."""
    query = sa.select(schema.documents.c.text).where(schema.documents.c.id == document_id)
    return str(connection.execute(query).scalar_one())


def passages_by_ids(connection: sa.Connection, ids: Sequence[int]) -> dict[int, Passage]:
    """Passages by id; ids that no longer exist are left out, so that nothing stale is served."""
    table = schema.passages
    found = {}
    for part in chunks(list(ids)):
        query = sa.select(*_PASSAGE).where(table.c.id.in_(part))
        for row in connection.execute(query):
            found[row.id] = Passage(*row)
    return found


_PASSAGE = tuple(schema.passages.c[name] for name in ("id", "document_id", "ordinal", "start", "end", "text"))


def every_passage(connection: sa.Connection) -> list[Passage]:
    """All passages, by id."""
    query = sa.select(*_PASSAGE).order_by(schema.passages.c.id)
    return [Passage(*row) for row in connection.execute(query)]


def count(connection: sa.Connection) -> dict[str, int]:
    """How many documents, passages and sources there are."""
    documents, passages = schema.documents, schema.passages
    return {
        "documents": connection.execute(sa.select(sa.func.count()).select_from(documents)).scalar_one(),
        "passages": connection.execute(sa.select(sa.func.count()).select_from(passages)).scalar_one(),
        "sources": connection.execute(sa.select(sa.func.count(documents.c.source.distinct()))).scalar_one(),
    }
