"""MuSiQue (Trivedi et al., TACL 2022) in its published format: one question a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question


class MuSiQue(DataSet):
    """MuSiQue: questions composed of two to four single ones, each with twenty Wikipedia paragraphs."""

    name = "musique"
    files = ("musique_ans_v1.0_dev.jsonl", "musique_full_v1.0_dev.jsonl", "musique_ans_v1.0_train.jsonl")

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`. Unanswerable questions (MuSiQue-Full) and those of a test set are left out."""
        return files.questions(path, files.lines(path), _question, "MuSiQue")


def _question(record: Any, _: str) -> Question | None:
    number, asked = files.text(record, "id"), files.text(record, "question")
    if "answer" not in record or not record.get("answerable", True):
        return None
    passages = tuple(
        LabelledPassage(
            f"{number}-{paragraph['idx']}",
            files.text(paragraph, "paragraph_text"),
            "factual",
            title=str(paragraph["title"]),
            supporting=bool(paragraph["is_supporting"]),
        )
        for paragraph in record["paragraphs"]
    )
    aliases = files.texts(record, "answer_aliases") if "answer_aliases" in record else ()
    answers = dict.fromkeys([files.text(record, "answer"), *aliases])
    return Question(number, asked, tuple(answers), passages)
