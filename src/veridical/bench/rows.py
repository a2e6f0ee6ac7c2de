"""What a run has found so far: one row an answer, in an SQLite file that may be cut off at any time."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from veridical.errors import NotFoundError, StoreError
from veridical.types import Usage

FORMAT = 1
_BUSY_TIMEOUT_S = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    dataset TEXT NOT NULL, attack TEXT NOT NULL, known TEXT NOT NULL, system TEXT NOT NULL,
    settings TEXT NOT NULL, question TEXT NOT NULL, seed INTEGER NOT NULL, corpus TEXT NOT NULL,
    llm TEXT NOT NULL,
    text TEXT NOT NULL, probability REAL, ranking TEXT NOT NULL, marks TEXT NOT NULL,
    calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    money REAL NOT NULL, seconds REAL NOT NULL, notes TEXT NOT NULL, detail TEXT NOT NULL,
    error TEXT NOT NULL, at REAL NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (dataset, attack, known, system, settings, question, seed, corpus, llm)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS corpora (
    digest TEXT PRIMARY KEY, dataset TEXT NOT NULL, attack TEXT NOT NULL, seed INTEGER NOT NULL,
    about TEXT NOT NULL, at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS beliefs (
    corpus TEXT NOT NULL, belief TEXT NOT NULL, known TEXT NOT NULL, about TEXT NOT NULL,
    PRIMARY KEY (corpus, belief, known)
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Key(NamedTuple):
    """What tells a row from all others.

    ``known`` is `Known.name`, ``system`` the label, ``settings`` JSON, ``corpus`` the scene's digest, and
    ``llm`` the name of the language model, empty where the reader answers.
    """

    dataset: str
    attack: str
    known: str
    system: str
    settings: str
    question: str
    seed: int
    corpus: str
    llm: str


@dataclass(frozen=True)
class Row:
    """One answer, or what went wrong instead.

    Attributes
    ----------
    ranking
        Document numbers in the system's order.
    marks
        Metrics by name; those that are undefined for this question are missing.
    usage
        What the answer cost, cached replies at what they had cost.
    error
        Empty where all went well.
    version
        Of the code that made it.
    """

    key: Key
    text: str = ""
    probability: float | None = None
    ranking: tuple[int, ...] = ()
    marks: Mapping[str, float] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    version: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is no answer because something went wrong."""
        return bool(self.error)


class Results:
    """The file of one run's rows. Every row is on disk when `put` returns; one process writes at a time.

    Parameters
    ----------
    path
        The file; made, with its folder, if it is to be written and is not there.
    read_only
        Whether it must be there already.

    Raises
    ------
    NotFoundError
        It must be there and is not.
    StoreError
        It cannot be opened, or is no such file.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        if read_only and not path.is_file():
            raise NotFoundError(
                f"There are no results in {path}.", "Make them with: veridical bench run CONFIG.toml"
            )
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_SCHEMA)
            self._check_format()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"The results {path} cannot be opened: {error}.", "Give another file, or delete this one."
            ) from error

    def _check_format(self) -> None:
        found = self.facts().get("format", FORMAT)
        if found != FORMAT:
            raise StoreError(
                f"The results {self.path} are of format {found}, and this version writes {FORMAT}.",
                "Give another file.",
            )
        self.say({"format": FORMAT})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def put(self, row: Row) -> None:
        """Keep a row, in place of one with the same key."""
        used = row.usage
        values = (
            *row.key,
            row.text,
            row.probability,
            json.dumps(row.ranking),
            json.dumps(dict(row.marks), allow_nan=False),
            used.calls,
            used.prompt_tokens,
            used.completion_tokens,
            used.money,
            row.seconds,
            json.dumps(row.notes, ensure_ascii=False),
            json.dumps(dict(row.detail), ensure_ascii=False, default=str),
            row.error,
            time.time(),
            row.version,
        )
        marks = ", ".join("?" * len(values))
        self._write(f"INSERT OR REPLACE INTO rows VALUES ({marks})", values)  # noqa: S608 - no text of ours

    def done(self, corpus: str, llm: str, *, failures_too: bool = True) -> set[Key]:
        """Return the keys of one corpus that have a row."""
        only = "" if failures_too else " AND error = ''"
        fields = ", ".join(Key._fields)
        query = f"SELECT {fields} FROM rows WHERE corpus = ? AND llm IN (?, '')" + only  # noqa: S608
        return {Key(*row) for row in self._db.execute(query, (corpus, llm))}

    def forget(self, system: str) -> int:
        """Drop the rows of a system, whatever its label; return how many there were."""
        with self._lock:
            found = self._db.execute(
                "DELETE FROM rows WHERE system = ? OR system LIKE ?", (system, f"{system}, %")
            )
        return found.rowcount

    def all(self, corpora: Iterable[str] | None = None, *, brief: bool = False) -> Iterator[Row]:
        """All rows, or those of some corpora; ``brief`` leaves out rankings and detail, which are long."""
        wanted = None if corpora is None else set(corpora)
        fields = ", ".join(Key._fields)
        query = (
            f"SELECT {fields}, text, probability, ranking, marks, calls, prompt_tokens,"  # noqa: S608
            " completion_tokens, money, seconds, notes, detail, error, version FROM rows"
        )
        n = len(Key._fields)
        for found in self._db.execute(query):
            key, rest = Key(*found[:n]), found[n:]
            if wanted is not None and key.corpus not in wanted:
                continue
            yield Row(
                key,
                rest[0],
                rest[1],
                () if brief else tuple(json.loads(rest[2])),
                json.loads(rest[3], object_pairs_hook=_shared),
                Usage(rest[4], rest[5], rest[6], money=rest[7]),
                rest[8],
                tuple(json.loads(rest[9])),
                {} if brief else json.loads(rest[10]),
                rest[11],
                rest[12],
            )

    def put_corpus(self, digest: str, dataset: str, attack: str, seed: int, about: Mapping[str, Any]) -> None:
        """Say what a corpus holds; of one data set, attack and seed only the latest counts."""
        self._write(
            "INSERT OR REPLACE INTO corpora VALUES (?, ?, ?, ?, ?, ?)",
            (digest, dataset, attack, seed, json.dumps(about, ensure_ascii=False), time.time()),
        )

    def corpora(self) -> dict[str, dict[str, Any]]:
        """The latest corpus of each data set, attack and seed: what was said of it, by its digest."""
        latest: dict[tuple[str, str, int], tuple[str, dict[str, Any]]] = {}
        query = "SELECT digest, dataset, attack, seed, about FROM corpora ORDER BY at"
        for digest, dataset, attack, seed, about in self._db.execute(query):
            told = {"dataset": dataset, "attack": attack, "seed": seed, **json.loads(about)}
            latest[dataset, attack, seed] = (digest, told)
        return dict(latest.values())

    def put_belief(self, corpus: str, belief: str, known: str, about: Mapping[str, Any]) -> None:
        """Keep what trust was worth; of two accounts the one over more documents (``n``) stays."""
        self._write(
            "INSERT INTO beliefs VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET about = excluded.about"
            " WHERE json_extract(excluded.about, '$.n') >= json_extract(about, '$.n')",
            (corpus, belief, known, json.dumps(about)),
        )

    def beliefs(self) -> list[tuple[str, str, str, dict[str, Any]]]:
        """What was kept of trust: corpus, belief, what was known, and the rest."""
        found = self._db.execute("SELECT corpus, belief, known, about FROM beliefs")
        return [(corpus, belief, known, json.loads(about)) for corpus, belief, known, about in found]

    def say(self, facts: Mapping[str, Any]) -> None:
        """Keep facts about the run, in place of what was kept under these names."""
        for name, value in facts.items():
            self._write(
                "INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value, ensure_ascii=False))
            )

    def facts(self) -> dict[str, Any]:
        """What was kept about the run."""
        return {name: json.loads(value) for name, value in self._db.execute("SELECT * FROM facts")}

    def _write(self, statement: str, values: Sequence[Any]) -> None:
        with self._lock:
            try:
                self._db.execute(statement, values)
            except sqlite3.Error as error:
                raise StoreError(
                    f"The results {self.path} cannot be written: {error}.",
                    "Make room, or give another file; what was done is kept.",
                ) from error


def _shared(pairs: list[tuple[str, float]]) -> dict[str, float]:
    """A dictionary whose keys are kept in memory once, however many rows there are."""
    return {sys.intern(name): value for name, value in pairs}


def is_results(path: Path) -> bool:
    """Whether a file is one of these."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(path)) as db:
            found = db.execute("SELECT name FROM sqlite_master WHERE name IN ('rows', 'facts')").fetchall()
    except sqlite3.Error:
        return False
    return len(found) == 2
