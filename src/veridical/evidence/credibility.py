"""How far a claim is believed: by a language model's own knowledge, by trust in its document, or by both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from importlib import resources
from typing import Any, Protocol, TypeVar, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from veridical import prompts
from veridical.errors import InputError, LLMError, UnreachableError
from veridical.evidence.prompting import escape, message_tokens, one_line, shortened, shown_triple
from veridical.evidence.reliability import PRIOR
from veridical.evidence.scores import read_score, read_scores
from veridical.llm.base import LLM, Generation, Message
from veridical.llm.managed import Request, manage
from veridical.types import CredibilitySource

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Tick = Callable[[], object]
Judged = list[float | None]
"""Credibilities in [0, 1]; ``None`` where the judge gave nothing usable."""

_STAGE = "credibility"
_MAX_PER_CALL = 50
_PER_CALL = 8
_MAX_CLAIM = 60  # tokens of a claim; its longest parts are cut
_MAX_TITLE = 120
_CLAIM_TOKENS = {False: 48, True: 72}  # room for the judgement of one claim, in lines and in JSON
_ROOM = 16
_PASSAGE_TOKENS = 160
_TEMPERATURE = 0.7
_TEXT = {"type": "string"}
_SCORE = {"type": "number"}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


_CLAIM_SCHEMA = _object({"id": _TEXT, "head": _TEXT, "tail": _TEXT, "relation": _TEXT, "score": _SCORE})
_CLAIMS_SCHEMA = _object({"judgements": {"type": "array", "items": _CLAIM_SCHEMA}})
_PASSAGE_SCHEMA = _object({"things": _TEXT, "relations": _TEXT, "score": _SCORE})


_Steps = Mapping[str, str | int]
_Item = TypeVar("_Item", str, tuple[str, str])


@runtime_checkable
class Evaluator(Protocol):
    """Says how credible claims and passages are, whatever they are used for."""

    @property
    def name(self) -> str:
        """What judgements are stored under: it changes whenever the same text could be judged otherwise."""
        ...

    def judge_triples(self, triples: Sequence[str], *, tick: Tick | None = None) -> Judged:
        """Judge claims, each written ``<head; relation; tail>``.

        Returns
        -------
        list of float or None
            One a claim, in order, in [0, 1]; ``None`` where the judge gave nothing usable of this claim.
            The same claim twice is judged once. ``tick`` is called once a claim.
        """
        ...

    def judge_documents(self, documents: Sequence[tuple[str, str]], *, tick: Tick | None = None) -> Judged:
        """Judge passages, each its document's title and a text; otherwise as `judge_triples`."""
        ...


class LLMEvaluator:
    """Have a language model judge by what it knows (ReliableRAG, credibility in three steps).

    It sees claims, or one passage, and nothing else: not the question, not the source, not other evidence.
    For each it says in a few words whether head and tail are real, then whether the relation is true, then
    a score from 0 to 10. Before them stand the instruction and two demonstrations, the same in every prompt.

    Parameters
    ----------
    llm
        Any chat model. Give it as a `ManagedLLM` for a cache and a budget.
    n_per_call
        Most claims in one prompt, 1 to 50. Each has an id, which its judgement has to repeat; what has none,
        or is there twice, is asked again alone. Passages go one a prompt. By default 8, and 1 where the
        engine takes one call at a time: such engines keep the beginning of a prompt, so that claims one by
        one cost hardly more, and small models mix up the claims of a list.
    max_tries
        How often a claim or passage is asked about before it is given up, at least 1. Where the prompt is
        the same as before, the reply is sampled, as the greedy one would come again.
    budget_tokens
        About how many tokens a prompt may have; a passage is cut to fit.
    schema_mode
        Ask for JSON that follows a schema, for servers that can hold a model to one. A reply that is no JSON
        all the same is read as text.

    Raises
    ------
    InputError
        If a number is out of range.
    UnreachableError
        By the methods, when nobody answers any more: that says nothing of a claim.
    BudgetError
        By the methods, when a budget runs out. What was done is in the cache, and the same call goes on.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        n_per_call: int | None = None,
        max_tries: int = 2,
        budget_tokens: int = 2048,
        schema_mode: bool = False,
    ) -> None:
        if n_per_call is not None and not 1 <= n_per_call <= _MAX_PER_CALL:
            raise InputError(f"n_per_call is {n_per_call}.", f"Pass 1 to {_MAX_PER_CALL}.")
        if max_tries < 1:
            raise InputError(f"max_tries is {max_tries}.", "Pass 1 or more.")
        self._llm = manage(llm)
        self.n_per_call = n_per_call or (1 if self._llm.n_concurrent == 1 else _PER_CALL)
        self.max_tries = max_tries
        self.budget_tokens = budget_tokens
        self.schema_mode = schema_mode
        self._about_claims = self._claims_before()
        self._about_passages = self._passages_before()
        least = message_tokens((*self._about_passages, _asking_passage("", ""))) + 50
        if budget_tokens < least:
            raise InputError(
                f"budget_tokens is {budget_tokens}, and the instruction alone takes about {least}.",
                f"Pass {least} or more.",
            )

    @cached_property
    def name(self) -> str:
        """``llm:``, the model, and a hash of the prompts and the settings."""
        settings = (self.n_per_call, self.max_tries, self.budget_tokens, self.schema_mode)
        asked = (self._about_claims, self._about_passages, settings)
        return f"llm:{self._llm.name}@{hashlib.sha256(repr(asked).encode()).hexdigest()[:8]}"

    def judge_triples(self, triples: Sequence[str], *, tick: Tick | None = None) -> Judged:
        """Judge claims; see `Evaluator.judge_triples`."""
        return self._judge(triples, self.n_per_call, self._claims_request, _read_claims, tick)

    def judge_documents(self, documents: Sequence[tuple[str, str]], *, tick: Tick | None = None) -> Judged:
        """Judge passages, one a prompt; see `Evaluator.judge_documents`."""
        return self._judge(documents, 1, self._passage_request, _read_passage, tick)

    def _judge(
        self,
        items: Sequence[_Item],
        n_each: int,
        ask: Callable[[Sequence[_Item]], Request],
        read: Callable[[Generation, int], list[float | None]],
        tick: Tick | None,
    ) -> Judged:
        unique = [item for item in dict.fromkeys(items) if _has_words(item)]
        found: dict[_Item, float] = {}
        asked: set[Sequence[Message]] = set()
        left = unique
        for number in range(self.max_tries):
            batches = _batches(left, n_each if number == 0 else 1)
            requests = [ask(batch) for batch in batches]
            requests = [
                replace(each, temperature=_TEMPERATURE, seed=number) if each.messages in asked else each
                for each in requests
            ]
            asked.update(each.messages for each in requests)
            sizes = iter([len(batch) for batch in batches])
            ticking = partial(_tick, tick, sizes) if tick is not None and number == 0 else None
            replies = self._llm.generate_many(requests, stage=_STAGE, tick=ticking)
            for batch, reply in zip(batches, replies, strict=True):
                if isinstance(reply, LLMError):
                    continue
                values = zip(batch, read(reply, len(batch)), strict=True)
                found.update((item, value) for item, value in values if value is not None)
            for reply in replies:
                if isinstance(reply, UnreachableError):
                    raise reply
            left = [item for item in left if item not in found]
            if not left:
                break
        if tick is not None:
            for _ in range(len(items) - len(unique)):
                tick()
        return [found.get(item) for item in items]

    def _claims_before(self) -> tuple[Message, ...]:
        """The instruction, and each demonstration as a turn: in one list, its order would be copied."""
        found = [self._instruction("claims")]
        for shown in _demonstrations()["claims"]:
            if self.schema_mode:
                said = json.dumps({"judgements": [{"id": "T1", **shown["judged"]}]}, ensure_ascii=False)
            else:
                said = f"T1 | {_line(shown['judged'])}"
            found += [_asking_claims([shown["claim"]]), Message("assistant", said)]
        return tuple(found)

    def _passages_before(self) -> tuple[Message, ...]:
        found = [self._instruction("passage")]
        for shown in _demonstrations()["passages"]:
            judged = shown["judged"]
            said = json.dumps(judged, ensure_ascii=False) if self.schema_mode else _line(judged)
            found += [_asking_passage(shown["title"], shown["text"]), Message("assistant", said)]
        return tuple(found)

    def _instruction(self, what: str) -> Message:
        form = prompts.render(f"credibility_{what}_{'json' if self.schema_mode else 'lines'}")
        return Message("system", prompts.render(f"credibility_{what}", form=form))

    def _claims_request(self, claims: Sequence[str]) -> Request:
        n_tokens = _ROOM + len(claims) * _CLAIM_TOKENS[self.schema_mode]
        schema = _CLAIMS_SCHEMA if self.schema_mode else None
        return Request((*self._about_claims, _asking_claims(claims)), n_tokens, schema=schema)

    def _passage_request(self, passages: Sequence[tuple[str, str]]) -> Request:
        [(title, text)] = passages
        room = self.budget_tokens - message_tokens((*self._about_passages, _asking_passage(title, "")))
        asking = _asking_passage(title, shortened(text, room))
        schema = _PASSAGE_SCHEMA if self.schema_mode else None
        return Request((*self._about_passages, asking), _PASSAGE_TOKENS, schema=schema)


def combine(
    source: CredibilitySource,
    judged: npt.ArrayLike,
    trust: npt.ArrayLike,
    *,
    prior: float = PRIOR,
) -> tuple[FloatArray, BoolArray]:
    """Give each claim the credibility that chains are searched with (the paper's eta).

    Parameters
    ----------
    source
        ``none``: the prior for all. The same number for all changes no order, so relevance alone decides.
        ``llm``: what was judged; the prior where the judge failed.
        ``trust``: doubt in the document, see `doubted`.
        ``joint``: the product of the two. Where the judge failed, the prior stands in for its judgement, so
        that no claim gains by breaking the judge. Where trust is not known, the judgement stands alone: the
        product would count against a document that it is new.
    judged, trust
        Shape (n,), in [0, 1]; NaN or ``None`` where unknown. One that ``source`` has no use for may be all
        NaN.
    prior
        In [0, 1]: credibility of what nobody can judge.

    Returns
    -------
    values : numpy.ndarray
        Shape (n,), in [0, 1].
    imputed : numpy.ndarray
        Shape (n,), bool: the prior stands in for a judge that failed. Trust that is not known is no failure.

    Raises
    ------
    InputError
        If the source is unknown, the shapes differ, or a number is outside [0, 1].
    """
    if source not in get_args(CredibilitySource):
        raise InputError(
            f"There is no source of credibility {source!r}.",
            f"Use one of: {', '.join(get_args(CredibilitySource))}.",
        )
    if not 0.0 <= prior <= 1.0:
        raise InputError(f"prior is {prior}.", "Pass a number from 0 to 1, such as 0.5.")
    said, trusted = _column(judged, "judgement"), _column(trust, "trust")
    if said.shape != trusted.shape:
        raise InputError(
            f"There are {len(said)} judgements and {len(trusted)} trusts.",
            "Pass one of each for every claim.",
        )
    failed = np.isnan(said) & (source in ("llm", "joint"))
    believed = np.where(np.isnan(said), prior, said)
    if source == "llm":
        values = believed
    elif source == "trust":
        values = doubted(trusted)
    elif source == "joint":
        values = believed * doubted(trusted)
    else:
        values = np.full(said.shape, prior)
    return values, failed


def doubted(trust: npt.ArrayLike) -> FloatArray:
    """Turn trust into credibility: ``min(1, 2 trust)``, and 1 where nothing is known.

    Trust is a probability at even prior odds, so 1/2 says nothing either way. As it stands it would make a
    document that was found good .9 and one that nobody has judged .5, and with the paper's weight of .6 on
    credibility that is worth more than any difference in relevance: a few judged passages would crowd out
    all that are to the point. So what is trusted counts like what is not known, and only what is doubted
    counts less.

    Parameters
    ----------
    trust
        Shape (n,), in [0, 1]; NaN where unknown.
    """
    values = np.asarray(trust, dtype=np.float64)
    result: FloatArray = np.where(np.isnan(values), 1.0, np.minimum(1.0, 2.0 * values))
    return result


def _column(values: npt.ArrayLike, what: str) -> FloatArray:
    """Return numbers in [0, 1] or NaN, shape (n,)."""
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1:
        raise InputError(f"The {what}s have shape {column.shape}.", "Pass one number for each claim.")
    wrong = column[(column < 0.0) | (column > 1.0)]
    if len(wrong):
        raise InputError(f"A {what} is {wrong[0]}.", "It has to lie in [0, 1].")
    return column


@cache
def _demonstrations() -> dict[str, list[dict[str, Any]]]:
    """One true and one false claim, and passage, each with its judgement step by step."""
    where = resources.files("veridical.evidence").joinpath("exemplars", "credibility.json")
    found: dict[str, list[dict[str, Any]]] = json.loads(where.read_text("utf-8"))
    return found


def _asking_claims(claims: Sequence[str]) -> Message:
    lines = [f"T{place}: {shown_triple(claim, _MAX_CLAIM)}" for place, claim in enumerate(claims, start=1)]
    return Message("user", prompts.render("credibility_claims_user", claims="\n".join(lines)))


def _asking_passage(title: str, text: str) -> Message:
    shown = one_line(title, _MAX_TITLE) or "(none)"
    return Message("user", prompts.render("credibility_passage_user", title=shown, text=escape(text).strip()))


def _line(steps: _Steps) -> str:
    return " | ".join(f"{name}: {value}" for name, value in steps.items())


def _read_claims(reply: Generation, n_claims: int) -> list[float | None]:
    ids = [f"T{place}" for place in range(1, n_claims + 1)]
    found = read_scores(reply.text, ids, cut=reply.finish_reason == "length")
    return [found.get(id_) for id_ in ids]


def _read_passage(reply: Generation, n_passages: int) -> list[float | None]:
    return [read_score(reply.text, cut=reply.finish_reason == "length")] * n_passages


def _has_words(item: str | tuple[str, str]) -> bool:
    """Whether there is anything to judge. A title alone says nothing."""
    return any(char.isalnum() for char in (item if isinstance(item, str) else item[1]))


def _batches(items: Sequence[_Item], n_each: int) -> list[Sequence[_Item]]:
    return [items[start : start + n_each] for start in range(0, len(items), n_each)]


def _tick(tick: Tick, sizes: Iterator[int]) -> None:
    """Tick once for each item of a batch: whichever batch it was, in the end all are done."""
    for _ in range(next(sizes)):
        tick()
