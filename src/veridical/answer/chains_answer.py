"""Answer a question from a context of chains: by a language model, or by a reader where there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from veridical import prompts
from veridical.answer.chain_context import ChainContext, ContextLine, Place, places_behind
from veridical.answer.context import escape
from veridical.errors import InputError, LLMError
from veridical.llm.base import LLM, Message
from veridical.reading.base import Reader
from veridical.types import Record, Usage

MAX_TOKENS = 40
"""An answer is a few words; the paper has 25 new tokens, which cut off some that begin with a sentence."""

DECLINED = "unknown"
_DECLINES = f"If the lines do not answer the question, reply with exactly: {DECLINED}"
_INSISTS = "If the lines leave it open, give the answer that fits them best."
_SAYS_UNKNOWN = re.compile(
    r"(?:(?:it|that|the answer) is )?(?:unknown|not (?:known|stated|given|specified|mentioned))"
    r"|(?:the )?(?:lines|documents|claims|texts?) (?:do|does) not (?:say|answer|mention|state)\b.*"
    r"|i (?:do not|don['’]t|cannot|can['’]t) (?:know|tell|answer)\b.*|cannot be (?:determined|answered)\b.*",
    re.IGNORECASE,
)
_SPECIAL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>(?:model|user)?|</?lines>", re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_IS = re.compile(r"\banswer(?:\s+(?:to\s+)?(?:the|this)\s+question)?\s+is\b\s*:?", re.IGNORECASE)
_LEAD = re.compile(r"\A\W*(?:(?:final|short|best)\s+)?answer(?:\s+in a few words)?\s*:\s*", re.IGNORECASE)
_MARKS = re.compile(r"\s*[\[(]\d{1,3}(?:\s*,\s*\d{1,3})*[\])]\s*\Z")
_ENDS = ".!?"
_UNSAID = "No line says this in these words, so what is cited is the most confident chain."


@dataclass(frozen=True, slots=True)
class ChainAnswer(Record):
    """An answer and the sentences that it leans on; without ``text`` there is none, and ``notes`` say why.

    ``usage`` is that of the language model. ``said`` is false where no line holds the answer's words.
    """

    text: str
    places: tuple[Place, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    said: bool = True


def answer_by_llm(
    question: str, context: ChainContext, llm: LLM, *, insist: bool = False, max_tokens: int = MAX_TOKENS
) -> ChainAnswer:
    """Ask a language model, at temperature 0, for a few words; what they lean on is found in code.

    Parameters
    ----------
    context
        At least one line.
    insist
        Ask for the best answer even where the lines leave it open.
    max_tokens
        The most tokens to write.

    Raises
    ------
    InputError
        If there is no line.
    LLMError
        If the model fails, or writes nothing that reads as an answer.
    """
    generation = llm.generate(
        chain_messages(question, context, insist=insist), max_tokens=max_tokens, temperature=0.0
    )
    text = read_answer(generation.text)
    if not re.search(r"\w", text):
        raise LLMError(
            f"The language model {llm.name!r} wrote nothing that reads as an answer: "
            f"{generation.text[:80]!r}.",
            "Ask in other words, or use another model.",
        )
    if declines(text) and not insist:
        return ChainAnswer("", (), ("The language model found no answer in the chains.",), generation.usage)
    places, said = places_behind(text, context)
    return ChainAnswer(text, tuple(places), () if said else (_UNSAID,), generation.usage, said=said)


def chain_messages(question: str, context: ChainContext, *, insist: bool = False) -> tuple[Message, Message]:
    """Write the conversation that is sent; its task comes first and is always the same.

    Raises
    ------
    InputError
        If the context has no line.
    """
    if not context.lines:
        raise InputError("There are no chains to answer from.", "Find some first.")
    system = prompts.render("chains_system", otherwise=_INSISTS if insist else _DECLINES)
    user = prompts.render("chains_user", lines=context.text, question=escape(question).strip())
    return Message("system", system), Message("user", user)


def read_answer(text: str) -> str:
    """Take the answer out of a reply: what follows "answer is", or the first line with a word in it.

    Quotation marks around it, references to lines and a final full stop go.
    """
    text = _CONTROL.sub(" ", _SPECIAL.sub(" ", text))
    said = _IS.split(text, maxsplit=1)
    text = said[1] if len(said) > 1 and re.search(r"\w", said[1]) else text
    lines = (_MARKS.sub("", _LEAD.sub("", line)).strip() for line in text.splitlines())
    answer = next((line for line in lines if re.search(r"\w", line)), "")
    if answer[-1:] in _ENDS and not re.search(r"\b[A-Z]\.\Z", answer):  # the stop of "J. P." belongs to it
        answer = answer[:-1].rstrip()
    for opening, closing in ('""', "''", "“”", "‘’", "``", "**"):
        if len(answer) > 1 and answer.startswith(opening) and answer.endswith(closing):
            answer = answer.strip(opening + closing).strip()
    return answer


def declines(text: str) -> bool:
    """Whether an answer says that there is none."""
    return _SAYS_UNKNOWN.fullmatch(text.strip(" .!")) is not None


def answer_by_reader(
    question: str, context: ChainContext, reader: Reader, *, insist: bool = False
) -> ChainAnswer:
    """Let a reader answer from all lines as one short text; the answer leans on the line that holds it.

    Parameters
    ----------
    context
        At least one line.
    insist
        Give the likeliest span even where no answer is likelier still.

    Raises
    ------
    InputError
        If there is no line.
    """
    if not context.lines:
        raise InputError("There are no chains to answer from.", "Find some first.")
    text, starts = _joined(context.lines)
    reading = reader.read(question, [text])[0]
    best = reading.best
    if best is None or (reading.no_answer > best.probability and not insist):
        return ChainAnswer("", (), ("The reader found no answer in the chains.",))
    place = max(i for i, start in enumerate(starts) if start <= best.start)
    line = context.lines[place]
    # A span that runs across lines is no span of any document: what it has of its first line stays.
    answer = text[best.start : min(best.end, starts[place] + len(line.text))].strip()
    places, _ = places_behind(answer, ChainContext(context.kind, (line,), line.triples))
    return ChainAnswer(answer, tuple(places))


def _joined(lines: tuple[ContextLine, ...]) -> tuple[str, list[int]]:
    """Write lines as sentences of one text, and say where each begins."""
    text, starts = "", list[int]()
    for line in lines:
        starts.append(len(text))
        text += line.text + (" " if line.text[-1:] in _ENDS else ". ")
    return text.rstrip(), starts
