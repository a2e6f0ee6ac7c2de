"""Folders in BEIR layout (Thakur et al., NeurIPS 2021): a corpus, queries, and judgements of relevance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veridical.bench.datasets import files
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.corpus.readers.beir import CORPUS_FILE, ID_FIELD, QRELS_FOLDER, QUERIES_FILE
from veridical.errors import InputError, NotFoundError

_SPLITS = ("test", "dev", "train")
_ANSWERS = ("answers", "answer")


class BEIR(DataSet):
    """A folder in BEIR layout: a corpus, queries and qrels; with answers only if its queries have some.

    A question's passages are those documents that were judged for it.
    """

    name = "beir"

    def found_in(self, folder: Path) -> Path | None:
        """See `DataSet.found_in`: the folder itself, if it holds a corpus and queries."""
        whole = (folder / CORPUS_FILE).is_file() and (folder / QUERIES_FILE).is_file()
        return folder if whole else None

    def load(self, path: Path) -> list[Question]:
        """See `DataSet.load`; ``path`` is the folder.

        Of the qrels the test split is read, or else dev, or else train. Documents judged above 0 are
        ``supporting``. A query may have its answers in ``metadata`` (``answer`` or ``answers``).
        """
        qrels = _judged(path / QRELS_FOLDER)
        wanted = {document for judged in qrels.values() for document in judged}
        documents = _documents(path / CORPUS_FILE, wanted)

        def read(record: Any, _: str) -> Question | None:
            number = files.text(record, ID_FIELD)
            if number not in qrels:
                return None
            passages = tuple(
                documents[document](f"{number}-{document}", score > 0)
                for document, score in qrels[number].items()
                if document in documents
            )
            return Question(number, files.text(record, "text"), _answers(record), passages)

        return files.questions(path / QUERIES_FILE, files.lines(path / QUERIES_FILE), read, "a BEIR folder")


class _Document:
    """A document of the corpus, which becomes a passage of a question."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._title, self._text = str(record.get("title") or ""), files.text(record, "text")

    def __call__(self, name: str, relevant: bool) -> LabelledPassage:
        return LabelledPassage(name, self._text, "factual", title=self._title, supporting=relevant)


def _documents(path: Path, wanted: set[str]) -> dict[str, _Document]:
    found = {}
    for place, record in files.lines(path):
        try:
            number = str(record[ID_FIELD])
            if number in wanted and str(record["text"]).strip():
                found[number] = _Document(record)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}, {place}: not a document of a BEIR folder ({error}).",
                "Each line needs _id and text, and may have a title.",
            ) from error
    return found


def _judged(folder: Path) -> dict[str, dict[str, int]]:
    path = next((folder / f"{split}.tsv" for split in _SPLITS if (folder / f"{split}.tsv").is_file()), None)
    if path is None:
        raise NotFoundError(
            f"There are no judgements in {folder}.", "A BEIR folder has qrels/test.tsv, dev.tsv or train.tsv."
        )
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(files.whole(path).splitlines(), start=1):
        if not line.strip() or (number == 1 and line.startswith("query-id")):
            continue
        try:
            query, document, score = line.split("\t")
            found.setdefault(query, {})[document] = int(score)
        except ValueError as error:
            raise InputError(
                f"{path}, line {number}: not a judgement ({line[:60]!r}).",
                "Each line needs a query, a document and a whole number, separated by tabs.",
            ) from error
    return found


def _answers(record: Mapping[str, Any]) -> tuple[str, ...]:
    about = record.get("metadata") or {}
    for key in _ANSWERS:
        if isinstance(about.get(key), str):
            return (files.text(about, key),)
        if key in about:
            return files.texts(about, key)
    return ()
