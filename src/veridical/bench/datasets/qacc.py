"""QACC (Liu et al., Findings of NAACL 2025): open questions whose search results contradict one another."""

from __future__ import annotations

import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains

_ORDINALS = ("first", "second", "third", "fourth")


class QACC(DataSet):
    """QACC: unambiguous questions with up to ten search results, and what annotators read in each.

    All splits are read; the split is part of a question's id.
    """

    name = "qacc"
    files = ("ConflictQA_Dataset.json",)

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`.

        A result from which annotators read only answers other than the correct one is labelled
        ``misinformation``; one that gives the correct answer is ``supporting``. Questions without a correct
        answer are left out.
        """
        return files.questions(path, files.elements(path), _question, "QACC")


def _question(record: Any, _: str) -> Question | None:
    number = f"qacc-{record['split']}-{record['annotation_task_id']}"
    if isinstance(record["correctAnswer"], float):  # NaN: the annotators found none
        return None
    right = files.text(record, "correctAnswer")
    read_in = _read_in(record)
    same = {answer for answer in read_in if contains(answer, [right]) or contains(right, [answer])}
    supporting = {place for answer in same for place in read_in[answer]}
    others = [answer for answer in read_in if answer not in same]
    contradicting = {place for answer in others for place in read_in[answer]} - supporting
    contexts, sources = record["contexts"], record["sources"]
    passages = tuple(
        LabelledPassage(
            f"{number}-{place}",
            str(text).strip(),
            "misinformation" if place in contradicting else "factual",
            source=source if isinstance(source, str) else None,
            supporting=place in supporting,
        )
        for place, (text, source) in enumerate(zip(contexts, sources, strict=True))
        if str(text).strip()
    )
    return Question(
        number, files.text(record, "question"), (right,), passages, wrong_answer=others[0] if others else None
    )


def _read_in(record: Mapping[str, Any]) -> dict[str, set[int]]:
    """Each answer that was read, and the places of the results that it was read in (letters from A)."""
    found: dict[str, set[int]] = {}
    for ordinal in _ORDINALS:
        answer, letters = record.get(f"{ordinal}Answer"), record.get(f"{ordinal}Context")
        if isinstance(answer, str) and answer.strip() and isinstance(letters, str):  # NaN where there is none
            places = {string.ascii_uppercase.index(char) for char in letters if char.isalpha()}
            found.setdefault(answer.strip(), set()).update(places)
    return found
