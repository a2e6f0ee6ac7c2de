"""Reading: the nearest passages one by one, what they add up to, and the answer that follows from that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from veridical.answer.board_context import first_witnesses
from veridical.answer.cite import cite_sentence
from veridical.answer.context import LOW_TO
from veridical.evidence.board import Board, PassageRead, build_board
from veridical.evidence.rescore import MARGIN, NEUTRAL, relevance_model
from veridical.feedback.attribution import shares
from veridical.graph.build import Side, relation_of
from veridical.graph.evidence import of_question
from veridical.graph.from_questions import pairs_of
from veridical.index.encoder import Float32Array
from veridical.pipeline.ranking import Ranked, conflicts_among
from veridical.reading.base import Reader, Reading
from veridical.stores.answers import CandidateDocument
from veridical.types import Candidate, Citation, Conflict, Hit, Reason, RelationKind, Span, Witness

N_READ = 20
MAX_CITED = 3
HELP = (
    "What would help: a vote on a candidate, or on a document, that you know to be right or wrong; "
    "documents that say more. --always-answer (always_answer=True) gives the likeliest all the same."
)


@dataclass(frozen=True)
class Boarded:
    """What was read, and the board that came of it.

    ``hits`` are the passages that were read, in the retriever's order, each with its reading in ``readings``.
    """

    board: Board
    hits: list[Hit]
    readings: list[Reading]
    reader: str

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidate answers, heaviest first."""
        return self.board.candidates

    def behind(self) -> list[CandidateDocument]:
        """The documents behind each candidate, with their shares of it, as they were when they were read."""
        documents = {hit.document.id: hit.document for hit in self.hits}
        return [
            CandidateDocument(candidate.number, documents[document].key, documents[document].version, share)
            for candidate in self.candidates
            for document, share in shares(candidate).items()
        ]

    def with_witnesses(self, hits: Sequence[Hit], witnesses: Iterable[Witness]) -> list[Hit]:
        """The hits, and behind them those passages of the witnesses that are not among them."""
        read = {hit.passage.id: hit for hit in self.hits}
        return with_passages(hits, read, (witness.passage_id for witness in witnesses), "it gives an answer")


def with_passages(hits: Sequence[Hit], read: Mapping[int, Hit], wanted: Iterable[int], why: str) -> list[Hit]:
    """The hits, and behind them those of the wanted passages that were read and are not among them."""
    there = {hit.passage.id for hit in hits}
    added = [read[i] for i in dict.fromkeys(wanted) if i in read and i not in there]
    reason = "place {} by relevance; {}"
    return [
        *hits,
        *(replace(hit, reasons=(Reason(reason.format(hit.relevance_rank, why)),)) for hit in added),
    ]


def read_board(
    question: str,
    ranked: Ranked,
    reader: Reader,
    *,
    dense: bool,
    vectors: Callable[[Sequence[int]], Float32Array | None],
    n_read: int = N_READ,
) -> Boarded:
    """Read the passages nearest to the question, and those ranked first, and lay out what they answer.

    Parameters
    ----------
    ranked
        The pool after ranking.
    dense
        Whether the retriever's numbers are cosines.
    vectors
        Vectors of passages by id, by which paraphrases are told; ``None`` where there are none.
    n_read
        How many of the nearest passages to read; the hits are read besides.
    """
    nearest = {hit.passage.id: hit for hit in [*ranked.pool[:n_read], *ranked.hits]}
    hits = sorted(nearest.values(), key=lambda hit: hit.relevance_rank)
    readings = reader.read(question, [hit.passage.text for hit in hits])
    relevance = _relevance(ranked, hits, readings, dense=dense)
    reads = [
        PassageRead(
            passage=hit.passage,
            source=hit.document.source,
            reading=reading,
            relevance=relevant,
            trust=float("nan") if hit.trust is None else hit.trust,
            label=hit.label,
        )
        for hit, reading, relevant in zip(hits, readings, relevance, strict=True)
    ]
    board = build_board(question, reads, vectors=vectors([hit.passage.id for hit in hits]))
    named = replace(board, candidates=tuple(_named(c, nearest) for c in board.candidates))
    return Boarded(named, hits, readings, reader.name)


def conflicts_of(question: str, boarded: Boarded, shown: Sequence[Hit]) -> tuple[Conflict, ...]:
    """Contradictions between the passages shown in what they answer to this question, the surest first."""
    ids = {hit.passage.id for hit in shown}
    hits = {hit.passage.id: hit for hit in boarded.hits if hit.passage.id in ids}
    known = {
        i: Side(hit.document.id, hit.passage.text, hit.passage.start, hit.document.date)
        for i, hit in hits.items()
    }
    found = pairs_of(
        0,
        question,
        {
            hit.passage.id: reading
            for hit, reading in zip(boarded.hits, boarded.readings, strict=True)
            if hit.passage.id in ids
        },
        {i: hit.document.id for i, hit in hits.items()},
        reader=boarded.reader,
        texts={i: hit.passage.text for i, hit in hits.items()},
    )
    items = [item for item in map(of_question, found) if item is not None and item.is_sure]
    relations = [relation_of(item, known) for item in sorted(items, key=lambda item: item.rank)]
    return conflicts_among(shown, relations)


def _relevance(
    ranked: Ranked, hits: Sequence[Hit], readings: Sequence[Reading], *, dense: bool
) -> list[float]:
    """P(relevant) of each passage read, less what a later one that answers takes from an earlier one.

    A passage that a later one supersedes counts as far as the later one is not to be believed: by one minus
    its trust times how sure the clash is and how sure it is that it answers. A date is believed only as far
    as its document is, as in `veridical.evidence.rescore.behind_successors`.
    """
    similarity = [float("nan") if hit.similarity is None else hit.similarity for hit in ranked.pool]
    logs = relevance_model().log_probability([hit.relevance for hit in ranked.pool], similarity, dense=dense)
    known = {hit.passage.id: float(p) for hit, p in zip(ranked.pool, np.exp(logs), strict=True)}
    place = {hit.passage.id: i for i, hit in enumerate(hits)}
    left = [known[hit.passage.id] for hit in hits]
    for relation in ranked.relations:
        if relation.kind is not RelationKind.SUPERSEDES:
            continue
        later, earlier = place.get(relation.head_passage or 0), place.get(relation.tail_passage or 0)
        if later is None or earlier is None:
            continue
        trust, before = hits[later].trust, hits[earlier].trust
        least = max(LOW_TO, (NEUTRAL if before is None else before) - MARGIN)
        if trust is not None and trust > least:
            left[earlier] *= 1.0 - trust * relation.weight * (1.0 - readings[later].no_answer)
    return left


def _named(candidate: Candidate, hits: dict[int, Hit]) -> Candidate:
    def name(witness: Witness) -> Witness:
        document = hits[witness.passage_id].document
        return replace(witness, key=document.key, title=document.title)

    return replace(candidate, witnesses=tuple(map(name, candidate.witnesses)))


def cite_witnesses(candidate: Candidate, hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """Cite the sentences that give an answer, each numbered by its passage's place among the hits."""
    place = {hit.passage.id: (number, hit.passage) for number, hit in enumerate(hits, 1)}
    citations = []
    for witness in first_witnesses(candidate, MAX_CITED):
        number, passage = place[witness.passage_id]
        sentence = witness.sentence
        span = Span(sentence.text, sentence.start - passage.start, sentence.end - passage.start)
        citations.append(cite_sentence(number, passage, span))
    return tuple(citations)


def why_no_answer(board: Board) -> str:
    """Say why a board gives no answer."""
    if board.status == "nothing" or not board.candidates:
        return f"None of the {board.n_read} passages that were read answers this."
    likely = [f"{candidate.probability:.0%}" for candidate in board.candidates]
    if board.status == "tied" and len(likely) > 1:
        return f"The evidence is tied: two answers are about as likely ({likely[0]} and {likely[1]})."
    return f"The evidence is thin: even the likeliest answer is right in {likely[0]} of such cases only."
