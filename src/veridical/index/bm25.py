"""BM25 over passages, kept by tantivy in a folder that follows the store.

The store is the truth: ``sync`` brings the index to what the store holds, whatever state an interrupted run
left it in. tantivy commits atomically, and the index itself is asked what it holds, so that no second record
of it can differ.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from veridical.errors import StoreError
from veridical.stores import Store, schema
from veridical.stores.documents import chunks, index_text

_FORMAT = "bm25-1"
_WRITER_BYTES = 64_000_000
_MAX_QUERY_TERMS = 256


def _analyzer() -> Any:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(64),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


class LexicalIndex:
    """BM25 (k1=1.2, b=0.75) over title and text, lower-cased, accents folded, English stems.

    Parameters
    ----------
    folder
        Where the index lives; made when missing. ``None`` keeps it in memory.

    Raises
    ------
    StoreError
        The index is damaged.
    """

    def __init__(self, folder: Path | None) -> None:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("passage", stored=True, indexed=True, fast=True)
        builder.add_text_field("body", tokenizer_name="veridical")
        self._schema = builder.build()
        self._analyzer = _analyzer()
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, path=None if folder is None else str(folder))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"The BM25 index in {folder} cannot be opened: {error}.",
                "If it is damaged, 'veridical build' makes it again. Is the disk full or read-only?",
            ) from error
        self._folder = folder
        self._index.register_tokenizer("veridical", self._analyzer)

    def update(self, add: Sequence[tuple[int, str]], remove: Sequence[int] = ()) -> None:
        """Add (passage id, text) pairs and remove ids, in one atomic commit. Adding twice is harmless.

        Raises
        ------
        StoreError
            It cannot be written.
        """
        try:
            self._update(add, remove)
        except (OSError, ValueError) as error:
            raise StoreError(
                f"The BM25 index in {self._folder} cannot be written: {error}.",
                "Is the disk full or read-only? What was ingested is kept; run this again after.",
            ) from error
        self._index.reload()

    def _update(self, add: Sequence[tuple[int, str]], remove: Sequence[int]) -> None:
        import tantivy

        writer = self._index.writer(heap_size=_WRITER_BYTES, num_threads=1)
        try:
            for passage_id in [*remove, *(passage_id for passage_id, _ in add)]:
                writer.delete_documents_by_term("passage", passage_id)
            for passage_id, text in add:
                writer.add_document(tantivy.Document(passage=passage_id, body=text))
            writer.commit()
        finally:
            writer.wait_merging_threads()

    def search(self, question: str, top_k: int) -> list[tuple[int, float]]:
        """Return at most ``top_k`` (passage id, BM25) pairs, best first; ties by lower id."""
        import tantivy

        readable = question.encode("utf-8", "replace").decode("utf-8")  # lone surrogates are no text
        terms = list(dict.fromkeys(self._analyzer.analyze(readable)))[:_MAX_QUERY_TERMS]
        with suppress(ValueError):  # being made again at this moment: what is open still serves
            self._index.reload()
        searcher = self._index.searcher()
        if not terms or searcher.num_docs == 0 or top_k < 1:
            return []
        query = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "body", term)) for term in terms]
        )
        found = searcher.search(query, top_k).hits
        ids = searcher.fast_field_values("passage", [address for _, address in found])
        pairs = [(int(row), float(value)) for row, (value, _) in zip(ids, found, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    def ids(self) -> set[int]:
        """The passages that the index holds."""
        import tantivy

        searcher = self._index.searcher()
        if searcher.num_docs == 0:
            return set()
        found = searcher.search(tantivy.Query.all_query(), searcher.num_docs).hits
        return set(searcher.fast_field_values("passage", [address for _, address in found]))


def exists(store: Store) -> bool:
    """Whether the store has a BM25 index."""
    return (store.index_folder / _FORMAT / "meta.json").is_file()


def open_index(store: Store) -> LexicalIndex:
    """Open the store's BM25 index as it is now."""
    folder = store.index_folder / _FORMAT
    if not store.read_only:
        return LexicalIndex(folder)
    # tantivy locks an index to read it, so what cannot be written is seen from a folder that can be.
    scratch = tempfile.TemporaryDirectory(prefix="veridical-", ignore_cleanup_errors=True)
    for path in folder.iterdir():
        if path.suffix != ".lock":
            (Path(scratch.name) / path.name).symlink_to(path.absolute())
    index = LexicalIndex(Path(scratch.name))
    weakref.finalize(index, scratch.cleanup)
    return index


def sync(store: Store, *, on_progress: Callable[[int], None] | None = None, batch_size: int = 5000) -> int:
    """Bring the index to what the store holds; return the number of passages added or removed.

    Called only under the store's exclusive lock.
    """
    folder = store.index_folder / _FORMAT
    held = indexed_ids(store)
    if not held:
        shutil.rmtree(folder, ignore_errors=True)  # there may be remains of a damaged one
    missing, extra = _difference(store, held)
    if not missing and not extra:
        return 0
    index = LexicalIndex(folder)
    steps = [*chunks(missing, batch_size)] or [[]]
    for number, part in enumerate(steps):
        with store.read() as connection:
            texts = _texts(connection, part)
        index.update(texts, extra if number == 0 else [])
        if on_progress is not None:
            on_progress(len(texts))
    return len(missing) + len(extra)


def indexed_ids(store: Store) -> set[int]:
    """Passages that the index holds; none if it is missing or damaged."""
    if not exists(store):
        return set()
    try:
        return open_index(store).ids()
    except (StoreError, ValueError, OSError):
        return set()


def n_behind(store: Store) -> int:
    """How many passages the index still has to add or remove."""
    missing, extra = _difference(store, indexed_ids(store))
    return len(missing) + len(extra)


def _difference(store: Store, held: set[int]) -> tuple[list[int], list[int]]:
    with store.read() as connection:
        stored = set(connection.execute(sa.select(schema.passages.c.id)).scalars())
    return sorted(stored - held), sorted(held - stored)


def _texts(connection: sa.Connection, ids: Sequence[int]) -> list[tuple[int, str]]:
    passages, documents = schema.passages, schema.documents
    found = []
    for part in chunks(ids):
        query = (
            sa.select(passages.c.id, documents.c.title, passages.c.text)
            .join(documents, documents.c.id == passages.c.document_id)
            .where(passages.c.id.in_(part))
            .order_by(passages.c.id)
        )
        found += [(row.id, index_text(row.title, row.text)) for row in connection.execute(query)]
    return found
