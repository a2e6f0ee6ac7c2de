"""The trace of method ``reliable`` in a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from veridical.cli import chains
from veridical.testing.sample_trace import ANSWER, TRACE, UNTRACED
from veridical.types import ChainStep, Hop, Trace


def printed(trace: Trace, width: int = 160) -> str:
    page = io.StringIO()
    Console(file=page, width=width, markup=False, highlight=False).print(chains.tree(trace))
    return page.getvalue()


def test_the_tree_shows_chains_with_the_sentences_behind_them() -> None:
    shown = printed(TRACE)
    assert "72% · cut at the last hop" in shown
    assert "Lighthouse · built by · Ada Brand" in shown
    assert "d1 “The lighthouse was built by Ada Brand in 1871.”" in shown
    assert "<0.1% · finished · no triple: it stopped at once" in shown


def test_each_hop_shows_what_was_chosen_and_what_credibility_kept_out() -> None:
    shown = printed(TRACE)
    assert "Hop 2 · 1 chain continued, 1 finished before" in shown
    kept = next(line for line in shown.splitlines() if "✓ B" in line)
    assert "90%" in kept
    assert "relevance 0.75 · credibility 0.90 · reliability 0.66" in kept
    out = next(line for line in shown.splitlines() if "✗" in line)
    assert "kept out by credibility: Ada Brand · born in · Rome" in out
    assert "credibility 0.10" in out
    assert "stop: nothing more is needed" in shown


def test_what_is_left_out_of_a_long_hop_is_counted() -> None:
    option = TRACE.hops[0].steps[0].options[2]
    step = ChainStep((1,), 0.5, (option,) * 9, TRACE.hops[0].steps[0].kept_out * 5)
    shown = printed(replace(TRACE, hops=(Hop(1, (step,) * 7),)))
    assert "... 2 more chains" in shown
    assert "... 2 more triples kept out by credibility" in shown


def test_a_narrow_terminal_loses_nothing() -> None:
    assert "reliability" in printed(TRACE, 40)


def test_notes_of_the_search_are_told() -> None:
    assert "note: one passage gave no triple" in printed(TRACE)


def test_an_answer_without_chains_prints_no_tree(capsys: pytest.CaptureFixture[str]) -> None:
    chains.print_trace(UNTRACED)
    assert capsys.readouterr().out == ""
    chains.print_trace(ANSWER)
    assert "How it was reasoned" in capsys.readouterr().out
