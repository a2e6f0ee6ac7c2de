"""Read the files that a scan found, one by one; what cannot be read is reported and never stops the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from importlib import import_module

from veridical.corpus.dedupe import content_hash
from veridical.corpus.fields import source_of
from veridical.corpus.readers import jsonl
from veridical.corpus.readers.base import Parsed, clean_line
from veridical.corpus.scan import Item, ScanResult
from veridical.errors import ReadError, VeridicalError
from veridical.types import DocumentFormat, Problem, SourceDocument

MAX_DOCUMENT_BYTES = 50_000_000
MAX_TITLE_CHARS = 500
_HTML_STARTS = (b"<!doctype html", b"<html")


def read(
    item: Item,
    *,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[SourceDocument | Problem]:
    """Yield the documents of one file, and a ``Problem`` for everything in it that is none.

    Parameters
    ----------
    item
        A file from ``scan``.
    max_bytes
        Largest document that is read, in bytes of its file or line.
    on_progress
        Called with the number of bytes of this file that are done, before each yield and at the end.

    Yields
    ------
    SourceDocument or Problem
        Documents with text that is not blank and can be stored as UTF-8. ``metadata`` holds ``path``
        (absolute), for JSONL also ``line``, beside what the record gave. No error leaves this generator,
        except for those that ``on_progress`` raises.

    Raises
    ------
    VeridicalError
        A library that a reader needs is not installed.
    """
    n_done = 0

    def note(n_bytes: int) -> None:
        nonlocal n_done
        n_done = n_bytes

    for result in _guarded(item, max_bytes, note):
        if on_progress:
            on_progress(n_done)
        yield result
    if on_progress:
        on_progress(item.size)


def _guarded(
    item: Item, max_bytes: int, on_progress: Callable[[int], None]
) -> Iterator[SourceDocument | Problem]:
    """Yield what is in a file, with every error of the file turned into a problem."""
    path = str(item.path)
    try:
        if item.format == "jsonl":
            file = jsonl.JsonlFile(item.path, item.key, item.prefix, item.folder)
            yield from jsonl.documents(file, max_bytes=max_bytes, on_progress=on_progress)
        else:
            yield _document(item, max_bytes)
    except ReadError as error:
        yield Problem(path, jsonl.reason_of(error))
    except OSError as error:
        yield Problem(path, f"cannot be read: {error.strerror or error}.")
    except ImportError as error:  # says nothing about the file: the next one would fare no better
        raise VeridicalError(
            f"The installation is incomplete: {clean_line(str(error))}.", "Install veridical again."
        ) from error
    except Exception as error:  # a bug of a parser is a reason to skip this file, not to stop
        detail = clean_line(f"{type(error).__name__}: {error}")[:200]
        yield Problem(path, f"cannot be read ({detail}).")


def read_all(
    found: ScanResult,
    *,
    max_bytes: int = MAX_DOCUMENT_BYTES,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[SourceDocument | Problem]:
    """Yield everything that a scan found: its problems first, then item by item as ``read`` does.

    A second document under a key that was used before in this run is a problem, unless both say the same.
    ``on_progress`` gets the bytes done of ``found.n_bytes``, all items together.
    """
    yield from found.problems
    seen: dict[int, int] = {}  # hashes of keys and versions: some 100 bytes a document
    done = 0
    for item in found:
        report = None if on_progress is None else _shifted(on_progress, done)
        for result in read(item, max_bytes=max_bytes, on_progress=report):
            if isinstance(result, SourceDocument):
                key, version = _short_hash(result.key), _short_hash(result.version)
                if key in seen:
                    if seen[key] != version:
                        yield _key_taken(item, result)
                    continue
                seen[key] = version
            yield result
        done += item.size


def _shifted(on_progress: Callable[[int], None], offset: int) -> Callable[[int], None]:
    return lambda n_bytes: on_progress(offset + n_bytes)


def _short_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _key_taken(item: Item, document: SourceDocument) -> Problem:
    reason = (
        f"has the key '{document.key}', which another document of this run has. Give one a prefix or an id."
    )
    return Problem(str(item.path), reason, document.metadata.get("line"))


def _document(item: Item, max_bytes: int) -> SourceDocument:
    with item.path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ReadError(f"is larger than {max_bytes / 1e6:g} MB, the limit for one document.", "Split it.")
    if not data.strip():
        raise ReadError("is empty.")
    form = item.format or _sniff(data)
    parsed: Parsed = import_module(f"veridical.corpus.readers.{form}").parse(data)
    if not parsed.text.strip():
        raise ReadError("holds no text.")
    title = (parsed.title or clean_line(item.path.stem))[:MAX_TITLE_CHARS]
    return SourceDocument(
        key=item.key,
        version=content_hash(title, parsed.text),
        text=parsed.text,
        title=title,
        source=source_of(folder=item.folder),
        date=parsed.date,
        format=form,
        metadata={"path": str(item.path.absolute())},
    )


def _sniff(data: bytes) -> DocumentFormat:
    """Tell the format of a file whose name does not: PDF and HTML by how they begin, else text."""
    head = data[:1024]
    if head.startswith(b"%PDF-"):
        return "pdf"
    return "html" if head.lstrip().lower().startswith(_HTML_STARTS) else "text"
