"""Asking: retrieve, rank by relevance and trust, answer, check the citations, remember the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from veridical.answer.context import Style
from veridical.answer.extract import extract_answer
from veridical.answer.generate import generate_answer
from veridical.corpus.fields import iso_date
from veridical.corpus.readers.base import clean
from veridical.errors import InputError, LLMError, ModelError, StoreError
from veridical.llm.base import LLM
from veridical.methods.base import Method
from veridical.pipeline import beliefs
from veridical.pipeline.progress import Stages
from veridical.pipeline.ranking import Ranked, rank
from veridical.pipeline.retrieval import POOL, Pool, Retriever, RetrieverName
from veridical.stores import Store, answers, derived, values
from veridical.types import Answer, AnswerStatus, Conflict, Hit, Usage

Generator = Literal["auto", "extractive", "llm"]
GENERATORS: tuple[Generator, ...] = get_args(Generator)
_NO_ANSWER = "No answer: "
_MAX_QUESTION_CHARS = 10_000
# An extracted sentence below these is no answer: by words and cosine together, and by words alone.
_LEAST_RELEVANCE = 0.35
_LEAST_SHARED_WORDS = 0.2


@dataclass(frozen=True)
class Question:
    """A question with how it is to be answered; checked when it is made.

    Raises
    ------
    InputError
        The text is empty or too long, or a number is out of range.
    """

    text: str
    top_k: int = 5
    trust_weight: float | None = None
    use_trust: bool = True
    retriever: RetrieverName = "hybrid"
    as_of: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", clean(self.text))
        if not self.text.strip():
            raise InputError("The question is empty.", 'Ask something, as in: veridical ask "Which port?"')
        if len(self.text) > _MAX_QUESTION_CHARS:
            raise InputError(
                f"The question has {len(self.text):,} characters; the limit is {_MAX_QUESTION_CHARS:,}."
            )
        if not isinstance(self.top_k, int) or not 1 <= self.top_k <= POOL:
            raise InputError(f"top_k must be a whole number from 1 to {POOL}, not {self.top_k!r}.")
        if self.trust_weight is not None and not 0.0 <= self.trust_weight <= 1.0:
            raise InputError(f"The trust weight must lie between 0 and 1; {self.trust_weight:g} does not.")
        if self.as_of is not None:
            date = iso_date(self.as_of)
            if date is None:
                raise InputError(f"{self.as_of!r} is no date.", "Write it as YYYY-MM-DD.")
            object.__setattr__(self, "as_of", date)


@dataclass(frozen=True)
class _Said:
    """An answer before it is stored."""

    text: str
    status: AnswerStatus
    generator: str
    fields: dict[str, object]
    notes: tuple[str, ...]


def ask(
    store: Store,
    retriever: Retriever,
    method: Method,
    question: Question,
    *,
    llm: LLM | None,
    fall_back: bool = False,
) -> Answer:
    """Answer a question; see `Veridical.ask`.

    With ``fall_back``, a model that gives nothing usable gives way to the best-supported sentence.
    """
    stages = Stages()
    with stages.run("retrieve"):
        pool = retriever.retrieve(question.text, retriever=question.retriever)
    with stages.run("rank"), store.read() as connection:
        built = bool(values.state(connection, "built"))
        active = method if built and question.use_trust else None
        ranked = rank(
            connection,
            pool,
            active,
            top_k=question.top_k,
            trust_weight=question.trust_weight,
            as_of=question.as_of,
        )
        said_of_trust = beliefs.uncalibrated_note(connection, method.name)
        notes = _notes(pool, ranked, built, question, said_of_trust)
    conflicts = ranked.conflicts
    with stages.run("answer"):
        said = _answer(store, question, pool, ranked.hits, conflicts, llm, method, retriever.encoder_name)
        if fall_back and llm is not None and _unusable(said):
            why = " ".join(said.notes).removeprefix(_NO_ANSWER).replace("\n", " ")
            why = f"The model {llm.name} gave nothing usable, so the answer is extracted: {why}"
            said = _extract(store, question, pool, ranked.hits, retriever.encoder_name)
            said = replace(said, notes=(why, *said.notes))
    answer = Answer(
        id=0,
        question=question.text,
        text=said.text,
        status=said.status,
        method=method.name if active is not None else "plain retrieval",
        generator=said.generator,
        hits=tuple(ranked.hits),
        kept_out=tuple(ranked.kept_out),
        conflicts=conflicts,
        notes=(*notes, *said.notes),
        seconds=dict(stages.seconds),
        **said.fields,  # type: ignore[arg-type]
    )
    try:
        with store.write() as connection:
            return replace(answer, id=answers.put(connection, answer))
    except StoreError as error:  # busy, full or read-only: the evidence is worth more than its record
        note = f"This answer could not be stored, so feedback cannot go to it: {error.message}"
        return replace(answer, notes=(*answer.notes, note))


def _notes(pool: Pool, ranked: Ranked, built: bool, question: Question, trust_note: str) -> tuple[str, ...]:
    notes = []
    if not built:
        notes.append(
            "This knowledge base is not built yet: plain retrieval, no trust. Run 'veridical build'."
        )
    elif pool.note:
        notes.append(pool.note)
    if ranked.n_left_out:
        notes.append(f"{ranked.n_left_out} passages dated after {question.as_of} were left out.")
    if trust_note and question.use_trust and any(hit.trust is not None for hit in ranked.hits):
        notes.append(trust_note)
    return tuple(notes)


def _answer(
    store: Store,
    question: Question,
    pool: Pool,
    hits: Sequence[Hit],
    conflicts: Sequence[Conflict],
    llm: LLM | None,
    method: Method,
    encoder: str,
) -> _Said:
    if not hits:
        return _Said("", "no_evidence", "none", {}, ("Nothing that was ingested fits this question.",))
    if llm is None:
        return _extract(store, question, pool, hits, encoder)
    style: Style = "trustprop" if method.name == "trustprop" else "veridical"
    if not question.use_trust:
        style = "plain"
    try:
        made = generate_answer(question.text, hits, llm, style=style, conflicts=conflicts)
    except (LLMError, ModelError) as error:
        return _Said("", "failed", llm.name, {"usage": Usage()}, (f"{_NO_ANSWER}{error}",))
    fields: dict[str, object] = {
        "citations": made.citations,
        "dropped_citations": made.dropped_citations,
        "usage": made.usage,
    }
    return _Said(made.text, made.status, made.generator, fields, made.notes)


def _unusable(said: _Said) -> bool:
    return said.status == "failed" or (said.status == "degraded" and not said.fields.get("citations"))


def _extract(store: Store, question: Question, pool: Pool, hits: Sequence[Hit], encoder: str) -> _Said:
    with store.read() as connection:
        ids = [hit.passage.id for hit in hits]
        vectors = derived.sentence_vectors(connection, encoder, ids)
    found = extract_answer(question.text, hits, question_vector=pool.vector, sentence_vectors=vectors)
    if found is None:
        return _Said("", "no_evidence", "extractive", {}, ("The passages hold no sentence.",))
    if found.best.relevance < (_LEAST_RELEVANCE if vectors else _LEAST_SHARED_WORDS):
        nearest = f"The nearest sentence does not seem to answer it: “{found.text[:200]}”"
        return _Said("", "no_evidence", "extractive", {}, (nearest,))
    return _Said(found.text, "answered", "extractive", {"citations": (found.citation,)}, found.notes)


def exit_code(answer: Answer) -> int:
    """What a command that printed this answer exits with."""
    return LLMError.exit_code if answer.status == "failed" else 0
