"""ReliableRAG (arXiv 2608.25487) and its ablations: answers along chains of reliable triples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from veridical.answer.chain_context import (
    ChainContext,
    ContextKind,
    ContextLine,
    passage_votes,
    source_context,
    spoken,
    triple_context,
)
from veridical.answer.chains_answer import MAX_TOKENS, answer_by_reader, chain_messages, read_answer
from veridical.bench.systems.answering import Said, closed, from_passages
from veridical.bench.systems.base import TOP_K, About, Need, Reply, Retrieved, Task, Tools, best_first
from veridical.bench.systems.hits import as_passage, trust_of
from veridical.errors import InputError
from veridical.evidence.beam import DEFAULTS
from veridical.evidence.chains import ChainSettings, search
from veridical.evidence.credibility import LLMEvaluator, combine
from veridical.evidence.extract_embedded import EmbeddedExtractor
from veridical.evidence.extract_llm import LLMExtractor
from veridical.evidence.reliability import FloatArray, offer, reliability
from veridical.evidence.select_llm import LLMSelector
from veridical.evidence.selectors import EmbeddedSelector, Encode, Selector
from veridical.evidence.triples import Extractor, written
from veridical.index.encoder import Float32Array
from veridical.llm.usage import measure
from veridical.types import CredibilitySource, Passage, Span, Trace, Triple

PAPER = "arXiv 2608.25487"
N_PASSAGES = 10
"""Nearest passages whose triples are searched: as many as a question of HotpotQA has."""
JUDGES = ("given", "triples")

_WITHOUT = (
    "without a language model triples are found and chosen by rules and vectors, and the reader answers; "
    "the published bi-encoder is replaced by the run's"
)


class Reliable:
    """Search chains of triples by relevance and credibility; answer from their triples or their passages.

    The package's own chains, which follow the paper and mend its code: labels are summed over spellings,
    no triple comes twice, finished chains are not asked again, and no gold answer is looked at. One call a
    passage for its triples and, with the judge ``triples``, about one a triple, which are made once for
    each passage; then at most 46 to choose and one to answer. Without a language model triples are found by
    rules and chosen by vectors, and a reader answers.

    Parameters
    ----------
    tools
        With an encoder, and a language model or a reader.
    n_passages
        Nearest passages that are searched.
    judge
        Where the credibility of triples is from: ``given`` takes that of their passages, which the run
        brings, and ``triples`` has the language model judge each, as the paper's evaluator setting does. What
        nobody judged counts as half credible.
    relevance_weight, n_options, n_branches, n_beams, max_hops
        The paper's alpha, K, B, F and L; see `ChainSettings`, where K is ``top_k``.
    """

    name: str
    about: About
    context: ContextKind = "tbs"
    source: CredibilitySource = "llm"
    chains = True
    """Whether triples are chained, or only ranked by reliability."""

    def __init__(
        self,
        tools: Tools,
        *,
        n_passages: int = N_PASSAGES,
        judge: Literal["given", "triples"] = "given",
        relevance_weight: float = DEFAULTS.relevance_weight,
        n_options: int = DEFAULTS.top_k,
        n_branches: int = DEFAULTS.n_branches,
        n_beams: int = DEFAULTS.n_beams,
        max_hops: int = DEFAULTS.max_hops,
    ) -> None:
        if judge not in JUDGES:
            raise InputError(f"{judge!r} is no judge.", "There are: " + ", ".join(JUDGES))
        self.tools, self.n_passages, self.judge = tools, n_passages, judge
        self.settings = ChainSettings(
            relevance_weight=relevance_weight,
            top_k=n_options,
            n_branches=n_branches,
            n_beams=n_beams,
            max_hops=max_hops,
        )

    def answer(self, task: Task) -> Reply:
        """Answer along chains; see `System.answer`."""
        pool = task.pool[: self.n_passages]
        with measure() as spent:
            found = self._found(task.question, pool)
            said = self._said(task.question, pool, found.context)
        notes = list(found.notes)
        if not found.context.lines:
            notes.append("There was nothing to answer from.")
        return Reply(said.text, found.ranking, said.probability, spent.total, tuple(notes), found.detail)

    def _found(self, question: str, pool: Sequence[Retrieved]) -> _Found:
        """Search, and write down what came of it."""
        if not self.chains and self.context == "sbs":
            return self._nearest_reliable(pool)
        triples, vectors, notes = self._stated(pool)
        values = self._credibility(pool, triples)
        if not self.chains:
            return replace(self._most_reliable(question, triples, vectors, values), notes=notes)
        believed = [replace(t, credibility=float(v)) for t, v in zip(triples, values, strict=True)]
        trace = search(
            question,
            believed,
            vectors,
            self._encode,
            self._selector,
            self.settings,
            extractor=self._extractor.name,
            credibility=self.source,
            context=self.context,
        )
        context = triple_context(trace) if self.context == "tbs" else source_context(trace, _titled(pool))
        ranking = tuple(place - 1 for place in passage_votes(trace))
        return _Found(context, ranking, _detail(trace), (*notes, *getattr(self._selector, "notes", ())))

    def _stated(self, pool: Sequence[Retrieved]) -> tuple[list[Triple], Float32Array, tuple[str, ...]]:
        """The triples of all passages, whose ids are places from 1, their vectors, and what went wrong."""
        extractor = self._extractor
        extracted = extractor.extract([(own.title, own.text) for own in pool])
        triples: list[Triple] = []
        for place, (own, extraction) in enumerate(zip(pool, extracted, strict=True), 1):
            for found in extraction.triples:
                said = Span(own.text[found.start : found.end], found.start, found.end)
                pieces = (found.head, found.relation, found.tail)
                triples.append(Triple(len(triples) + 1, own.document, place, *pieces, said, extractor.name))
        n_failed = sum(extraction.failed for extraction in extracted)
        notes = () if self.tools.llm is not None else ("Triples by rules, choices by vectors.",)
        if n_failed:
            notes = (*notes, f"{n_failed} of {len(pool)} passages gave no triples, as the model failed.")
        return triples, self._encode([written(t.head, t.relation, t.tail) for t in triples]), notes

    def _credibility(self, pool: Sequence[Retrieved], triples: Sequence[Triple]) -> FloatArray:
        """Credibility of each triple in [0, 1], shape (n_triples,)."""
        places = np.array([triple.passage_id - 1 for triple in triples], dtype=np.int64)
        judged = _given(pool)[places]
        if self.judge == "triples" and self.source == "llm":
            if self.tools.llm is None:
                raise InputError("Triples are judged by a language model, and there is none.", "Name one.")
            texts = [written(t.head, t.relation, t.tail) for t in triples]
            found = LLMEvaluator(self.tools.llm).judge_triples(texts)
            judged = np.array([np.nan if value is None else value for value in found], dtype=np.float64)
        return combine(self.source, judged, trust_of(pool)[places])[0]

    def _most_reliable(
        self, question: str, triples: Sequence[Triple], vectors: Float32Array, values: FloatArray
    ) -> _Found:
        """Take the most reliable triples as they are."""
        cosines = vectors @ self._encode([question])[0] if len(triples) else np.empty(0)
        weight, top_k = self.settings.relevance_weight, self.settings.top_k
        offered = offer(cosines, values, relevance_weight=weight, top_k=top_k)
        distinct: dict[str, Triple] = {}
        for place in offered.places.tolist():
            distinct.setdefault(spoken(triples[place]).casefold(), triples[place])
        chosen = tuple(distinct.values())
        lines = [ContextLine(n, spoken(triple), (triple,)) for n, triple in enumerate(chosen, 1)]
        behind = dict.fromkeys(triple.passage_id - 1 for triple in chosen)
        return _Found(ChainContext("tbs", tuple(lines), chosen), tuple(behind), {})

    def _nearest_reliable(self, pool: Sequence[Retrieved]) -> _Found:
        """Take the passages that are most relevant and credible as they are."""
        eta = combine(self.source, _given(pool), trust_of(pool))[0]
        mixed = reliability([own.relevance for own in pool], eta, self.settings.relevance_weight)
        order = best_first(mixed.tolist())[:TOP_K]
        lines = [_whole(number, place + 1, pool[place]) for number, place in enumerate(order, 1)]
        return _Found(ChainContext("sbs", tuple(lines)), order, {})

    def _said(self, question: str, pool: Sequence[Retrieved], context: ChainContext) -> Said:
        llm, reader = self.tools.llm, self.tools.reader
        if not context.lines:
            return Said("") if llm is None else closed(self.tools, question)
        if llm is not None:
            with llm.stage("answer"):
                messages = chain_messages(question, context, insist=True)
                return Said(read_answer(llm.generate(messages, max_tokens=MAX_TOKENS).text))
        if context.kind == "sbs" or reader is None:
            behind = [pool[line.passage.id - 1] for line in context.lines if line.passage is not None]
            return from_passages(self.tools, question, behind)
        return Said(answer_by_reader(question, context, reader, insist=True).text)

    @property
    def _encode(self) -> Encode:
        if self.tools.encode is None:
            raise InputError(f"System {self.name} has no encoder.", "Give it one.")
        return self.tools.encode

    @cached_property
    def _extractor(self) -> Extractor:
        if self.tools.llm is None:
            return EmbeddedExtractor()
        return LLMExtractor(self.tools.llm, self._encode)

    @cached_property
    def _selector(self) -> Selector:
        if self.tools.llm is None:
            return EmbeddedSelector(self._encode)
        return LLMSelector(self.tools.llm, self._encode)


@dataclass(frozen=True)
class _Found:
    """What to answer from, the places of the passages behind it, and what is worth keeping."""

    context: ChainContext
    ranking: tuple[int, ...]
    detail: dict[str, Any]
    notes: tuple[str, ...] = ()


def _given(pool: Sequence[Retrieved]) -> FloatArray:
    """Credibility of passages as the run brings it, in [0, 1], NaN where nobody judged; shape (p,)."""
    known = [np.nan if own.credibility is None else own.credibility / 10.0 for own in pool]
    return np.array(known, dtype=np.float64)


def _titled(pool: Sequence[Retrieved]) -> dict[int, tuple[str, Passage]]:
    return {place: (own.title, as_passage(place, own)) for place, own in enumerate(pool, 1)}


def _whole(number: int, place: int, own: Retrieved) -> ContextLine:
    """A line that shows a whole passage."""
    head = f"{own.title}, " if own.title else ""
    return ContextLine(number, head + own.text, (), as_passage(place, own))


def _detail(trace: Trace) -> dict[str, Any]:
    texts = {triple.id: spoken(triple) for triple in trace.triples}
    return {
        "chains": [[texts[i] for i in chain.triples] for chain in trace.chains],
        "confidences": [chain.confidence for chain in trace.chains],
        "prompts": trace.n_prompts,
        "triples": trace.n_triples,
    }


def _about(title: str, differs: str = "", *, judged: bool = True, of: str | None = None) -> About:
    needs: set[Need] = {"encoder", "credibility"} if judged else {"encoder"}
    return About(
        f"ReliableRAG, {title}",
        PAPER,
        differs="; ".join(filter(None, (differs, _WITHOUT))),
        calls="at most 47, and beforehand 1 a passage; 0 without a language model",
        needs=frozenset(needs),
        ablation_of=of,
    )


class ReliableTBS(Reliable):
    """`Reliable` that answers from the triples of its chains."""

    name = "reliable_tbs"
    about = _about("TBS")


class ReliableSBS(Reliable):
    """`Reliable` that answers from the passages behind its chains, those with most triples in them first."""

    name = "reliable_sbs"
    about = _about("SBS")
    context: ContextKind = "sbs"


class TBSNoCredibility(ReliableTBS):
    """ReliableRAG, TBS, with one credibility for all triples: relevance alone decides, as in TRACE."""

    name = "reliable_tbs_no_credibility"
    about = _about("TBS, no credibility", "relevance alone decides", judged=False, of="reliable_tbs")
    source: CredibilitySource = "none"


class SBSNoCredibility(ReliableSBS):
    """ReliableRAG, SBS, with one credibility for all triples: relevance alone decides."""

    name = "reliable_sbs_no_credibility"
    about = _about("SBS, no credibility", "relevance alone decides", judged=False, of="reliable_sbs")
    source: CredibilitySource = "none"


_NO_CHAINS = (
    "no chains, credibility stays; the paper's own row without extraction has the figures of vanilla RAG"
)


class TBSNoExtraction(ReliableTBS):
    """The K most reliable triples as they are, without chains (1 call, and 1 a passage beforehand).

    The paper's own row without extraction has the figures of vanilla RAG, which is a system of its own here.
    """

    name = "reliable_tbs_no_extraction"
    about = replace(
        _about("TBS, no extraction", _NO_CHAINS, of="reliable_tbs"),
        calls="1, and beforehand 1 a passage; 0 without a language model",
    )
    chains = False


class SBSNoExtraction(ReliableSBS):
    """The five passages that are most relevant and credible, without triples and chains (1 call).

    The paper's own row without extraction has the figures of vanilla RAG, which is a system of its own here.
    """

    name = "reliable_sbs_no_extraction"
    about = replace(_about("SBS, no extraction", _NO_CHAINS, of="reliable_sbs"), calls="1")
    chains = False


class ReliableTrust(Reliable):
    """ReliableRAG as the package's method ``reliable`` has it: credibility is what trust leaves undoubted.

    Trust is propagated by the method ``veridical``; a triple counts less as far as its passage's document is
    doubted. A language model answers from triples, a reader from passages.
    """

    name = "reliable_trust"
    about = replace(
        _about("credibility from trust", "credibility is the doubt in propagated trust", judged=False),
        paper="",
        needs=frozenset({"encoder", "trust"}),
        belief="veridical",
    )
    source: CredibilitySource = "trust"

    def __init__(self, tools: Tools, **settings: Any) -> None:
        super().__init__(tools, **settings)
        self.context = "sbs" if tools.llm is None else "tbs"
