"""Choosing the next triple of a chain by a language model: the probabilities of letters, in one pass."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np

from veridical import prompts
from veridical.errors import InputError, LLMError, UnreachableError
from veridical.evidence.beam import LABELS
from veridical.evidence.prompting import fitting, message_tokens, one_line, shortened, shown_triple
from veridical.evidence.selectors import Encode, FloatArray, Step
from veridical.llm.base import LLM, Choice, Message
from veridical.llm.managed import ChoiceRequest, manage
from veridical.types import Record

_STAGE = "select"
_MOST = len(LABELS) - 1
_MAX_QUESTION = 1000  # characters
_QUESTION_TOKENS = 250
_TRIPLE_TOKENS = (30, 20, 12)
"""The most tokens of a written triple; fewer where the options would not fit the budget."""


@dataclass(frozen=True, slots=True)
class Exemplar(Record):
    """A question, the triples to choose from, and the places of those that make the chain, in its order."""

    question: str
    options: tuple[str, ...]
    path: tuple[int, ...]

    def chain(self, hop: int) -> tuple[str, ...]:
        """The triples chosen before the given hop."""
        return tuple(self.options[place] for place in self.path[: hop - 1])

    def right(self, hop: int) -> str | None:
        """The letter to choose at a hop; ``None`` where the chain has ended before."""
        if hop > len(self.path) + 1:
            return None
        return LABELS[0] if hop > len(self.path) else LABELS[1 + self.path[hop - 1]]


@cache
def exemplars() -> tuple[Exemplar, ...]:
    """Return the pool that ships: hand-written questions about things that do not exist."""
    text = resources.files("veridical.evidence").joinpath("exemplars", "selection.json").read_text("utf-8")
    return tuple(
        Exemplar(row["question"], tuple(row["options"]), tuple(row["path"])) for row in json.loads(text)
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """Steps of one question and hop that share one list of at most 25 options."""

    places: list[int]
    options: dict[str, int]


class LLMSelector:
    """Ask a language model for the letter of the next triple, or A to stop (ReliableRAG, TRACE).

    Each step is one prompt, and the probabilities of its letters are read off one forward pass. To compute
    few tokens anew, prompts begin alike: the instruction, which is always the same; the examples nearest to
    the question, each at the step of the same hop, the same for all chains of the hop; the question; and
    one list of options for as many chains of the hop as 25 letters allow. Only then comes the chain. A letter
    that is no option of a step is left out of its choice: each step has its own options and no others.

    The published procedure gives each chain a list of its own, in order of its reliabilities, so that a whole
    list has to be read for each. Here a shared list is in order of the mean place in the lists of its steps,
    and so the numbers of a step may differ with the steps it is asked beside.

    Parameters
    ----------
    llm
        Any chat model; one that cannot give probabilities is asked ``n_votes`` times. Give it as a
        `ManagedLLM` for a cache and a budget.
    encode
        Texts to unit vectors, by which the nearest examples are found.
    n_exemplars
        Examples in each prompt, 0 or more.
    budget_tokens
        About how many tokens a prompt may have. Examples are dropped, the least near first, until it
        fits; then triples are shortened.
    n_votes, seed
        How many replies are sampled where there are no probabilities, and what fixes them.
    pool
        Examples to choose from; those that ship by default.

    Raises
    ------
    InputError
        If a number is out of range; by ``select``, if a step has more options than letters, or the budget
        is too small for it.
    UnreachableError
        By ``select``, when nobody answers any more.
    LLMError
        By ``select``, when the model fails on all steps of a hop. If it fails on some, those chains stop as
        they are, and a note says so.
    BudgetError
        By ``select``, when a budget runs out. What was done is in the cache, and the same search goes on.
    """

    def __init__(
        self,
        llm: LLM,
        encode: Encode,
        *,
        n_exemplars: int = 3,
        budget_tokens: int = 2048,
        n_votes: int = 5,
        seed: int = 0,
        pool: Sequence[Exemplar] | None = None,
    ) -> None:
        for label, value, least in (("n_exemplars", n_exemplars, 0), ("n_votes", n_votes, 1)):
            if value < least:
                raise InputError(f"{label} is {value}.", f"Pass {least} or more.")
        self._llm = manage(llm)
        self._encode = encode
        self._pool = exemplars() if pool is None else tuple(pool)
        self._system = Message("system", prompts.render("selection_system"))
        self._notes = threading.local()
        self.n_exemplars = n_exemplars
        self.budget_tokens = budget_tokens
        self.n_votes = n_votes
        self.seed = seed

    @cached_property
    def name(self) -> str:
        """``llm:``, the model, and a hash of the prompt, the pool and the settings."""
        settings = (self.n_exemplars, self.budget_tokens, self.n_votes, self.seed)
        form = prompts.render("selection_user", question="", options="", chain="")
        asked = (self._system.content, form, self._pool, settings)
        return f"llm:{self._llm.name}@{hashlib.sha256(repr(asked).encode()).hexdigest()[:8]}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a trace should say of the choices since the last hop 1 in this thread."""
        return tuple(getattr(self._notes, "found", {}))

    def select(self, steps: Sequence[Step]) -> list[FloatArray]:
        """Weigh the options of each step; see `Selector.select`."""
        if any(step.hop == 1 for step in steps):
            self._notes.found = {}
        hops: dict[tuple[str, int], list[int]] = {}
        for place, step in enumerate(steps):
            _check(step)
            hops.setdefault((step.question, step.hop), []).append(place)
        order: list[int] = []
        requests: list[ChoiceRequest] = []
        for places in hops.values():
            groups = _grouped(steps, places)
            order += [place for group in groups for place in group.places]
            requests += self._requests(steps, groups)
        if not steps:
            return []
        replies = self._llm.choose_many(requests, stage=_STAGE)
        self._note(steps[0].hop, replies)
        found = {
            place: _probabilities(steps[place], request, reply)
            for place, request, reply in zip(order, requests, replies, strict=True)
        }
        return [found[place] for place in range(len(steps))]

    def _requests(self, steps: Sequence[Step], groups: Sequence[_Group]) -> list[ChoiceRequest]:
        """Write the prompts of one question and hop, group by group; they differ as late as can be."""
        first = steps[groups[0].places[0]]
        members = [(group, steps[place]) for group in groups for place in group.places]
        room = self.budget_tokens - message_tokens((self._system,))
        for n_tokens in _TRIPLE_TOKENS:
            asking = [_asking(step.question, tuple(g.options), step.chain, n_tokens) for g, step in members]
            left = room - max(message_tokens((message,)) for message in asking)
            if left >= 0:
                break
        else:
            raise InputError(
                f"budget_tokens is {self.budget_tokens}, and a choice takes {-left} more.",
                "Raise it, or offer fewer triples (top_k).",
            )
        before = (self._system, *fitting(self._shots(first.question, first.hop), left))
        return [
            ChoiceRequest((*before, message), _labels(group, step), self.n_votes, self.seed)
            for (group, step), message in zip(members, asking, strict=True)
        ]

    def _shots(self, question: str, hop: int) -> list[tuple[Message, Message]]:
        """The examples nearest to a question among those with a step at the hop, nearest first."""
        able = [place for place, example in enumerate(self._pool) if example.right(hop)]
        if not able or not self.n_exemplars:
            return []
        query = np.asarray(self._encode([_shown_question(question)]))[0]
        order = np.argsort(-(self._examples[able] @ query), kind="stable")[: self.n_exemplars]
        return [_shot(self._pool[able[place]], hop) for place in order.tolist()]

    @cached_property
    def _examples(self) -> Any:
        """Shape (n_pool, d): unit vectors of the questions of the pool."""
        return np.asarray(self._encode([example.question for example in self._pool]))

    def _note(self, hop: int, replies: Sequence[Choice | LLMError]) -> None:
        """Keep what a trace should say of these choices, and raise where they are no result."""
        failed = [reply for reply in replies if isinstance(reply, LLMError)]
        for error in failed:
            if isinstance(error, UnreachableError) or len(failed) == len(replies):
                raise error
        notes: dict[str, None] = self._notes.__dict__.setdefault("found", {})
        if failed:
            notes[
                f"at hop {hop} the language model failed on {len(failed)} of {len(replies)} choices, "
                f"where the chain stops: {failed[0].message}"
            ] = None
        if any(isinstance(reply, Choice) and reply.mode == "votes" for reply in replies):
            notes[
                "the language model gives no probabilities: they are shares of "
                f"{self.n_votes} sampled replies a choice"
            ] = None


def _check(step: Step) -> None:
    if not 1 <= len(step.options) <= _MOST:
        raise InputError(
            f"A step has {len(step.options)} options.",
            f"Offer 1 to {_MOST} triples (top_k), as each has a letter.",
        )


def _grouped(steps: Sequence[Step], places: Sequence[int]) -> list[_Group]:
    """Put each step to the group whose list it adds least to, and no list beyond 25 options."""
    lists: list[tuple[list[int], set[str]]] = []
    for place in places:
        own = set(steps[place].options)
        growth = [
            (len(own - held), number) for number, (_, held) in enumerate(lists) if len(own | held) <= _MOST
        ]
        if growth:
            members, held = lists[min(growth)[1]]
            members.append(place)
            held |= own
        else:
            lists.append(([place], own))
    return [_Group(members, _merged([steps[place].options for place in members])) for members, _ in lists]


def _merged(lists: Sequence[Sequence[str]]) -> dict[str, int]:
    """Place all options on one list, by their mean place; what a list lacks counts as its end."""
    seen = dict.fromkeys(text for options in lists for text in options)
    ranks = [{text: rank for rank, text in reversed(list(enumerate(options)))} for options in lists]
    order = sorted(seen, key=lambda text: sum(own.get(text, len(own)) for own in ranks))
    return {text: place for place, text in enumerate(order)}


def _labels(group: _Group, step: Step) -> list[str]:
    """A, then the letters of the step's own options, in their order."""
    return [LABELS[0], *(LABELS[1 + group.options[text]] for text in dict.fromkeys(step.options))]


def _probabilities(step: Step, request: ChoiceRequest, reply: Choice | LLMError) -> FloatArray:
    """Order probabilities as the step's options; of an option that is there twice, the first has all."""
    values = np.zeros(1 + len(step.options))
    if isinstance(reply, LLMError):
        values[0] = 1.0
        return values
    where = [0, *(1 + step.options.index(text) for text in dict.fromkeys(step.options))]
    values[where] = [reply.probabilities[label] for label in request.labels]
    result: FloatArray = values / values.sum()
    return result


def _shown_question(question: str) -> str:
    return shortened(one_line(question, _MAX_QUESTION), _QUESTION_TOKENS) or "(none)"


def _asking(question: str, options: Sequence[str], chain: Sequence[str], n_tokens: int) -> Message:
    lines = [
        f"{label}. {shown_triple(text, n_tokens)}" for label, text in zip(LABELS[1:], options, strict=False)
    ]
    return Message(
        "user",
        prompts.render(
            "selection_user",
            question=_shown_question(question),
            options="\n".join(lines),
            chain=" ".join(shown_triple(text, n_tokens) for text in chain) or "(empty)",
        ),
    )


def _shot(example: Exemplar, hop: int) -> tuple[Message, Message]:
    asking = _asking(example.question, example.options, example.chain(hop), _TRIPLE_TOKENS[0])
    return asking, Message("assistant", example.right(hop) or LABELS[0])
