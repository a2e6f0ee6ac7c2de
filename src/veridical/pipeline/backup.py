"""Export and import: everything that is truth, in one file that another machine can open."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from veridical.corpus.dedupe import content_hash
from veridical.corpus.split import passages
from veridical.errors import InputError, StoreError
from veridical.feedback import record
from veridical.pipeline import beliefs
from veridical.stores import Store, documents, schema, values
from veridical.types import Record, SourceDocument

FORMAT = "veridical-export-1"
_MEMBERS = ("documents.jsonl", "feedback.jsonl", "settings.json")
# What a damaged archive makes its reader raise.
_UNREADABLE = (
    OSError,
    EOFError,
    RuntimeError,  # encrypted, or compressed in an unknown way
    UnicodeDecodeError,
    zipfile.BadZipFile,
    zlib.error,
)
_OPTIONAL = ("source", "url", "date")
_FIELDS = ("key", "version", "title", "text", "source", "url", "date", "format", "metadata")


@dataclass(frozen=True, slots=True)
class BackupReport(Record):
    """What was written or read."""

    path: str
    n_documents: int
    n_feedback: int


def export(store: Store, path: Path) -> BackupReport:
    """Write documents, feedback and settings to a zip file, which appears whole or not at all.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as scratch:
            part = Path(scratch.name)
        try:
            report = _write(store, part, path)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
    return report


def _write(store: Store, part: Path, path: Path) -> BackupReport:
    counts = dict.fromkeys(_MEMBERS, 0)
    hashes = {}
    with store.read() as connection, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        sections: dict[str, Iterator[str]] = {
            "documents.jsonl": _document_lines(connection),
            "feedback.jsonl": iter(record.export_lines(record.every(connection))),
            "settings.json": iter([json.dumps(values.settings(connection), ensure_ascii=False)]),
        }
        for name, lines in sections.items():
            digest = hashlib.sha256()
            with archive.open(name, "w", force_zip64=True) as member:
                for line in lines:
                    data = line.encode("utf-8") + b"\n"
                    digest.update(data)
                    member.write(data)
                    counts[name] += 1
            hashes[name] = digest.hexdigest()
        archive.writestr("manifest.json", json.dumps({"format": FORMAT, "sha256": hashes}, indent=1))
    return BackupReport(str(path), counts["documents.jsonl"], counts["feedback.jsonl"])


def _document_lines(connection: sa.Connection) -> Iterator[str]:
    table = schema.documents
    query = sa.select(*(table.c[name] for name in _FIELDS)).order_by(table.c.id)
    for row in connection.execute(query).mappings():
        metadata = {name: value for name, value in row["metadata"].items() if name != "path"}
        yield json.dumps({**row, "metadata": metadata}, ensure_ascii=False)


def load(store: Store, path: Path, *, merge: bool = False) -> BackupReport:
    """Read an export into a knowledge base, all of it or nothing.

    Parameters
    ----------
    merge
        Allow a knowledge base that holds documents already: those of the same key are replaced, feedback is
        added where it is new, and settings stay as they are.

    Raises
    ------
    InputError
        The file is no export, or damaged; or documents are here already and ``merge`` is not set.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _verify(archive, path)
            return _read(store, archive, path, merge=merge)
    except _UNREADABLE as error:
        raise InputError(f"{path} cannot be read as an export: {str(error).rstrip('.')}.") from error


def _verify(archive: zipfile.ZipFile, path: Path) -> None:
    names = set(archive.namelist())
    missing = [name for name in (*_MEMBERS, "manifest.json") if name not in names]
    if missing:
        raise InputError(f"{path} is no export of veridical: it lacks {', '.join(missing)}.")
    try:
        manifest = json.loads(archive.read("manifest.json"))
        written, hashes = manifest["format"], dict(manifest["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: its manifest cannot be read.") from error
    if written != FORMAT:
        raise InputError(
            f"{path} has format {written!r}; this veridical reads {FORMAT!r}.", "Upgrade veridical."
        )
    for name in _MEMBERS:
        with archive.open(name) as member:
            if hashlib.file_digest(member, "sha256").hexdigest() != hashes.get(name):  # type: ignore[arg-type]
                raise InputError(f"{path} is damaged: {name} does not match its sha256.")


def _read(store: Store, archive: zipfile.ZipFile, path: Path, *, merge: bool) -> BackupReport:
    with store.write() as connection:
        if documents.count(connection)["documents"] and not merge:
            raise InputError(
                f"{store.folder} holds documents already.", "Name an empty one with --kb, or add --merge."
            )
        chosen = _settings(archive, path)
        n_documents = 0
        for number, line in enumerate(_lines(archive, "documents.jsonl"), 1):
            document = _document(line, f"{path}, document {number}")
            documents.put(connection, document, passages(document.text), None)
            n_documents += 1
        beliefs.mark_behind(connection)
        n_feedback, _ = record.import_lines(
            connection, _lines(archive, "feedback.jsonl"), where=f"{path}, feedback"
        )
        if not merge:
            for key, value in chosen.items():
                values.set_setting(connection, key, value)
    return BackupReport(str(path), n_documents, n_feedback)


def _settings(archive: zipfile.ZipFile, path: Path) -> dict[str, str]:
    try:
        found = json.loads(archive.read("settings.json"))
    except ValueError as error:
        raise InputError(f"{path}: its settings cannot be read.") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InputError(f"{path}: its settings cannot be read.")
    return found


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[str]:
    with archive.open(name) as member:
        yield from io.TextIOWrapper(member, "utf-8", newline="\n")


def _document(line: str, where: str) -> SourceDocument:
    try:
        raw: dict[str, Any] = json.loads(line)
        _check_fields(raw)
        document = SourceDocument(**{name: raw[name] for name in _FIELDS})
        if document.version != content_hash(document.title, document.text):
            raise ValueError("its text does not match its version")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{where}: {error}.", "The export is damaged; nothing was imported.") from error
    return document


def _check_fields(raw: dict[str, Any]) -> None:
    for name in _FIELDS:
        value = raw[name]
        if name in _OPTIONAL and value is None:
            continue
        kind = dict if name == "metadata" else str
        if not isinstance(value, kind) or (not value and name not in ("title", "metadata")):
            raise ValueError(f"its field {name!r} cannot be used")


def settings_record(store: Store) -> dict[str, str]:
    """All settings of the knowledge base that differ from the defaults."""
    with store.read() as connection:
        return values.settings(connection)
