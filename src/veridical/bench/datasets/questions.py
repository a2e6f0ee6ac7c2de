"""Questions asked under misinformation: one JSON object a line, passages with their labels (see ``read``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from veridical.errors import InputError, NotFoundError

Label = Literal["factual", "misinformation", "outdated"]
_LABELS = frozenset({"factual", "misinformation", "outdated"})


@dataclass(frozen=True)
class LabelledPassage:
    """A passage and what it is for its question. The label is for evaluation and simulated feedback only.

    ``supporting`` says that the answer takes it, where a data set tells; it is for evaluation only, too.
    """

    id: str
    text: str
    label: Label
    title: str = ""
    source: str | None = None
    date: str | None = None
    supporting: bool = False


@dataclass(frozen=True)
class Question:
    """A question with its gold answers and its own passages."""

    id: str
    text: str
    answers: tuple[str, ...]
    passages: tuple[LabelledPassage, ...]
    wrong_answer: str | None = None
    date: str | None = None
    choices: tuple[str, ...] = ()

    def labelled(self, label: Label) -> tuple[LabelledPassage, ...]:
        """Return the passages that carry a label."""
        return tuple(passage for passage in self.passages if passage.label == label)


def read(data_dir: Path, name: str) -> list[Question]:
    """Read ``name.jsonl`` of a folder.

    A line holds ``id``, ``question``, ``answers`` and ``passages`` (each ``id``, ``text``, ``label``), and
    may hold ``wrong_answer``, ``date``, ``choices`` (right and wrong answers to choose from), and per passage
    ``title``, ``source``, ``date`` and ``relevance`` (``high``: the answer takes it).

    Raises
    ------
    NotFoundError
        There is no such file.
    InputError
        A line is not such an object; the message has its number.
    """
    path = data_dir / f"{name}.jsonl"
    if not path.is_file():
        raise NotFoundError(
            f"There is no data set '{name}': {path} does not exist.", "Give the folder that holds it."
        )
    questions: list[Question] = []
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):  # noqa: B007
                if line.strip():
                    questions.append(_question(json.loads(line)))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, after line {number}: not text in UTF-8 ({error}).") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}, line {number}: not a question ({type(error).__name__}: {error}).",
            "Each line needs id, question, answers and passages with id, text and label.",
        ) from error
    return questions


def _question(row: Mapping[str, Any]) -> Question:
    return Question(
        id=str(row["id"]),
        text=str(row["question"]),
        answers=tuple(str(answer) for answer in row["answers"]),
        passages=tuple(_passage(passage) for passage in row["passages"]),
        wrong_answer=row.get("wrong_answer"),
        date=row.get("date"),
        choices=tuple(str(choice) for choice in row.get("choices") or ()),
    )


def _passage(row: Mapping[str, Any]) -> LabelledPassage:
    if row["label"] not in _LABELS:
        raise ValueError(f"unknown label {row['label']!r}")
    return LabelledPassage(
        id=str(row["id"]),
        text=str(row["text"]),
        label=row["label"],
        title=row.get("title") or "",
        source=row.get("source"),
        date=row.get("date"),
        supporting=row.get("relevance") == "high",
    )
