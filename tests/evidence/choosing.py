"""Language models that choose by rule, or only write, and steps of one hop to give them."""

from __future__ import annotations

import re

from veridical.evidence.select_llm import LLMSelector
from veridical.evidence.selectors import Step
from veridical.llm.base import Choice
from veridical.llm.labels import shares
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.fakes import HashEncoder
from veridical.testing.selector_contract import (
    BORN,
    OTHERS,
    QUESTION,
    RIVER,
)
from veridical.types import Usage

_OPTION = re.compile(r"^([A-Z])\. (.*)$", re.M)
_CHAIN = re.compile(r"^Chain so far: (.*)$", re.M)
HOP = [
    Step(QUESTION, 2, (BORN,), (RIVER, *OTHERS)),
    Step(QUESTION, 2, (OTHERS[0],), (BORN, RIVER, *OTHERS[1:])),
    Step(QUESTION, 2, (OTHERS[1],), (RIVER, BORN, OTHERS[0])),
]


def listed(messages):
    """The options of the prompt, by letter."""
    return dict(_OPTION.findall(messages[-1].content))


def chain_of(messages):
    return _CHAIN.findall(messages[-1].content)[-1]


def flat(text, chain):
    """Weigh all options the same."""
    del text, chain
    return 1.0


def by_text(text, chain):
    """Weigh an option by its text and the chain, whatever its letter is."""
    return 1.0 + sum(map(ord, text + chain)) % 7


class Choosing(ScriptedLLM):
    """Weighs each label of a choice by the option's text and the chain, and keeps what it was asked."""

    def __init__(self, weigh=flat, *, name="scripted"):
        super().__init__([], name=name)
        self.weigh = weigh
        self.labels = []

    def choose(self, messages, labels, *, n_votes=5, seed=0):
        del n_votes, seed
        self.calls.append(tuple(messages))
        self.labels.append(list(labels))
        shown = listed(messages)
        weights = {label: self.weigh(shown[label], chain_of(messages)) for label in labels}
        probabilities, unseen = shares(weights, labels)
        return Choice(probabilities, "logprobs", Usage(calls=1), 0.0, unseen=unseen)


class Voting:
    """A language model without probabilities: it only writes, one letter after the other."""

    name, n_concurrent = "voting", 1

    def __init__(self, letters):
        self.letters = list(letters)
        self.engine = ScriptedLLM(self.letters)

    def generate(self, messages, **options):
        return self.engine.generate(messages, **options)


def selector_of(llm, **options):
    return LLMSelector(llm, HashEncoder().encode, **options)
