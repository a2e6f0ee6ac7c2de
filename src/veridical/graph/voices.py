"""Which documents are one voice: signatures of texts, and groups of near-duplicates, kept up to date.

A text has one signature, whatever document it is in. Groups are found once a build, as that looks at all of
them; what goes between two builds only takes members from a group.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np
import sqlalchemy as sa

from veridical.corpus.dedupe import N_PERMUTATIONS, Signature, groups_of_signatures, signature
from veridical.graph.arrays import IntArray
from veridical.stores import Store, schema, values
from veridical.stores.documents import chunks

_STATE = "voices"
_BATCH = 200
_HEADER = 20  # bytes: what text it is of, and by which version of `signature`
_PROBE = "On 3 May 1932 the probe was not sent to Ada, who had asked for it twice in the same week."


def update(store: Store, on_progress: Callable[[int], None] | None = None) -> None:
    """Give every document the signature of its text, and find near-duplicates anew if a text came or went."""
    with store.read() as connection:
        todo = _behind(connection)
    for part in chunks(todo, _BATCH):
        with store.write() as connection:
            _put(connection, part)
        if on_progress is not None:
            on_progress(len(part))
    with store.read() as connection:
        found = _signatures(connection)
        known, _ = _stored(connection)
    stamp = _stamp(found)
    if stamp == known:
        return
    texts = sorted(found)
    groups = _groups(texts, [found[text] for text in texts])
    with store.write() as connection:
        values.set_state(connection, _STATE, json.dumps({"stamp": stamp, "groups": groups}))


def n_behind(store: Store) -> int:
    """How many documents have no signature of the text that they have now."""
    with store.read() as connection:
        return len(_behind(connection))


def _behind(connection: sa.Connection) -> list[int]:
    docs, table = schema.documents, schema.signatures
    query = (
        sa.select(docs.c.id, docs.c.text_hash, sa.func.substr(table.c.data, 1, _HEADER).label("header"))
        .outerjoin(table, table.c.document_id == docs.c.id)
        .order_by(docs.c.id)
    )
    return [row.id for row in connection.execute(query) if row.header != _header(row.text_hash)]


def voices(connection: sa.Connection, text_hashes: Sequence[str]) -> IntArray:
    """Number the voice of each document.

    Parameters
    ----------
    connection
        Where the groups that the last build found are.
    text_hashes
        Of all documents, in the graph's order.

    Returns
    -------
    numpy.ndarray
        Shape (n_documents,), from 0 in order of first documents: shared by near-duplicates.
    """
    _, groups = _stored(connection)
    live = set(text_hashes)
    voice: dict[str, str] = {}
    for members in groups:
        left = [text for text in members if text in live]
        parts = [left]
        if 1 < len(left) < len(members):  # what held them together may have gone
            found = _signatures(connection, left)
            texts = sorted(found)
            parts = _groups(texts, [found[text] for text in texts])
        for part in parts:
            voice.update(dict.fromkeys(part, part[0] if part else ""))
    numbers: dict[str, int] = {}
    named = [voice.get(text, text) for text in text_hashes]
    return np.array([numbers.setdefault(name, len(numbers)) for name in named], dtype=np.int64)


def _groups(texts: Sequence[str], rows: Sequence[Signature]) -> list[list[str]]:
    """Return the groups of more than one text."""
    if len(texts) < 2:
        return []
    members: dict[int, list[str]] = {}
    for text, group in zip(texts, groups_of_signatures(np.stack(rows)), strict=True):
        members.setdefault(group, []).append(text)
    return sorted(part for part in members.values() if len(part) > 1)


def _put(connection: sa.Connection, document_ids: Sequence[int]) -> None:
    docs, table = schema.documents, schema.signatures
    query = sa.select(docs.c.id, docs.c.text, docs.c.text_hash).where(docs.c.id.in_(document_ids))
    rows = [
        {"document_id": row.id, "data": _header(row.text_hash) + signature(row.text).tobytes()}
        for row in connection.execute(query)
    ]
    if rows:
        connection.execute(table.insert().prefix_with("OR REPLACE"), rows)


def _signatures(connection: sa.Connection, texts: Iterable[str] | None = None) -> dict[str, Signature]:
    """Signatures by text hash, those of texts that are there no more left out; of all texts or of some."""
    docs, table = schema.documents, schema.signatures
    query = sa.select(docs.c.text_hash, table.c.data).join(docs, docs.c.id == table.c.document_id)
    parts: list[sa.Select[tuple[str, bytes]]] = [query]
    if texts is not None:
        parts = [query.where(docs.c.text_hash.in_(part)) for part in chunks(list(texts))]
    size = _HEADER + 4 * (N_PERMUTATIONS + 1)
    return {
        row.text_hash: np.frombuffer(row.data, dtype=np.uint32, offset=_HEADER)
        for part in parts
        for row in connection.execute(part)
        if len(row.data) == size and row.data[:_HEADER] == _header(row.text_hash)
    }


def _stored(connection: sa.Connection) -> tuple[str, list[list[str]]]:
    kept = json.loads(values.state(connection, _STATE, "{}"))
    return kept.get("stamp", ""), kept.get("groups", [])


def _stamp(found: Mapping[str, Signature]) -> str:
    digest = hashlib.sha256(str(_version()).encode())
    for text in sorted(found):
        digest.update(text.encode())
    return digest.hexdigest()


def _header(text_hash: str) -> bytes:
    return bytes.fromhex(text_hash) + _version().to_bytes(4, "big")


@cache
def _version() -> int:
    """A number that changes when signatures do."""
    return zlib.crc32(signature(_PROBE).tobytes())
