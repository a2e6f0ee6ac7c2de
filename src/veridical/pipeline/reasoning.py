"""Reasoning for method ``reliable``: from the nearest passages to chains of triples that can be relied on.

The triples of the passages are taken from the store, or extracted now and stored; so are their vectors, and
what a language model thinks of each. So a run that was stopped goes on where it was, and the next question
on the same passages finds most of the work done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np

from veridical import registry
from veridical.answer.chain_context import KINDS, ContextKind
from veridical.errors import (
    InputError,
    LLMError,
    MissingExtraError,
    ModelError,
    StoreError,
    VeridicalError,
)
from veridical.evidence.chains import ChainSettings, search
from veridical.evidence.credibility import Evaluator, LLMEvaluator, combine
from veridical.evidence.selectors import Selector
from veridical.evidence.triples import Extractor, written
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.llm.base import LLM
from veridical.pipeline import extracting
from veridical.pipeline.extracting import LLM_NAME, NO_LLM, extractor_named
from veridical.pipeline.progress import Stages
from veridical.stores import Store, documents, triples
from veridical.stores.triples import StoredTriple
from veridical.types import CredibilitySource, Hit, Span, Trace, Triple

JUDGE_BATCH = 64
"""Triples that are judged between two commits: eight prompts of a language model, sent at once."""


@dataclass(frozen=True)
class ChainOptions:
    """How method ``reliable`` answers; what is ``None`` is chosen by what there is.

    Attributes
    ----------
    context
        What the chains become: ``tbs`` (their triples; the default where a language model answers) or
        ``sbs`` (the passages behind them; the default for a reader).
    credibility
        Where the credibility of triples is from: ``llm`` (the default where a language model answers),
        ``trust`` (that of their documents; the default else), ``joint`` (the product of the two), ``none``.
    selector
        What chooses the next triple: ``llm`` (the default where a language model answers) or ``embedded``.
    extractor
        What finds triples: ``embedded``, ``llm``, or else what the knowledge base is set to.
    search
        Widths and limits of the search, and the weight of relevance beside credibility.

    Raises
    ------
    InputError
        One of them is unknown.
    """

    context: ContextKind | None = None
    credibility: CredibilitySource | None = None
    selector: str | None = None
    extractor: str | None = None
    search: ChainSettings = field(default_factory=ChainSettings)

    def __post_init__(self) -> None:
        for name, value, known in (
            ("context", self.context, KINDS),
            ("credibility", self.credibility, get_args(CredibilitySource)),
            ("selector", self.selector, registry.names("selectors")),
            ("extractor", self.extractor, registry.names("extractors")),
        ):
            if value is not None and value not in known:
                raise InputError(f"{value!r} is no {name}.", "There are: " + ", ".join(known) + ".")


@dataclass(frozen=True)
class Reasoned:
    """What was found, as far as it was; ``error`` is what ended it before there were chains.

    ``notes`` are for whoever reads the answer; those of the trace hold them too.
    """

    trace: Trace
    notes: tuple[str, ...] = ()
    error: VeridicalError | None = None


@dataclass(frozen=True)
class Reasoner:
    """What chains are found with. ``evaluator`` is there where credibility is a language model's."""

    extractor: Extractor
    selector: Selector
    evaluator: Evaluator | None
    encoder: TextEncoder
    credibility: CredibilitySource
    context: ContextKind
    settings: ChainSettings

    @classmethod
    def of(
        cls,
        options: ChainOptions,
        *,
        llm: LLM | None,
        other_llm: Callable[[], LLM | None],
        encoder: TextEncoder,
        extractor: str,
        use_trust: bool = True,
    ) -> Reasoner:
        """Put together what there is.

        Parameters
        ----------
        llm
            The language model that answers, if one does.
        other_llm
            Returns one that can be asked where an option names it, if there is one.
        extractor
            What the knowledge base is set to.
        use_trust
            Whether what is known of documents may count.

        Raises
        ------
        InputError
            An option needs a language model, and there is none; or it needs trust, which is switched off.
        """
        credibility = options.credibility or ("llm" if llm else "trust" if use_trust else "none")
        if options.credibility in ("trust", "joint") and not use_trust:
            raise InputError(
                f"Credibility {options.credibility!r} needs trust, which is switched off.",
                "Leave out --no-trust (use_trust=False), or choose credibility none or llm.",
            )

        def asked(who: str) -> LLM:
            found = llm or other_llm()
            if found is None:
                raise InputError(f"{who} needs a language model.", NO_LLM.replace("'embedded'", "another"))
            return found

        kind = options.selector or (LLM_NAME if llm else "embedded")
        make = registry.load("selectors", kind)
        by_llm = kind == LLM_NAME
        selector = make(asked("Selector 'llm'"), encoder.encode) if by_llm else make(encoder.encode)
        judged = credibility in ("llm", "joint")
        return cls(
            extractor_named(options.extractor or extractor, encoder, lambda: llm or other_llm()),
            selector,
            LLMEvaluator(asked(f"Credibility {credibility!r}")) if judged else None,
            encoder,
            credibility,
            options.context or ("tbs" if llm else "sbs"),
            options.search,
        )

    def reason(self, store: Store, question: str, hits: Sequence[Hit], stages: Stages) -> Reasoned:
        """Find chains of triples of the passages, most confident first.

        Parameters
        ----------
        hits
            The passages, nearest first, with what is known of the trust of their documents.

        Raises
        ------
        StoreError
            What is stored of their triples is damaged.
        """
        return _Run(self, store, question, hits, stages).reason()


class _Run:
    """One question on its way."""

    def __init__(
        self, means: Reasoner, store: Store, question: str, hits: Sequence[Hit], stages: Stages
    ) -> None:
        self.means, self.store, self.question, self.hits, self.stages = means, store, question, hits, stages
        self.triples: list[Triple] = []
        self.notes: list[str] = []
        self.details: list[str] = []

    def reason(self) -> Reasoned:
        try:
            with self.stages.run("triples"):
                vectors = self._state()
            with self.stages.run("credibility"):
                self._believe()
            with self.stages.run("chains"):
                trace = self._search(vectors)
        except (LLMError, ModelError, MissingExtraError) as error:
            return Reasoned(self._told(self._bare()), tuple(self.notes), error)
        return Reasoned(self._told(trace), tuple(self.notes))

    def _told(self, trace: Trace) -> Trace:
        said = getattr(self.means.selector, "notes", ())
        self.notes.extend(note for note in said if note not in self.notes)
        return replace(trace, notes=(*trace.notes, *self.notes, *self.details))

    def _bare(self) -> Trace:
        """What there is without chains."""
        means = self.means
        return Trace(
            question=self.question,
            triples=tuple(self.triples),
            hops=(),
            chains=(),
            selector=means.selector.name,
            extractor=means.extractor.name,
            credibility=means.credibility,
            context=means.context,
            n_triples=len(self.triples),
        )

    def _state(self) -> Float32Array:
        """Fill in the triples of all passages, and return their vectors, one row a triple."""
        means = self.means
        by_id = {hit.passage.id: hit for hit in self.hits}
        texts = {i: (hit.document.title, hit.passage.text) for i, hit in by_id.items()}
        stated = extracting.state(self.store, means.extractor, means.encoder, texts)
        rows = [np.empty((0, means.encoder.encode([]).shape[1]), dtype=np.float32)]
        for passage_id, hit in by_id.items():
            found = stated.triples.get(passage_id, ())
            self.triples += [_triple(stored, hit, means.extractor.name) for stored in found]
            rows += [stated.vectors[passage_id]] if found else []
        if stated.unstored is not None:
            self._unstored("triples", stated.unstored)
        if stated.stopped is not None:
            raise stated.stopped
        if stated.failed:
            why = next(iter(stated.failed.values()))
            self.notes.append(f"{len(stated.failed)} of {len(by_id)} passages gave no triples, as {why}")
        return np.concatenate(rows)

    def _believe(self) -> None:
        """Give each triple its credibility."""
        means = self.means
        if means.credibility == "none" or not self.triples:
            return
        judged = np.full(len(self.triples), np.nan)
        if means.evaluator is not None:
            judged = self._judged(means.evaluator)
        trust = {hit.document.id: hit.trust for hit in self.hits}
        known = [trust[triple.document_id] for triple in self.triples]
        believed = np.array([np.nan if t is None else t for t in known], dtype=np.float64)
        values, imputed = combine(means.credibility, judged, believed)
        self.triples = [
            replace(triple, credibility=float(value), imputed=bool(made_up))
            for triple, value, made_up in zip(self.triples, values, imputed, strict=True)
        ]
        n_imputed, n = int(np.sum(imputed)), len(self.triples)
        if n_imputed:
            self.notes.append(f"{n_imputed} of {n} triples could not be judged and count as half credible.")
        if means.credibility == "trust" and np.isnan(believed).all():
            self.details.append("Nothing is known of these documents, so credibility tells no triples apart.")

    def _judged(self, evaluator: Evaluator) -> np.ndarray:
        """What the evaluator thinks of each triple, NaN where it gave nothing usable."""
        ids = [triple.id for triple in self.triples if triple.id > 0]
        with self.store.read() as connection:
            known = triples.triple_credibilities(connection, evaluator.name, ids)
        todo = [triple for triple in self.triples if triple.id not in known]
        for part in documents.chunks(todo, JUDGE_BATCH):
            found = evaluator.judge_triples([written(t.head, t.relation, t.tail) for t in part])
            fresh = {t.id: value for t, value in zip(part, found, strict=True)}
            known |= fresh
            # What failed is asked again the next time; what has no id of the store has no place there.
            kept = {i: value for i, value in fresh.items() if i > 0 and value is not None}
            try:
                with self.store.write() as connection:
                    triples.put_triple_credibilities(connection, evaluator.name, kept)
            except StoreError as error:
                self._unstored("credibilities", error)
        judged = [known[triple.id] for triple in self.triples]
        return np.array([np.nan if value is None else value for value in judged], dtype=np.float64)

    def _search(self, vectors: Float32Array) -> Trace:
        means = self.means
        return search(
            self.question,
            self.triples,
            vectors,
            means.encoder.encode,
            means.selector,
            means.settings,
            extractor=means.extractor.name,
            credibility=means.credibility,
            context=means.context,
        )

    def _unstored(self, what: str, error: StoreError) -> None:
        note = f"The {what} found for this answer could not be stored: {error.message}"
        if note not in self.notes:
            self.notes.append(note)


def _triple(stored: StoredTriple, hit: Hit, extractor: str) -> Triple:
    passage = hit.passage
    sentence = passage.text[stored.start : stored.end]
    start = passage.start + stored.start
    return Triple(
        id=stored.id,
        document_id=passage.document_id,
        passage_id=passage.id,
        head=stored.head,
        relation=stored.relation,
        tail=stored.tail,
        sentence=Span(sentence, start, start + len(sentence)),
        extractor=extractor,
    )
