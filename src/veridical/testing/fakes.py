"""Stand-ins that need no model: an encoder of hashed words, scripted inference, a reader by rule."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from veridical.corpus.split import sentences
from veridical.reading.base import ReadAnswer, Reading
from veridical.types import NLIResult

Float32Array = npt.NDArray[np.float32]
NEUTRAL = NLIResult(entailment=0.0, neutral=1.0, contradiction=0.0)
_WORD = re.compile(r"\w+")
_VALUE = re.compile(r"\d+(?:[.,:]\d+)*|[A-Z]\w*(?: [A-Z]\w*)*")
_ASKING = {"which", "what", "when", "where", "whose", "does", "that", "have", "many", "much", "long", "with"}


class HashEncoder:
    """A ``TextEncoder`` without a model: texts are near one another as far as they share words.

    Each lower-cased word adds one to the dimension that its BLAKE2b hash names, and the sum is scaled to unit
    length, so that vectors are the same on every machine and in every process. A text without words counts
    as the one word ''. ``n_encoded`` counts the texts encoded so far.
    """

    name = "hash-384"
    dimensions = 384

    def __init__(self) -> None:
        self.n_encoded = 0

    def encode(
        self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None
    ) -> Float32Array:
        """Return one unit row a text, shape (n_texts, 384)."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()) or [""]:
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                vectors[row, int.from_bytes(digest) % self.dimensions] += 1.0
            vectors[row] /= np.linalg.norm(vectors[row])
            if on_progress is not None:
                on_progress(1)
        self.n_encoded += len(texts)
        return vectors


class ScriptedNLI:
    """An ``NLIModel`` that answers with a function of (premise, hypothesis); neutral where none is given.

    ``n_calls`` counts calls of ``judge`` and ``n_judged`` the pairs in them.
    """

    def __init__(
        self, decide: Callable[[str, str], NLIResult] | None = None, *, name: str = "scripted-1"
    ) -> None:
        self.name = name
        self.n_calls = 0
        self.n_judged = 0
        self._decide = decide

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[NLIResult]:
        """Judge each pair by the function given."""
        self.n_calls += 1
        self.n_judged += len(pairs)
        return [NEUTRAL if self._decide is None else self._decide(*pair) for pair in pairs]


class FakeReader:
    """A ``Reader`` without a model: a passage answers if it holds the question's words.

    Those are its words of four letters or more, without "which" and its like. The answer, at .9, is the first
    number of the sentence that holds most of them, or else its first capitalised words after the beginning,
    that the question does not hold. ``n_read`` counts the pairs read so far.
    """

    name = "fake-reader-1"

    def __init__(self) -> None:
        self.n_read = 0

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """Put one question to passages."""
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Read each pair by the rule above."""
        self.n_read += len(pairs)
        return [_fake_reading(question, passage) for question, passage in pairs]


def _fake_reading(question: str, passage: str) -> Reading:
    asked = {word for word in _WORD.findall(question.lower()) if len(word) > 3} - _ASKING
    if not asked or not asked <= set(_WORD.findall(passage.lower())):
        return Reading((), 0.95)
    sentence = max(sentences(passage), key=lambda s: len(asked & set(_WORD.findall(s.text.lower()))))
    for match in _VALUE.finditer(sentence.text):
        if match.group() not in question and (match.start() or match.group()[0].isdigit()):
            start = sentence.start + match.start()
            answer = ReadAnswer(match.group(), start, start + len(match.group()), 0.9)
            return Reading((answer,), 0.05)
    return Reading((), 0.95)
