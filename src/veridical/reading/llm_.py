"""Any language model as a reader: one call a passage, so that no passage can talk over another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from veridical import prompts
from veridical.errors import InputError
from veridical.llm.base import LLM, Message
from veridical.reading.base import NOTHING, ReadAnswer, Reading
from veridical.reading.windows import trimmed

_MAX_REPLY_TOKENS = 64
_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_ESCAPES = {ord("<"): "‹", ord(">"): "›"}
_LEAD = re.compile(r"^\s*(?:(?:the\s+)?answer(?:\s+is)?\s*[:\-]?\s+|answer\s*:\s*)", re.IGNORECASE)
_QUOTES = " \t\r\n\"'`“”‘’«»*"
_SILENT = re.compile(
    r"\b(?:does\s+not\s+(?:say|answer|mention|state|specify|provide|contain)|doesn['’]t\s+(?:say|answer|mention)"
    r"|not\s+(?:stated|mentioned|specified|answered|given|in\s+the\s+document)|no\s+answer|cannot\s+be\s+answered)\b",
    re.IGNORECASE,
)
_VERSION = 1


class LLMReader:
    """Ask a language model what each passage answers; its reply must be found in the passage.

    Parameters
    ----------
    llm
        Any chat model.
    confidence
        Probability given to an answer that stands in the passage, and to "does not say"; a chat model's text
        carries none of its own.
    loose_confidence
        The same for an answer whose words stand in the passage in another form.
    max_chars
        Longer passages are cut here.

    Raises
    ------
    InputError
        If a number is out of range.
    LLMError
        By ``read``, if the model fails.
    """

    def __init__(
        self, llm: LLM, *, confidence: float = 0.8, loose_confidence: float = 0.5, max_chars: int = 6000
    ) -> None:
        if not 0 < loose_confidence <= confidence < 1:
            raise InputError(
                f"loose_confidence {loose_confidence} and confidence {confidence} must rise within (0, 1)."
            )
        if max_chars < 1:
            raise InputError(f"max_chars must be at least 1, got {max_chars}.")
        self._llm = llm
        self.confidence = confidence
        self.loose_confidence = loose_confidence
        self.max_chars = max_chars

    @property
    def name(self) -> str:
        """``llm``, the model, the version of the prompt, and what a reading depends on."""
        return (
            f"llm-{self._llm.name}-{_VERSION}-{self.confidence:g}-{self.loose_confidence:g}-{self.max_chars}"
        )

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """Put one question to passages, each in a call of its own; see ``Reader.read``."""
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Read (question, passage) pairs; the same pair is asked once."""
        known: dict[tuple[str, str], Reading] = {}
        for pair in pairs:
            if pair not in known:
                known[pair] = self._read(*pair)
        return [known[pair] for pair in pairs]

    def _read(self, question: str, passage: str) -> Reading:
        if not (_WORD.search(question) and _WORD.search(passage)):
            return NOTHING
        shown = passage[: self.max_chars]
        messages = [
            Message("system", prompts.render("reading_system")),
            Message(
                "user",
                prompts.render(
                    "reading_user", passage=shown.translate(_ESCAPES), question=question.translate(_ESCAPES)
                ),
            ),
        ]
        reply = self._llm.generate(messages, max_tokens=_MAX_REPLY_TOKENS).text
        return self.reading_of(shown, reply)

    def reading_of(self, passage: str, reply: str) -> Reading:
        """Turn a reply into a reading.

        A reply that says so, or whose words are not in the passage, answers nothing. For the latter
        half of the confidence is left open: the model may have known an answer that it did not copy.
        """
        said = _LEAD.sub("", reply.strip().split("\n")[0]).strip(_QUOTES)
        found = locate(passage, said)
        if found is None:
            silent = not said or _SILENT.search(reply) is not None
            return Reading((), self.confidence if silent else self.confidence / 2)
        start, end, exact = found
        probability = self.confidence if exact else self.loose_confidence
        return Reading((ReadAnswer(passage[start:end], start, end, probability),), (1 - probability) / 2)


def locate(passage: str, said: str) -> tuple[int, int, bool] | None:
    """Find where a passage says something.

    Returns
    -------
    tuple or None
        Start, end, and whether the words are the same (case, white space and brackets aside). Otherwise the
        longest common run of words, if it makes up at least two thirds of what was said; else None.
    """
    ours = [match.group().casefold() for match in _WORD.finditer(said)]
    places = list(_WORD.finditer(passage))
    theirs = [place.group().casefold() for place in places]
    if not ours or not theirs:
        return None
    match = SequenceMatcher(None, theirs, ours, autojunk=False).find_longest_match()
    if match.size * 3 < len(ours) * 2 or not match.size:
        return None
    start, end = places[match.a].start(), places[match.a + match.size - 1].end()
    start, end = trimmed(passage, start, end)
    return (start, end, match.size == len(ours)) if start < end else None
