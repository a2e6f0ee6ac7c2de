"""Keeps what is dear to compute on disk, so that an interrupted benchmark goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.index.encoder import TextEncoder
from veridical.nli.base import NLIModel
from veridical.nli.directions import both_directions
from veridical.reading.base import ReadAnswer, Reader, Reading

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
        self._load()

    def _load(self) -> None:
        if self.path.is_file():
            with np.load(self.path) as stored:
                self._rows |= zip(stored["keys"].tolist(), stored["rows"], strict=True)

    def missing(self, keys: Sequence[str]) -> list[int]:
        """Return the places of the keys that have no row yet, each key once."""
        first = {name: place for place, name in reversed(list(enumerate(keys)))}
        return sorted(place for name, place in first.items() if name not in self._rows)

    def put(self, keys: Sequence[str], rows: npt.NDArray[np.float32]) -> None:
        """Add rows and save, with what another run may have added meanwhile."""
        self._load()
        self._rows |= zip(keys, rows, strict=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part.npz")
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


def readings(
    folder: Path, reader: Reader, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
) -> list[Reading]:
    """Read (question, passage) pairs, or take what is in ``folder``; one reading a pair, in order."""
    path = folder / f"readings-{reader.name}.jsonl"
    keys = [key(question, passage) for question, passage in pairs]
    wanted = set(keys)
    known = dict(_stored_readings(path, wanted)) if path.is_file() else {}
    todo = [place for name, place in {n: p for p, n in enumerate(keys)}.items() if name not in known]
    folder.mkdir(parents=True, exist_ok=True)
    for begin in range(0, len(todo), _SAVE_EVERY):
        part = todo[begin : begin + _SAVE_EVERY]
        lines = []
        for place, reading in zip(part, reader.read_pairs([pairs[i] for i in part]), strict=True):
            known[keys[place]] = reading
            answers = [(a.text, a.start, a.end, a.probability) for a in reading.answers]
            lines.append(json.dumps([keys[place], reading.no_answer, answers]) + "\n")
        with path.open("ab", buffering=0) as out:  # one write, so that two runs may share the file
            out.write(("\n" + "".join(lines)).encode("ascii"))
        if progress is not None:
            progress(len(part))
    return [known[name] for name in keys]


def _stored_readings(path: Path, wanted: set[str]) -> Iterator[tuple[str, Reading]]:
    with path.open(encoding="ascii") as stored:
        for line in stored:
            if line[2:26] not in wanted:
                continue
            try:
                name, nothing, answers = json.loads(line)
            except ValueError:
                continue  # cut off by a kill
            yield name, Reading(tuple(ReadAnswer(*answer) for answer in answers), nothing)
