"""Ingesting: from files to documents and passages in the store.

Documents are committed in batches, each document whole. A run that is killed leaves whole documents behind,
and running it again finds those unchanged and goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from veridical.corpus.read import read_all
from veridical.corpus.scan import scan
from veridical.corpus.split import passages
from veridical.errors import ReadError
from veridical.index import bm25
from veridical.pipeline import beliefs, building
from veridical.pipeline.progress import Progress, Stages
from veridical.stores import Store, documents, schema
from veridical.types import IngestReport, Problem, SourceDocument, Span

BATCH = 64


def run(
    store: Store,
    paths: Sequence[Path],
    *,
    prefix: str,
    strict: bool,
    stages: Stages,
    key_root: Path | None = None,
) -> IngestReport:
    """Read what lies under ``paths`` into the store and bring the BM25 index up to date.

    Raises
    ------
    ReadError
        Under ``strict``, something could not be read; what was read before it stays.
    """
    found = scan(paths, prefix=prefix, key_root=key_root)
    counts: Counter[str] = Counter()
    problems: list[Problem] = []
    with stages.run("reading", found.n_bytes, "bytes") as progress:
        batch: list[tuple[SourceDocument, list[Span]]] = []
        for result in read_all(found, on_progress=_Steps(progress)):
            if isinstance(result, Problem):
                problems.append(result)
            else:
                batch.append((result, passages(result.text)))
            if len(batch) >= BATCH:
                _flush(store, batch, counts, problems)
            if strict and problems:
                break
        _flush(store, batch, counts, problems)
    with stages.run("lexical index", bm25.n_behind(store), "passages") as progress:
        bm25.sync(store, on_progress=progress.advance)
    building.drop_gone_vectors(store)  # of this run, or of one that was killed
    if strict and problems:
        raise _fatal(problems[0])
    with store.read() as connection:
        n_passages = documents.count(connection)["passages"]
    return IngestReport(
        added=counts["added"],
        replaced=counts["replaced"],
        unchanged=counts["unchanged"],
        n_passages=n_passages,
        problems=tuple(problems),
        notes=found.notes,
        seconds=dict(stages.seconds),
    )


def _flush(
    store: Store,
    batch: list[tuple[SourceDocument, list[Span]]],
    counts: Counter[str],
    problems: list[Problem],
) -> None:
    with store.write() as connection:
        for document, spans in batch:
            origin = _printable(document.metadata.get("path"))
            taken = _taken_by(connection, document.key, origin)
            if taken is not None:
                reason = (
                    f"has the key '{document.key}', which belongs to {taken}. "
                    "Give this corpus a name of its own with --prefix."
                )
                problems.append(Problem(str(origin), reason, document.metadata.get("line")))
                continue
            outcome, _ = documents.put(connection, document, spans, origin)
            counts[outcome] += 1
            if outcome != "unchanged":
                beliefs.mark_behind(connection)
    batch.clear()


def _taken_by(connection: sa.Connection, key: str, origin: str | None) -> str | None:
    """The other file that a key belongs to; one that is no longer there has lost its claim."""
    table = schema.documents
    owner = connection.execute(sa.select(table.c.origin).where(table.c.key == key)).scalar()
    if not owner or not origin or owner == origin or not Path(owner).exists():
        return None
    try:
        return None if Path(owner).samefile(origin) else str(owner)
    except OSError:  # one of them has gone this moment
        return None


def _printable(path: str | None) -> str | None:
    """A path as UTF-8 can hold it; names of files are bytes, and need not be text."""
    return None if path is None else path.encode("utf-8", "backslashreplace").decode("utf-8")


class _Steps:
    """Turns "so many bytes are done" into steps."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done = 0

    def __call__(self, n_bytes: int) -> None:
        self._progress.advance(max(0, n_bytes - self._done))
        self._done = max(self._done, n_bytes)


def _fatal(problem: Problem) -> ReadError:
    line = f", line {problem.line}" if problem.line else ""
    return ReadError(
        f"{problem.path}{line} {problem.reason}",
        "Mend it, or leave --strict off to skip what cannot be read. What was read before it is kept.",
    )
