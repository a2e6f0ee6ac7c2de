"""What the published procedure of ReliableRAG would have a language model read on the same chains.

It is counted, not run: its prompts are written out for the chains of a finished search and cut into tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from veridical.evidence.select_llm import LLMSelector
from veridical.evidence.selectors import Encode, Step
from veridical.evidence.triples import written
from veridical.llm.base import Choice, Generation, Message
from veridical.types import ChainStep, Trace, Usage

N_WRITTEN = 16
"""Tokens that the published procedure writes for each choice."""

CountTokens = Callable[[Sequence[Message]], int]


@dataclass(frozen=True, slots=True)
class Published:
    """Prompts, the tokens they have together, and the tokens written, of the choices of one search."""

    prompts: int
    prompt_tokens: int
    written_tokens: int


def published(trace: Trace, count: CountTokens, encode: Encode) -> Published:
    """Count the choices that the published procedure asks a model for, given how a search went.

    As in the authors' code, each chain of the beam has a prompt of its own at each hop, with its own list of
    triples; finished chains are prompted again at all later hops; the hops go on to the last one unless the
    beam is full of finished chains; every prompt is computed from its first token. Instruction, examples
    and triples are worded as in `LLMSelector`, so that the count differs by procedure and not by wording.

    Parameters
    ----------
    trace
        A finished search.
    count
        Tokens of a conversation, with what the chat template adds.
    encode
        By which the examples of a prompt are found.
    """
    engine = _Counter(count)
    selector = LLMSelector(engine, encode)
    texts = {t.id: written(t.head, t.relation, t.tail) for t in trace.triples}
    most_hops, n_beams = int(trace.settings["max_hops"]), int(trace.settings["n_beams"])
    finished: list[tuple[float, ChainStep]] = []
    for number in range(1, most_hops + 1):
        hop = trace.hops[number - 1] if number <= len(trace.hops) else None
        n_finished = len(finished) if hop is None else hop.n_finished
        if n_finished == n_beams:
            break
        finished = sorted(finished, key=lambda each: -each[0])[:n_finished]
        open_ = () if hop is None else hop.steps
        for step in (*open_, *(step for _, step in finished)):
            if step.asked:
                selector.select([_alone(trace.question, number, step, texts)])
        finished += [
            (step.confidence * step.options[0].probability, step) for step in open_ if step.options[0].kept
        ]
    return Published(engine.n_calls, engine.n_tokens, N_WRITTEN * engine.n_calls)


def _alone(question: str, number: int, step: ChainStep, texts: Mapping[int, str]) -> Step:
    """A step that shares its list of options with no other."""
    options = tuple(texts[o.triple] for o in step.options if o.triple is not None)
    return Step(question, number, tuple(texts[id_] for id_ in step.chain), options)


class _Counter:
    """Stands in for a model, and counts what it is given to read."""

    name = "counter"
    n_concurrent = 1

    def __init__(self, count: CountTokens) -> None:
        self.count = count
        self.n_calls = self.n_tokens = 0

    def generate(self, messages: Sequence[Message], **_: object) -> Generation:
        """Not part of a search."""
        raise NotImplementedError

    def choose(
        self, messages: Sequence[Message], labels: Sequence[str], *, n_votes: int = 5, seed: int = 0
    ) -> Choice:
        """Count; the choice is of no interest."""
        del n_votes, seed
        self.n_calls += 1
        self.n_tokens += self.count(messages)
        return Choice({label: 1.0 / len(labels) for label in labels}, "logprobs", Usage(calls=1), 0.0)
