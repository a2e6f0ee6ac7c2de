"""PDF: the text that a page carries. Scanned pages carry none, and are said to."""

from __future__ import annotations

import io
import logging
import re
import time
from typing import Any

from veridical.corpus.fields import iso_date
from veridical.corpus.readers.base import Parsed, clean, clean_line
from veridical.errors import ReadError

MAX_PAGES = 5000
MAX_SECONDS = 120.0
MAX_PAGE_BYTES = 20_000_000
_FILE_NAME = re.compile(r"(?i).*\.(?:docx?|pdf|indd|tex|xlsx?|pptx?|rtf|odt)$|untitled.*|microsoft word.*")
# A word cut at the end of a line; not one with a capital or a digit after the hyphen, which keeps it.
_HYPHENATED = re.compile(r"(?<=[^\W\d_])(?:-|\u00ad|\u2010)[ \t]*\n[ \t]*(?=[^\W\d_A-Z])")


def parse(data: bytes) -> Parsed:
    """Read the pages of a PDF, joined by empty lines.

    Raises
    ------
    ReadError
        If it is no PDF, damaged, encrypted, without text, or too large: more than ``MAX_PAGES``
        pages, more than ``MAX_SECONDS`` of reading, or a page of more than ``MAX_PAGE_BYTES``.
    """
    if b"%PDF-" not in data[:1024]:
        raise ReadError("is not a PDF (its header is missing).")
    # It warns about every flaw of a file by itself; what matters is reported as an error here.
    logger = logging.getLogger("pypdf")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    try:
        return _parse(data)
    except (ReadError, ImportError):
        raise
    except Exception as error:  # damaged files raise nearly anything
        reason = clean_line(str(error))[:200] or type(error).__name__
        raise ReadError(
            f"is a damaged PDF: {reason}.", "Open and save it again, or convert it to text."
        ) from None


def _parse(data: bytes) -> Parsed:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not _unlock(reader):
        raise ReadError("is a PDF that is encrypted.", "Save a copy without password and encryption.")
    n_pages = len(reader.pages)
    if n_pages > MAX_PAGES:
        raise ReadError(f"has {n_pages} pages, more than {MAX_PAGES}.", "Split it.")
    text = "\n\n".join(page for page in _pages(reader) if page)
    if not text.strip():
        raise ReadError(
            f"is a PDF with no text in its {n_pages} pages; it may be scanned.", "Run OCR on it first."
        )
    title, date = _information(reader)
    return Parsed(text, title, date)


def _unlock(reader: Any) -> bool:
    """Open a PDF that is encrypted with an empty password, as those are that only restrict printing."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # an unknown or uninstalled cipher among others
        return False


def _pages(reader: Any) -> list[str]:
    deadline = time.monotonic() + MAX_SECONDS
    texts = []
    for number, page in enumerate(reader.pages, start=1):
        if time.monotonic() > deadline:
            raise ReadError(
                f"takes more than {MAX_SECONDS:.0f} s to read (at page {number}).", "Convert it to text."
            )
        # A few kilobytes can hold a page of many megabytes, and time is only looked at between pages.
        content = page.get_contents()
        if content is not None and len(content.get_data()) > MAX_PAGE_BYTES:
            raise ReadError(
                f"has a page {number} of more than {MAX_PAGE_BYTES / 1e6:g} MB.", "Convert it to text."
            )
        lines = (line.strip() for line in clean(page.extract_text() or "").split("\n"))
        texts.append(_HYPHENATED.sub("", "\n".join(lines)).strip())
    return texts


def _information(reader: Any) -> tuple[str, str | None]:
    """Return title and date of creation as the file gives them; a title that is a file name is none."""
    try:
        information = reader.metadata
        title = clean_line(str(information.title or "")) if information else ""
        raw = str(information.get("/CreationDate") or "") if information else ""
    except Exception:  # the text is what counts
        return "", None
    digits = re.match(r"(?:D:)?(\d{4})(\d{2})(\d{2})", raw)
    return "" if _FILE_NAME.fullmatch(title) else title, iso_date(
        "-".join(digits.groups())
    ) if digits else None
