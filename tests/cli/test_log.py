"""The commands ``veridical questions`` and ``veridical build --questions``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("kb")
Cli = Callable[..., Any]
QUESTION = "Which port has the gateway for all of the staff?"


@pytest.fixture
def faq(tmp_path: Path) -> Path:
    path = tmp_path / "faq.txt"
    path.write_text(f'# of the front desk\n{QUESTION}\n\n{{"question": "When is tea served?"}}\r\n', "utf-8")
    return path


def listed(cli: Cli) -> list[tuple[str, str, int]]:
    ran = cli("questions", "list", "--json")
    return [(item["text"], item["origin"], item["n_asked"]) for item in json.loads(ran.out)]


def test_what_is_asked_is_logged_and_counted(cli: Cli) -> None:
    assert "0 questions; the log is on." in cli("questions", "list").out
    cli("ask", QUESTION)
    cli("ask", QUESTION)
    assert listed(cli) == [(QUESTION, "asked", 2)]
    ran = cli("questions", "list")
    assert QUESTION in ran.out
    assert "2x" in ran.out
    assert "1 question; the log is on." in ran.out


def test_a_log_that_is_off_takes_nothing_in(cli: Cli) -> None:
    cli("ask", QUESTION)
    assert "1 question in it" in cli("questions", "off").out
    cli("ask", "When is tea served?")
    assert listed(cli) == [(QUESTION, "asked", 1)]
    assert "Query log" in cli("status").out
    assert json.loads(cli("status", "--json").out)["query_log"] is False
    assert json.loads(cli("questions", "on", "--json").out) == {"query_log": True, "n_questions": 1}
    cli("ask", "When is tea served?")
    assert len(listed(cli)) == 2


def test_clearing_leaves_nothing(cli: Cli) -> None:
    cli("ask", QUESTION)
    assert "1 question forgotten." in cli("questions", "clear").out
    assert listed(cli) == []
    assert json.loads(cli("questions", "clear", "--json").out) == {"n_cleared": 0}


def test_a_file_of_questions_is_added_once(cli: Cli, faq: Path) -> None:
    assert "2 questions added" in cli("questions", "add", str(faq)).out
    assert json.loads(cli("questions", "add", str(faq), "--json").out) == {"n_added": 0}
    assert listed(cli) == [(QUESTION, "file", 0), ("When is tea served?", "file", 0)]
    assert "never" in cli("questions", "list").out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'Which port?\n{"q": 1}\n', "line 2: there is no 'question'"),
        (b"Which port?\n{\n", "line 2: this is not JSON"),
        (b'["Which port?", "Which day?"]', "line 1: a list is no question"),
        (b"# nothing but a comment\n", "holds no question"),
        (b"Which port?\n?!\n", "line 2: the question is empty"),
        (b"Which port?\n" + b"x" * 10_001, "more than 10,000 characters"),
        (b"Which port?\n\xff\n", "not UTF-8"),
        (b"\n \n", "holds no question"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_added(
    cli: Cli, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    for command in (("questions", "add", str(path)), ("build", "--questions", str(path))):
        ran = cli(*command)
        assert ran.code == 2
        assert said in " ".join(ran.err.split())
    assert listed(cli) == []


def test_a_missing_file_is_named(cli: Cli, tmp_path: Path) -> None:
    ran = cli("questions", "add", str(tmp_path / "none.txt"))
    assert (ran.code, "none.txt cannot be read" in " ".join(ran.err.split())) == (2, True)


def test_an_exported_log_can_be_added_elsewhere(cli: Cli, tmp_path: Path) -> None:
    cli("ask", QUESTION)
    lines = cli("questions", "export").out.splitlines()
    assert [json.loads(line)["question"] for line in lines] == [QUESTION]
    path = tmp_path / "questions.jsonl"
    assert "1 question in" in cli("questions", "export", str(path)).out
    assert json.loads(path.read_text("utf-8"))["n_asked"] == 1
    cli("questions", "clear")
    cli("questions", "add", str(path))
    assert listed(cli) == [(QUESTION, "asked", 1)]
    assert json.loads(cli("questions", "export", "--json").out)[0]["question"] == QUESTION


def test_a_build_learns_from_a_file_and_says_what_it_would_cost(cli: Cli, faq: Path) -> None:
    planned = json.loads(cli("build", "--questions", str(faq), "--dry-run", "--json").out)
    assert planned["n_questions"] == 2
    assert 0 < planned["n_read"] <= 8
    assert listed(cli) == []
    ran = cli("build", "--questions", str(faq), "--made", "0")
    assert ran.code == 0
    assert "2 questions in the log, 0 that documents put to their neighbours" in " ".join(ran.out.split())
    report = json.loads(cli("build", "--json").out)
    assert (report["n_questions"], report["n_made"], report["n_read"]) == (2, 0, 0)
    assert report["n_question_pairs"] == 3  # handbook and wiki agree, and the blog with neither


@pytest.mark.parametrize("number", ["-1", "101"])
def test_a_budget_that_cannot_be_is_refused(cli: Cli, number: str) -> None:
    ran = cli("build", "--made", number)
    assert ran.code == 2
    assert "from 0 to 100" in ran.err
