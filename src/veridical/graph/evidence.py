"""What is known of two passages: inference between their sentences, and what they answer to one question.

Both are brought to one form. A question is the surer of the two (see ``WORTH``): inference finds passages on
one subject in agreement more often than they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from veridical.graph.arrays import BoolArray, FloatArray, IntArray
from veridical.stores import derived, questions, schema
from veridical.stores.derived import Judgement
from veridical.stores.questions import LEAST_SAID, QuestionPair

WORTH = {"inference": 0.5, "answers": 1.0}
"""What evidence of equal weight is worth where two pieces of it disagree.

Stated, not fitted, after how far each can tell contradiction from support: with inference a random pair of
each is put in the right order in 55 to 61 of 100 cases, with a reader's answers in 71 to 74."""
SURE = 0.4
"""Answers that are less sure count in the trust problem, by their weight, but are not shown as a relation.

Two readings that are each sure of another number make a contradiction of about 0.5."""

Basis = Literal["inference", "answers"]


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of evidence on two passages, ``low < high`` by id.

    ``sign`` is +1 for support and -1 for contradiction, ``weight`` in [0, 1] its probability. ``places`` are
    offsets into the two passages, those of the sentences that decided it, or of the two answers. ``asker`` is
    the passage that a question was made of, 0 where none is.
    """

    low: int
    high: int
    sign: int
    weight: float
    basis: Basis
    backend: str = ""
    question: str | None = None
    asker: int = 0
    places: tuple[int | None, int | None, int | None, int | None] = (None, None, None, None)

    @property
    def worth(self) -> float:
        """What it is worth beside other evidence, in [0, 1]."""
        return WORTH[self.basis] * self.weight

    @property
    def is_sure(self) -> bool:
        """Whether it can be shown to people as what the two say."""
        return self.basis == "inference" or self.weight >= SURE

    @property
    def rank(self) -> tuple[Any, ...]:
        """Sorts what speaks most to the front, contradiction before support, the same everywhere."""
        return (-self.worth, self.sign, self.basis, self.low, self.high, self.question or "", self.backend)


def of_judgement(judgement: Judgement, model: str = "") -> Item | None:
    """Read what was inferred; ``None`` where it is neutral."""
    neutral = 1.0 - judgement.entailment - judgement.contradiction
    weight = max(judgement.entailment, judgement.contradiction)
    if weight <= neutral:
        return None
    sign = 1 if judgement.entailment >= judgement.contradiction else -1
    places = (judgement.low_start, judgement.low_end, judgement.high_start, judgement.high_end)
    return Item(judgement.low, judgement.high, sign, weight, "inference", model, places=places)


def of_question(pair: QuestionPair) -> Item | None:
    """Read what two passages answered; ``None`` where that says nothing."""
    if not pair.says_something:
        return None
    weight = max(pair.support, pair.contradiction)
    sign = 1 if pair.support >= pair.contradiction else -1
    places = (
        pair.low_answer_start,
        pair.low_answer_end,
        pair.high_answer_start,
        pair.high_answer_end,
    )
    low, high = pair.low_passage, pair.high_passage
    return Item(low, high, sign, weight, "answers", pair.reader, pair.question, pair.asker or 0, places)


def of_document(connection: sa.Connection, document_id: int, other: int | None = None) -> list[Item]:
    """All evidence between the passages of one document and those of any other, or of one other."""
    table, passages = schema.judgements, schema.passages
    own = sa.select(passages.c.id).where(passages.c.document_id == document_id)
    query = sa.select(*derived.JUDGEMENT, table.c.model)
    if other is None:
        query = query.where(table.c.low_passage.in_(own) | table.c.high_passage.in_(own))
    else:
        theirs = sa.select(passages.c.id).where(passages.c.document_id == other)
        query = query.where(
            (table.c.low_passage.in_(own) & table.c.high_passage.in_(theirs))
            | (table.c.low_passage.in_(theirs) & table.c.high_passage.in_(own))
        )
    judged = [of_judgement(Judgement(*row[:-1]), row[-1]) for row in connection.execute(query)]
    asked = [of_question(pair) for pair in _answered(connection, document_id, other)]
    return sorted((item for item in [*judged, *asked] if item is not None), key=lambda item: item.rank)


def _answered(connection: sa.Connection, document_id: int, other: int | None) -> list[QuestionPair]:
    found = questions.pairs(connection, document_id=document_id)
    if other is None:
        return found
    passages = schema.passages
    theirs = set(
        connection.execute(sa.select(passages.c.id).where(passages.c.document_id == other)).scalars()
    )
    return [pair for pair in found if pair.low_passage in theirs or pair.high_passage in theirs]


# --- the graph ---


@dataclass(frozen=True)
class Rows:
    """Evidence as columns, shape (e,): documents by number, sign, weight, and whether it rests on answers.

    ``margins`` in [-1, 1] says how much more probably the head answers the question than the tail; 0 for
    inference, and where it is not known.
    """

    heads: IntArray
    tails: IntArray
    signs: IntArray
    weights: FloatArray
    answered: BoolArray
    margins: FloatArray

    def at(self, places: IntArray | BoolArray) -> Rows:
        """Some of the rows."""
        return Rows(*(getattr(self, name)[places] for name in _COLUMNS))


def rows(connection: sa.Connection, document_ids: Sequence[int]) -> Rows:
    """All evidence there is, with documents as their places in ``document_ids``, ascending."""
    judged, asked = schema.judgements, schema.question_pairs
    said = _probability(asked.c.low_passage) - _probability(asked.c.high_passage)
    inferred = _numbers(connection, judged, [judged.c.entailment, judged.c.contradiction], document_ids)
    columns = [asked.c.support, asked.c.contradiction, sa.func.coalesce(said, 0.0)]
    *answers, margins = _numbers(connection, asked, columns, document_ids)
    return joined([rows_of(*inferred), rows_of(*answers, answered=True, margins=margins)])


def rows_of(
    heads: IntArray,
    tails: IntArray,
    support: FloatArray,
    contradiction: FloatArray,
    *,
    answered: bool = False,
    margins: FloatArray | None = None,
) -> Rows:
    """Bring probabilities of one kind of evidence, shape (e,) each, to the form of `Item`."""
    weights = np.maximum(support, contradiction)
    signs = np.where(support >= contradiction, 1, -1)
    keep = weights >= LEAST_SAID if answered else weights > 1.0 - support - contradiction
    margins = np.zeros(len(heads)) if margins is None else np.where(heads < tails, margins, -margins)
    return Rows(
        np.minimum(heads, tails)[keep],
        np.maximum(heads, tails)[keep],
        signs[keep].astype(np.int64),
        weights[keep],
        np.full(int(keep.sum()), answered),
        margins[keep],
    )


def joined(parts: Sequence[Rows]) -> Rows:
    """Evidence of several kinds as one."""
    return Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS))


_COLUMNS = ("heads", "tails", "signs", "weights", "answered", "margins")


def strongest(found: Rows) -> Rows:
    """Keep one row a document pair, that which is worth most; contradiction where two are worth the same.

    Strongest, and not summed up: what one reader says of the same two texts to ten wordings of a question is
    not ten times as sure, and whoever asks must not be able to make it so.
    """
    worth = np.where(found.answered, WORTH["answers"], WORTH["inference"]) * found.weights
    order = np.lexsort((found.margins, ~found.answered, found.signs, -worth, found.tails, found.heads))
    first = np.ones(len(order), dtype=np.bool_)
    heads, tails = found.heads[order], found.tails[order]
    first[1:] = (heads[1:] != heads[:-1]) | (tails[1:] != tails[:-1])
    return found.at(order[first])


def _numbers(
    connection: sa.Connection,
    table: sa.Table,
    columns: Sequence[sa.ColumnElement[Any]],
    document_ids: Sequence[int],
) -> tuple[Any, ...]:
    """Documents, by number, and some columns of all passage pairs of a table."""
    passages = schema.passages
    low, high = passages.alias("low"), passages.alias("high")
    found = connection.execute(
        sa.select(low.c.document_id, high.c.document_id, *columns)
        .join(low, low.c.id == table.c.low_passage)
        .join(high, high.c.id == table.c.high_passage)
    ).all()
    width = 2 + len(columns)
    data: npt.NDArray[np.float64] = np.fromiter(
        chain.from_iterable(found), dtype=np.float64, count=width * len(found)
    ).reshape(-1, width)
    numbers = np.searchsorted(np.array(document_ids, dtype=np.int64), data[:, :2].astype(np.int64))
    return (numbers[:, 0], numbers[:, 1], *data[:, 2:].T)


def _probability(passage: sa.Column[Any]) -> sa.ScalarSelect[Any]:
    """The probability that a passage answers a pair's question, NULL where it was not read for one."""
    table, pairs = schema.readings, schema.question_pairs
    return (
        sa.select(1.0 - table.c.no_answer)
        .where(
            table.c.question_id == pairs.c.question_id,
            table.c.passage_id == passage,
            table.c.reader == pairs.c.reader,
        )
        .scalar_subquery()
    )


def by_documents(items: Iterable[Item], document_of: Mapping[int, int]) -> dict[tuple[int, int], list[Item]]:
    """Evidence by pair of documents (lower id first), the pair that is worth most first, and so within."""
    found: dict[tuple[int, int], list[Item]] = {}
    for item in sorted(items, key=lambda one: one.rank):
        left, right = document_of[item.low], document_of[item.high]
        found.setdefault((min(left, right), max(left, right)), []).append(item)
    return found
