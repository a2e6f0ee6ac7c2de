"""A run that is killed goes on, and what was kept counts as it did when it was made."""

from __future__ import annotations

import json

import pytest
from multihops import Engine

from veridical.bench.ledger import Ledger
from veridical.errors import LLMError
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.usage import measure
from veridical.types import Usage

FIRST = [Message("user", "What was first?")]
SECOND = [Message("user", "What was “second”, then?")]
CHOOSE = [Message("user", "A or B? Chain so far: (empty)")]


class Unwilling(Engine):
    """Is not to be asked."""

    def __init__(self):
        super().__init__(lambda messages: pytest.fail("a kept reply was asked for again"), n_left=0)


def engine(said="Blue boats, “two” of them"):
    return Engine(lambda messages: said)


def asked(ledger):
    return [
        ledger.generate(FIRST, max_tokens=9),
        ledger.generate(SECOND, max_tokens=9),
        ledger.choose(CHOOSE, "AB"),
    ]


def test_a_kept_reply_comes_back_with_the_tokens_and_seconds_it_had_cost(tmp_path):
    path = tmp_path / "work" / "ledger.jsonl"
    before = Ledger(engine(), path)
    made = asked(before)
    assert (before.n_new, before.seconds) == (3, 6.0)
    after = Ledger(Unwilling(), path)
    kept = asked(after)
    assert kept == made
    assert kept[0].usage == Usage(calls=1, prompt_tokens=3, completion_tokens=5, reused_tokens=3)
    assert [reply.seconds for reply in kept] == [2.0, 2.0, 2.0]
    assert (after.n_new, after.seconds) == (0, 6.0)


def test_within_one_run_a_repeated_request_counts_again_and_is_made_once(tmp_path):
    llm = engine()
    ledger = Ledger(llm, tmp_path / "ledger.jsonl")
    first, again = ledger.generate(FIRST, max_tokens=9), ledger.generate(FIRST, max_tokens=9)
    assert again == first
    assert len(llm.calls) == ledger.n_new == 1
    assert ledger.seconds == 4.0


def test_a_ledger_that_was_cut_off_anywhere_in_its_last_line_goes_on(tmp_path):
    whole = tmp_path / "whole.jsonl"
    made = asked(Ledger(engine(), whole))
    content = whole.read_bytes()
    start = content.rstrip(b"\n").rfind(b"\n")  # where the last line's own break stands
    cuts = range(start, len(content) - 2)
    assert len(cuts) > 100
    for cut in cuts:
        path = tmp_path / "cut.jsonl"
        path.write_bytes(content[:cut])
        llm = engine()
        ledger = Ledger(llm, path)
        assert asked(ledger) == made, cut
        assert [tuple(CHOOSE)] == llm.calls, cut
        assert (ledger.n_new, ledger.seconds) == (1, 6.0), cut
        # What was added behind the cut line can be read, too.
        assert asked(Ledger(Unwilling(), path)) == made, cut


def test_a_line_that_only_lost_its_end_of_line_is_whole(tmp_path):
    path = tmp_path / "ledger.jsonl"
    made = asked(Ledger(engine(), path))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert asked(Ledger(Unwilling(), path)) == made


@pytest.mark.parametrize(
    "line",
    ["", "null", "[1, 2]", '["k", "t", "u", 1]', '["k", "t", {"tokens": 3}, 1]', '["k", "t", {}, null]', "{"],
)
def test_lines_that_are_no_replies_are_passed_over(tmp_path, line):
    path = tmp_path / "ledger.jsonl"
    made = asked(Ledger(engine(), path))
    path.write_text(line + "\n" + path.read_text("ascii") + line, "ascii")
    assert asked(Ledger(Unwilling(), path)) == made


def test_a_kept_text_that_is_no_reply_is_asked_again(tmp_path):
    path = tmp_path / "ledger.jsonl"
    Ledger(engine(), path).generate(FIRST, max_tokens=9)
    key, _, usage, seconds = json.loads(path.read_text("ascii"))
    path.write_text(json.dumps([key, '{"probabilities": {}}', usage, seconds]) + "\n", "ascii")
    ledger = Ledger(engine("Red"), path)
    assert ledger.generate(FIRST, max_tokens=9).text == "Red"
    assert (ledger.n_new, ledger.seconds) == (1, 2.0)


def test_everything_that_a_reply_depends_on_tells_requests_apart(tmp_path):
    path = tmp_path / "ledger.jsonl"
    llm = engine()
    ledger = Ledger(llm, path)
    for options in (
        {},
        {"max_tokens": 8},
        {"temperature": 0.7, "seed": 1},
        {"temperature": 0.7, "seed": 2},
        {"schema": {"type": "object"}},
    ):
        ledger.generate(CHOOSE, **{"max_tokens": 9, **options})
    ledger.choose(CHOOSE, "AB")
    ledger.choose(CHOOSE, "AC")
    assert len(llm.calls) == ledger.n_new == 7
    other = engine()
    other.identity = "made-2"
    assert Ledger(other, path).generate(CHOOSE, max_tokens=9).text
    assert len(other.calls) == 1


def test_the_ledger_answers_under_the_engines_name_and_identity(tmp_path):
    ledger = Ledger(engine(), tmp_path / "ledger.jsonl")
    assert (ledger.name, ledger.identity) == ("made", "made-1")


def test_a_call_that_fails_is_not_kept(tmp_path):
    path = tmp_path / "ledger.jsonl"

    def fail(messages):
        raise LLMError("It is down.", "Start it.")

    ledger = Ledger(Engine(fail), path)
    with pytest.raises(LLMError, match="down"):
        ledger.generate(FIRST, max_tokens=9)
    assert (ledger.n_new, ledger.seconds, path.exists()) == (0, 0.0, False)
    assert Ledger(engine(), path).generate(FIRST, max_tokens=9).text.startswith("Blue")


def test_accounts_count_a_kept_reply_as_a_call_that_was_sent(tmp_path):
    path = tmp_path / "ledger.jsonl"
    spent = []
    for llm in (engine(), Unwilling()):
        with measure() as meter:
            ManagedLLM(Ledger(llm, path)).generate(FIRST, max_tokens=9)
        spent.append(meter.total)
    assert spent[0] == spent[1]
    assert (spent[0].calls, spent[0].cached_calls, spent[0].prompt_tokens) == (1, 0, 3)
