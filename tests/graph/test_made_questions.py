"""Questions that documents put to their neighbours: chosen near, few and the same every time."""

from __future__ import annotations

import pytest

from veridical.graph.made_questions import RELIANCE, MadeQuestion, Neighbour, questions_of
from veridical.reading.base import NOTHING, ReadAnswer, Reading
from veridical.types import Span

OWN = "The Halden bridge was opened in 1932 after six years of work. Trains use it at night."
CLASH = "Few remember the war. The Halden bridge was opened to trains in 1954 after years of work. It rained."
SAME = "After six years of work the Halden bridge was opened to the public in 1932."
OTHER = "The Vienna orchestra gave its first concert in 1842 after two years of rehearsals."


def neighbour(number: int, text: str) -> Neighbour:
    return Neighbour(number, number, "", text)


def ask(own: str, *others: str, n: int = 4, title: str = "") -> list[MadeQuestion]:
    near = [neighbour(number, text) for number, text in enumerate(others, 2)]
    return questions_of({1: own}, title, {1: near}, n)


def read(question: MadeQuestion, text: str, probability: float = 0.9) -> Reading:
    """A reading of the window that answers with ``text``."""
    start = question.window.text.index(text)
    return Reading((ReadAnswer(text, start, start + len(text), probability),), 1.0 - probability)


def test_the_neighbour_is_asked_for_what_the_own_sentence_says() -> None:
    (made,) = ask(OWN, CLASH)
    assert made.question == "The Halden bridge was opened in what year after six years of work?"
    assert (made.asker, made.other, made.kind) == (1, 2, "date")
    assert made.answer == Span("1932", OWN.index("1932"), OWN.index("1932") + 4)


def test_only_the_sentence_that_speaks_of_the_same_is_read() -> None:
    (made,) = ask(OWN, CLASH)
    window = "The Halden bridge was opened to trains in 1954 after years of work."
    assert made.window == Span(window, CLASH.index(window), CLASH.index(window) + len(window))


def test_a_clash_is_a_contradiction_and_its_answers_stand_in_their_passages() -> None:
    (made,) = ask(OWN, CLASH)
    verdict = made.verdict(read(made, "1954"))
    assert verdict.contradiction > 0.5 > verdict.support
    assert verdict.left is not None and verdict.right is not None
    assert OWN[verdict.left.start : verdict.left.end] == "1932"
    assert CLASH[verdict.right.start : verdict.right.end] == "1954"


def test_the_same_answer_supports() -> None:
    made = next(question for question in ask(OWN, SAME) if question.kind == "date")
    verdict = made.verdict(read(made, "1932"))
    assert verdict.support == pytest.approx(0.9 * RELIANCE["date"], abs=0.1)
    assert verdict.contradiction < 0.05


def test_a_neighbour_that_says_the_answer_too_does_not_contradict_it() -> None:
    (made,) = ask(OWN, "The Halden bridge, opened in 1932 after years of work, was closed in 1954.")
    assert made.verdict(read(made, "1954")).contradiction == 0.0


def test_a_neighbour_that_only_denies_the_answer_does_contradict_it() -> None:
    (made,) = ask(OWN, "The Halden bridge was opened after years of work in 1954, not 1932.")
    assert made.verdict(read(made, "1954")).contradiction > 0.5


@pytest.mark.parametrize("answer", ["Halden bridge", "trains"])
def test_an_answer_of_another_kind_or_from_the_question_says_nothing(answer: str) -> None:
    (made,) = ask(OWN, CLASH)
    verdict = made.verdict(read(made, answer))
    assert (verdict.support, verdict.contradiction) == (0.0, 0.0)


def test_a_neighbour_that_does_not_answer_says_nothing() -> None:
    (made,) = ask(OWN, CLASH)
    verdict = made.verdict(NOTHING)
    assert (verdict.support, verdict.contradiction) == (0.0, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        OTHER,
        "The Halden bridge was painted green in 1954.",
        "The Vienna bridge was opened in 1954 after six years of work.",
        "The Halden bridge was opened after years of work.",
        OWN,
        "",
    ],
    ids=["other thing", "other event", "other name", "no value", "same words", "empty"],
)
def test_nothing_is_asked_of_a_neighbour_that_cannot_answer(other: str) -> None:
    assert ask(OWN, other) == []


def test_a_question_that_gives_another_date_is_put_only_to_who_shares_it() -> None:
    own = "In 1932 the Halden bridge carried 400 trains a day."
    assert [m.kind for m in ask(own, "In 1954 the Halden bridge carried 650 trains a day.")] == []
    assert [m.kind for m in ask(own, "The Halden bridge carried 650 trains a day in 1932.")] == ["number"]


def test_no_more_is_asked_than_the_budget_and_each_document_comes_first_once() -> None:
    texts = [
        f"In the end the Halden bridge was opened in {year} after six years of work."
        for year in range(1950, 1958)
    ]
    assert ask(OWN, *texts, n=0) == []
    four = ask(OWN, *texts, n=4)
    assert len({made.other for made in four}) == len(four) == 4
    assert four == ask(OWN, *texts, n=8)[:4]


def test_a_document_with_few_neighbours_asks_them_more_than_once() -> None:
    own = OWN + " The Halden bridge is 503 metres long and carries two roads."
    other = CLASH + " The Halden bridge is 498 metres long and carries two roads."
    asked = ask(own, other)
    assert {made.kind for made in asked} == {"date", "number"}
    assert len({(made.other, made.question) for made in asked}) == len(asked)


def test_the_title_stands_for_a_pronoun() -> None:
    own = "It was opened to trains in 1932 after six years of work."
    assert ask(own, CLASH) == []
    (made,) = ask(own, CLASH, title="Halden bridge")
    assert made.question.startswith("Halden bridge was opened")
    assert own[made.answer.start : made.answer.end] == "1932"


def test_what_is_asked_does_not_depend_on_the_order_of_the_neighbours() -> None:
    near = [neighbour(2, CLASH), neighbour(3, SAME), neighbour(4, OTHER)]
    forward = questions_of({1: OWN}, "", {1: near}, 4)
    assert forward
    assert questions_of({1: OWN}, "", {1: near[::-1]}, 4) == forward
