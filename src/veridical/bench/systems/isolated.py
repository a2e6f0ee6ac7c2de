"""Answers to a question from each context on its own, for systems that compare such answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from veridical import prompts
from veridical.answer.chains_answer import declines, read_answer
from veridical.answer.context import escape
from veridical.bench.systems.answering import MAX_TOKENS, numbered
from veridical.bench.systems.base import Retrieved, Tools
from veridical.errors import EmptyReplyError, InputError
from veridical.llm.base import Message
from veridical.llm.managed import Request

UNKNOWN = "I don't know"
"""What the prompt asks to reply where the passages do not answer."""

_DECLINED = re.compile(r"\bI (?:don|do not|cannot|can)\b(?:['’]t)?", re.IGNORECASE)


def asking(question: str, passages: Sequence[Retrieved]) -> tuple[Message, Message]:
    """Write the conversation that asks for an answer from these passages, or for `UNKNOWN`."""
    shown = {"question": escape(question).strip(), "passages": numbered(passages)}
    return (
        Message("system", prompts.render("bench_isolated_system", unknown=UNKNOWN)),
        Message("user", prompts.render("bench_isolated_user", unknown=UNKNOWN, **shown)),
    )


def isolated(
    tools: Tools, question: str, contexts: Sequence[Sequence[Retrieved]], *, max_tokens: int = MAX_TOKENS
) -> list[str | None]:
    """Answer a question from each context as if there were no other.

    By the model, one call a context; by the reader where there is none, the likeliest answer of the context's
    passages. Equal contexts are asked once.

    Returns
    -------
    list of str or None
        One a context; ``None`` where it does not answer.

    Raises
    ------
    InputError
        If there is neither a model nor a reader.
    LLMError
        As `LLM.generate`; a reply without text counts as no answer.
    """
    if tools.llm is None:
        return [_read(tools, question, context) for context in contexts]
    asked = [Request(asking(question, context), max_tokens) for context in contexts]
    answers: list[str | None] = []
    for reply in tools.llm.generate_many(asked, stage="isolated"):
        if isinstance(reply, EmptyReplyError):
            answers.append(None)
        elif isinstance(reply, Exception):
            raise reply
        else:
            answers.append(answer_of(reply.text))
    return answers


def answer_of(text: str) -> str | None:
    """Take the answer out of a reply; ``None`` if it says that there is none."""
    answer = read_answer(text)
    if not re.search(r"\w", answer) or declines(answer) or _DECLINED.match(answer):
        return None
    return answer


def _read(tools: Tools, question: str, passages: Sequence[Retrieved]) -> str | None:
    if tools.reader is None:
        raise InputError("There is neither a language model nor a reader.", "Give one of them.")
    readings = tools.reader.read(question, [passage.text for passage in passages])
    spans = [
        reading.best
        for reading in readings
        if reading.best is not None and reading.best.probability >= reading.no_answer
    ]
    best = max(spans, key=lambda span: span.probability, default=None)
    return None if best is None else best.text
