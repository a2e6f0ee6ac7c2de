"""Plain text: the file as it is."""

from __future__ import annotations

from veridical.corpus.readers.base import Parsed, clean, decode


def parse(data: bytes) -> Parsed:
    """Read plain text in UTF-8 or with a byte order mark; raises ``ReadError`` on anything else."""
    return Parsed(clean(decode(data)))
