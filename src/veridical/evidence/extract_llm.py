"""Triples by a language model: one call a passage, with the nearest of a pool of examples before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np

from veridical import prompts
from veridical.corpus.split import sentences
from veridical.errors import InputError, LLMError
from veridical.evidence.prompting import about_tokens, escape, fitting, message_tokens, one_line, shortened
from veridical.evidence.selectors import Encode
from veridical.evidence.triples import FAILED, Extraction, Pieces, ground, parse, written
from veridical.llm.base import LLM, Generation, Message
from veridical.llm.managed import Request, manage
from veridical.types import Record

NO_WORDS = "the passage has no words"

_MAX_TITLE = 200
_LEAST_TOKENS = 50  # of a passage
_FIELDS = ("head", "relation", "tail")
_TRIPLE = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in _FIELDS},
    "required": list(_FIELDS),
    "additionalProperties": False,
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"triples": {"type": "array", "items": _TRIPLE}},
    "required": ["triples"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Exemplar(Record):
    """A passage with the triples that are to be found in it."""

    title: str
    text: str
    triples: tuple[Pieces, ...]


@cache
def exemplars() -> tuple[Exemplar, ...]:
    """Return the pool that ships: hand-written passages on many subjects, most of them about nothing real."""
    text = resources.files("veridical.evidence").joinpath("exemplars", "triples.json").read_text("utf-8")
    return tuple(
        Exemplar(row["title"], row["text"], tuple((h, r, t) for h, r, t in row["triples"]))
        for row in json.loads(text)
    )


@dataclass(frozen=True, slots=True)
class _Prompt:
    """Messages, and how many characters of the text they show."""

    messages: tuple[Message, ...]
    n_shown: int


class LLMExtractor:
    """Have a language model list the triples of each passage, as TRACE does for ReliableRAG.

    The prompt is the instruction, which is the same for all passages, the examples nearest to the passage,
    nearest first, and the passage. Examples are dropped from the end until it fits the budget; then the
    text is cut after a sentence. Decoding is greedy.

    Parameters
    ----------
    llm
        Any chat model. Give it as a `ManagedLLM` for a cache and a budget.
    encode
        Texts to unit vectors, by which the nearest examples are found.
    n_exemplars
        Examples before each passage, 0 or more; TRACE has 3.
    budget_tokens
        About how many tokens a prompt may have, at four characters a token and one for scripts without
        spaces. The engine's context must hold this and ``max_tokens``.
    max_tokens
        The most tokens of a reply.
    schema_mode
        Ask for JSON that follows a schema, for servers that can hold a model to one. A reply that is no JSON
        all the same is read as text.
    pool
        Examples to choose from; those that ship by default.

    Raises
    ------
    InputError
        If a number is out of range.
    BudgetError
        By ``extract``, when a budget runs out. What was done is in the cache, and the same call goes on.
    """

    def __init__(
        self,
        llm: LLM,
        encode: Encode,
        *,
        n_exemplars: int = 3,
        budget_tokens: int = 2048,
        max_tokens: int = 512,
        schema_mode: bool = False,
        pool: Sequence[Exemplar] | None = None,
    ) -> None:
        for label, value, least in (("n_exemplars", n_exemplars, 0), ("max_tokens", max_tokens, 1)):
            if value < least:
                raise InputError(f"{label} is {value}.", f"Pass {least} or more.")
        self._llm = manage(llm)
        self._encode = encode
        self._pool = exemplars() if pool is None else tuple(pool)
        self.n_exemplars = n_exemplars
        self.budget_tokens = budget_tokens
        self.max_tokens = max_tokens
        self.schema_mode = schema_mode
        form = prompts.render("triples_json" if schema_mode else "triples_lines")
        self._system = Message("system", prompts.render("triples_system", form=form))
        least = message_tokens((self._system, _asking("", ""))) + _LEAST_TOKENS
        if budget_tokens < least:
            raise InputError(
                f"budget_tokens is {budget_tokens}, and the instruction alone takes about {least}.",
                f"Pass {least} or more.",
            )

    @cached_property
    def name(self) -> str:
        """``llm:``, the model, and a hash of the prompt, the pool and the settings.

        Not of the encoder: with other examples at hand the model does the same task.
        """
        settings = (self.n_exemplars, self.budget_tokens, self.max_tokens, self.schema_mode)
        asked = (self._system.content, _asking("", "").content, self._pool, settings)
        return f"llm:{self._llm.name}@{hashlib.sha256(repr(asked).encode()).hexdigest()[:8]}"

    def extract(
        self, passages: Sequence[tuple[str, str]], *, tick: Callable[[], object] | None = None
    ) -> list[Extraction]:
        """Find triples; see ``Extractor.extract``. The same passage is asked once.

        Returns
        -------
        list of Extraction
            Where the model failed, one that is ``failed``. A reply without a triple that the passage bears
            out is a ``problem`` too, and final. Triples may stand beside a ``problem``: the text or the reply
            was cut.
        """
        unique = list(dict.fromkeys((title, text) for title, text in passages if _has_words(text)))
        # Those with the same examples are asked one after the other, as their prompts begin alike.
        order = sorted(zip(self._nearest(unique), unique, strict=True), key=lambda item: item[0])
        asked = [pair for _, pair in order]
        prepared = [self._prompt(*pair, [self._pool[i] for i in near]) for near, pair in order]
        schema = _SCHEMA if self.schema_mode else None
        requests = [Request(prompt.messages, self.max_tokens, schema=schema) for prompt in prepared]
        replies = self._llm.generate_many(requests, stage="triples", tick=tick)
        found = {
            pair: self._extraction(*pair, prompt, reply)
            for pair, prompt, reply in zip(asked, prepared, replies, strict=True)
        }
        if tick is not None:
            for _ in range(len(passages) - len(asked)):
                tick()
        return [found.get((title, text), Extraction((), NO_WORDS)) for title, text in passages]

    def _nearest(self, passages: Sequence[tuple[str, str]]) -> list[list[int]]:
        """Places in the pool of the examples nearest to each passage, nearest first; equals in its order."""
        n = min(self.n_exemplars, len(self._pool))
        if not n or not passages:
            return [[] for _ in passages]
        rows = np.asarray(self._encode([_whole(escape(title), escape(text)) for title, text in passages]))
        order = np.argsort(-(rows @ self._examples.T), axis=1, kind="stable")[:, :n]
        return [list(row) for row in order.tolist()]

    @cached_property
    def _examples(self) -> Any:
        """Shape (n_pool, d): unit vectors of the pool."""
        return np.asarray(self._encode([_whole(example.title, example.text) for example in self._pool]))

    def _prompt(self, title: str, text: str, examples: Sequence[Exemplar]) -> _Prompt:
        """Fit examples and text into the budget; see the class."""
        asking, n_shown = _asking(title, text), len(text)
        room = self.budget_tokens - message_tokens((self._system, asking))
        if room < 0:
            n_shown = _cut(text, room + about_tokens(text))
            asking = _asking(title, text[:n_shown])
        shots = fitting([self._shot(example) for example in examples], room)
        return _Prompt((self._system, *shots, asking), n_shown)

    def _shot(self, example: Exemplar) -> tuple[Message, Message]:
        """An example as a turn of the conversation."""
        if self.schema_mode:
            rows = [
                dict(zip(("head", "relation", "tail"), pieces, strict=True)) for pieces in example.triples
            ]
            said = json.dumps({"triples": rows}, ensure_ascii=False)
        else:
            said = "\n".join(written(*pieces) for pieces in example.triples)
        return _asking(example.title, example.text), Message("assistant", said)

    def _extraction(self, title: str, text: str, prompt: _Prompt, reply: Generation | LLMError) -> Extraction:
        if isinstance(reply, LLMError):
            return Extraction((), FAILED + reply.message)
        said = parse(reply.text)
        if not said:
            return Extraction((), "the reply holds no triple")
        triples = ground(title, text, said, shown=prompt.n_shown)
        if not triples:
            return Extraction((), f"the passage bears out none of the {len(said)} triples of the reply")
        problems = []
        if prompt.n_shown < len(text):
            problems.append(f"only the first {prompt.n_shown} of {len(text)} characters fitted the prompt")
        if reply.finish_reason == "length":
            problems.append(f"the reply was cut after {self.max_tokens} tokens")
        return Extraction(triples, "; ".join(problems) or None)


def _asking(title: str, text: str) -> Message:
    title = one_line(title, _MAX_TITLE)
    passage = [f"title: {title}"] if title else []
    passage.append(f"text: {escape(text).strip()}")
    return Message("user", prompts.render("triples_user", passage="\n".join(passage)))


def _whole(title: str, text: str) -> str:
    return f"title: {title} text: {text}"


def _has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _cut(text: str, n_tokens: int) -> int:
    """How many characters of whole sentences fit; of the first sentence what fits, if it does not."""
    n_shown = 0
    for span in sentences(text):
        n_tokens_of_it = about_tokens(text[n_shown : span.end])
        if n_tokens_of_it > n_tokens:
            break
        n_tokens -= n_tokens_of_it
        n_shown = span.end
    return n_shown or max(1, len(shortened(text, n_tokens)) - 1)
