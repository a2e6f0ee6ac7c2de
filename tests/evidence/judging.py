"""Claims about rivers, and a language model that judges them as written down."""

from __future__ import annotations

import re

from veridical.evidence.credibility import LLMEvaluator
from veridical.llm.scripted import ScriptedLLM

DANUBE = "<the Danube; flows into; the Black Sea>"
RHINE = "<the Rhine; flows into; the Black Sea>"
ELBE = "<the Elbe; flows into; the North Sea>"
ODER = "<the Oder; flows into; the Baltic Sea>"
CLAIMS = [DANUBE, RHINE, ELBE, ODER]
_SHOWN = re.compile(r"^(T\d+): (<.*>)$", re.M)


def shown(messages):
    """The claims that are asked about, by id."""
    return dict(_SHOWN.findall(messages[-1].content))


def line(id_, score):
    return f"{id_} | head: real river | tail: real sea | relation: as said | score: {score}"


def knowing(scores):
    """A script that judges each claim as written down, whatever it is asked beside."""
    return lambda messages: "\n".join(line(i, scores[claim]) for i, claim in shown(messages).items())


SCORES = {DANUBE: 10, RHINE: 1, ELBE: 9, ODER: 8}


class OptionsLLM(ScriptedLLM):
    """Keeps the options of each call beside its messages; a script sees the messages."""

    def __init__(self, script):
        super().__init__(script)
        self.options = []

    def generate(self, messages, **options):
        self.options.append(options)
        return super().generate(messages, **options)


def judged(reply, claims=(DANUBE, RHINE), **options):
    """Judge claims, all in one prompt and once."""
    given = {"n_per_call": len(claims), "max_tries": 1, **options}
    return LLMEvaluator(ScriptedLLM([reply]), **given).judge_triples(list(claims))
