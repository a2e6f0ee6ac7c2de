"""Any language model as a judge: one call a pair, asked for one of three labels."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from veridical import prompts
from veridical.errors import InputError, LLMError
from veridical.llm.base import LLM, Message
from veridical.llm.managed import Request, manage
from veridical.nli.align import ALIGNMENT, best_matches, lexical_similarities, sentence_spans
from veridical.nli.values import facts_of
from veridical.types import NLILabel, NLIResult, Span

DEFAULT_MAX_PAIRS = 4
DEFAULT_MAX_CHARS = 700

_MAX_REPLY_TOKENS = 12
_ESCAPES = {ord("<"): "‹", ord(">"): "›"}
_LEAD = re.compile(r"\A(?:the\s+)?(?:label|answer|relation)(?:\s+is)?\s*[:=]?\s*", re.IGNORECASE)
_AROUND = " \t\r\n\"'`“”‘’«»*.,;:!()[]"
_NEUTRAL = NLIResult(0.0, 1.0, 0.0)
_LABELS = {
    "entailment": NLILabel.ENTAILMENT,
    "contradiction": NLILabel.CONTRADICTION,
    "neutral": NLILabel.NEUTRAL,
    "unclear": NLILabel.NEUTRAL,
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the model is asked about a pair, and the sentences of it that share most words."""

    messages: tuple[Message, ...]
    nearest: tuple[Span, Span]


class LLMNLI:
    """Ask a language model how two passages stand, shown by their aligned sentences, or whole where short.

    Parameters
    ----------
    llm
        Any chat model.
    confidence
        Probability of the label that the model names; the other two share the rest. A chat model's text
        carries none of its own.
    max_pairs
        Aligned sentence pairs of which a longer passage's sentences are shown.
    max_chars
        Up to this length a passage is shown whole, and no more of any is shown.

    Raises
    ------
    InputError
        If a number is out of range.
    LLMError
        By ``judge``, if the model fails.
    """

    def __init__(
        self,
        llm: LLM,
        *,
        confidence: float = 0.8,
        max_pairs: int = DEFAULT_MAX_PAIRS,
        max_chars: int = DEFAULT_MAX_CHARS,
    ) -> None:
        if not 1 / 3 < confidence < 1:
            raise InputError(f"confidence must be above 1/3 and below 1, got {confidence}.")
        for label, value in (("max_pairs", max_pairs), ("max_chars", max_chars)):
            if value < 1:
                raise InputError(f"{label} must be at least 1, got {value}.")
        self._llm = manage(llm)
        self.confidence = confidence
        self.max_pairs = max_pairs
        self.max_chars = max_chars

    @cached_property
    def name(self) -> str:
        """``llm``, the model, and a hash of the prompt and of what else a judgement depends on."""
        settings = (self.confidence, self.max_pairs, self.max_chars, ALIGNMENT)
        asked = "".join(message.content for message in _messages("", ""))
        digest = hashlib.sha256(f"{asked}{settings}".encode()).hexdigest()
        return f"llm-{self._llm.name}-{digest[:8]}"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[NLIResult]:
        """Judge (premise, hypothesis) passages; see ``NLIModel.judge``. The same pair is asked once.

        Returns
        -------
        list of NLIResult
            The spans are the two sentences that share most words; a reply that is none of the labels is
            neutral with half the confidence. A passage that repeats the other is not asked about, and one
            without a letter or digit is neutral to everything.
        """
        known = {pair: self._prepare(*pair) for pair in dict.fromkeys(pairs)}
        asked = {pair: item for pair, item in known.items() if isinstance(item, _Asked)}
        requests = [Request(item.messages, _MAX_REPLY_TOKENS) for item in asked.values()]
        replies = self._llm.generate_many(requests, stage="relations")
        judged = {pair: item for pair, item in known.items() if isinstance(item, NLIResult)}
        for (pair, item), reply in zip(asked.items(), replies, strict=True):
            if isinstance(reply, LLMError):
                raise reply
            judged[pair] = self._judged(label_of(reply.text), item.nearest)
        return [judged[pair] for pair in pairs]

    def _prepare(self, premise: str, hypothesis: str) -> NLIResult | _Asked:
        """Judge a pair that needs no model, else say what to ask about it."""
        left, right = sentence_spans(premise), sentence_spans(hypothesis)
        if not left or not right:
            return _NEUTRAL
        similar = lexical_similarities([facts_of(s.text) for s in left], [facts_of(s.text) for s in right])
        matches = best_matches(similar, self.max_pairs)
        nearest = left[matches[0][0]], right[matches[0][1]]
        if premise == hypothesis:
            return self._result(NLILabel.ENTAILMENT, self.confidence, nearest)
        shown = (
            self._shown(premise, left, [i for i, _ in matches]),
            self._shown(hypothesis, right, [j for _, j in matches]),
        )
        return _Asked(tuple(_messages(*shown)), nearest)

    def _judged(self, label: NLILabel | None, nearest: tuple[Span, Span]) -> NLIResult:
        if label is None:
            return self._result(NLILabel.NEUTRAL, max(self.confidence / 2, 1 / 3), nearest)
        return self._result(label, self.confidence, nearest)

    def _shown(self, text: str, spans: Sequence[Span], places: Sequence[int]) -> str:
        if len(text) <= self.max_chars:
            return text
        return " ".join(spans[place].text for place in sorted(set(places)))[: self.max_chars]

    @staticmethod
    def _result(label: NLILabel, confidence: float, spans: tuple[Span, Span]) -> NLIResult:
        rest = (1 - confidence) / 2
        parts = {name: confidence if name is label else rest for name in NLILabel}
        return NLIResult(
            parts[NLILabel.ENTAILMENT], parts[NLILabel.NEUTRAL], parts[NLILabel.CONTRADICTION], *spans
        )


def _messages(premise: str, hypothesis: str) -> list[Message]:
    quoted = {"premise": premise.translate(_ESCAPES), "hypothesis": hypothesis.translate(_ESCAPES)}
    return [
        Message("system", prompts.render("nli_system")),
        Message("user", prompts.render("nli_user", **quoted)),
    ]


def label_of(reply: str) -> NLILabel | None:
    """Read a reply strictly: its first line is one of the labels and nothing else, or it is no answer.

    "unclear" is neutral; quotation marks, a full stop and a leading "Label:" do not matter.
    """
    line = reply.strip().split("\n")[0].strip(_AROUND)
    return _LABELS.get(_LEAD.sub("", line).strip(_AROUND).lower())
