"""The BEIR layout: a folder with ``corpus.jsonl`` (``_id``, ``title``, ``text``), queries and qrels.

Only ``corpus.jsonl`` holds documents. Its lines are read by ``veridical.corpus.readers.jsonl``; here is what
tells the layout from others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CORPUS_FILE = "corpus.jsonl"
QUERIES_FILE = "queries.jsonl"
QRELS_FOLDER = "qrels"
ID_FIELD = "_id"
_PEEK_BYTES = 1 << 20


def is_beir_record(record: Mapping[str, Any]) -> bool:
    """Whether a record of a JSONL file is a BEIR document."""
    return ID_FIELD in record and "text" in record


def corpus_of(folder: Path) -> Path | None:
    """Return the corpus file of a folder in BEIR layout; None for any other folder."""
    path = folder / CORPUS_FILE
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            record = json.loads(_first_line(file.read(_PEEK_BYTES)))
    except (OSError, ValueError, RecursionError):
        return None
    return path if isinstance(record, dict) and is_beir_record(record) else None


def _first_line(data: bytes) -> str:
    lines = (line for line in data.decode("utf-8-sig", "replace").split("\n") if line.strip())
    return next(lines, "")
