"""JSON Lines, one document a line, read as a stream: own schema, or BEIR's.

Own schema: ``{"text", "id"?, "title"?, "source"?, "url"?, "date"?, "metadata"?}``. In BEIR's, the id is
called ``_id``; the first record of a file decides which it is. ``source``, ``url`` and ``date`` may also lie
in ``metadata``. Other fields are kept in the document's metadata.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from veridical.corpus.dedupe import content_hash
from veridical.corpus.fields import iso_date, source_of
from veridical.corpus.readers.base import bom_of, clean, clean_line, refuse_binary
from veridical.corpus.readers.beir import ID_FIELD, is_beir_record
from veridical.errors import ReadError
from veridical.types import DocumentFormat, Problem, SourceDocument

MAX_KEY_CHARS = 2000
_GIVE_UP_AFTER = 100
_MAX_DEPTH = 50
_KNOWN = {"title", "text", "source", "url", "date", "metadata"}


@dataclass(frozen=True, slots=True)
class JsonlFile:
    """A JSONL file and where it lies: ``key`` names records without an id, ``folder`` is the top folder."""

    path: Path
    key: str
    prefix: str = ""
    folder: str | None = None


def documents(
    file: JsonlFile, *, max_bytes: int, on_progress: Callable[[int], None] | None = None
) -> Iterator[SourceDocument | Problem]:
    """Yield the documents of a file, and a ``Problem`` with its line for each record that is none.

    Parameters
    ----------
    file
        The file; it is read line by line, so memory is bounded by the longest line.
    max_bytes
        Longest line that is read; a longer one is a problem.
    on_progress
        Called with the number of bytes read so far, before each yield and at the end.

    Raises
    ------
    ReadError
        If the file as a whole is not JSON Lines in UTF-8, or its first 100 lines are all unreadable.
    """
    id_field: str | None = None
    n_bad, any_good = 0, False
    with file.path.open("rb") as stream:
        _refuse_other_formats(stream)
        for number, line in _lines(stream, max_bytes):
            if on_progress:
                on_progress(stream.tell())
            try:
                if line is None:
                    raise ReadError(f"is a line of more than {max_bytes} bytes.", "Split the document.")
                record = _record(line)
                if record is None:
                    continue
                if id_field is None:
                    id_field = ID_FIELD if is_beir_record(record) else "id"
                yield _document(file, number, record, id_field)
                any_good = True
            except ReadError as error:
                yield Problem(str(file.path), reason_of(error), number)
                n_bad += 1
            if n_bad == _GIVE_UP_AFTER and not any_good:
                raise ReadError(f"is given up: none of its first {n_bad} records can be read.")
        if on_progress:
            on_progress(stream.tell())


def reason_of(error: ReadError) -> str:
    """Return an error as the reason of a ``Problem``: what is wrong and what to do, on one line."""
    return f"{error.message} {error.hint}".strip()


def _refuse_other_formats(stream: IO[bytes]) -> None:
    head = stream.read(4096)
    bom, encoding = bom_of(head) or (b"", "utf-8")
    if encoding != "utf-8":
        raise ReadError(f"is {encoding.upper()}, JSON Lines must be UTF-8.", "Convert it to UTF-8.")
    refuse_binary(head)
    if head[len(bom) :].lstrip().startswith(b"["):
        raise ReadError(
            "is a JSON array, not JSON Lines.", "Write one record a line, without brackets around."
        )
    stream.seek(len(bom))


def _lines(stream: IO[bytes], max_bytes: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number from 1, line); None for a line that is too long, which is skipped without keeping it."""
    number = 0
    while line := stream.readline(max_bytes + 1):
        number += 1
        if len(line) > max_bytes and not line.endswith(b"\n"):
            while (rest := stream.readline(1 << 20)) and not rest.endswith(b"\n"):
                pass
            yield number, None
        else:
            yield number, line


def _record(line: bytes) -> dict[str, Any] | None:
    """Parse a line; None if it is blank."""
    try:
        text = line.decode("utf-8").strip().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ReadError(
            f"is not valid UTF-8 at byte {error.start} of the line.", "Convert it to UTF-8."
        ) from None
    if not text:
        return None
    try:
        record = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ReadError(f"is not valid JSON: {error.msg} (column {error.colno}).") from None
    except (ValueError, RecursionError) as error:
        raise ReadError(f"is not valid JSON: {clean_line(str(error))[:200]}.") from None
    if not isinstance(record, dict):
        raise ReadError(f"is a JSON {_kind(record)}, not an object with a 'text'.")
    return record


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _document(file: JsonlFile, number: int, record: Mapping[str, Any], id_field: str) -> SourceDocument:
    given = record.get("metadata")
    if given is not None and not isinstance(given, dict):
        raise ReadError(f"has 'metadata' that is a {_kind(given)}, not an object.")
    given = given or {}
    text = _text(record)
    title = clean_line(_optional(record, given, "title"))
    url = clean_line(_optional(record, given, "url")) or None
    raw_date = record.get("date", given.get("date"))
    date = iso_date(raw_date)
    extra = {name: value for name, value in record.items() if name not in _KNOWN and name != id_field}
    metadata: dict[str, Any] = _clean_json({**given, **extra})
    if raw_date and not date:
        metadata["date_as_given"] = _clean_json(raw_date)
    metadata |= {"path": str(file.path.absolute()), "line": number}
    form: DocumentFormat = "beir" if id_field == ID_FIELD else "jsonl"
    return SourceDocument(
        key=_key(file, number, record.get(id_field), url),
        version=content_hash(title, text),
        text=text,
        title=title,
        source=source_of(clean_line(_optional(record, given, "source")), url, file.folder),
        url=url,
        date=date,
        format=form,
        metadata=metadata,
    )


def _text(record: Mapping[str, Any]) -> str:
    text = record.get("text")
    if isinstance(text, str):
        if (cleaned := clean(text)).strip():
            return cleaned
        raise ReadError("has an empty 'text'.")
    if text is not None:
        raise ReadError(f"has a 'text' that is a {_kind(text)}, not a string.")
    found = ", ".join(repr(clean_line(name))[:40] for name in list(record)[:10]) or "none"
    raise ReadError(
        f"has no 'text'; fields found: {found}.", "Rename the field that holds the text to 'text'."
    )


def _optional(record: Mapping[str, Any], given: Mapping[str, Any], name: str) -> str:
    """Return a field of the record, else of its metadata, as text; "" if there is none."""
    value = record.get(name)
    if value is None:
        value = given.get(name)
        if not isinstance(value, (str, int)):  # free-form: what does not fit is not meant
            return ""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value)
    raise ReadError(f"has a {name!r} that is a {_kind(value)}, not a string.")


def _key(file: JsonlFile, number: int, given: object, url: str | None) -> str:
    if given is not None and (isinstance(given, bool) or not isinstance(given, (str, int, float))):
        raise ReadError(f"has an id that is a {_kind(given)}, not a string or a number.")
    name = clean_line(str(given)) if given is not None else ""
    key = name or url
    if not key:
        return f"{file.key}#L{number}"
    if len(key) > MAX_KEY_CHARS:
        raise ReadError(f"has an id of {len(key)} characters, more than {MAX_KEY_CHARS}.")
    return f"{file.prefix}/{key}" if file.prefix else key


def _clean_json(value: Any, depth: int = 0) -> Any:
    """Clean every string in a JSON value, and refuse what a later writer of JSON would choke on."""
    if depth > _MAX_DEPTH:
        raise ReadError(f"has metadata nested more than {_MAX_DEPTH} deep.")
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_json(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(name): _clean_json(item, depth + 1) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ReadError("has a number in its metadata that is too large.")
    return value


def _kind(value: object) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
