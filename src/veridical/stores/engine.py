"""Opening a store: engine, migrations, transactions, and the lock that lets one writer in at a time."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from filelock import FileLock, Timeout

from veridical.errors import BusyError, StoreError

HEAD_REVISION = "0003"
DATABASE = "kb.sqlite"
MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_TIMEOUT_MS = 60_000


class Store:
    """One knowledge base on disk: a folder with a SQLite database and the indexes derived from it.

    Parameters
    ----------
    folder
        Holds ``kb.sqlite`` and ``index/``.
    create
        Make the folder and an empty database where there is none.

    Raises
    ------
    StoreError
        There is no knowledge base, it is damaged, or a newer version of veridical wrote it.

    Attributes
    ----------
    read_only
        Nothing here may be written, so what reads works and what writes raises StoreError.

    Notes
    -----
    Readers and one writer work at the same time (write-ahead logging). ``write()`` takes the database's write
    lock at once and holds it only for its block; ``exclusive()`` marks a whole ingest or build.
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        self.database = folder / DATABASE
        if not self.database.is_file():
            if not create:
                raise StoreError(
                    f"There is no knowledge base in {folder}.",
                    "Start one with 'veridical ingest PATH...', or name another with --kb.",
                )
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(
                    f"{folder} cannot be made: {error.strerror}.", "Name another with --kb."
                ) from error
        self.read_only = self.database.is_file() and not (_writable(folder) and _writable(self.database))
        self.engine = _engine(_read_only_url(self.database) if self.read_only else _url(self.database))
        try:
            self._migrate()
        except (sa.exc.DatabaseError, sqlite3.DatabaseError) as error:
            self.engine.dispose()
            cause = getattr(error, "orig", error)
            if isinstance(cause, sqlite3.OperationalError):  # of its surroundings, not of what it holds
                hint = "Is the disk full, or may you not read or write there? Or name another with --kb."
            else:
                hint = "Restore it from an export ('veridical import FILE'), or name another with --kb."
            raise StoreError(
                f"{self.database} cannot be opened as a knowledge base: {cause}.", hint
            ) from error
        except BaseException:
            self.engine.dispose()
            raise

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @property
    def index_folder(self) -> Path:
        """Where derived indexes live; deleting it loses nothing that a build does not bring back."""
        return self.folder / "index"

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A consistent snapshot."""
        with self._explained(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A write transaction: committed at the end of the block, rolled back if it raises."""
        self._refuse_read_only()
        with (
            self._explained(),
            self.engine.connect().execution_options(veridical_write=True) as connection,
            connection.begin(),
        ):
            yield connection

    def forget_log(self) -> None:
        """Empty the write-ahead log as far as nobody reads from it: nothing deleted is left in it."""
        with self._explained(), self.engine.connect() as connection:
            connection.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the database says of itself, though not of a wrong statement, into our errors."""
        try:
            yield
        except sa.exc.OperationalError as error:
            if "locked" in str(error.orig):
                raise BusyError(
                    f"{self.database} stayed locked for {_BUSY_TIMEOUT_MS // 1000} seconds.", "Try again."
                ) from error
            raise StoreError(f"{self.database}: {error.orig}.", "Is the disk full or read-only?") from error
        except sa.exc.DatabaseError as error:
            if type(error) is not sa.exc.DatabaseError:
                raise
            raise StoreError(
                f"{self.database} is damaged: {error.orig}.",
                "Restore it from an export: 'veridical import FILE' into another --kb.",
            ) from error

    @contextmanager
    def exclusive(self, task: str) -> Iterator[None]:
        """Hold the knowledge base for one long task.

        Raises
        ------
        BusyError
            Another process holds it; the message says which and since when.
        """
        self._refuse_read_only()
        lock = FileLock(self.folder / "write.lock")
        holder = self.folder / "write.holder"
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise BusyError(
                f"Another process works on {self.folder}: {_describe(holder)}.",
                "Wait for it to end, then run this again. Asking and voting work meanwhile.",
            ) from None
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        try:
            try:
                said = json.dumps({"task": task, "pid": os.getpid(), "since": time.time()})
                holder.write_text(said, "utf-8")
            except OSError as error:
                raise _unwritable(self.folder, error) from error
            yield
        finally:
            holder.unlink(missing_ok=True)
            lock.release()

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise StoreError(
                f"{self.folder} is read-only, so nothing can be changed in it.",
                "Get the right to write there, or copy the folder and name the copy with --kb.",
            )

    def _migrate(self) -> None:
        with self.engine.connect() as connection:
            tables = set(sa.inspect(connection).get_table_names())
            found = (
                connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
                if "alembic_version" in tables
                else None
            )
        if found == HEAD_REVISION:
            return
        if found is not None and found > HEAD_REVISION:
            raise StoreError(
                f"{self.database} was written by a newer veridical: its schema is {found}, "
                f"this one knows {HEAD_REVISION}.",
                "Upgrade veridical, or name another knowledge base with --kb.",
            )
        if found is None and tables:
            raise StoreError(
                f"{self.database} is a database of something else.", "Name another folder with --kb."
            )
        self._refuse_read_only()
        upgrade(self.engine, backup=self.database if found else None)


def upgrade(engine: sa.Engine, *, backup: Path | None = None) -> None:
    """Bring a database to the newest schema, whole or not at all, after copying ``backup`` aside."""
    from alembic import command
    from alembic.config import Config

    if backup is not None:
        _copy(backup, backup.with_suffix(f".before-{HEAD_REVISION}"))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.connect().execution_options(veridical_write=True) as connection:
        driver: Any = connection.connection.driver_connection
        # A table that is made anew is dropped first, and must not take the rows that refer to it along.
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
                    raise StoreError(
                        f"The migration to schema {HEAD_REVISION} left rows that refer to nothing.",
                        "Nothing was changed. Please report this.",
                    )
        finally:
            driver.execute("PRAGMA foreign_keys=ON")


def _copy(database: Path, target: Path) -> None:
    """Copy a database with what is still in its write-ahead log, which a copy of the file would miss."""
    with closing(sqlite3.connect(database)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{folder} cannot be written: {error.strerror or error}.", "Is the disk full or read-only?"
    )


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _url(database: Path) -> sa.URL:
    return sa.URL.create("sqlite", database=str(database))


def _read_only_url(database: Path) -> sa.URL:
    """What opens a database without writing beside it.

    ``immutable`` spares the shared memory that readers of a write-ahead log need, but overlooks the log, so
    it is only for a database whose log is empty.
    """
    log = database.with_name(database.name + "-wal")
    query = {"mode": "ro", "uri": "true"}
    if not (log.is_file() and log.stat().st_size):
        query["immutable"] = "1"
    return sa.URL.create("sqlite", database=f"file:{quote(str(database.absolute()))}", query=query)


def _engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_MS / 1000})
    is_read_only = "mode" in url.query

    @sa.event.listens_for(engine, "connect")
    def _connect(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.isolation_level = None  # transactions are opened below, not by the driver
        cursor = dbapi_connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
        if not is_read_only:
            cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA secure_delete=ON")  # what is forgotten leaves no trace in free pages
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA cache_size=-65536")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        write = connection.get_execution_options().get("veridical_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _describe(holder: Path) -> str:
    try:
        info = json.loads(holder.read_text("utf-8"))
        minutes = max(0.0, time.time() - float(info["since"])) / 60
        return f"'veridical {info['task']}', process {info['pid']}, for {minutes:.0f} min"
    except (OSError, ValueError, KeyError, TypeError):
        return "it has only just begun"
