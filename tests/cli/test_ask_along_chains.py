"""``veridical ask --method reliable``: the chain, the trace, and its page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("kb")
Cli = Callable[..., Any]
ASK = ("ask", "What does the gateway use?", "--method", "reliable")


def test_the_surest_chain_is_printed_and_the_trace_only_when_asked_for(cli: Cli) -> None:
    plain = cli(*ASK)
    assert plain.code == 0
    assert "best chain: " in plain.out
    assert "method reliable" in plain.out
    assert "How it was reasoned" not in plain.out
    traced = cli(*ASK, "--trace")
    assert "How it was reasoned" in traced.out
    assert "Hop 1" in traced.out


def test_json_holds_the_trace_only_when_asked_for(cli: Cli) -> None:
    assert json.loads(cli(*ASK, "--json").out)["trace"] is None
    trace = json.loads(cli(*ASK, "--json", "--trace", "--context", "tbs", "--credibility", "none").out)[
        "trace"
    ]
    assert (trace["context"], trace["credibility"]) == ("tbs", "none")
    assert trace["hops"][0]["steps"][0]["options"][0]["label"] == "A"
    told = {triple["id"] for triple in trace["triples"]}
    assert told >= {number for chain in trace["chains"] for number in chain["triples"]}


def test_the_page_is_written_beside_the_answer(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "trace.html"
    ran = cli(*ASK, "--trace-html", str(page))
    assert (ran.code, str(page) in "".join(ran.err.split("\n"))) == (0, True)
    assert "Hop by hop" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--context", "abc"), "no context"),
        (("--credibility", "ideal"), "no credibility"),
        (("--selector", "dice"), "no selector"),
        (("--credibility", "trust", "--no-trust"), "switched off"),
    ],
)
def test_options_that_make_no_sense_are_refused(cli: Cli, more: tuple[str, ...], said: str) -> None:
    ran = cli(*ASK, *more)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


def test_a_method_without_chains_says_that_there_is_no_trace(cli: Cli) -> None:
    ran = cli("ask", "What does the gateway use?", "--trace")
    assert (ran.code, ran.out) == (2, "")  # refused before anything is answered or stored
    assert "reliable" in ran.err
    assert cli("ask", "What does the gateway use?", "--context", "tbs").code == 2


def test_a_build_finds_triples_ahead(cli: Cli) -> None:
    ran = cli("build", "--extractor", "embedded")
    assert ran.code == 0
    assert "triples newly found in" in " ".join(ran.out.split())
    assert "newly found in" not in cli("build").out
