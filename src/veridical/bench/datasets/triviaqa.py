"""TriviaQA (Joshi et al., ACL 2017) in its published format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question


class TriviaQA(DataSet):
    """TriviaQA: questions of trivia sites, with what a search engine found for them."""

    name = "triviaqa"
    files = ("unfiltered-web-dev.json", "web-dev.json", "verified-web-dev.json", "wikipedia-dev.json")

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`.

        Passages are the descriptions of search results; the evidence documents are not read, and the
        Wikipedia part has no passages. Questions of a test set, which have no answer, are left out.
        """
        return files.questions(path, files.elements(path, "Data"), _question, "TriviaQA")


def _question(record: Any, _: str) -> Question | None:
    number, asked, answer = (
        files.text(record, "QuestionId"),
        files.text(record, "Question"),
        record.get("Answer"),
    )
    if answer is None:
        return None
    passages = []
    for i, result in enumerate(record.get("SearchResults") or ()):
        text = str(result.get("Description") or "").strip()
        if text:
            passages.append(
                LabelledPassage(
                    f"{number}-{i}",
                    text,
                    "factual",
                    title=str(result.get("Title") or ""),
                    source=result.get("Url"),
                )
            )
    answers = dict.fromkeys([files.text(answer, "Value"), *files.texts(answer, "Aliases")])
    return Question(number, asked, tuple(answers), tuple(passages))
