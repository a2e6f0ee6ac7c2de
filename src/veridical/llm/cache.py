"""Replies of language models on disk, each found by the hash of the whole request that it answers."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from veridical.errors import InputError, StoreError
from veridical.types import Record, Usage

FILE = "llm-cache.db"
MAX_REPLIES = 100_000
_BUSY_TIMEOUT_S = 10.0
_PRUNE_EVERY = 500
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    reply TEXT NOT NULL,
    at REAL NOT NULL,
    calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    money REAL NOT NULL
)
"""
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class CacheReport(Record):
    """What a cache holds: replies, bytes on disk, what the replies had cost, and the age of the oldest.

    ``oldest`` is in seconds since 1970, ``None`` where there is no reply. ``calls``, ``tokens`` and ``money``
    are what it took to get these replies once.
    """

    path: str
    n_replies: int = 0
    bytes: int = 0
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    oldest: float | None = None


class ReplyCache:
    """A SQLite file of replies, for any number of threads and processes.

    It holds replies and the hashes of requests, never a prompt or a key. Each reply is on disk when ``put``
    returns. Whatever is wrong with the file costs calls, never an answer: `notes` say what it was.

    Parameters
    ----------
    path
        The file; made, with its folder, by the first reply that is kept.
    max_replies
        When there are more, the oldest are dropped (looked at now and then, so a few more can be there).

    Raises
    ------
    InputError
        If ``max_replies`` is below 1.
    """

    def __init__(self, path: Path, *, max_replies: int = MAX_REPLIES) -> None:
        if max_replies < 1:
            raise InputError(f"max_replies is {max_replies}.", "Pass 1 or more.")
        self.path = path
        self.max_replies = max_replies
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._n_put = 0
        self._notes: dict[str, None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ReplyCache({str(self.path)!r})"

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong so far, each thing once."""
        return tuple(self._notes)

    def get(self, key: bytes) -> str | None:
        """The reply to a request, or ``None``."""

        def find(connection: sqlite3.Connection) -> str | None:
            row = connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            return row[0] if row is not None and isinstance(row[0], str) else None

        return self._safely(find, create=False)

    def put(self, key: bytes, reply: str, cost: Usage) -> None:
        """Keep a reply, in place of what was there."""
        row = (key, reply, time.time(), cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.money)

        def keep(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO replies"
                " (key, reply, at, calls, prompt_tokens, completion_tokens, money)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            if self._n_put % _PRUNE_EVERY == 0:
                self._prune(connection)
            self._n_put += 1

        self._safely(keep, create=True)

    def report(self) -> CacheReport:
        """What is there."""

        def look(connection: sqlite3.Connection) -> CacheReport:
            n, calls, tokens, money, oldest = connection.execute(
                "SELECT COUNT(*), SUM(calls), SUM(prompt_tokens + completion_tokens), SUM(money), MIN(at)"
                " FROM replies"
            ).fetchone()
            size = sum(path.stat().st_size for path in self._files() if path.is_file())
            return CacheReport(str(self.path), n, size, calls or 0, tokens or 0, money or 0.0, oldest)

        return self._safely(look, create=False) or CacheReport(str(self.path))

    def clear(self) -> int:
        """Forget every reply, so that nothing of them is left in the file; return how many there were.

        Raises
        ------
        StoreError
            If that cannot be done, as where the disk is read-only: what was to be forgotten is still there.
        """
        with self._lock:
            try:
                for path in self._files():
                    _aside(path).unlink(missing_ok=True)
                return self._clear()
            except (sqlite3.Error, OSError) as error:
                raise StoreError(
                    f"The cache of replies {self.path} cannot be emptied: {error}.",
                    "Delete that file yourself; it holds nothing but replies of language models.",
                ) from error

    def _clear(self) -> int:
        try:
            connection = self._open(create=False)
            if connection is None:
                return 0
            n = connection.execute("DELETE FROM replies").rowcount
            connection.execute("VACUUM")
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if busy:  # the log still holds what was deleted
                raise sqlite3.OperationalError("another process reads from it")
        except sqlite3.Error as error:
            self.close()
            if not _damaged(error):
                raise
            for path in self._files():
                path.unlink(missing_ok=True)
            return 0
        return n

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def _safely(self, work: Callable[[sqlite3.Connection], _Found], *, create: bool) -> _Found | None:
        """Do something with the database; ``None`` and a note if that cannot be done."""
        with self._lock:
            for again in (True, False):
                try:
                    connection = self._open(create=create)
                    return None if connection is None else work(connection)
                except (sqlite3.Error, OSError) as error:
                    self.close()
                    if again and _damaged(error) and self._set_aside():
                        continue
                    self._note(f"Replies of the language model are not cached in {self.path}: {error}.")
                    return None
        return None

    def _open(self, *, create: bool) -> sqlite3.Connection | None:
        """The connection; ``None`` if there is no file and none is to be made."""
        if self._connection is not None:
            return self._connection
        if not self.path.is_file():
            if not create:
                return None
            self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA secure_delete=ON")  # what is forgotten leaves no trace in free pages
            connection.execute(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _prune(self, connection: sqlite3.Connection) -> None:
        """Drop the oldest; they have the lowest numbers."""
        connection.execute(
            "DELETE FROM replies WHERE id <= (SELECT id FROM replies ORDER BY id DESC LIMIT 1 OFFSET ?)",
            (self.max_replies,),
        )

    def _set_aside(self) -> bool:
        """Move a damaged file away, unless another process has put a good one there since."""
        try:
            if self._is_sound():
                return True
            for path in self._files():
                if path.is_file():
                    path.replace(_aside(path))
        except OSError:
            return False
        self._note(f"The cache of replies {self.path} was damaged and is set aside; a new one is begun.")
        return True

    def _is_sound(self) -> bool:
        try:
            with closing(sqlite3.connect(self.path, timeout=_BUSY_TIMEOUT_S)) as connection:
                return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
        except sqlite3.Error:
            return False

    def _files(self) -> list[Path]:
        return [self.path.with_name(self.path.name + end) for end in ("", "-wal", "-shm")]

    def _note(self, text: str) -> None:
        self._notes[text] = None


def _damaged(error: Exception) -> bool:
    """Whether an error is of what the file holds, not of its surroundings."""
    return type(error) is sqlite3.DatabaseError


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.damaged")
