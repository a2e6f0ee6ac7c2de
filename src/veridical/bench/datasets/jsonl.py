"""The benchmark's own format; see `veridical.bench.datasets.questions.read`."""

from __future__ import annotations

from pathlib import Path

from veridical.bench.datasets import questions
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import Question


class JSONL(DataSet):
    """The benchmark's own format: one question a line, with labelled passages."""

    name = "jsonl"
    files = ("questions.jsonl",)

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`."""
        return questions.read(path.parent, path.name.removesuffix(".jsonl"))
