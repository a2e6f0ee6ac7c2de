"""Models for a whole knowledge base that need no download: assign them to ``Veridical.models``."""

from __future__ import annotations

import re
from pathlib import Path

from veridical.corpus.split import sentences
from veridical.llm.base import LLM
from veridical.llm.managed import ManagedLLM, manage
from veridical.nli.base import NLIModel
from veridical.reading.base import Reader
from veridical.settings import Settings
from veridical.testing.fakes import NEUTRAL, FakeReader, HashEncoder, ScriptedNLI
from veridical.types import NLIResult, Span

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d]+")


class FakeModels:
    """Stands where `veridical.pipeline.models.Models` does; ``llm`` stands for the embedded model.

    Parameters
    ----------
    nli
        By default a `ScriptedNLI` that goes by numbers, see `by_numbers`.
    llm
        By default there is none.
    reader
        By default a `FakeReader`.
    """

    def __init__(
        self, *, nli: NLIModel | None = None, llm: LLM | None = None, reader: Reader | None = None
    ) -> None:
        self.settings = Settings(models_dir=Path("no-models"), offline=True)
        self.encoder = HashEncoder()
        self._nli = nli or ScriptedNLI(by_numbers, name="numbers-1")
        self._llm = llm
        self._reader = reader or FakeReader()
        self.replies = None

    def nli(self, spec: str) -> NLIModel:
        """The one backend, whatever it is called."""
        del spec
        return self._nli

    def reader(self, spec: str) -> Reader:
        """The one reader, whatever it is called."""
        del spec
        return self._reader

    def llm(self) -> LLM | None:
        """The language model, if one was given."""
        return self._llm

    def managed(self, llm: LLM) -> ManagedLLM:
        """A language model with its calls counted, and without a cache."""
        return manage(llm)


def by_numbers(premise: str, hypothesis: str) -> NLIResult:
    """Sentences with the same words agree if their numbers do, and contradict each other if they do not."""
    for left in sentences(premise):
        for right in sentences(hypothesis):
            verdict = _verdict(left, right)
            if verdict is not None:
                return verdict
    return NEUTRAL


def _verdict(left: Span, right: Span) -> NLIResult | None:
    ours, theirs = (set(_NUMBER.findall(span.text)) for span in (left, right))
    if not ours or not theirs:
        return None
    if set(_WORD.findall(left.text.lower())) != set(_WORD.findall(right.text.lower())):
        return None
    agree = ours == theirs
    return NLIResult(0.9 if agree else 0.02, 0.08, 0.02 if agree else 0.9, left, right)
