"""When two texts are one: the version of a document, and equality of what two passages say."""

from __future__ import annotations

import hashlib
import unicodedata


def content_hash(title: str, text: str) -> str:
    """Return the version of a document: SHA-256 (hexadecimal) of what it says, title and text.

    Line ends and the way accents are encoded make no difference; anything else does, a space included, since
    offsets into the text must keep their meaning.
    """
    said = f"{title}\0{text}".replace("\r\n", "\n").replace("\r", "\n")
    return _sha256(unicodedata.normalize("NFC", said))


def normalised_text(text: str) -> str:
    """Return ``text`` as it is compared with others: NFKC, case folded, white space made single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def text_hash(text: str) -> str:
    """Return a hash (SHA-256, hexadecimal) that two texts share if they differ in case and spacing only."""
    return _sha256(normalised_text(text))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
