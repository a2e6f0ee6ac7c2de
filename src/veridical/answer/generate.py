"""An answer by a language model from trust-labelled passages, with its citations checked in code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from veridical import prompts
from veridical.answer.board_context import build_board_context
from veridical.answer.cite import Cited, attach_citations, read_citations
from veridical.answer.context import (
    DEFAULT_BUDGET_TOKENS,
    Context,
    Style,
    build_context,
    conflict_lines,
    escape,
)
from veridical.corpus.split import sentences
from veridical.errors import InputError, LLMError
from veridical.llm.base import LLM, Generation, Message
from veridical.types import Candidate, Citation, Conflict, Hit, Record, Span, Usage

NO_ANSWER = "The documents do not answer this."
MAX_TOKENS: dict[Style, int] = {"veridical": 160, "trustprop": 80, "plain": 80}

_SPECIAL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>(?:model|user)?|</?(?:document|answer)>"
    r"|\[\d+\] trust: [A-Z]+(?: \(\d\.\d\d\))?|Answer \d+, evidence [A-Z]+:",
    re.IGNORECASE,
)
_LEAD = re.compile(r"\A\W*(?:final\s+)?answer\s*:\s*", re.IGNORECASE)
_ENUMERATOR = re.compile(r"\A\s*(?:\d{1,3}[.)]|[-*•])\s+|[\[【][^\]】]{0,40}[\]】]")
_ENDS = ".!?。！？\"'”’)]】"
_LEAST_ECHO_WORDS = 4
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class GeneratedAnswer(Record):
    """What the model said, as it may be shown, and what became of its citations.

    ``status`` is ``degraded`` where a citation was dropped or none could be found; ``notes`` say why.
    """

    text: str
    citations: tuple[Citation, ...]
    dropped_citations: tuple[Citation, ...]
    status: Literal["answered", "degraded"]
    generator: str
    usage: Usage
    notes: tuple[str, ...]
    finish_reason: str
    seconds: float
    context: Context


def build_messages(
    question: str, context: Context, *, style: Style = "veridical", conflicts: Sequence[Conflict] = ()
) -> tuple[Message, Message]:
    """Write the conversation that is sent: the task, and the passages with the question."""
    given = {"documents": context.text, "question": escape(question).strip()}
    if style == "veridical":
        given["conflicts"] = conflict_lines(context, conflicts)
    system = Message("system", prompts.render(f"{style}_system"))
    return system, Message("user", prompts.render(f"{style}_user", **given))


def build_board_messages(question: str, context: Context) -> tuple[Message, Message]:
    """Write the conversation that is sent with an evidence board."""
    system = Message("system", prompts.render("board_system"))
    asked = prompts.render("board_user", board=context.text, question=escape(question).strip())
    return system, Message("user", asked)


def generate_answer(
    question: str,
    hits: Sequence[Hit],
    llm: LLM,
    *,
    style: Style = "veridical",
    conflicts: Sequence[Conflict] = (),
    candidates: Sequence[Candidate] = (),
    max_tokens: int | None = None,
    seed: int | None = None,
    budget_tokens: int = DEFAULT_BUDGET_TOKENS,
    max_chars_each: int | None = None,
) -> GeneratedAnswer:
    """Ask a language model, at temperature 0, and check what it cites.

    Parameters
    ----------
    question, hits
        The question and the passages to answer from, most useful first.
    llm
        The model.
    style
        ``veridical`` (asks for citations), ``trustprop`` (the prompt of arXiv 2609.00543: labels, 500
        characters a passage, 80 tokens) or ``plain`` (no labels).
    conflicts
        Contradictions found among the passages; style ``veridical`` tells the model of them.
    candidates
        An evidence board, heaviest answer first: in style ``veridical`` the model sees this in place of the
        passages, with its witnesses numbered by their place among ``hits``.
    max_tokens
        The most tokens to write; by default 160, and 80 in the other two styles.
    seed
        Handed to the model.
    budget_tokens, max_chars_each
        See :func:`veridical.answer.context.build_context`.

    Raises
    ------
    InputError
        If there is no hit, or an argument is out of range.
    LLMError
        If the model fails, or writes nothing that reads as an answer.
    """
    if not hits:
        raise InputError("There are no passages to answer from.", "Retrieve some first.")
    if candidates and style == "veridical":
        context = build_board_context(candidates, hits, budget_tokens=budget_tokens)
        messages = build_board_messages(question, context)
    else:
        context = build_context(hits, style=style, budget_tokens=budget_tokens, max_chars_each=max_chars_each)
        messages = build_messages(question, context, style=style, conflicts=conflicts)
    generation = llm.generate(
        messages,
        max_tokens=MAX_TOKENS[style] if max_tokens is None else max_tokens,
        temperature=0.0,
        seed=seed,
    )
    text, notes = _tidy(generation, llm.name, messages[0].content)
    cited, status, more = _cite(text, context, question, style)
    return GeneratedAnswer(
        text=cited.text,
        citations=cited.citations,
        dropped_citations=cited.dropped,
        status=status,
        generator=llm.name,
        usage=generation.usage,
        notes=(*context.notes, *notes, *more),
        finish_reason=generation.finish_reason,
        seconds=generation.seconds,
        context=context,
    )


def _cite(
    text: str, context: Context, question: str, style: Style
) -> tuple[Cited, Literal["answered", "degraded"], list[str]]:
    read = read_citations(text, context, question=question)
    if not re.search(r"\w", read.bare):
        raise LLMError(f"The language model wrote only citation marks: {text[:80]!r}.", "Use a larger model.")
    notes = [f"citation {c.marker} was dropped: {c.problem}" for c in read.dropped]
    if read.dropped:
        return read, "degraded", notes
    if read.n_markers:
        return read, "answered", notes
    if _says_no_answer(text):
        return read, "answered", ["the model found no answer in the passages"]
    found = attach_citations(text, context, question=question)
    why = "the model cited nothing" if style == "veridical" else f"the {style} prompt asks for no citations"
    if found.citations:
        return found, "answered", [f"{why}: citations were matched in code"]
    return found, "degraded", [f"{why}, and no passage could be matched to its answer"]


def _says_no_answer(text: str) -> bool:
    return bool(text) and all(_plain(place.text) == _plain(NO_ANSWER) for place in sentences(text))


def _plain(sentence: str) -> str:
    """A sentence as it counts when looking for repetition: no list number, no marks, no case."""
    return " ".join(re.findall(r"\w+", _ENUMERATOR.sub("", sentence).casefold()))


def _tidy(generation: Generation, llm: str, prompt: str) -> tuple[str, list[str]]:
    """Take off what is no part of an answer: tokens, a lead, echoes, repetition, a torn last sentence."""
    text = _CONTROL.sub("", _SPECIAL.sub(" ", generation.text))
    text = _LEAD.sub("", text).strip()
    places = sentences(text)
    told = {_plain(line.text) for line in sentences(prompt)} - {_plain(NO_ANSWER)}
    notes: list[str] = []
    kept: dict[str, Span] = {}
    for place in places:
        plain = _plain(place.text)
        if plain not in told or len(plain.split()) < _LEAST_ECHO_WORDS:
            kept.setdefault(plain, place)
    if len(kept) < len(places):
        places = list(kept.values())
        text = " ".join(place.text for place in places)
        notes.append("the model repeated itself or its instructions: that was left out")
    if not re.search(r"\w", text):
        raise LLMError(
            f"The language model {llm!r} wrote nothing that reads as an answer: {generation.text[:80]!r}.",
            "Ask in other words, or use another model.",
        )
    if generation.finish_reason == "length":
        whole = [place.text for place in places if place.text[-1] in _ENDS]
        torn = 0 < len(whole) < len(places)
        text = " ".join(whole) if torn else text
        notes.append("the model ran out of tokens" + (": its last sentence was left out" if torn else ""))
    return text, notes
