"""Having documents put questions to their neighbours: planned, read and compared where something changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veridical.graph.from_questions import place
from veridical.graph.locality import ranks
from veridical.graph.made_questions import VERSION, MadeQuestion, Neighbour, questions_of
from veridical.pipeline.progress import Stages
from veridical.reading.base import Reader, Reading
from veridical.stores import Store, documents, made, questions
from veridical.stores.documents import text_hash
from veridical.stores.questions import QuestionPair
from veridical.types import Passage

BATCH = 32
"""Documents that are done between two commits, one or two seconds' work."""


@dataclass(frozen=True)
class Made:
    """What was done: questions that stand now, and passages newly read for them."""

    n_questions: int
    n_read: int


def update(
    store: Store,
    reader: Reader,
    owner: Mapping[int, int],
    pairs: Sequence[tuple[int, int]],
    n: int,
    stages: Stages,
) -> Made:
    """Bring the questions of all documents up to date, in steps that are committed.

    Parameters
    ----------
    owner
        Passage id to document id, of all passages.
    pairs
        (low, high) passages of different documents that are near to each other.
    n
        How many questions a document asks, at most.
    """
    near: dict[int, list[int]] = {}
    for low, high in pairs:
        near.setdefault(low, []).append(high)
        near.setdefault(high, []).append(low)
    own: dict[int, list[int]] = {}
    for passage, document in owner.items():
        own.setdefault(document, []).append(passage)
    with store.write() as connection:
        made.use_version(connection, VERSION)
        known, titles = made.stamps(connection), made.titles(connection)
    title_of = {passage: titles.get(document, "") for passage, document in owner.items()}
    wanted = {
        document: _stamp(passages, near, title_of, n, reader.name) for document, passages in own.items()
    }
    changed = [document for document in own if known.get(document) != wanted[document]]
    rank = ranks(pairs) if changed else {}
    first = {document: min(rank.get(p, len(rank)) for p in own[document]) for document in changed}
    todo = sorted(changed, key=lambda document: (first[document], document))
    n_read = 0
    with stages.run("made questions", len(todo), "documents") as progress:
        for part in documents.chunks(todo, BATCH):
            n_read += _do(store, reader, {d: sorted(own[d]) for d in part}, titles, near, n, wanted)
            progress.advance(len(part))
    with store.read() as connection:
        return Made(made.count(connection), n_read)


def _stamp(
    passages: Sequence[int],
    near: Mapping[int, Sequence[int]],
    title_of: Mapping[int, str],
    n: int,
    reader: str,
) -> str:
    """A hash of all that a document's questions depend on; a passage's text never changes under its id."""
    if n < 1:
        return "none"
    asks = [
        (passage, title_of[passage], [(other, title_of[other]) for other in sorted(near.get(passage, ()))])
        for passage in sorted(passages)
    ]
    return text_hash(repr((n, reader, asks)))


def _do(
    store: Store,
    reader: Reader,
    own: Mapping[int, Sequence[int]],
    titles: Mapping[int, str],
    near: Mapping[int, Sequence[int]],
    n: int,
    stamps: Mapping[int, str],
) -> int:
    """Plan some documents' questions, read what is new, and store all; return how many passages were read."""
    asking = [passage for passages in own.values() for passage in passages]
    with store.read() as connection:
        involved = {*asking, *(other for passage in asking for other in near.get(passage, ()))}
        texts = documents.passages_by_ids(connection, sorted(involved) if n else [])
        known = made.pairs_of(connection, asking, reader.name)
    plan = [
        question
        for document, passages in own.items()
        for question in _plan(passages, titles.get(document, ""), titles, near, texts, n)
    ]
    new = [question for question in plan if _key(question) not in known]
    readings = reader.read_pairs([(question.question, question.window.text) for question in new])
    found = [_pair(question, reading, reader.name) for question, reading in zip(new, readings, strict=True)]
    with store.write() as connection:
        made.forget(connection, asking, reader.name, keep={_key(question) for question in plan})
        questions.put_pairs(connection, found)
        made.put_stamps(connection, {document: stamps[document] for document in own})
    return len(new)


def _plan(
    passages: Sequence[int],
    title: str,
    titles: Mapping[int, str],
    near: Mapping[int, Sequence[int]],
    texts: Mapping[int, Passage],
    n: int,
) -> list[MadeQuestion]:
    own = {passage: texts[passage].text for passage in passages if passage in texts}
    neighbours = {
        passage: [
            Neighbour(other, found.document_id, titles.get(found.document_id, ""), found.text)
            for other in sorted(near.get(passage, ()))
            if (found := texts.get(other)) is not None
        ]
        for passage in own
    }
    return questions_of(own, title, neighbours, n)


def _key(question: MadeQuestion) -> tuple[int, int, str]:
    return question.asker, question.other, question.question


def _pair(question: MadeQuestion, reading: Reading, reader: str) -> QuestionPair:
    verdict = question.verdict(reading)
    ends = [(question.asker, place(verdict.left)), (question.other, place(verdict.right))]
    (low, low_place), (high, high_place) = sorted(ends)
    return QuestionPair(
        low,
        high,
        None,
        question.question,
        "made",
        question.asker,
        reader,
        verdict.support,
        verdict.contradiction,
        *low_place,
        *high_place,
    )
