"""HotpotQA (Yang et al., EMNLP 2018) in its published format, which 2WikiMultiHopQA shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question


class HotpotQA(DataSet):
    """HotpotQA: questions whose answer takes two of ten Wikipedia paragraphs."""

    name = "hotpotqa"
    files = ("hotpot_dev_distractor_v1.json", "hotpot_dev_fullwiki_v1.json", "hotpot_train_v1.1.json")

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`. ``supporting`` marks the paragraphs that the supporting facts stand in."""
        return files.questions(
            path, files.elements(path), lambda record, _: multihop_question(record), "HotpotQA"
        )


def multihop_question(record: Mapping[str, Any], aliases: Sequence[str] = ()) -> Question | None:
    """Read one question: ``context`` is [title, sentences] each, ``supporting_facts`` [title, number].

    ``None`` for a question of a test set, which has no answer.
    """
    number, asked = files.text(record, "_id"), files.text(record, "question")
    if "answer" not in record:
        return None
    needed = {str(title) for title, _ in record["supporting_facts"]}
    passages = []
    for i, (title, sentences) in enumerate(record["context"]):
        text = " ".join(sentence.strip() for sentence in sentences).strip()
        if text:
            passages.append(
                LabelledPassage(
                    f"{number}-{i}", text, "factual", title=str(title), supporting=str(title) in needed
                )
            )
    answers = dict.fromkeys([files.text(record, "answer"), *aliases])
    return Question(number, asked, tuple(answers), tuple(passages))
