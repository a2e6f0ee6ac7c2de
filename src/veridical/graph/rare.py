"""Passages that share something rare: a name, a number with its unit, or a date that few others hold."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from veridical.nli.align import ALIGNMENT, sentence_spans
from veridical.nli.lexicon import STOPWORDS, stem
from veridical.nli.values import Facts, facts_of
from veridical.stores import Store, schema
from veridical.stores.documents import chunks

MAX_HOLDERS = 20
"""What more passages than this hold is not rare, and joins none of them."""
N_RARE = 5
"""Partners that a passage brings, beside its nearest neighbours."""
MIN_VOTES = 0.2
KEYS_VERSION = f"1-{ALIGNMENT}"
"""Changes whenever a text could have other keys, so that those on record are read again."""

IntArray = npt.NDArray[np.int64]
_WORD = re.compile(r"[^\W\d_][\w'’-]*|\S")
_SMALL_COUNT = 12
_BATCH = 256


def fact_keys(title: str, text: str) -> IntArray:
    """Read what a passage can be looked up by.

    Parameters
    ----------
    title
        Of its document; may be empty.
    text
        The passage.

    Returns
    -------
    numpy.ndarray
        Shape (k,): hashes of its names (single words, and two in a row), its numbers to three digits by what
        they measure, and its dates; ascending, each once. Small counts are left out: everything has two.
    """
    sentences = [span.text for span in sentence_spans(text)]
    keys = _names([title, *sentences])
    for sentence in sentences:
        keys.update(_values(facts_of(sentence)))
    return np.array(sorted(_hash(key) for key in keys), dtype=np.int64)


def _hash(key: str) -> int:
    digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _names(sentences: Sequence[str]) -> set[str]:
    """Stems of capitalised words; one that only ever begins a sentence may be any word, and is left out."""
    found: set[str] = set()
    for sentence in sentences:
        previous, began = "", False
        for word in _WORD.findall(sentence):
            named = word[0].isupper() and word.lower() not in STOPWORDS
            root = stem(re.sub(r"['’]s$", "", word.lower())) if named else ""
            if root and previous:
                found.update((previous, f"{previous} {root}"))
            if root and began:
                found.add(root)
            previous, began = root, began or word[0].isalnum()
    return {f"name {name}" for name in found}


def _values(facts: Facts) -> Iterator[str]:
    for quantity in facts.quantities:
        middle = (quantity.low + quantity.high) / 2
        small = quantity.kind.startswith(("count:", "ordinal")) and abs(middle) <= _SMALL_COUNT
        if math.isfinite(middle) and not small:
            yield f"{quantity.kind} {middle:.2e}"
    for date in facts.dates:
        if date.first is not None:
            yield f"years {date.first} {date.last}"
        if date.month is not None and date.day is not None:
            yield f"day {date.first} {date.month} {date.day}"


def rare_pairs(
    ids: IntArray,
    document_of: IntArray,
    keys: Sequence[IntArray],
    *,
    text_of: IntArray | None = None,
    max_holders: int = MAX_HOLDERS,
    n_partners: int = N_RARE,
    min_votes: float = MIN_VOTES,
) -> list[tuple[int, int]]:
    """Passages of different documents that share what is rare.

    A key that h passages hold, 2 <= h <= ``max_holders``, gives each of them one vote to share out among
    the others, 1 / (h - 1) to each. A passage brings the ``n_partners`` with which it has most votes in
    common, ``min_votes`` or more, ties by lower id. Of passages with the same text only the first counts.
    Nothing else matters, so that the pairs after any changes are those of the passages that are there. Time
    and memory are linear in the number of keys.

    Parameters
    ----------
    ids, document_of
        Shape (p,): passage ids, ascending, and the document of each.
    keys
        Of each passage, as ``fact_keys`` gives them.
    text_of
        Shape (p,): a number of each passage's text, shared by equal texts. None: all differ.

    Returns
    -------
    list of tuple
        (low id, high id), ascending, each once: at most ``n_partners`` times p of them.
    """
    if text_of is not None:
        first = np.sort(np.unique(text_of, return_index=True)[1])
        ids, document_of, keys = ids[first], document_of[first], [keys[row] for row in first]
    heads, tails, votes = _shared(document_of, keys, max_holders)
    kept = votes >= min_votes
    heads, tails, votes = heads[kept], tails[kept], votes[kept]
    own = np.concatenate([heads, tails])
    other = np.concatenate([tails, heads])
    order = np.lexsort((other, -np.concatenate([votes, votes]), own))
    own, other = own[order], other[order]
    rank = np.arange(len(own)) - np.searchsorted(own, own)
    own, other = own[rank < n_partners], other[rank < n_partners]
    low, high = ids[np.minimum(own, other)], ids[np.maximum(own, other)]
    return sorted(set(zip(low.tolist(), high.tolist(), strict=True)))


def _shared(
    document_of: IntArray, keys: Sequence[IntArray], max_holders: int
) -> tuple[IntArray, IntArray, npt.NDArray[np.float64]]:
    """Rows (low, high) of passages that share a rare key, each pair once, and their votes."""
    n = len(keys)
    flat = np.concatenate(keys) if n else np.empty(0, dtype=np.int64)
    holder = np.repeat(np.arange(n), [len(own) for own in keys])
    order = np.lexsort((holder, flat))
    flat, holder = flat[order], holder[order]
    first = np.flatnonzero(np.r_[True, flat[1:] != flat[:-1]]) if len(flat) else np.empty(0, dtype=np.int64)
    held = np.diff(np.r_[first, len(flat)])
    codes: list[IntArray] = [np.empty(0, dtype=np.int64)]
    votes: list[npt.NDArray[np.float64]] = [np.empty(0)]
    for h in range(2, max_holders + 1):
        members = holder[first[held == h][:, None] + np.arange(h)]
        a, b = np.triu_indices(h, 1)
        low, high = members[:, a].ravel(), members[:, b].ravel()
        apart = document_of[low] != document_of[high]
        codes.append(low[apart] * n + high[apart])
        votes.append(np.full(int(apart.sum()), 1.0 / (h - 1)))
    pairs, place = np.unique(np.concatenate(codes), return_inverse=True)
    total = np.bincount(place, weights=np.concatenate(votes), minlength=len(pairs))
    # Sums of the same votes in another order may differ in the last digit, and ties must stay ties.
    return pairs // max(n, 1), pairs % max(n, 1), np.asarray(total.round(9), dtype=np.float64)


def stored_pairs(
    store: Store, ids: IntArray, document_of: IntArray, text_of: IntArray | None = None
) -> list[tuple[int, int]]:
    """``rare_pairs`` of passages whose keys are on record, as `refresh` puts them there."""
    with store.read() as connection:
        known = _stored(connection)
    nothing = np.empty(0, dtype=np.int64)
    return rare_pairs(ids, document_of, [known.get(int(i), nothing) for i in ids], text_of=text_of)


def refresh(store: Store, on_progress: Callable[[int], None] | None = None) -> int:
    """Read the keys of passages that have none on record; return how many there were."""
    table, passages = schema.passage_keys, schema.passages
    with store.write() as connection:
        damaged = sa.or_(sa.func.typeof(table.c.data) != "blob", sa.func.length(table.c.data) % 8 != 0)
        connection.execute(table.delete().where(sa.or_(table.c.version != KEYS_VERSION, damaged)))
    seen = sa.select(table.c.passage_id)
    with store.read() as connection:
        query = sa.select(passages.c.id).where(passages.c.id.not_in(seen)).order_by(passages.c.id)
        missing = list(connection.execute(query).scalars())
    for part in chunks(missing, _BATCH):
        with store.read() as connection:
            texts = _texts(connection, part)
        found = {i: fact_keys(title, text) for i, (title, text) in texts.items()}
        with store.write() as connection:
            _put(connection, found)
        if on_progress is not None:
            on_progress(len(part))
    return len(missing)


def _texts(connection: sa.Connection, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    passages, docs = schema.passages, schema.documents
    query = (
        sa.select(passages.c.id, docs.c.title, passages.c.text)
        .join(docs, docs.c.id == passages.c.document_id)
        .where(passages.c.id.in_(ids))
    )
    return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


def _put(connection: sa.Connection, found: Mapping[int, IntArray]) -> None:
    query = sa.select(schema.passages.c.id).where(schema.passages.c.id.in_(list(found)))
    live = set(connection.execute(query).scalars())  # some may have gone meanwhile
    rows = [
        {"passage_id": i, "version": KEYS_VERSION, "data": keys.tobytes()}
        for i, keys in found.items()
        if i in live
    ]
    if rows:
        connection.execute(schema.passage_keys.insert().prefix_with("OR REPLACE"), rows)


def _stored(connection: sa.Connection) -> dict[int, IntArray]:
    table = schema.passage_keys
    rows = connection.execute(sa.select(table.c.passage_id, table.c.data))
    return {i: np.frombuffer(data, dtype=np.int64) for i, data in rows}
