"""Keeps what is dear to compute on disk, so that an interrupted benchmark goes on where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.index.encoder import TextEncoder
from veridical.nli.base import NLIModel
from veridical.nli.directions import both_directions

Progress = Callable[[int], None]
_SAVE_EVERY = 512


def key(*parts: str) -> str:
    """Return a short hash of some texts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:24]


def code_version(*packages: str) -> str:
    """Return a hash of the source of some subpackages, by which results of older code are told apart."""
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted((root / package).rglob("*")):
            if path.suffix in {".py", ".json"}:
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class Table:
    """Rows of numbers under text keys, in one file that is replaced atomically."""

    def __init__(self, path: Path, width: int) -> None:
        self.path = path
        self._rows: dict[str, npt.NDArray[np.float32]] = {}
        self._width = width
        if path.is_file():
            with np.load(path) as stored:
                self._rows = dict(zip(stored["keys"].tolist(), stored["rows"], strict=True))

    def missing(self, keys: Sequence[str]) -> list[int]:
        """Return the places of the keys that have no row yet, each key once."""
        first = {name: place for place, name in reversed(list(enumerate(keys)))}
        return sorted(place for name, place in first.items() if name not in self._rows)

    def put(self, keys: Sequence[str], rows: npt.NDArray[np.float32]) -> None:
        """Add rows and save."""
        self._rows.update(zip(keys, rows, strict=True))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part.npz")
        np.savez(part, keys=np.array(list(self._rows)), rows=np.stack(list(self._rows.values())))
        part.replace(self.path)

    def get(self, keys: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the rows of keys that are all there, shape (len(keys), width)."""
        rows = [self._rows[name] for name in keys]
        return np.stack(rows) if rows else np.empty((0, self._width), dtype=np.float32)


def vectors(
    folder: Path, encoder: TextEncoder, texts: Sequence[str], progress: Progress | None = None
) -> npt.NDArray[np.float32]:
    """Encode texts, or take their vectors from ``folder``; shape (len(texts), d)."""
    table = Table(folder / f"vectors-{encoder.name}.npz", 384)
    keys = [key(text) for text in texts]
    todo = table.missing(keys)
    for begin in range(0, len(todo), _SAVE_EVERY):
        part = todo[begin : begin + _SAVE_EVERY]
        rows = encoder.encode([texts[i] for i in part], on_progress=progress)
        table.put([keys[i] for i in part], rows)
    return table.get(keys)


def judgements(
    folder: Path, nli: NLIModel, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
) -> npt.NDArray[np.float32]:
    """Judge pairs in both directions as a build does, or take what is in ``folder``.

    Returns
    -------
    numpy.ndarray
        Shape (len(pairs), 2): entailment and contradiction.
    """
    table = Table(folder / f"judgements-{nli.name}.npz", 2)
    keys = [key(left, right) for left, right in pairs]
    todo = table.missing(keys)
    for begin in range(0, len(todo), _SAVE_EVERY):
        part = todo[begin : begin + _SAVE_EVERY]
        found = both_directions(nli, [pairs[i] for i in part])
        rows = [(result.entailment, result.contradiction) for result in found]
        table.put([keys[i] for i in part], np.array(rows, dtype=np.float32).reshape(-1, 2))
        if progress is not None:
            progress(len(part))
    return table.get(keys)
