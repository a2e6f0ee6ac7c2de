"""Any language model as a reader: one call a passage, so that no passage can talk over another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from veridical import prompts
from veridical.errors import InputError, LLMError
from veridical.llm.base import LLM, Message
from veridical.llm.managed import Request, manage
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
        self._llm = manage(llm)
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
        """Read (question, passage) pairs, several at once; the same pair is asked once."""
        asked = [pair for pair in dict.fromkeys(pairs) if all(_WORD.search(text) for text in pair)]
        requests = [Request(self._messages(*pair), _MAX_REPLY_TOKENS) for pair in asked]
        readings = {}
        for pair, reply in zip(asked, self._llm.generate_many(requests, stage="read"), strict=True):
            if isinstance(reply, LLMError):
                raise reply
            readings[pair] = self.reading_of(pair[1][: self.max_chars], reply.text)
        return [readings.get(pair, NOTHING) for pair in pairs]

    def _messages(self, question: str, passage: str) -> tuple[Message, ...]:
        shown = passage[: self.max_chars].translate(_ESCAPES)
        asked = prompts.render("reading_user", passage=shown, question=question.translate(_ESCAPES))
        return Message("system", prompts.render("reading_system")), Message("user", asked)

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
