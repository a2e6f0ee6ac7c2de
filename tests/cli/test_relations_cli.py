"""``veridical relations`` and ``veridical conflicts``: both sides' words, and whom trust favours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
QUESTION = "Which port is that of the gateway?"


@pytest.fixture
def asked(cli: Cli, kb: Path) -> Path:
    cli("ask", QUESTION)
    cli("build")
    return kb


def flat(text: str) -> str:
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


def test_conflicts_show_both_sentences_the_question_and_the_answers(cli: Cli, asked: Path) -> None:
    ran = cli("conflicts", "--top", "1")
    assert ran.code == 0
    said = flat(ran.out)
    assert "contradicts" in said
    assert f"Q: {QUESTION}" in said
    assert "inference between two sentences" in said
    assert "no feedback yet" in said
    assert "trust unknown" in said
    (answers,) = [line for line in ran.out.splitlines() if re.search(r"│\s+8080\s+443\s+│", line)]
    assert answers
    assert ran.out.count("The port of the gateway is") >= 4


def test_after_feedback_they_say_whom_trust_favours(cli: Cli, asked: Path) -> None:
    cli("feedback", "bad", "blog/port.md")
    (shown,) = json.loads(cli("conflicts", "--top", "1", "--json").out)
    assert shown["verdict"] in flat(cli("conflicts", "--top", "1").out)
    ahead = shown["head"] if shown["favours"] == shown["head"]["id"] else shown["tail"]
    assert ahead["key"] in ("handbook/port.md", "wiki/port.md")
    assert re.fullmatch(rf"trust favours d{ahead['id']} \(0\.\d\d to 0\.\d\d\)", shown["verdict"])


def test_relations_of_one_document_can_be_of_one_kind(cli: Cli, asked: Path) -> None:
    both = flat(cli("relations", "handbook/port.md").out)
    assert "agrees with" in both
    assert "contradicts" in both
    only = json.loads(cli("relations", "handbook/port.md", "--kind", "supports", "--json").out)
    assert [view["kind"] for view in only] == ["SUPPORTS"]
    assert "contradicts" not in flat(cli("relations", "handbook/port.md", "--kind", "supports").out)


def test_more_than_are_printed_are_counted(cli: Cli, asked: Path) -> None:
    ran = cli("relations", "handbook/port.md", "--top", "1")
    assert "2 in all" in flat(ran.out)
    assert len(json.loads(cli("relations", "handbook/port.md", "--top", "1", "--json").out)) == 2


def test_of_one_source_only_its_conflicts_are_listed(cli: Cli, asked: Path) -> None:
    found = json.loads(cli("conflicts", "--source", "wiki", "--json").out)
    assert [{view["head"]["source"], view["tail"]["source"]} for view in found] == [{"blog", "wiki"}]
    ran = cli("conflicts", "--source", "forum")
    assert "No two documents of source forum" in flat(ran.out)


def test_where_there_is_nothing_it_says_what_to_do(cli: Cli, corpus: Path) -> None:
    cli("ingest", "corpus")
    for command in (("conflicts",), ("relations", "d1")):
        ran = cli(*command)
        assert ran.code == 0
        assert "veridical build" in flat(ran.out)
        assert json.loads(cli(*command, "--json").out) == []
    cli("build")
    ran = cli("relations", "corpus/forum/tea.md")
    assert "No other document" in ran.out
    assert "--questions FILE" in flat(ran.out)
    assert "kind supersedes" in cli("relations", "d1", "--kind", "supersedes").out


def test_bad_input_ends_with_code_2_and_a_hint(cli: Cli, asked: Path) -> None:
    for command, hint in (
        (("relations", "d1", "--kind", "likes"), "supports, contradicts, supersedes"),
        (("conflicts", "--source", "blo"), "Did you mean blog?"),
        (("conflicts", "--top", "0"), "1"),
    ):
        ran = cli(*command)
        assert ran.code == 2, command
        assert hint in flat(ran.err)
        assert "Traceback" not in ran.err
