"""RobustRAG (arXiv 2405.15556): answers from each passage alone, joined by keywords or token by token."""

from __future__ import annotations

import math
import re
import string
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from veridical.answer.chains_answer import read_answer
from veridical.answer.context import escape
from veridical.bench.systems.answering import say
from veridical.bench.systems.base import TOP_K, About, Reply, Task, Tools, nearest
from veridical.bench.systems.helpers import TAGGER, helper
from veridical.bench.systems.isolated import UNKNOWN, asking, isolated
from veridical.bench.systems.tagging import Tag, tagged
from veridical.errors import InputError
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.usage import measure
from veridical.nli.lexicon import STOPWORDS, word_list
from veridical.prompts import render
from veridical.types import Record

LEFT_OUT = frozenset(word_list("VERB INTJ ADP AUX CCONJ DET PART PRON SCONJ PUNCT SPACE"))
"""Universal parts of speech that keywords are not made of."""

BETA, ALPHA = 3.0, 0.3
ISOLATED_TOKENS = 20
_FORBIDDEN_FIRST = frozenset(("I", "Please"))
_STAND_IN = "parts of speech by word lists and endings, in place of spaCy's small English pipeline"
_PAPER = "arXiv 2405.15556"


@dataclass(frozen=True, slots=True)
class Keyword(Record):
    """A word or phrase, and the weight of the answers that hold it."""

    text: str
    weight: float


class RobustRAGKeyword:
    """Answer from the keywords that enough answers share (k + 1 calls).

    Each passage is answered from alone. Of n answers, a keyword stays that answers of a weight of at least
    ``min(beta, alpha n)`` hold; the final prompt has the keywords, longest first, and the question, and no
    passage. Where no passage answers, there is no answer. With n of 3 or fewer the threshold is below 1 and
    everything passes, as published.

    Parameters
    ----------
    tools
        With a language model.
    top_k
        Passages answered from.
    alpha, beta
        The threshold; .4 and 4 for long answers.
    gamma
        An answer from the passage of rank i (from 0) weighs ``gamma^i``, scaled so that the n weights sum to
        n (ReliabilityRAG's keyword aggregation); 1 is RobustRAG.
    only_phrases
        Keep keywords of several words only, as for long answers.
    """

    name = "robustrag_keyword"
    about = About(
        "RobustRAG (keyword)",
        _PAPER,
        f"{_STAND_IN}, unless it is there; keywords are shown as answers spell them, not as lemmas",
        "k + 1",
        frozenset({"llm"}),
    )

    def __init__(
        self,
        tools: Tools,
        *,
        top_k: int = TOP_K,
        alpha: float = ALPHA,
        beta: float = BETA,
        gamma: float = 1.0,
        only_phrases: bool = False,
    ) -> None:
        if not 0 < gamma <= 1:
            raise InputError(f"gamma is {gamma}.", "Pass a number above 0, up to 1.")
        self.tools, self.top_k = tools, top_k
        self.alpha, self.beta, self.gamma, self.only_phrases = alpha, beta, gamma, only_phrases

    def answer(self, task: Task) -> Reply:
        """Answer from shared keywords; see `System.answer`."""
        ranking = tuple(range(len(task.pool)))
        tag = helper(self.tools, TAGGER)
        notes = () if tag else (f"stand-in: {_STAND_IN}",)
        with measure() as spent:
            places = nearest(task, self.top_k)
            found = isolated(
                self.tools,
                task.question,
                [[task.pool[place]] for place in places],
                max_tokens=ISOLATED_TOKENS,
            )
            ranks = [rank for rank, answer in enumerate(found) if answer is not None]
            answers = [answer for answer in found if answer is not None]
            if not answers:
                return Reply("", ranking, usage=spent.total, notes=notes)
            kept = shared_keywords(
                answers,
                rank_weights(ranks, self.gamma),
                alpha=self.alpha,
                beta=self.beta,
                tag=tag or tagged,
                only_phrases=self.only_phrases,
            )
            words = ", ".join(escape(keyword.text) for keyword in kept) or "(none)"
            said = say(
                self.tools,
                "bench_robustrag",
                stage="answer",
                words=words,
                question=escape(task.question).strip(),
            )
        detail = {"isolated": found, "keywords": [keyword.text for keyword in kept]}
        return Reply(read_answer(said.text), ranking, usage=spent.total, notes=notes, detail=detail)


def keywords(answer: str, tag: Callable[[str], Sequence[Tag]] = tagged) -> dict[str, str]:
    """Return the keywords of an answer: by what they are compared by, as they are spelt.

    They are the whole answer, the longest runs of tokens whose part of speech is none of `LEFT_OUT`, and the
    single tokens of these.
    """
    tokens = tag(answer)
    whole = " ".join(token.lemma for token in tokens if token.kind != "PUNCT")
    found = {whole or " ".join(answer.casefold().split()): answer.strip()}
    run: list[Tag] = []
    for token in (*tokens, None):
        if token is not None and token.kind not in LEFT_OUT:
            run.append(token)
            continue
        if run:
            found.setdefault(" ".join(part.lemma for part in run), answer[run[0].start : run[-1].end])
            for part in run:
                found.setdefault(part.lemma, answer[part.start : part.end])
        run = []
    return found


def rank_weights(ranks: Sequence[int], gamma: float) -> tuple[float, ...]:
    """Weights ``gamma^rank``, scaled so that they sum to their number.

    >>> [round(weight, 4) for weight in rank_weights([0, 2, 3], 0.9)]
    [1.1816, 0.9571, 0.8614]
    """
    raw = [gamma**rank for rank in ranks]
    return tuple(weight * len(raw) / sum(raw) for weight in raw)


def shared_keywords(
    answers: Sequence[str],
    weights: Sequence[float],
    *,
    alpha: float = ALPHA,
    beta: float = BETA,
    tag: Callable[[str], Sequence[Tag]] = tagged,
    only_phrases: bool = False,
) -> tuple[Keyword, ...]:
    """Return the keywords that answers of a weight of ``min(beta, alpha n)`` or more hold, longest first.

    Parameters
    ----------
    answers
        n of them; each counts once for a keyword, however often it says it.
    weights
        One an answer.
    only_phrases
        Leave out keywords of one word.
    """
    total: dict[str, float] = defaultdict(float)
    spelt: dict[str, str] = {}
    for answer, weight in zip(answers, weights, strict=True):
        for key, text in keywords(answer, tag).items():
            total[key] += weight
            spelt.setdefault(key, text)
    least = min(beta, alpha * len(answers)) - 1e-9
    kept = [
        Keyword(spelt[key], weight)
        for key, weight in total.items()
        if weight >= least and spelt[key].casefold() not in STOPWORDS and key.strip(string.punctuation + " ")
    ]
    if only_phrases:
        kept = [keyword for keyword in kept if len(keyword.text.split()) > 1]
    return tuple(sorted(kept, key=lambda keyword: (-len(keyword.text), keyword.text)))


class RobustRAGDecoding:
    """Write the answer token by token, each by the sum of what every passage alone makes likely.

    A passage takes no part if it makes `UNKNOWN` almost certain. The next token is the likeliest of the sum,
    if it is ahead of the second by more than ``eta`` times the number of passages; else the likeliest without
    any passage. The first token is never "I" or "Please". Where no passage takes part, there is no answer.
    Each token takes one look at each passage and at most one at none.

    Parameters
    ----------
    tools
        With a language model that lists next tokens.
    top_k
        Passages answered from.
    eta
        How far ahead the likeliest must be, a passage: 0 for short answers, .25 for long ones.
    max_tokens
        The most tokens of an answer.
    n_top
        Next tokens that are looked at, a passage.
    abstain_from
        Probability of `UNKNOWN` from which a passage takes no part.
    """

    name = "robustrag_decoding"
    about = About(
        "RobustRAG (decoding)",
        _PAPER,
        "the 100 likeliest tokens of each passage stand for the whole vocabulary",
        "(k + 1) a token, and up to 4 k to see who abstains",
        frozenset({"llm", "next tokens"}),
    )

    def __init__(
        self,
        tools: Tools,
        *,
        top_k: int = TOP_K,
        eta: float = 0.0,
        max_tokens: int = ISOLATED_TOKENS,
        n_top: int = 100,
        abstain_from: float = 0.99,
    ) -> None:
        self.tools, self.top_k = tools, top_k
        self.eta, self.max_tokens, self.n_top, self.abstain_from = eta, max_tokens, n_top, abstain_from

    def answer(self, task: Task) -> Reply:
        """Answer by secure decoding; see `System.answer`."""
        llm = self.tools.llm
        if llm is None:
            raise InputError("There is no language model.", "Name one with --llm.")
        ranking = tuple(range(len(task.pool)))
        with measure() as spent, llm.stage("decoding"):
            asked = [asking(task.question, [task.pool[place]]) for place in nearest(task, self.top_k)]
            voters = [
                messages for messages in asked if not abstains(llm, messages, self.abstain_from, self.n_top)
            ]
            text = self._decode(llm, voters, _alone(task.question)) if voters else ""
        detail = {"n_voters": len(voters)}
        return Reply(read_answer(text), ranking, usage=spent.total, detail=detail)

    def _decode(
        self, llm: ManagedLLM, voters: Sequence[tuple[Message, ...]], alone: tuple[Message, ...]
    ) -> str:
        written = ""
        for place in range(self.max_tokens):
            said = [_next(llm, messages, written, self.n_top, first=not place) for messages in voters]
            token = voted(said, self.eta * len(voters))
            if token is None:
                token = voted([_next(llm, alone, written, self.n_top, first=not place)], -1.0)
            if not token:
                break
            written += token
            if "\n" in written.strip():
                return written.strip().partition("\n")[0]
        return written


def voted(distributions: Sequence[Mapping[str, float]], lead: float) -> str | None:
    """Return the token of the highest sum, if it is ahead of the second by more than ``lead``.

    >>> voted([{"x": 0.6, "y": 0.4}, {"x": 0.2, "y": 0.7, "z": 0.1}], 0.0)
    'y'
    """
    total: dict[str, float] = defaultdict(float)
    for distribution in distributions:
        for token, probability in distribution.items():
            total[token] += probability
    best = sorted(total.items(), key=lambda item: -item[1])
    if not best:
        return None
    second = best[1][1] if len(best) > 1 else 0.0
    return best[0][0] if best[0][1] - second > lead else None


def abstains(llm: ManagedLLM, messages: Sequence[Message], from_: float, n_top: int = 100) -> bool:
    """Whether a model replies `UNKNOWN` with a probability of ``from_`` or more.

    The reply is followed along its likeliest spelling into tokens, and no further than it stays that likely.
    """
    written, value = "", 0.0
    while written.lstrip() != UNKNOWN:
        fitting = [
            (logprob, token)
            for token, logprob in llm.next_tokens(messages, written, n_top=n_top).tokens
            if token.strip() and UNKNOWN.startswith((written + token).lstrip())
        ]
        if not fitting:
            return False
        logprob, token = max(fitting)
        value, written = value + logprob, written + token
        if value < math.log(from_):
            return False
    return True


def _next(
    llm: ManagedLLM, messages: Sequence[Message], written: str, n_top: int, *, first: bool
) -> dict[str, float]:
    """Probabilities of the next tokens, without those that may not come first."""
    likely = llm.next_tokens(messages, written, n_top=n_top).tokens
    return {
        token: math.exp(logprob)
        for token, logprob in likely
        if not first or (re.search(r"\w", token) and token.strip() not in _FORBIDDEN_FIRST)
    }


def _alone(question: str) -> tuple[Message, Message]:
    return (
        Message("system", render("bench_closed_system")),
        Message("user", render("bench_closed_user", question=escape(question).strip())),
    )
