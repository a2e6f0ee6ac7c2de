"""Export and import: everything that is truth, in one file that another machine can open."""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import sqlalchemy as sa

from veridical import registry
from veridical.corpus.dedupe import content_hash
from veridical.corpus.fields import iso_date
from veridical.corpus.read import MAX_DOCUMENT_BYTES
from veridical.corpus.readers.base import clean, clean_line
from veridical.corpus.split import passages
from veridical.errors import InputError, StoreError
from veridical.feedback import record
from veridical.pipeline import beliefs, building, query_log
from veridical.pipeline.retrieval import check_retriever
from veridical.stores import Store, documents, questions, schema, values
from veridical.stores.questions import LoggedQuestion
from veridical.types import DocumentFormat, Record, SourceDocument

FORMAT = "veridical-export-1"
_QUESTIONS = "questions.jsonl"
_OLDEST_MEMBERS = ("documents.jsonl", "feedback.jsonl", "settings.json")
_MEMBERS = (*_OLDEST_MEMBERS, _QUESTIONS)  # an export from before there was a query log lacks the last
# What a damaged archive makes its reader raise.
_UNREADABLE = (
    OSError,
    EOFError,
    RuntimeError,  # encrypted, or compressed in an unknown way
    UnicodeDecodeError,
    zipfile.BadZipFile,
    zlib.error,
)
_MAX_SETTINGS_BYTES = 100_000
_MAX_LINE_BYTES = 2 * MAX_DOCUMENT_BYTES + 1_000_000  # JSON may write a character as two
_OPTIONAL = ("source", "url", "date")
_FIELDS = ("key", "version", "title", "text", "source", "url", "date", "format", "metadata")


@dataclass(frozen=True, slots=True)
class BackupReport(Record):
    """What was written or read."""

    path: str
    n_documents: int
    n_feedback: int
    n_questions: int = 0
    notes: tuple[str, ...] = ()


def export(store: Store, path: Path) -> BackupReport:
    """Write documents, feedback, query log and settings to a zip file, which appears whole or not at all.

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
            _QUESTIONS: query_log.lines_of(questions.every(connection)),
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
    return BackupReport(str(path), counts["documents.jsonl"], counts["feedback.jsonl"], counts[_QUESTIONS])


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
        and questions are added where they are new, and settings stay as they are.

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


def check(path: Path) -> None:
    """Raise as `load` does if a file cannot be imported anywhere; nothing is written."""
    try:
        with zipfile.ZipFile(path) as archive:
            _verify(archive, path)
            _settings(archive, path)
            for number, line in enumerate(_lines(archive, "documents.jsonl"), 1):
                _document(line, f"{path}, document {number}")
            record.check_lines(_lines(archive, "feedback.jsonl"), where=f"{path}, feedback")
            _logged(archive, path)
    except _UNREADABLE as error:
        raise InputError(f"{path} cannot be read as an export: {str(error).rstrip('.')}.") from error


def _verify(archive: zipfile.ZipFile, path: Path) -> None:
    names = set(archive.namelist())
    missing = [name for name in (*_OLDEST_MEMBERS, "manifest.json") if name not in names]
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
    for name in sorted(
        {*_OLDEST_MEMBERS, *names.intersection(_MEMBERS), *set(hashes).intersection(_MEMBERS)}
    ):
        if name not in names:
            raise InputError(f"{path} is damaged: it lacks {name}.")
        with archive.open(name) as member:
            if hashlib.file_digest(member, "sha256").hexdigest() != hashes.get(name):  # type: ignore[arg-type]
                raise InputError(f"{path} is damaged: {name} does not match its sha256.")


def _read(store: Store, archive: zipfile.ZipFile, path: Path, *, merge: bool) -> BackupReport:
    with store.write() as connection:
        if documents.count(connection)["documents"] and not merge:
            raise InputError(
                f"{store.folder} holds documents already.", "Name an empty one with --kb, or add --merge."
            )
        chosen, notes = _settings(archive, path)
        n_documents = 0
        for number, line in enumerate(_lines(archive, "documents.jsonl"), 1):
            document = _document(line, f"{path}, document {number}")
            documents.put(connection, document, passages(document.text), None)
            n_documents += 1
        beliefs.mark_behind(connection)
        n_feedback, _ = record.import_lines(
            connection, _lines(archive, "feedback.jsonl"), where=f"{path}, feedback"
        )
        n_questions = questions.merge(connection, _logged(archive, path))
        if not merge:
            for key, value in chosen.items():
                values.set_setting(connection, key, value)
    return BackupReport(str(path), n_documents, n_feedback, n_questions, () if merge else notes)


def _logged(archive: zipfile.ZipFile, path: Path) -> list[LoggedQuestion]:
    if _QUESTIONS not in archive.namelist():
        return []
    return query_log.parse_lines(_lines(archive, _QUESTIONS), where=f"{path}, questions")


def _settings(archive: zipfile.ZipFile, path: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the settings that can be used, and what is to be said of those that were left out."""
    if archive.getinfo("settings.json").file_size > _MAX_SETTINGS_BYTES:
        raise InputError(f"{path}: its settings cannot be read.")
    try:
        found = json.loads(archive.read("settings.json"))
    except ValueError as error:
        raise InputError(f"{path}: its settings cannot be read.") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InputError(f"{path}: its settings cannot be read.")
    if unknown := sorted(set(found) - {*_SETTINGS, *_BACKENDS}):
        raise InputError(f"{path}: there is no setting {clean_line(unknown[0])[:40]!r}.")
    try:
        for name, check_value in _SETTINGS.items():
            if name in found:
                check_value(found[name])
    except InputError as error:
        raise InputError(f"{path}, settings: {error.message}", error.hint) from error
    notes = []
    for name, (default, called) in _BACKENDS.items():
        if found.get(name, default) != default:
            # It may be a path, which whoever wrote the export must not choose.
            value = clean_line(found.pop(name))[:200]
            notes.append(f"{called} {value!r} was left out; to use it here: veridical build --{name} {value}")
    return found, tuple(notes)


def _check_switch(value: str) -> None:
    if value not in ("on", "off"):
        raise InputError(f"The query log cannot be {clean_line(value)[:40]!r}.", "It is on or off.")


_SETTINGS: dict[str, Callable[[str], object]] = {
    "method": lambda value: registry.load("methods", value),
    "retriever": check_retriever,
    "query_log": _check_switch,
    "made_questions": building.check_made,
}
_BACKENDS = {"nli": ("features", "NLI backend"), "reader": ("embedded", "Reader")}


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[str]:
    with archive.open(name) as member:
        number = 0
        while line := member.readline(_MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > _MAX_LINE_BYTES:
                limit = f"{_MAX_LINE_BYTES:,} bytes"
                raise InputError(f"{archive.filename}, {name}: line {number} is longer than {limit}.")
            yield line.decode("utf-8")


def _document(line: str, where: str) -> SourceDocument:
    try:
        raw: dict[str, Any] = json.loads(line)
        _check_fields(raw)
        document = SourceDocument(**{name: raw[name] for name in _FIELDS})
        if document.version != content_hash(document.title, document.text):
            raise ValueError("its text does not match its version")
        return _cleaned(document)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{where}: {error}.", "The export is damaged; nothing was imported.") from error


def _cleaned(document: SourceDocument) -> SourceDocument:
    """The document as ingesting would have left it; feedback on another text does not count."""
    title, text = _one_line(document.title), clean(document.text)
    if document.key != clean(document.key):
        raise ValueError("its key holds control characters, or is no text")
    if document.date is not None and document.date != iso_date(document.date):
        raise ValueError("its date is none")
    if not text.strip():
        raise ValueError("it holds no text")
    json.dumps(document.metadata, ensure_ascii=False, allow_nan=False).encode("utf-8")
    return replace(
        document,
        title=title,
        text=text,
        version=content_hash(title, text),
        source=_one_line(document.source or "") or None,
        url=_one_line(document.url or "") or None,
    )


def _one_line(text: str) -> str:
    """Clean a text of one line; left as it is where it is clean, as a version depends on its spaces."""
    return text if text == clean(text) and "\n" not in text else clean_line(text)


def _check_fields(raw: dict[str, Any]) -> None:
    if raw["format"] not in get_args(DocumentFormat):
        raise ValueError("its format is unknown")
    for name in _FIELDS:
        value = raw[name]
        if name in _OPTIONAL and value is None:
            continue
        kind = dict if name == "metadata" else str
        if not isinstance(value, kind) or (not value and name not in ("title", "metadata")):
            raise ValueError(f"its field {name!r} cannot be used")
