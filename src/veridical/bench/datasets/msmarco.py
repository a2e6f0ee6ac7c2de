"""MS MARCO (Nguyen et al. 2016), question answering task, in its published formats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.errors import InputError

_UNANSWERED = "No Answer Present."
_OF_COLUMNS = re.compile(r'\s*\{\s*"\w+"\s*:\s*\{')
_COLUMNS = ("query", "answers", "passages", "query_id")


class MSMARCO(DataSet):
    """MS MARCO: what people asked a search engine, ten passages of web pages each, and a written answer.

    Version 2.1 is one object of columns, each by row; version 1.1 is one question a line. Both are read.
    """

    name = "msmarco"
    files = ("dev_v2.1.json", "train_v2.1.json", "dev_v1.1.json", "train_v1.1.json")

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`; ``supporting`` are selected passages. Questions without answer are left out."""
        records = _rows(path) if _OF_COLUMNS.match(files.head(path)) else files.lines(path)
        return files.questions(path, records, _question, "MS MARCO")


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Turn columns into rows."""
    try:
        table = json.loads(files.whole(path))
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError(f"{path}, line {line}: not JSON ({error}).") from error
    missing = [name for name in _COLUMNS if not isinstance(table.get(name), dict)]
    if missing:
        raise InputError(
            f"{path}, line 1: there is no column {missing[0]!r}.", "Give the file as MS MARCO publishes it."
        )
    for row in table["query"]:
        yield f"row {row!r}", {name: table[name][row] for name in _COLUMNS if row in table[name]}


def _question(record: Any, _: str) -> Question | None:
    answers = tuple(answer for answer in files.texts(record, "answers") if answer != _UNANSWERED)
    if not answers:
        return None
    number = str(record["query_id"])
    passages = tuple(
        LabelledPassage(
            f"{number}-{i}",
            passage["passage_text"].strip(),
            "factual",
            source=passage.get("url"),
            supporting=bool(passage["is_selected"]),
        )
        for i, passage in enumerate(record["passages"])
        if passage["passage_text"].strip()
    )
    return Question(number, files.text(record, "query"), answers, passages)
