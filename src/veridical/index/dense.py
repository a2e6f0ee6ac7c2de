"""Dense retrieval: exact cosine search over unit vectors, by NumPy up to a size and by usearch above it."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt

from veridical.errors import MissingExtraError, StoreError
from veridical.stores import Store, derived, values

EXACT_LIMIT = 200_000
_SUMS = "sums.json"  # the shape of the vectors, and what each file of an index hashes to
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
            found = self.cosines([int(key) for key in self._ann.search(vector, top_k).keys], vector)
            return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        cosines = self.vectors @ vector
        return [(int(self.ids[row]), float(cosines[row])) for row in top_rows(cosines, top_k)]

    def cosines(self, passage_ids: list[int], vector: Float32Array) -> dict[int, float]:
        """Cosine of the question with each passage that has a vector."""
        if not len(self.ids):
            return {}
        wanted = np.array(passage_ids, dtype=np.int64)
        rows = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        good = self.ids[rows] == wanted
        found = self.vectors[rows[good]] @ vector
        return {int(i): float(c) for i, c in zip(wanted[good], found, strict=True)}

    def rows(self, passage_ids: Sequence[int]) -> Float32Array:
        """Vector of each passage, shape (len(passage_ids), d); NaN where there is none."""
        wanted = np.array(passage_ids, dtype=np.int64)
        found = np.full((len(wanted), self.vectors.shape[1]), np.nan, dtype=np.float32)
        if len(self.ids):
            rows = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
            good = self.ids[rows] == wanted
            found[good] = self.vectors[rows[good]]
        return found


def top_rows(numbers: npt.NDArray[Any], top_k: int) -> IntArray:
    """Rows of the ``top_k`` largest numbers, largest first, ties by lower row."""
    n = len(numbers)
    if top_k < 1:
        return np.empty(0, dtype=np.int64)
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
    stamp = f"dense-{quote(encoder, safe='')}-{uuid.uuid4().hex[:12]}"
    folder = store.index_folder / stamp
    try:
        folder.mkdir(parents=True)
        np.save(folder / "ids.npy", ids)
        np.save(folder / "vectors.npy", vectors)
        if len(ids) > EXACT_LIMIT:
            _build_ann(ids, vectors, folder / "vectors.usearch")
        sums = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
        (folder / _SUMS).write_text(json.dumps({"shape": vectors.shape, "sha256": sums}), "utf-8")
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, MissingExtraError):
            raise StoreError(
                f"The dense index in {folder} cannot be written: {error.strerror or error}.",
                "Is the disk full? What is in force stays; build again when there is room.",
            ) from error
        raise
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


def encoder_of(stamp: str) -> str:
    """Name of the encoder whose vectors an index holds; empty for the empty stamp."""
    return unquote(stamp.removeprefix("dense-").rpartition("-")[0])


def open_index(store: Store, stamp: str) -> DenseIndex | None:
    """Open the dense index of that name, or ``None`` if it is not there or not of the shape it was written.

    Its contents are not hashed here, as every question opens it; see `is_damaged`.
    """
    folder = store.index_folder / stamp
    loaded = _load(folder)
    if loaded is None:
        return None
    ids, vectors = loaded
    if len(ids) <= EXACT_LIMIT:
        return DenseIndex(ids, np.array(vectors)) if np.isfinite(vectors.sum()) else None
    try:
        return DenseIndex(ids, vectors, _open_ann(folder / "vectors.usearch", vectors.shape[1]))
    except (OSError, RuntimeError):
        return None


def ids_of(store: Store, stamp: str) -> IntArray | None:
    """The passages that an index holds, or ``None`` as in `open_index`."""
    loaded = _load(store.index_folder / stamp)
    return None if loaded is None else loaded[0]


def is_damaged(store: Store, stamp: str) -> bool:
    """Whether an index is not what was written: a file is missing, does not fit, or hashes to another sum."""
    if open_index(store, stamp) is None:
        return True
    folder = store.index_folder / stamp
    try:
        sums = dict(json.loads((folder / _SUMS).read_text("utf-8"))["sha256"])
        return any(_sha256(folder / name) != digest for name, digest in sums.items())
    except (OSError, ValueError, KeyError, TypeError):
        return True


def _load(folder: Path) -> tuple[IntArray, Float32Array] | None:
    """Map ids and vectors, if they have the types and shapes they were written with."""
    try:
        shape = tuple(json.loads((folder / _SUMS).read_text("utf-8"))["shape"])
        ids = np.load(folder / "ids.npy")
        vectors = np.load(folder / "vectors.npy", mmap_mode="r" if shape[0] else None)
        fits = (ids.shape, vectors.shape, len(shape)) == (shape[:1], shape, 2)
        return (ids, vectors) if fits and (ids.dtype, vectors.dtype) == (np.int64, np.float32) else None
    except (OSError, ValueError, EOFError, KeyError, TypeError, IndexError, AttributeError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def ann_index(dimensions: int) -> Any:
    """An empty index for approximate search by cosine.

    Raises
    ------
    MissingExtraError
        The extra ``ann`` is not installed.
    """
    import onnxruntime  # noqa: F401 - loaded after usearch, it kills the process (usearch 2.26, onnxruntime 1.32)

    try:
        from usearch.index import Index
    except ImportError as error:
        raise MissingExtraError("ann", f"Dense retrieval over more than {EXACT_LIMIT:,} passages") from error
    return Index(ndim=dimensions, metric="cos", dtype="f16")


def _build_ann(ids: IntArray, vectors: Float32Array, path: Path) -> None:
    index = ann_index(vectors.shape[1])
    index.add(ids.astype(np.uint64), vectors)
    index.save(str(path))


def _open_ann(path: Path, dimensions: int) -> Any:
    index = ann_index(dimensions)
    index.view(str(path))
    return index
