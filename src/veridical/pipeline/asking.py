"""Asking: retrieve, rank by relevance and trust, read, answer, check the citations, remember the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from veridical.answer.board_context import leading
from veridical.answer.context import Style
from veridical.answer.extract import extract_answer
from veridical.answer.generate import generate_answer
from veridical.errors import LLMError, ModelError, StoreError, VeridicalError
from veridical.llm.base import LLM
from veridical.llm.usage import measure, stage
from veridical.methods.base import Method
from veridical.pipeline import beliefs, chain_answers, learning
from veridical.pipeline.asked import Means, Question
from veridical.pipeline.boarding import (
    Boarded,
    conflicts_of,
    read_board,
)
from veridical.pipeline.progress import Stages
from veridical.pipeline.ranking import Ranked, conflicts_on_record, rank
from veridical.pipeline.retrieval import Pool, Retriever
from veridical.pipeline.said import Said, said_by_board
from veridical.reading.base import Reader
from veridical.stores import Store, answers, derived, questions, values
from veridical.types import Answer, Candidate, Conflict, Hit

_NO_ANSWER = "No answer: "
_UNBELIEVED = "What method {} believes could not be stored, so nothing here counts as trusted or distrusted."
_INSTEAD = "So this is answered from the passages, not from chains."
# An extracted sentence below these is no answer: by words and cosine together, and by words alone.
_LEAST_RELEVANCE = 0.35
_LEAST_SHARED_WORDS = 0.2


@dataclass(frozen=True)
class _Evidence:
    """What an answer can be made of."""

    question: Question
    pool: Pool
    ranked: Ranked
    method: Method
    boarded: Boarded | None
    conflicts: tuple[Conflict, ...]

    @property
    def hits(self) -> list[Hit]:
        return self.ranked.hits


@dataclass(frozen=True)
class _Outcome:
    """What was said, the board if passages were read, and what clashes."""

    said: Said
    boarded: Boarded | None
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True)
class _Asked:
    """A question after retrieval and ranking, and the two ways to answer it."""

    store: Store
    retriever: Retriever
    method: Method
    question: Question
    means: Means
    pool: Pool
    ranked: Ranked
    stages: Stages

    def by_passages(self) -> _Outcome:
        """Read the passages, if they are to be, and answer from them."""
        question, ranked, boarded = self.question, self.ranked, None
        unread: tuple[str, ...] = ()
        if self.means.reader is not None and ranked.hits:
            with self.stages.run("read"):
                boarded, unread = _read(question, self.pool, ranked, self.means.reader, self.retriever)
        with self.stages.run("answer"):
            conflicts = _conflicts(self.store, question, ranked, boarded)
            evidence = _Evidence(question, self.pool, ranked, self.method, boarded, conflicts)
            said = _answer(self.store, evidence, self.means, self.retriever.encoder_name)
        return _Outcome(replace(said, notes=(*unread, *said.notes)), boarded, conflicts)

    def by_chains(self) -> _Outcome:
        """Find chains and answer from them; from the passages only where there is no answer and must be."""
        question, means = self.question, self.means
        if means.reasoner is None:
            return self.by_passages()
        nearest = self.ranked.pool[: question.n_read]
        reasoned = means.reasoner.reason(self.store, question.text, nearest, self.stages)
        with self.stages.run("answer"):
            said, boarded = chain_answers.answer(
                question, self.ranked, reasoned, means, self.retriever, dense=self.pool.retriever == "dense"
            )
            conflicts = _conflicts(self.store, question, self.ranked, boarded)
        if said.text or said.status == "failed" or not question.always_answer:
            return _Outcome(said, boarded, conflicts)
        outcome = self.by_passages()
        fields = {**outcome.said.fields, "trace": reasoned.trace}
        notes = (*said.notes, _INSTEAD, *outcome.said.notes)
        return replace(outcome, said=replace(outcome.said, fields=fields, notes=notes))


def ask(store: Store, retriever: Retriever, method: Method, question: Question, means: Means) -> Answer:
    """Answer a question; see `Veridical.ask`."""
    with measure() as spent:
        answer = _ask(store, retriever, method, question, means)
    return replace(
        answer,
        usage=spent.total,
        usage_by_stage=spent.by_stage(),
        notes=(*answer.notes, *spent.notes),
    )


def _ask(store: Store, retriever: Retriever, method: Method, question: Question, means: Means) -> Answer:
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
        n_behind = derived.n_without_vectors(connection, retriever.encoder_name) if built else 0
        notes = _notes(pool, ranked, built, question, said_of_trust, n_behind)
        if active is not None and ranked.hits and method.name not in derived.methods_with_trust(connection):
            notes = (*notes, _UNBELIEVED.format(method.name))
    asked = _Asked(store, retriever, method, question, means, pool, ranked, stages)
    outcome = asked.by_chains() if means.reasoner is not None and ranked.hits else asked.by_passages()
    said, boarded = outcome.said, outcome.boarded
    hits = tuple(ranked.hits if said.hits is None else said.hits)
    shown = {hit.passage.id for hit in hits}
    answer = Answer(
        id=0,
        question=question.text,
        text=said.text,
        status=said.status,
        method=method.name if active is not None or "trace" in said.fields else "plain retrieval",
        generator=said.generator,
        hits=hits,
        kept_out=tuple(hit for hit in ranked.kept_out if hit.passage.id not in shown),
        conflicts=outcome.conflicts,
        candidates=boarded.candidates if boarded is not None else (),
        notes=(*notes, *said.notes),
        seconds=dict(stages.seconds),
        **said.fields,  # type: ignore[arg-type]
    )
    return _remember(store, answer, boarded, pool, retriever.encoder_name)


def _read(
    question: Question, pool: Pool, ranked: Ranked, make: Callable[[], Reader], retriever: Retriever
) -> tuple[Boarded | None, tuple[str, ...]]:
    """Read, or say why not: a reader that cannot be had leaves plain retrieval as it is."""
    try:
        boarded = read_board(
            question.text,
            ranked,
            make(),
            dense=pool.retriever == "dense",
            vectors=retriever.vectors,
            n_read=question.n_read,
        )
        return boarded, ()
    except VeridicalError as error:
        why = " ".join(str(error).split())
        return None, (f"The passages were not read one by one, so there is no evidence board: {why}",)


def _conflicts(
    store: Store, question: Question, ranked: Ranked, boarded: Boarded | None
) -> tuple[Conflict, ...]:
    """What clashes on this question where passages were read, else whatever is on record of them."""
    shown = [*ranked.hits, *ranked.kept_out]
    if boarded is not None:
        return conflicts_of(question.text, boarded, shown)
    with store.read() as connection:
        return conflicts_on_record(connection, shown)


def _remember(store: Store, answer: Answer, boarded: Boarded | None, pool: Pool, encoder: str) -> Answer:
    """Store the answer, log the question, and learn from what was read, all or nothing."""
    try:
        with store.write() as connection:
            logged = questions.is_on(connection)
            kept = answer if logged else replace(answer, question="")
            behind = boarded.behind() if boarded is not None else ()
            answer_id = answers.put(connection, kept, behind)
            question_id = questions.log(connection, answer.question, "asked", pool.vector, encoder)
            if question_id is not None and boarded is not None:
                cosines = dict(zip(pool.ids, pool.similarity, strict=True))
                found = {
                    hit.passage.id: reading
                    for hit, reading in zip(boarded.hits, boarded.readings, strict=True)
                }
                learning.learn(connection, question_id, answer.question, found, cosines, boarded.reader)
            return replace(answer, id=answer_id)
    except StoreError as error:  # busy, full or read-only: the evidence is worth more than its record
        note = f"This answer could not be stored, so feedback cannot go to it: {error.message}"
        return replace(answer, notes=(*answer.notes, note))


def _notes(
    pool: Pool, ranked: Ranked, built: bool, question: Question, trust_note: str, n_behind: int
) -> tuple[str, ...]:
    notes = []
    if not built:
        notes.append(
            "This knowledge base is not built yet: plain retrieval, no trust. Run 'veridical build'."
        )
    elif pool.note:
        notes.append(pool.note)
    elif n_behind:
        are = "1 passage is" if n_behind == 1 else f"{n_behind:,} passages are"
        notes.append(f"{are} newer than the last build and may be missed: run 'veridical build'.")
    if ranked.n_left_out:
        notes.append(f"{ranked.n_left_out} passages dated after {question.as_of} were left out.")
    if trust_note and question.use_trust and any(hit.trust is not None for hit in ranked.hits):
        notes.append(trust_note)
    return tuple(notes)


def _answer(store: Store, evidence: _Evidence, means: Means, encoder: str) -> Said:
    if not evidence.hits:
        return Said("", "no_evidence", "none", {}, ("Nothing that was ingested fits this question.",))
    by_reader = means.llm is None and means.generator in ("auto", "reader")
    if evidence.boarded is not None and by_reader:
        return _from_board(store, evidence, evidence.boarded, encoder)
    if means.llm is None:
        return _extract(store, evidence, encoder)
    return _generate(evidence, means.llm)


def _from_board(store: Store, evidence: _Evidence, boarded: Boarded, encoder: str) -> Said:
    """Give the board's answer; where it has none and somebody insists, the nearest sentence."""
    insists = evidence.question.always_answer
    said = said_by_board(boarded, evidence.hits, insist=insists)
    if boarded.candidates or not insists:
        return said
    extracted = _extract(store, evidence, encoder)
    return replace(extracted, notes=(*said.notes, *extracted.notes))


def _generate(evidence: _Evidence, llm: LLM) -> Said:
    """Let a language model answer, from the board where it says something, else from the passages."""
    question, boarded = evidence.question, evidence.boarded
    style: Style = "trustprop" if evidence.method.name == "trustprop" else "veridical"
    if not question.use_trust:
        style = "plain"
    hits: Sequence[Hit] = evidence.hits
    candidates: tuple[Candidate, ...] = ()
    if style == "veridical" and boarded is not None and boarded.board.status in ("answered", "tied"):
        candidates = boarded.candidates
        witnesses = (w for candidate in leading(candidates) for w in candidate.witnesses)
        hits = boarded.with_witnesses(hits, witnesses)
    try:
        with stage("answer"):
            made = generate_answer(
                question.text,
                hits,
                llm,
                style=style,
                conflicts=evidence.conflicts,
                candidates=candidates,
            )
    except (LLMError, ModelError) as error:
        return Said("", "failed", llm.name, {}, (f"{_NO_ANSWER}{error}",), hits)
    fields: dict[str, object] = {
        "citations": made.citations,
        "dropped_citations": made.dropped_citations,
    }
    return Said(made.text, made.status, made.generator, fields, made.notes, hits)


def _extract(store: Store, evidence: _Evidence, encoder: str) -> Said:
    with store.read() as connection:
        ids = [hit.passage.id for hit in evidence.hits]
        vectors = derived.sentence_vectors(connection, encoder, ids)
    found = extract_answer(
        evidence.question.text,
        evidence.hits,
        question_vector=evidence.pool.vector,
        sentence_vectors=vectors,
    )
    if found is None:
        return Said("", "no_evidence", "extractive", {}, ("The passages hold no sentence.",))
    if found.best.relevance < (_LEAST_RELEVANCE if vectors else _LEAST_SHARED_WORDS):
        nearest = f"The nearest sentence does not seem to answer it: “{found.text[:200]}”"
        return Said("", "no_evidence", "extractive", {}, (nearest,))
    return Said(found.text, "answered", "extractive", {"citations": (found.citation,)}, found.notes)


def exit_code(answer: Answer) -> int:
    """What a command that printed this answer exits with."""
    return LLMError.exit_code if answer.status == "failed" else 0
