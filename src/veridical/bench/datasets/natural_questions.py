"""Natural Questions (Kwiatkowski et al., TACL 2019), in its original, simplified and open formats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question

_TAG = re.compile(r"</?[A-Za-z][^>]*>")


class NaturalQuestions(DataSet):
    """Natural Questions: what people asked a search engine, and where a Wikipedia page answers it.

    Each line is read as what it is: of NQ-open (question and answers, without passages), simplified (text of
    the page) or original (tokens of the page).
    """

    name = "natural_questions"
    files = ("NQ-open.dev.jsonl", "nq-dev-all.jsonl", "simplified-nq-train.jsonl")

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`.

        Passages are the page's top-level long answer candidates, ``supporting`` those that annotators chose.
        Answers are the short answers, or yes or no, of all annotators; questions without any are left out.
        """
        return files.questions(path, files.lines(path), _question, "Natural Questions")


def _question(record: Any, place: str) -> Question | None:
    if "annotations" not in record:
        number = f"nq-open-{place.removeprefix('line ')}"
        return Question(number, files.text(record, "question"), files.texts(record, "answer"), ())
    tokens = _tokens(record)
    answers = tuple(dict.fromkeys(_answers(record["annotations"], tokens)))
    if not answers:
        return None
    number = str(record["example_id"])
    url = record.get("document_url")
    title = record.get("document_title") or _title(url)
    chosen = {
        (span["start_token"], span["end_token"])
        for span in (annotation["long_answer"] for annotation in record["annotations"])
    }
    passages = []
    for i, span in enumerate(record["long_answer_candidates"]):
        text = _text(tokens, span) if span.get("top_level", True) else ""
        if text:
            needed = (span["start_token"], span["end_token"]) in chosen
            passages.append(
                LabelledPassage(f"{number}-{i}", text, "factual", title=title, source=url, supporting=needed)
            )
    return Question(number, files.text(record, "question_text"), answers, tuple(passages))


def _tokens(record: Mapping[str, Any]) -> list[str]:
    """The page's tokens, tags as empty texts; blanks alone separate those of the simplified format."""
    if "document_text" in record:
        return ["" if _TAG.fullmatch(token) else token for token in record["document_text"].split(" ")]
    return ["" if token["html_token"] else str(token["token"]) for token in record["document_tokens"]]


def _answers(annotations: Sequence[Mapping[str, Any]], tokens: Sequence[str]) -> Iterator[str]:
    for annotation in annotations:
        if annotation.get("yes_no_answer", "NONE") in ("YES", "NO"):
            yield str(annotation["yes_no_answer"]).lower()
        for span in annotation["short_answers"]:
            text = _text(tokens, span)
            if text:
                yield text


def _text(tokens: Sequence[str], span: Mapping[str, Any]) -> str:
    begin, end = int(span["start_token"]), int(span["end_token"])
    if not 0 <= begin <= end <= len(tokens):
        raise ValueError(f"tokens {begin} to {end} of {len(tokens)} are asked for")
    return " ".join(token for token in tokens[begin:end] if token)


def _title(url: object) -> str:
    """The page's title, as its address has it."""
    parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
    named = parse_qs(parts.query).get("title", [unquote(parts.path.rpartition("/")[2])])
    return named[0].replace("_", " ")
