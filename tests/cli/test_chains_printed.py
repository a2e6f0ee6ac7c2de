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
    assert "✓ B   90% 0.75 0.90 0.66  Lighthouse · built by · Ada Brand" in kept
    out = next(line for line in shown.splitlines() if "✗" in line)
    assert "kept out by credibility: Ada Brand · born in · Rome" in out
    assert "0.75 0.10 0.66" in out
    assert "stop: nothing more is needed" in shown
    assert shown.count("probability, relevance, credibility, reliability") == 2


def test_figures_of_a_hop_stand_below_each_other_and_claims_wrap_beside_them() -> None:
    lines = printed(TRACE, 66).splitlines()
    rows = [line for line in lines if "0.66" in line]
    assert len({line.index("0.66") for line in rows}) == 1
    wrapped = lines[lines.index(rows[0]) + 1]
    assert wrapped[rows[0].index("Lighthouse")].strip() != ""
    assert wrapped[: rows[0].index("Lighthouse")].strip("│ ") == ""


def test_what_is_left_out_of_a_long_hop_is_counted() -> None:
    option = TRACE.hops[0].steps[0].options[2]
    step = ChainStep((1,), 0.5, (option,) * 9, TRACE.hops[0].steps[0].kept_out * 5)
    shown = printed(replace(TRACE, hops=(Hop(1, (step,) * 7),)))
    assert "... 4 more chains" in shown
    assert "... 2 more triples kept out by credibility" in shown


def test_a_narrow_terminal_loses_nothing() -> None:
    shown = " ".join(printed(TRACE, 40).replace("│", " ").split())
    for part in ("credibility, reliability", "0.75", "0.10", "0.66", "Brand", "Rome"):
        assert part in shown


def test_notes_of_the_search_are_told() -> None:
    assert "note: one passage gave no triple" in printed(TRACE)


def test_an_answer_without_chains_prints_no_tree(capsys: pytest.CaptureFixture[str]) -> None:
    chains.print_trace(UNTRACED)
    assert capsys.readouterr().out == ""
    chains.print_trace(ANSWER)
    assert "How it was reasoned" in capsys.readouterr().out
