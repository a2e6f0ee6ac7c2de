"""The answer of method ``reliable``: from chains to a few words, with citations, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from veridical.answer.chain_context import ChainContext, Place, source_context, triple_context
from veridical.answer.chains_answer import ChainAnswer, answer_by_llm, answer_by_reader
from veridical.answer.cite import cite_sentence
from veridical.errors import LLMError, MissingExtraError, ModelError, VeridicalError
from veridical.llm.base import LLM
from veridical.llm.usage import stage
from veridical.pipeline.asked import Means, Question
from veridical.pipeline.boarding import HELP, Boarded, read_board, with_passages
from veridical.pipeline.ranking import Ranked
from veridical.pipeline.reasoning import Reasoned
from veridical.pipeline.retrieval import Retriever
from veridical.pipeline.said import Said, said_by_board
from veridical.reading.base import Reader
from veridical.stores.answers import READER
from veridical.types import AnswerStatus, Hit, Passage, Span

_HELP = HELP.replace("a vote on a candidate, or on a document,", "a vote on a document")
_FALLIBLE = (LLMError, ModelError, MissingExtraError)


def answer(
    question: Question,
    ranked: Ranked,
    reasoned: Reasoned,
    means: Means,
    retriever: Retriever,
    *,
    dense: bool,
) -> tuple[Said, Boarded | None]:
    """Answer from chains: by the language model where there is one, else by the reader.

    Returns
    -------
    (Said, Boarded or None)
        The board is that of the passages behind the chains, where a reader answers from them. An answer
        without text says in its notes why; a language model that fails costs the answer, not the evidence.
    """
    by = _who(means)
    read = {hit.passage.id: hit for hit in ranked.pool}
    if reasoned.error is not None:
        return _failed(reasoned, by, reasoned.error), None
    context = _context(reasoned, read)
    notes = (*reasoned.notes, *context.notes)
    if not context.lines:
        why = (*notes, _why_no_line(reasoned))
        return Said("", "no_evidence", by, {"trace": reasoned.trace}, why), None
    if means.llm is None and means.reader is not None and context.kind == "sbs":
        try:
            board = _board(question, ranked, context, means.reader(), retriever, dense=dense)
        except VeridicalError as error:
            return _failed(reasoned, by, error), None
        said = said_by_board(board, ranked.hits, insist=question.always_answer)
        told = {**said.fields, "trace": reasoned.trace}
        return replace(said, fields=told, notes=(*notes, *said.notes)), board
    try:
        found = _found(question, context, means.llm, means.reader)
    except _FALLIBLE as error:
        return _failed(reasoned, by, error), None
    notes = (*notes, *found.notes)
    if not found.text:
        return Said("", "no_evidence", by, {"trace": reasoned.trace}, (*notes, _HELP)), None
    return _cited(found, by, ranked.hits, read, reasoned, notes), None


def _who(means: Means) -> str:
    return means.llm.name if means.llm is not None else READER


def _failed(reasoned: Reasoned, by: str, error: VeridicalError) -> Said:
    notes = (*reasoned.notes, f"No answer: {error}")
    return Said("", "failed", by, {"trace": reasoned.trace}, notes)


def _context(reasoned: Reasoned, read: dict[int, Hit]) -> ChainContext:
    trace = reasoned.trace
    if trace.context == "tbs":
        return triple_context(trace)
    passages: dict[int, tuple[str, Passage]] = {
        i: (hit.document.title, hit.passage) for i, hit in read.items()
    }
    return source_context(trace, passages)


def _why_no_line(reasoned: Reasoned) -> str:
    trace = reasoned.trace
    if not trace.n_triples:
        return "No triples were found in the nearest passages, so there are no chains to answer from."
    return f"None of the {trace.n_triples:,} triples was chosen for a chain: all chains ended at once."


def _found(
    question: Question, context: ChainContext, llm: LLM | None, reader: Callable[[], Reader] | None
) -> ChainAnswer:
    insist = question.always_answer
    if llm is not None:
        with stage("answer"):
            return answer_by_llm(question.text, context, llm, insist=insist)
    if reader is None:
        return ChainAnswer("", (), ("Nothing is to be read, so nobody answers from the chains.",))
    return answer_by_reader(question.text, context, reader(), insist=insist)


def _cited(
    found: ChainAnswer,
    by: str,
    hits: Sequence[Hit],
    read: dict[int, Hit],
    reasoned: Reasoned,
    notes: tuple[str, ...],
) -> Said:
    """Number the sentences behind an answer by their passages' places among the hits."""
    shown = with_passages(hits, read, (place.passage_id for place in found.places), "it is behind a chain")
    number = {hit.passage.id: (place, hit.passage) for place, hit in enumerate(shown, 1)}
    cited = [cite_sentence(*number[p.passage_id], _inside(p, number[p.passage_id][1])) for p in found.places]
    holds = found.said and bool(cited) and all(citation.valid for citation in cited)
    status: AnswerStatus = "answered" if holds else "degraded"
    fields: dict[str, object] = {
        "trace": reasoned.trace,
        "citations": tuple(citation for citation in cited if citation.valid),
        "dropped_citations": tuple(citation for citation in cited if not citation.valid),
    }
    return Said(found.text, status, by, fields, notes, shown)


def _inside(place: Place, passage: Passage) -> Span:
    """A sentence with its offsets in the passage, as citations want them."""
    said = place.sentence
    return Span(said.text, said.start - passage.start, said.end - passage.start)


def _board(
    question: Question,
    ranked: Ranked,
    context: ChainContext,
    reader: Reader,
    retriever: Retriever,
    *,
    dense: bool,
) -> Boarded:
    """Read the passages of the context, and only those."""
    chosen = {line.passage.id for line in context.lines if line.passage is not None}
    hits = [hit for hit in ranked.pool if hit.passage.id in chosen]
    only = replace(ranked, hits=hits)
    return read_board(question.text, only, reader, dense=dense, vectors=retriever.vectors, n_read=0)
