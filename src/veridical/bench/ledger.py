"""A language model whose every reply is kept with what it had cost, so that a long run can be interrupted.

The product's cache gives a reply for nothing. Here a reply comes back with the tokens and seconds that it
took when it was made, so that a run that goes on later counts as one that was never interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from veridical.llm import replies
from veridical.llm.base import LLM, Choice, Chooser, Generation, Message
from veridical.types import Usage


class Engine(LLM, Chooser, Protocol):
    """What is kept: a model that writes and chooses."""


class Ledger:
    """Wraps an engine.

    Parameters
    ----------
    llm
        The engine.
    path
        A file of one JSON line a reply; a line that was cut off is asked again.

    Attributes
    ----------
    seconds
        What all replies so far took, those from the file too.
    n_new
        Replies that the engine made now.
    """

    n_concurrent = 1

    def __init__(self, llm: Engine, path: Path) -> None:
        self.llm = llm
        self.path = path
        self.seconds = 0.0
        self.n_new = 0
        self._known: dict[str, tuple[str, Usage, float]] = {}
        if path.is_file():
            for line in path.read_text("ascii").splitlines():
                try:
                    key, text, usage, seconds = json.loads(line)
                    self._known[key] = (text, Usage(**usage), float(seconds))
                except (ValueError, TypeError):
                    continue

    @property
    def name(self) -> str:
        """The engine's."""
        return self.llm.name

    @property
    def identity(self) -> str:
        """What replies depend on besides the request."""
        return str(getattr(self.llm, "identity", self.llm.name))

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Generation:
        """Continue the conversation, or give what was written before; see `LLM.generate`."""
        options: dict[str, Any] = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "schema": schema,
        }
        key = self._key("generate", messages, options)
        known = self._find(Generation, key)
        return known or self._keep(key, self.llm.generate(messages, **options))

    def choose(
        self, messages: Sequence[Message], labels: Sequence[str], *, n_votes: int = 5, seed: int = 0
    ) -> Choice:
        """Choose, or give what was chosen before; see `Chooser.choose`."""
        key = self._key("choose", messages, {"labels": list(labels), "n_votes": n_votes, "seed": seed})
        known = self._find(Choice, key)
        return known or self._keep(key, self.llm.choose(messages, labels, n_votes=n_votes, seed=seed))

    def _key(self, call: str, messages: Sequence[Message], options: Mapping[str, Any]) -> str:
        return replies.key_of(self.identity, call, {"messages": messages, **options}).hex()

    def _find(self, kind: type[replies.Reply], key: str) -> replies.Reply | None:
        if key not in self._known:
            return None
        text, usage, seconds = self._known[key]
        reply = replies.read(kind, text)
        if reply is None:
            return None
        self.seconds += seconds
        return replace(reply, usage=usage, seconds=seconds)

    def _keep(self, key: str, reply: replies.Reply) -> replies.Reply:
        self.seconds += reply.seconds
        self.n_new += 1
        self._known[key] = (replies.written(reply), reply.usage, reply.seconds)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps([key, replies.written(reply), reply.usage.to_dict(), reply.seconds])
        with self.path.open("a", encoding="ascii") as out:
            out.write("\n" + line + "\n")
        return reply
