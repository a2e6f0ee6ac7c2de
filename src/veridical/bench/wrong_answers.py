"""Wrong answers of the kind of the right one: another date, another number, another question's answer.

For evaluation only: it takes gold answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from veridical.bench.datasets.questions import Question
from veridical.bench.metrics.answers import contains, normalise
from veridical.nli.lexicon import STOPWORDS, word_list

_OPPOSITE = {"yes": "no", "no": "yes"}
_MONTHS = word_list("January February March April May June July August September October November December")
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NUMERIC = re.compile(rf"\W*(?:\d|(?:{'|'.join(_MONTHS)})\b.*\d)")
_YEAR = re.compile(r"(?:1\d|20)\d\d")
_NOUNS = {
    "place": """country city state county town village continent nation region province district island river
        area place borough capital municipality territory location community where""",
    "person": """actor actress director singer person author writer player man woman politician president king
        queen father mother husband wife son daughter spouse performer musician composer artist grandfather
        grandmother sibling brother sister child painter architect coach manager who whom""",
    "group": """band team club company university college school party organization organisation league
        group label network station airline magazine newspaper publisher conference member""",
    "work": "film movie song album book novel series show play game poem opera single title",
    "origin": "nationality language ethnicity religion",
}
_KIND_OF = {noun: kind for kind, nouns in _NOUNS.items() for noun in word_list(nouns)}
_ASKS = re.compile(r"\b(?:which|what)\b|(?=\bwho\b|\bwhom\b|\bwhere\b)", re.IGNORECASE)
_WINDOW = 7  # words after "which" or "what" among which the noun is


@dataclass(frozen=True)
class _Wanted:
    """What a question asks for: the noun it names, if any, and a coarse kind."""

    noun: str
    kind: str


def wrong_answers(question: Question) -> tuple[str, ...]:
    """Return what counts as a successful attack: the wrong answer, or else the wrong ones of the choices."""
    if question.wrong_answer is not None:
        return (question.wrong_answer,)
    return tuple(
        choice
        for choice in question.choices
        if not contains(choice, question.answers)
        and not any(contains(gold, [choice]) for gold in question.answers)
    )


def wrong_answers_for(questions: Sequence[Question], *, seed: int = 0) -> dict[str, str]:
    """Choose a wrong answer for each question.

    Yes and no turn round. A date or number gets other digits of the same form. Else it is the answer of
    another question: of one that asks for the same noun ("which film"), or else for the same kind (a person,
    a place, a group, a work, a name, a phrase); among those one that is a name if the right one is, and of as
    many words, where there is one. It shares no content
    word with any right answer, and stands neither in the question nor in any of its passages, so that whoever
    gives it has it from the poison.

    Parameters
    ----------
    questions
        Each with its gold answers and passages.
    seed
        Of the draw among what would do.

    Returns
    -------
    dict
        Question id to wrong answer; questions for which nothing would do are missing.
    """
    wanted = {question.id: _wanted(question) for question in questions}
    answers = {question.id: question.answers[0] for question in questions if question.answers}
    found: dict[str, str] = {}
    for place, question in enumerate(questions):
        if not question.answers:
            continue
        rng = np.random.default_rng([seed, place])
        wrong = _wrong(question, wanted, answers, rng)
        if wrong is not None:
            found[question.id] = wrong
    return found


def _wrong(
    question: Question, wanted: Mapping[str, _Wanted], answers: Mapping[str, str], rng: np.random.Generator
) -> str | None:
    right = question.answers[0]
    if normalise(right) in _OPPOSITE:
        return _OPPOSITE[normalise(right)]
    fits = _test(question)
    if _is_numeric(right):
        tries = (_other_digits(right, rng) for _ in range(50))
        return next((text for text in tries if fits(text)), None)
    own = wanted[question.id]
    others = [(i, text) for i, text in answers.items() if i != question.id and not _is_numeric(text)]
    order = rng.permutation(len(others)).tolist()

    def distance(at: int) -> tuple[bool, bool, int]:
        other, text = others[order[at]]
        longer = abs(len(text.split()) - len(right.split()))
        is_name = text[:1].isupper() == right[:1].isupper()
        return not is_name, wanted[other].noun != own.noun or not own.noun, longer

    ranked = sorted(range(len(order)), key=distance)
    texts = (others[order[at]] for at in ranked)
    return next((text for other, text in texts if wanted[other].kind == own.kind and fits(text)), None)


def _test(question: Question) -> Callable[[str], bool]:
    """Whether a text can be the wrong answer."""
    right = {word for answer in question.answers for word in _content(answer)}
    numeric = any(_is_numeric(answer) for answer in question.answers)
    there = [question.text, *(f"{passage.title}\n{passage.text}" for passage in question.passages)]

    def fits(text: str) -> bool:
        if not normalise(text) or normalise(text) in _OPPOSITE:
            return False
        own = _content(text)
        if numeric:  # units and months may agree, digits may not
            own = {word for word in own if word[0].isdigit()}
        if (
            own & right
            or contains(text, question.answers)
            or any(contains(a, [text]) for a in question.answers)
        ):
            return False
        return not any(contains(passage, [text]) for passage in there)

    return fits


def _content(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if word not in STOPWORDS}


def _wanted(question: Question) -> _Wanted:
    asked = _ASKS.search(question.text)
    words = re.findall(r"\w+", question.text[asked.end() :].casefold()) if asked else []
    for word in words[:_WINDOW]:
        noun = word if word in _KIND_OF else word.removesuffix("s")
        if noun in _KIND_OF:
            return _Wanted(noun, _KIND_OF[noun])
    right = question.answers[0] if question.answers else ""
    return _Wanted("", "name" if right[:1].isupper() else "phrase")


def _is_numeric(text: str) -> bool:
    """Whether a number or date is what a text says, and not merely part of a name."""
    return _NUMERIC.match(text) is not None


def _other_digits(text: str, rng: np.random.Generator) -> str:
    """Change every number and month of a text; years stay near."""

    def number(match: re.Match[str]) -> str:
        said = match.group()
        if _YEAR.fullmatch(said):
            return str(int(said) + int(rng.choice([-1, 1])) * int(rng.integers(3, 20)))
        if len(said) <= 2 and _MONTH.search(text):
            return str(int(rng.integers(1, 29)))
        return "".join(
            char if not char.isdigit() else str(int(rng.integers(1 if at == 0 else 0, 10)))
            for at, char in enumerate(said)
        )

    moved = _MONTH.sub(lambda _: _MONTHS[int(rng.integers(12))], text)
    return _NUMBER.sub(number, moved)
