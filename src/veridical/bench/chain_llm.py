"""Method ``reliable`` by a language model, and what it is compared with, on one question at a time.

All answers are asked for in the words of the product's prompt for chains, so that methods differ in what they
show and in nothing else. For evaluation only where credibility is ideal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from veridical import prompts
from veridical.answer.chain_context import ChainContext, source_context, triple_context
from veridical.answer.chains_answer import MAX_TOKENS, chain_messages, read_answer
from veridical.answer.context import escape
from veridical.bench.chain_cases import Case, Claims, Encode, claims
from veridical.bench.chain_marks import Marks, answer_marks, chain_marks, plain_marks
from veridical.bench.chain_runs import IDEAL, TOP_K, passage_context
from veridical.bench.ledger import Ledger
from veridical.bench.protocol import BoolArray, FloatArray
from veridical.bench.published_prompts import CountTokens, published
from veridical.errors import LLMError
from veridical.evidence.chains import ChainSettings, search
from veridical.evidence.credibility import Evaluator, doubted
from veridical.evidence.selectors import Selector
from veridical.evidence.triples import Extractor, written
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.usage import measure
from veridical.types import Trace, Usage

EXCLUDED_TO = 3
"""Passages of this score (0 to 10) or less are left out by exclusion."""
TRUST = "trust 30%"
"""Propagated from feedback on that share; chains take the doubt in it, as the product does."""
CREDIBILITIES = ("ideal", "llm", TRUST)
N_ANSWERS = 3 + len(CREDIBILITIES) * 4
"""Answers a question gets: without passages, from clean and poisoned ones, four ways by each credibility."""


N_STEPS = 3 + len(CREDIBILITIES) + N_ANSWERS
"""Steps of a question: extraction, two of judging, a search by each credibility, the answers."""


@dataclass(frozen=True)
class Cost:
    """Calls, tokens and seconds of one step, as if nothing had been asked before in another setting.

    ``computed`` are the prompt's tokens that were not taken from the engine's own cache of prompts.
    """

    calls: int
    prompt: int
    computed: int
    completion: int
    seconds: float

    @classmethod
    def of(cls, used: Usage, seconds: float) -> Cost:
        """Read it off what was measured."""
        return cls(
            used.calls,
            used.prompt_tokens,
            used.prompt_tokens - used.reused_tokens,
            used.completion_tokens,
            seconds,
        )

    def __add__(self, other: Cost) -> Cost:
        """Both together."""
        return Cost(
            self.calls + other.calls,
            self.prompt + other.prompt,
            self.computed + other.computed,
            self.completion + other.completion,
            self.seconds + other.seconds,
        )

    def marks(self) -> dict[str, float]:
        """As figures of a question."""
        return {
            "calls": float(self.calls),
            "prompt tokens": float(self.prompt),
            "computed tokens": float(self.computed),
            "written tokens": float(self.completion),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, eq=False)
class Judged:
    """How credible the triples or passages of one question were found, and which of them are the poison's.

    ``scores`` is by where credibility is from, each of shape (n,); NaN where the model gave nothing usable.
    ``false`` has the same shape. ``copied`` marks triples of the poison that a true passage has, too.
    """

    scores: Mapping[str, FloatArray]
    false: BoolArray
    copied: BoolArray

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, of which `from_dict` makes the same again."""
        return {
            "scores": {source: _plain(scores) for source, scores in self.scores.items()},
            "false": self.false.tolist(),
            "copied": self.copied.tolist(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Judged:
        """Undo `to_dict`."""
        scores = {source: _numbers(values) for source, values in plain["scores"].items()}
        return cls(scores, *(np.array(plain[name], dtype=np.bool_) for name in ("false", "copied")))


@dataclass(frozen=True, eq=False)
class Examined:
    """All that was found out on one question.

    Attributes
    ----------
    answers
        By method and credibility (``TBS | llm``): marks and costs of the answer, and of the chains.
    texts
        What was answered, by the same names.
    offline
        What was spent beforehand, by step.
    triples, passages
        Credibilities.
    traces
        By where credibility is from.
    """

    question: str
    answers: Mapping[str, Marks]
    texts: Mapping[str, str]
    offline: Mapping[str, Cost]
    triples: Judged
    passages: Judged
    traces: Mapping[str, Trace]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, without anything that a passage or the model said."""
        return {
            "question": self.question,
            "answers": {
                name: dict(zip(marks, _plain(np.array(list(marks.values()))), strict=True))
                for name, marks in self.answers.items()
            },
            "offline": {step: asdict(cost) for step, cost in self.offline.items()},
            "triples": self.triples.to_dict(),
            "passages": self.passages.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Examined:
        """Undo `to_dict`; there are no texts and no traces."""
        answers = {
            name: dict(zip(marks, _numbers(list(marks.values())).tolist(), strict=True))
            for name, marks in plain["answers"].items()
        }
        offline = {step: Cost(**cost) for step, cost in plain["offline"].items()}
        triples, passages = (Judged.from_dict(plain[name]) for name in ("triples", "passages"))
        return cls(plain["question"], answers, {}, offline, triples, passages, traces={})


@dataclass(frozen=True)
class Means:
    """The language model in its several parts, each the product's.

    ``count`` gives the tokens of a conversation. ``forget`` drops the engine's cache of prompts: each search
    begins without one, so that none profits from what was asked in another setting.
    """

    ledger: Ledger
    llm: ManagedLLM
    extractor: Extractor
    selector: Selector
    evaluator: Evaluator
    encode: Encode
    count: CountTokens
    forget: Callable[[], object]
    search: ChainSettings = field(default_factory=ChainSettings)


def examine(
    clean: Case, case: Case, trust: FloatArray, means: Means, *, tick: Callable[[], object] = lambda: None
) -> Examined:
    """Put one question to all methods.

    Parameters
    ----------
    clean, case
        The question without and with its poison.
    trust
        Shape (n,): propagated trust of the passages of ``case``.
    tick
        Called after each of `N_STEPS` steps.
    """
    return _Examination(case, trust, means, tick).of(clean)


class _Examination:
    """One question."""

    def __init__(self, case: Case, trust: FloatArray, means: Means, tick: Callable[[], object]) -> None:
        self.case, self.trust, self.means, self.tick = case, trust, means, tick
        self.offline: dict[str, Cost] = {}
        self.answers: dict[str, Marks] = {}
        self.texts: dict[str, str] = {}

    def of(self, clean: Case) -> Examined:
        stated = self._stated()
        triples, passages = self._judged(stated)
        self._answer("no passages", self.case, _closed(self.case.question.text), {})
        for name, own in (("top 5, clean", clean), ("top 5", self.case)):
            nearest = list(range(1, len(own.passages) + 1))[:TOP_K]
            self._passages(name, own, nearest, None)
        traces: dict[str, Trace] = {}
        for source in CREDIBILITIES:
            scores = np.where(np.isnan(passages.scores[source]), 0.5, passages.scores[source])
            nearest = list(range(1, len(self.case.passages) + 1))[:TOP_K]
            self._passages(f"scores shown | {source}", self.case, nearest, scores)
            kept = [place for place in nearest if round(10 * scores[place - 1], 6) > EXCLUDED_TO]
            self._passages(f"exclusion | {source}", self.case, kept, scores)
            traces[source] = self._chains(stated, triples, source)
        return Examined(
            self.case.question.id, self.answers, self.texts, self.offline, triples, passages, traces
        )

    @contextmanager
    def _counted(self, step: str) -> Iterator[None]:
        began = self.means.ledger.seconds
        with measure() as spent:
            yield
        self.offline[step] = Cost.of(spent.total, self.means.ledger.seconds - began)
        self.tick()

    def _stated(self) -> Claims:
        extractor = self.means.extractor
        with self._counted("extraction"):
            found = extractor.extract([(own.title, own.text) for own in self.case.passages])
        return claims(self.case, found, self.means.encode, extractor=extractor.name)

    def _judged(self, stated: Claims) -> tuple[Judged, Judged]:
        false = self.case.false
        texts = [written(t.head, t.relation, t.tail) for t in stated.triples]
        places = np.array([t.passage_id - 1 for t in stated.triples], dtype=np.int64)
        with self._counted("judging triples"):
            of_triples = _numbers(self.means.evaluator.judge_triples(texts))
        with self._counted("judging passages"):
            shown = [(own.title, own.text) for own in self.case.passages]
            of_passages = _numbers(self.means.evaluator.judge_documents(shown))
        ideal = np.where(false, IDEAL[1], IDEAL[0])
        true_texts = {text for text, place in zip(texts, places.tolist(), strict=True) if not false[place]}
        copied = np.array([text in true_texts for text in texts], dtype=np.bool_) & false[places]
        triples = {"ideal": ideal[places], "llm": of_triples, TRUST: self.trust[places]}
        passages = {"ideal": ideal, "llm": of_passages, TRUST: self.trust}
        return Judged(triples, false[places], copied), Judged(passages, false, np.zeros_like(false))

    def _chains(self, stated: Claims, triples: Judged, source: str) -> Trace:
        """Search, and answer from the triples of the chains and from the passages behind them."""
        means, case = self.means, self.case
        values = np.where(np.isnan(triples.scores[source]), 0.5, triples.scores[source])
        if source == TRUST:
            values = doubted(values)
        means.forget()
        began = means.ledger.seconds
        with measure() as spent:
            trace = search(
                case.question.text,
                stated.with_credibility(values),
                stated.vectors,
                means.encode,
                means.selector,
                means.search,
                extractor=means.extractor.name,
                credibility="llm",
                context="tbs",
            )
        cost = Cost.of(spent.total, means.ledger.seconds - began)
        self.tick()
        asked = published(trace, means.count, means.encode)
        marks = {
            **chain_marks(case, stated.triples, trace),
            "published prompts": float(asked.prompts),
            "published tokens": float(asked.prompt_tokens),
        }
        for name, context in (
            ("TBS", triple_context(trace)),
            ("SBS", source_context(trace, case.titled())),
        ):
            self._answer(f"{name} | {source}", case, _asking(case, context), marks, before=cost)
        return trace

    def _passages(self, name: str, case: Case, places: Sequence[int], scores: FloatArray | None) -> None:
        """Answer from passages, each with its score where there are scores; places count from 1."""
        context = passage_context(case, places)
        marks = plain_marks(case, places)
        if scores is None or not places:
            self._answer(name, case, _asking(case, context), marks)
            return
        lines = tuple(
            replace(line, text=f"{line.text} (truthfulness score: {10 * scores[at - 1]:.0f} of 10)")
            for line, at in zip(context.lines, places, strict=True)
        )
        system, user = _asking(case, replace(context, lines=lines))
        told = prompts.render("bench_scored_system", task=system.content)
        self._answer(name, case, (Message("system", told), user), marks)

    def _answer(
        self,
        name: str,
        case: Case,
        messages: tuple[Message, Message],
        marks: Marks,
        *,
        before: Cost | None = None,
    ) -> None:
        began = self.means.ledger.seconds
        with measure() as spent:
            try:
                text = read_answer(self.means.llm.generate(messages, max_tokens=MAX_TOKENS).text)
            except LLMError:
                text = ""
        cost = Cost.of(spent.total, self.means.ledger.seconds - began)
        if before is not None:
            of_published = marks["published tokens"] + cost.prompt
            cost = before + cost
            share = cost.computed / of_published
            marks = {**marks, "published tokens": of_published, "computed share": share}
        self.texts[name] = text
        self.answers[name] = {**marks, **answer_marks(case, text, given=bool(text)), **cost.marks()}
        self.tick()


def _asking(case: Case, context: ChainContext) -> tuple[Message, Message]:
    """The product's prompt for chains; where there is nothing to answer from, without passages."""
    if not context.lines:
        return _closed(case.question.text)
    return chain_messages(case.question.text, context, insist=True)


def _closed(question: str) -> tuple[Message, Message]:
    asked = prompts.render("bench_closed_user", question=escape(question).strip())
    return Message("system", prompts.render("bench_closed_system")), Message("user", asked)


def _numbers(values: Sequence[float | None]) -> FloatArray:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _plain(values: FloatArray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
