"""The evidence board in a terminal, whatever its width and whatever documents say."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from veridical.cli import board, waiting
from veridical.types import Answer, Candidate, Span, Witness

LONG = "It is said, " + "again and again, " * 30 + "that port 443 is right, " + "and so on, " * 30


def witness(document: int, text: str, answer: str, **more: Any) -> Witness:
    at = text.index(answer)
    given, said = Span(answer, 40 + at, 40 + at + len(answer)), Span(text, 40, 40 + len(text))
    return Witness(document, document, given, said, 0.9, 0.9, key=f"wiki/{document}.md", **more)


def answered(*candidates: Candidate, id: int = 7) -> Answer:
    return Answer(id, "?", "443", "answered", "veridical", "reader", candidates=candidates)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def show(answer: Answer, *, width: int = 100, color: str | None = None) -> str:
        written = io.StringIO()
        console = Console(
            file=written, width=width, color_system=color, force_terminal=color is not None, highlight=False
        )  # type: ignore[call-overload]
        monkeypatch.setattr(board, "out", console)
        board.print_board(answer)
        return written.getvalue()

    return show


def test_a_candidate_stands_with_its_name_its_likelihood_and_who_gives_it(shown: Callable[..., str]) -> None:
    first = witness(3, "We use port 443 here.", "443", trust=0.91, label="HIGH", title="Ports")
    text = shown(answered(Candidate(1, "443", 2.0, 0.82, (first,)), Candidate(2, "80", 1.0, 0.07)))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "Candidate answers"
    assert lines[2] == "a7.1   82% ██████▌   443"
    assert lines[3] == "d3 Ports · 0.91 HIGH"
    assert lines[4] == "“We use port 443 here.”"
    assert lines[5] == "a7.2    7% ▌         80"


def test_the_answer_is_marked_in_its_sentence(shown: Callable[..., str]) -> None:
    said = witness(3, "We use port 443 here.", "443")
    text = shown(answered(Candidate(1, "443", 2.0, 0.82, (said,))), color="standard")
    assert "\x1b[1;4m443\x1b[0m" in text


def test_a_long_sentence_is_shortened_around_the_answer(shown: Callable[..., str]) -> None:
    text = " ".join(shown(answered(Candidate(1, "443", 1.0, 0.5, (witness(3, LONG, "443"),)))).split())
    assert "“..." in text
    assert "that port 443 is right" in text
    assert "...”" in text
    assert "It is said" not in text


def test_a_document_is_named_by_its_key_where_it_has_no_title(shown: Callable[..., str]) -> None:
    assert "d3 wiki/3.md" in shown(answered(Candidate(1, "443", 1.0, 0.5, (witness(3, "443.", "443"),))))


def test_three_documents_are_shown_and_the_others_counted_each_once(shown: Callable[..., str]) -> None:
    many = tuple(witness(i, "443 it is.", "443") for i in (1, 2, 2, 3, 4, 5))
    text = shown(answered(Candidate(1, "443", 1.0, 0.5, many)))
    assert text.count("443 it is.") == 3
    assert "+ 2 more documents" in text


def test_five_candidates_are_shown_and_the_others_counted(shown: Callable[..., str]) -> None:
    text = shown(answered(*(Candidate(i, f"v{i}", 1.0, 0.1) for i in range(1, 9))))
    assert "v5" in text
    assert "v6" not in text
    assert "3 more; --json lists them" in text


def test_an_answer_that_was_not_stored_has_candidates_without_names_to_vote_on(
    shown: Callable[..., str],
) -> None:
    text = shown(answered(Candidate(1, "443", 1.0, 0.5), id=0))
    assert "a0" not in text
    assert "443" in text


def test_without_candidates_nothing_is_printed(shown: Callable[..., str]) -> None:
    assert shown(answered()) == ""


@pytest.mark.parametrize("width", [1, 20, 40, 59, 60, 200])
def test_any_width_holds_the_board(shown: Callable[..., str], width: int) -> None:
    text = shown(
        answered(Candidate(1, "443", 1.0, 1.0, (witness(3, LONG, "443", title="T" * 300),))), width=width
    )
    assert width < 40 or max(len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("probability", [0.0, 1e-9, 0.5, 0.999, 1.0])
def test_any_probability_has_a_bar_of_eight(probability: float) -> None:
    assert len(board._bar(probability)) == 8


class Spinning:
    def __init__(self) -> None:
        self.did: list[str] = []

    def start(self) -> None:
        self.did.append("start")

    def stop(self) -> None:
        self.did.append("stop")


class Terminal:
    def __init__(self, *, is_terminal: bool) -> None:
        self.is_terminal = is_terminal
        self.spinner = Spinning()

    def status(self, text: str) -> Spinning:
        del text
        return self.spinner


@pytest.mark.parametrize(
    ("is_terminal", "after_s", "did"),
    [(True, 60.0, ["stop"]), (True, 0.01, ["start", "stop"]), (False, 0.01, [])],
)
def test_a_spinner_is_shown_for_long_work_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, after_s: float, did: list[str]
) -> None:
    terminal = Terminal(is_terminal=is_terminal)
    monkeypatch.setattr(waiting, "err", terminal)
    with waiting.waiting("reading", after_s=after_s):
        time.sleep(0.2)
    assert terminal.spinner.did == did
