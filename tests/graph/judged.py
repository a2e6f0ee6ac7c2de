"""A knowledge base with documents and judgements, for graph tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from veridical.corpus.dedupe import content_hash
from veridical.stores import Store, derived, documents, questions
from veridical.stores.derived import Judgement
from veridical.stores.questions import QuestionPair
from veridical.types import SourceDocument, Span


def put(store: Store, key: str, *paragraphs: str, title: str = "", **fields: Any) -> list[int]:
    """Store a document with one passage a paragraph, after a line that is in none; return passage ids."""
    text = "--\n" + "\n".join(paragraphs)
    spans, start = [], 3
    for paragraph in paragraphs:
        spans.append(Span(paragraph, start, start + len(paragraph)))
        start += len(paragraph) + 1
    document = SourceDocument(key, content_hash(title, text), text, title, **fields)
    with store.write() as connection:
        _, document_id = documents.put(connection, document, spans, None)
        return [p.id for p in documents.every_passage(connection) if p.document_id == document_id]


def judge(store: Store, rows: Sequence[Judgement]) -> None:
    with store.write() as connection:
        derived.put_judgements(connection, "m", rows)


def answer(
    store: Store,
    *rows: tuple[int, int, float, float],
    question: str = "What?",
    places: tuple[int | None, ...] = (None, None, None, None),
    origin: Any = "made",
    asker: int = 0,
) -> None:
    """Store (low, high, support, contradiction) as what two passages answered to one question."""
    with store.write() as connection:
        questions.put_pairs(
            connection,
            [
                QuestionPair(low, high, None, question, origin, asker, "r", support, contradiction, *places)
                for low, high, support, contradiction in rows
            ],
        )
