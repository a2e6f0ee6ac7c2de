"""Dense retrieval: exact cosine search over unit vectors, by NumPy up to a size and by usearch above it."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.errors import MissingExtraError
from veridical.stores import Store, derived, values

EXACT_LIMIT = 200_000
Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


class DenseIndex:
    """Vectors in memory (or mapped from a file), searched exactly.

    Parameters
    ----------
    ids
        Shape (p,): passage ids, ascending.
    vectors
        Shape (p, d): unit rows.
    """

    def __init__(self, ids: IntArray, vectors: Float32Array, ann: Any = None) -> None:
        self.ids = ids
        self.vectors = vectors
        self._ann = ann

    def __len__(self) -> int:
        return len(self.ids)

    def search(self, vector: Float32Array, top_k: int) -> list[tuple[int, float]]:
        """Return at most ``top_k`` (passage id, cosine) pairs, best first; ties by lower id."""
        if not len(self.ids) or top_k < 1:
            return []
        if self._ann is not None:
            found = self._ann.search(vector, top_k)
            pairs = [
                (int(key), 1.0 - float(gap)) for key, gap in zip(found.keys, found.distances, strict=True)
            ]
            return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
        cosines = self.vectors @ vector
        return [(int(self.ids[row]), float(cosines[row])) for row in top_rows(cosines, top_k)]

    def cosines(self, passage_ids: list[int], vector: Float32Array) -> dict[int, float]:
        """Cosine of the question with each passage that has a vector."""
        rows = np.searchsorted(self.ids, passage_ids)
        inside = rows < len(self.ids)
        rows = np.where(inside, rows, 0)
        wanted = np.array(passage_ids, dtype=np.int64)
        good = inside & (self.ids[rows] == wanted) if len(self.ids) else np.zeros(len(wanted), dtype=bool)
        found = self.vectors[rows[good]] @ vector
        return {int(i): float(c) for i, c in zip(wanted[good], found, strict=True)}


def top_rows(numbers: npt.NDArray[Any], top_k: int) -> IntArray:
    """Rows of the ``top_k`` largest numbers, largest first, ties by lower row."""
    n = len(numbers)
    if top_k < n:
        threshold = np.partition(numbers, n - top_k)[n - top_k]
        rows = np.flatnonzero(numbers >= threshold)
    else:
        rows = np.arange(n)
    return np.asarray(rows[np.lexsort((rows, -numbers[rows]))][:top_k], dtype=np.int64)


def rebuild(store: Store, encoder: str) -> int:
    """Write the vectors of the store as a new index and put it in force; return how many there are.

    The new files are complete before the store points at them, and the old ones go afterwards, so that a
    reader always finds one whole index.
    """
    with store.read() as connection:
        ids, vectors = derived.all_vectors(connection, encoder)
        old = values.state(connection, "dense")
    stamp = f"dense-{encoder}-{uuid.uuid4().hex[:12]}"
    folder = store.index_folder / stamp
    folder.mkdir(parents=True)
    np.save(folder / "ids.npy", ids)
    np.save(folder / "vectors.npy", vectors)
    if len(ids) > EXACT_LIMIT:
        _build_ann(ids, vectors, folder / "vectors.usearch")
    with store.write() as connection:
        values.set_state(connection, "dense", stamp)
    for path in store.index_folder.glob("dense-*"):
        if path.name not in (stamp, old):
            shutil.rmtree(path, ignore_errors=True)
    return len(ids)


def stamp_in_force(store: Store) -> str:
    """Name of the index that the store points at; empty before the first build."""
    with store.read() as connection:
        return values.state(connection, "dense")


def open_index(store: Store, stamp: str) -> DenseIndex | None:
    """Open the dense index of that name, or ``None`` if it is not there."""
    folder = store.index_folder / stamp
    try:
        ids = np.load(folder / "ids.npy")
        vectors = np.load(folder / "vectors.npy", mmap_mode="r" if len(ids) > EXACT_LIMIT else None)
    except (OSError, ValueError):
        return None
    ann = _open_ann(folder / "vectors.usearch", vectors.shape[1]) if len(ids) > EXACT_LIMIT else None
    return DenseIndex(ids, vectors, ann)


def _usearch(dimensions: int) -> Any:
    try:
        from usearch.index import Index
    except ImportError as error:
        raise MissingExtraError("ann", f"Dense retrieval over more than {EXACT_LIMIT:,} passages") from error
    return Index(ndim=dimensions, metric="cos", dtype="f16")


def _build_ann(ids: IntArray, vectors: Float32Array, path: Path) -> None:
    index = _usearch(vectors.shape[1])
    index.add(ids.astype(np.uint64), vectors)
    index.save(str(path))


def _open_ann(path: Path, dimensions: int) -> Any:
    index = _usearch(dimensions)
    index.view(str(path))
    return index
