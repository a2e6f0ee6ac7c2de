"""RealTime QA (Kasai et al., NeurIPS 2023): weekly quizzes on the news, with what a search found then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.errors import InputError, NotFoundError

_QUESTIONS, _RETRIEVED = "_qa.jsonl", "_gcs.jsonl"


class RealTimeQA(DataSet):
    """RealTime QA: weekly news quizzes with choices, and the news articles that a search found that week.

    A file of one week is read, or all weeks of a folder.
    """

    name = "realtimeqa"

    def found_in(self, folder: Path) -> Path | None:
        """See `DataSet.found_in`: the folder itself, if it holds a week."""
        return folder if folder.is_dir() and any(folder.glob(f"*{_QUESTIONS}")) else None

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`.

        Passages are those of ``DATE_gcs.jsonl`` beside ``DATE_qa.jsonl``, where it is there; empty ones are
        left out, and so are questions that have no answer yet.
        """
        if not path.is_dir():
            return _week(path)
        weeks = sorted(path.glob(f"*{_QUESTIONS}"))
        if not weeks:
            raise NotFoundError(f"There is no week of RealTime QA (DATE{_QUESTIONS}) in {path}.")
        return [question for week in weeks for question in _week(week)]


def _week(path: Path) -> list[Question]:
    beside = path.with_name(path.name.removesuffix(_QUESTIONS) + _RETRIEVED)
    there = beside != path and beside.is_file()
    passages = _retrieved(beside) if there else {}
    return files.questions(
        path, files.lines(path), lambda record, _: _question(record, passages), "RealTime QA"
    )


def _retrieved(path: Path) -> dict[str, tuple[LabelledPassage, ...]]:
    found = {}
    for place, record in files.lines(path):
        try:
            number = files.text(record, "question_id")
            found[number] = tuple(
                LabelledPassage(
                    f"{number}-{i}",
                    result["text"].strip(),
                    "factual",
                    title=str(result.get("title") or ""),
                    source=result.get("url"),
                    date=result.get("publish_date") or None,
                )
                for i, result in enumerate(record["search_result"])
                if (result.get("text") or "").strip()
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}, {place}: not what was found for a question ({error}).",
                "Give the file as RealTime QA publishes it.",
            ) from error
    return found


def _question(record: Any, passages: dict[str, tuple[LabelledPassage, ...]]) -> Question | None:
    number = files.text(record, "question_id")
    choices = tuple(str(choice).strip() for choice in record["choices"])
    places = [int(place) for place in record["answer"]]
    if not places:
        return None
    if not all(0 <= place < len(choices) for place in places):
        raise ValueError(f"answer {record['answer']} is none of {len(choices)} choices")
    return Question(
        number,
        files.text(record, "question_sentence"),
        tuple(choices[place] for place in places),
        passages.get(number, ()),
        date=record.get("question_date"),
        choices=choices,
    )
