"""What the readers of single-document files have in common: their result, decoding, and cleaning."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from veridical.errors import ReadError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TERMINAL_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_UNCLEAN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\ud800-\udfff]")
_BINARY_CONTROLS = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f]")
_SAMPLE = 8192


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one file says: readable text, with title and date where the file gives them."""

    text: str
    title: str = ""
    date: str | None = None


def clean(text: str) -> str:
    """Make text safe to store and print, and its lines end in ``\\n``.

    Terminal control codes are removed, other control characters become spaces, and lone surrogates (which
    cannot be stored as UTF-8) become U+FFFD. Clean text is left as it is.
    """
    if not _UNCLEAN.search(text):
        return text
    text = _LINE_ENDS.sub("\n", _TERMINAL_CODES.sub("", text))
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def clean_line(text: str) -> str:
    """Clean text that must fit on one line, such as a title."""
    return " ".join(clean(text).split())


def bom_of(data: bytes) -> tuple[bytes, str] | None:
    """Return the byte order mark that ``data`` begins with, and its encoding."""
    return next(((bom, encoding) for bom, encoding in _BOMS if data.startswith(bom)), None)


def refuse_binary(data: bytes) -> None:
    """Raise ``ReadError`` if ``data`` cannot be text in UTF-8."""
    nul = data.find(b"\0")
    if nul >= 0:
        raise ReadError(f"looks like a binary file (NUL byte at {nul}).", "If it is text, save it as UTF-8.")
    sample = data[:_SAMPLE]
    if len(_BINARY_CONTROLS.findall(sample)) > 0.02 * len(sample) + 1:
        raise ReadError("looks like a binary file (many control characters).")


def decode(data: bytes) -> str:
    """Decode a text file: UTF-8, or what its byte order mark says.

    Raises
    ------
    ReadError
        If the bytes are binary or in another encoding; nothing is guessed.
    """
    bom, encoding = bom_of(data) or (b"", "utf-8")
    if not bom:
        refuse_binary(data)
    try:
        return data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        place = error.start + len(bom)
        raise ReadError(f"is not valid {encoding.upper()} at byte {place}.", "Convert it to UTF-8.") from None
