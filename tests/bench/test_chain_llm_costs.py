"""A language model does all of method reliable: its calls, tokens and seconds, and a run that is killed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from multihops import (
    ATTACKED,
    BELIEVED,
    OF_TRIPLES,
    ByHand,
    Engine,
    Near,
    first_town,
    n_words,
    the_case,
    the_library,
)

from veridical import prompts
from veridical.bench.chain_cases import without_poison
from veridical.bench.chain_llm import CREDIBILITIES, TRUST, Cost, Examined, Means, examine
from veridical.bench.ledger import Ledger
from veridical.evidence.credibility import LLMEvaluator
from veridical.evidence.extract_llm import LLMExtractor
from veridical.evidence.select_llm import LLMSelector
from veridical.llm.managed import ManagedLLM
from veridical.types import Usage


def does_it_all(messages):
    """Extract, judge and answer by rule."""
    text = messages[-1].content
    if _is(text, "triples_user", "passage"):
        return (
            "\n".join(f"<{'; '.join(t)}>" for t in ByHand().triples if all(part in text for part in t))
            or "none"
        )
    if _is(text, "credibility_claims_user", "claims"):
        said = next((score for tail, score in OF_TRIPLES.items() if f"; {tail}>" in text), None)
        return (
            "I cannot say." if said is None else f"T1 | head: x | tail: x | relation: x | score: {10 * said}"
        )
    if _is(text, "credibility_passage_user", "title", "text"):
        return f"things: x | relations: x | score: {2 if 'Uppsala' in text else 8}"
    return first_town(messages)


def _is(text, prompt, *fields):
    lines = prompts.render(prompt, **dict.fromkeys(fields, "")).strip().splitlines()
    return text.strip().endswith(lines[-1])


def by_llm(folder, *, n_left=math.inf, case=None):
    """All parts as the product has them, on one ledger."""
    engine = Engine(does_it_all, n_left=n_left)
    ledger = Ledger(engine, folder / "ledger.jsonl")
    llm, encode = ManagedLLM(ledger), Near()
    means = Means(
        ledger=ledger,
        llm=llm,
        extractor=LLMExtractor(llm, encode),
        selector=LLMSelector(llm, encode),
        evaluator=LLMEvaluator(llm),
        encode=encode,
        count=n_words,
        forget=lambda: None,
    )
    case = case or the_case()
    return engine, ledger, lambda: examine(without_poison(case), case, BELIEVED, means)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An examination that nothing interrupted, with what its engine was asked."""
    engine, ledger, run = by_llm(tmp_path_factory.mktemp("whole"))
    return engine, ledger, run()


def test_the_method_goes_by_what_the_model_extracted_judged_and_chose(whole):
    _, _, found = whole
    np.testing.assert_array_equal(found.triples.scores["llm"], [np.nan, 0.9, 1.0, 0.2])
    assert found.passages.scores["llm"].tolist() == [0.2, *[0.8] * 5]
    chosen = {}
    for source, trace in found.traces.items():
        tails = {t.id: t.tail for t in trace.triples}
        chosen[source] = [tails[i] for i in trace.chains[0].triples]
    assert chosen == {
        "ideal": ["Malmo", "Ada Lind"],
        "llm": ["Ada Lind", "Malmo"],
        TRUST: ["Malmo", "Ada Lind"],
    }
    assert {found.texts[f"{name} | {source}"] for name in ("TBS", "SBS") for source in CREDIBILITIES} == {
        "Malmo"
    }
    assert found.texts["top 5"] == "Uppsala"


def test_what_a_step_cost_is_its_calls_tokens_and_seconds(whole):
    _, _, found = whole
    extraction, triples = found.offline["extraction"], found.offline["judging triples"]
    assert (extraction.calls, extraction.seconds) == (6, 12.0)
    assert (triples.calls, triples.seconds) == (5, 10.0)  # four, and once more what gave no score
    assert found.offline["judging passages"].calls == 6
    alone = found.answers["no passages"]
    assert (alone["calls"], alone["seconds"], alone["written tokens"]) == (1.0, 2.0, 1.0)
    assert alone["computed tokens"] == alone["prompt tokens"] - 3
    chains = found.answers["TBS | ideal"]
    assert chains["calls"] == chains["prompts"] + 1 == 4.0
    assert chains["seconds"] == 8.0
    assert chains["computed tokens"] == chains["prompt tokens"] - 4 * 3


def test_the_share_computed_is_of_the_published_prompts_and_the_answers(whole):
    _, _, found = whole
    for source in CREDIBILITIES:
        for name in (f"TBS | {source}", f"SBS | {source}"):
            marks = found.answers[name]
            # The chain finished at the third of four hops is prompted again at the fourth.
            assert (marks["prompts"], marks["published prompts"]) == (3.0, 4.0)
            assert marks["computed share"] == marks["computed tokens"] / marks["published tokens"]
            assert marks["published tokens"] > marks["prompt tokens"]


def test_a_search_that_was_made_before_costs_what_it_would_have_alone(whole):
    engine, ledger, found = whole
    ideal, trust = found.answers["TBS | ideal"], found.answers[f"TBS | {TRUST}"]
    assert found.traces["ideal"].chains == found.traces[TRUST].chains
    for mark in ("calls", "prompt tokens", "computed tokens", "written tokens", "seconds"):
        assert ideal[mark] == trust[mark]
    # The two searches are the same, prompt by prompt, and were sent once.
    assert len(set(engine.calls)) + 1 == len(engine.calls) == ledger.n_new  # one judgement was sampled anew
    assert ledger.seconds > 2.0 * ledger.n_new


def test_a_run_that_was_killed_goes_on_and_counts_as_one_that_was_not(whole, tmp_path):
    engine, ledger, expected = whole
    n_calls = len(engine.calls)
    for n_left in (4, 9, 3, math.inf):
        part, kept, run = by_llm(tmp_path, n_left=n_left)
        if n_left < math.inf:
            with pytest.raises(RuntimeError, match="killed"):
                run()
            n_calls -= n_left
    found = run()
    assert len(part.calls) == kept.n_new == n_calls > 0
    assert found.to_dict() == expected.to_dict()
    assert kept.seconds == ledger.seconds


def test_gold_answers_and_labels_reach_no_prompt_but_those_of_the_oracle(whole, tmp_path):
    engine, _, _ = whole
    hidden = replace(ATTACKED, id="plugh", answers=("plugh",), wrong_answer="plugh wrong")
    hidden = replace(
        hidden, passages=tuple(replace(p, id="plugh", supporting=False) for p in ATTACKED.passages)
    )
    other, _, run = by_llm(tmp_path, case=the_library(hidden).cases[0])
    run()
    assert other.calls == engine.calls
    assert "plugh" not in repr(other.calls)


def test_figures_come_back_as_they_were_written_without_anything_that_was_said(whole):
    _, _, found = whole
    plain = found.to_dict()
    assert "Malmo" not in repr(plain)
    assert "nan" not in repr(plain)
    back = Examined.from_dict(plain)
    assert back.to_dict() == plain
    assert (back.texts, back.traces) == ({}, {})
    assert back.offline == found.offline
    assert math.isnan(back.triples.scores["llm"][0])
    assert math.isnan(back.answers["no passages"].get("support recall", math.nan))
    assert back.triples.false.dtype == np.bool_


def test_costs_add_up_and_leave_out_what_was_reused():
    first = Cost.of(Usage(calls=2, prompt_tokens=100, completion_tokens=7, reused_tokens=60), 1.5)
    assert first == Cost(2, 100, 40, 7, 1.5)
    assert (first + first).marks() == {
        "calls": 4.0,
        "prompt tokens": 200.0,
        "computed tokens": 80.0,
        "written tokens": 14.0,
        "seconds": 3.0,
    }
