"""How compared systems answer from passages: by the language model, or by the reader where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from veridical import prompts
from veridical.answer.chains_answer import read_answer
from veridical.answer.context import escape
from veridical.bench.systems.base import Retrieved, Tools
from veridical.errors import InputError
from veridical.llm.base import Message
from veridical.llm.managed import Request
from veridical.llm.usage import measure
from veridical.types import Record, Usage

MAX_TOKENS = 40


@dataclass(frozen=True, slots=True)
class Said(Record):
    """A text and what it had cost; empty where nothing usable was said."""

    text: str
    probability: float | None = None
    usage: Usage = field(default_factory=Usage)


def numbered(passages: Sequence[Retrieved], notes: Sequence[str] | None = None) -> str:
    """Write passages as data: numbered from 1, titled, escaped, each with its note where there are notes."""
    lines = []
    for place, passage in enumerate(passages):
        head = f"{passage.title}: " if passage.title else ""
        note = f" ({notes[place]})" if notes is not None else ""
        lines.append(f"[{place + 1}] {escape(head + passage.text).strip()}{note}")
    return "\n".join(lines)


def say(tools: Tools, prompt: str, *, stage: str, max_tokens: int = MAX_TOKENS, **fields: str) -> Said:
    """Fill in the prompts ``PROMPT_system`` and ``PROMPT_user`` and have the model continue, greedily.

    ``fields`` are those of the user's prompt, escaped already where they are quoted. Raises as
    `LLM.generate`.
    """
    if tools.llm is None:
        raise InputError("There is no language model.", "Name one with --llm.")
    asked = (
        Message("system", prompts.render(f"{prompt}_system")),
        Message("user", prompts.render(f"{prompt}_user", **fields)),
    )
    with measure() as spent:
        (reply,) = tools.llm.generate_many([Request(asked, max_tokens)], stage=stage)
    if isinstance(reply, Exception):
        raise reply
    return Said(reply.text, usage=spent.total)


def from_passages(
    tools: Tools,
    question: str,
    passages: Sequence[Retrieved],
    *,
    prompt: str = "bench_vanilla",
    notes: Sequence[str] | None = None,
    stage: str = "answer",
) -> Said:
    """Answer in a few words from passages.

    By the model, with the prompts named; else by the reader, which reads each passage alone and takes the
    likeliest answer of all, the earlier passage's where they tie. Without any passage the model is asked
    without them, and the reader says nothing. Where no answers are wanted, nothing is asked or read.
    """
    if not tools.answers:
        return Said("")
    if tools.llm is None:
        return _read(tools, question, passages)
    if not passages:
        return closed(tools, question)
    said = say(
        tools, prompt, stage=stage, question=escape(question).strip(), passages=numbered(passages, notes)
    )
    return Said(read_answer(said.text), usage=said.usage)


def closed(tools: Tools, question: str, *, stage: str = "answer") -> Said:
    """Answer from what the model knows, without passages."""
    said = say(tools, "bench_closed", stage=stage, question=escape(question).strip())
    return Said(read_answer(said.text), usage=said.usage)


def _read(tools: Tools, question: str, passages: Sequence[Retrieved]) -> Said:
    if tools.reader is None:
        raise InputError("There is neither a language model nor a reader.", "Give one of them.")
    readings = tools.reader.read(question, [passage.text for passage in passages])
    spans = [reading.best for reading in readings if reading.best is not None]
    best = max(spans, key=lambda span: span.probability, default=None)
    return Said("") if best is None else Said(best.text, best.probability)
