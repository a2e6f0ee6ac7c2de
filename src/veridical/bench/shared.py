"""Tools that all systems of a run share, so that nothing dear is computed twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np

from veridical.bench import cache
from veridical.index.encoder import Float32Array
from veridical.llm.cache import ReplyCache
from veridical.llm.usage import Meter
from veridical.reading.base import ReadAnswer, Reader, Reading
from veridical.types import Usage

_SAVE_EVERY = 256
_SAVED: ContextVar[Meter | None] = ContextVar("veridical_bench_saved", default=None)


class CachedReader:
    """A reader that reads each pair of question and passage once, and keeps what it read in a file.

    Parameters
    ----------
    reader
        What reads; its name is part of the file's.
    folder
        Where to keep readings, in the form of `cache.readings`.

    Attributes
    ----------
    n_read
        Pairs that were read now.
    """

    def __init__(self, reader: Reader, folder: Path) -> None:
        self._reader = reader
        self._path = folder / f"readings-{reader.name}.jsonl"
        self._lock = threading.Lock()
        self._known: dict[str, Reading] | None = None
        self.n_read = 0

    @property
    def name(self) -> str:
        """The reader's own."""
        return self._reader.name

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """Put one question to passages; see `Reader.read`."""
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(
        self, pairs: Sequence[tuple[str, str]], progress: Callable[[int], object] | None = None
    ) -> list[Reading]:
        """Read pairs, or recall them; see `Reader.read_pairs`."""
        keys = [cache.key(*pair) for pair in pairs]
        with self._lock:
            known = self._all()
            places = {name: place for place, name in enumerate(keys) if name not in known}
            todo = list(places.values())
            for begin in range(0, len(todo), _SAVE_EVERY):
                part = todo[begin : begin + _SAVE_EVERY]
                found = self._reader.read_pairs([pairs[place] for place in part])
                self._keep([keys[place] for place in part], found)
                self.n_read += len(part)
                if progress is not None:
                    progress(len(part))
            return [known[name] for name in keys]

    def _all(self) -> dict[str, Reading]:
        if self._known is None:
            self._known = dict(_stored(self._path)) if self._path.is_file() else {}
        return self._known

    def _keep(self, keys: Sequence[str], found: Sequence[Reading]) -> None:
        lines = []
        for name, reading in zip(keys, found, strict=True):
            self._all()[name] = reading
            answers = [(a.text, a.start, a.end, a.probability) for a in reading.answers]
            lines.append(json.dumps([name, reading.no_answer, answers]) + "\n")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab", buffering=0) as out:  # one write, so that two runs may share the file
            out.write(("\n" + "".join(lines)).encode("ascii"))


def _stored(path: Path) -> Iterator[tuple[str, Reading]]:
    with path.open(encoding="ascii") as lines:
        for line in lines:
            try:
                name, nothing, answers = json.loads(line)
            except ValueError:
                continue  # an empty line, or one that was cut off by a kill
            yield name, Reading(tuple(ReadAnswer(*answer) for answer in answers), nothing)


class CachedEncoder:
    """Turns texts into unit rows, each text once; what `learn` was told of is not computed at all."""

    def __init__(self, encode: Callable[[Sequence[str]], Float32Array]) -> None:
        self._encode = encode
        self._lock = threading.Lock()
        self._rows: dict[str, Float32Array] = {}

    def learn(self, texts: Sequence[str], rows: Float32Array) -> None:
        """Take rows that were computed elsewhere, shape (len(texts), d)."""
        with self._lock:
            self._rows.update(zip(texts, rows, strict=True))

    def __call__(self, texts: Sequence[str]) -> Float32Array:
        """Return one unit row a text, shape (n_texts, d)."""
        with self._lock:
            todo = [text for text in dict.fromkeys(texts) if text not in self._rows]
            if todo:
                self._rows.update(zip(todo, self._encode(todo), strict=True))
            if not texts:
                return self._encode([])
            return np.stack([self._rows[text] for text in texts])


class PricedCache(ReplyCache):
    """A cache of replies that also tells what a reply had cost when it was first given; see `priced`.

    So that a run that goes on counts as one that was never interrupted, and a system that asks what another
    asked before is charged for it.
    """

    def get(self, key: bytes) -> str | None:
        """The reply to a request, or ``None``; its first cost is added to what `priced` counts."""
        text, meter = super().get(key), _SAVED.get()
        if text is not None and meter is not None:
            meter.add("cached", self._cost(key))
        return text

    def _cost(self, key: bytes) -> Usage:
        row = self._safely(
            lambda connection: connection.execute(
                "SELECT calls, prompt_tokens, completion_tokens, money FROM replies WHERE key = ?", (key,)
            ).fetchone(),
            create=False,
        )
        return Usage() if row is None else Usage(row[0], row[1], row[2], money=row[3])


@contextmanager
def priced() -> Iterator[Meter]:
    """Count what cached replies had cost when they were first given, for the calls inside."""
    meter = Meter()
    token = _SAVED.set(meter)
    try:
        yield meter
    finally:
        _SAVED.reset(token)
