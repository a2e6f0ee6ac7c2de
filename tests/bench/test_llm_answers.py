"""Comparing with a language model: what each prompt shows it, and what is kept of its answers."""

from __future__ import annotations

import numpy as np
import pytest
from exams import exam

from veridical.bench import answers, llm_answers
from veridical.llm.scripted import ScriptedLLM

WRONG = {"Lyon", "Graz", "Bremen"}


def echo(messages, **_):
    """Answer with the first city that the prompt names."""
    text = messages[-1].content
    cities = [(text.find(city), city) for city in ("Paris", "Lyon", "Vienna", "Graz", "Hamburg", "Bremen")]
    return f"It is {min((place, city) for place, city in cities if place >= 0)[1]}."


@pytest.fixture
def taken():
    return exam(n_false=5)


@pytest.fixture
def beliefs(taken):
    true = taken.corpus.true
    return {"fooled": np.where(true, 0.1, 0.9), "perfect": true.astype(float)}


def test_each_prompt_is_asked_with_each_belief_and_the_plain_one_once(taken, beliefs, tmp_path):
    ticks: list[int] = []
    model = ScriptedLLM(echo)
    said = llm_answers.ask_all(taken, beliefs, model, tmp_path, n_questions=2, tick=lambda: ticks.append(1))
    assert len(said) == len(ticks) == llm_answers.n_calls(2, 2) == 2 * (1 + 2 + 2)
    assert len({(s.prompt, s.belief, s.question) for s in said}) == len(said)


def test_the_board_puts_the_trusted_answer_first(taken, beliefs, tmp_path):
    said = llm_answers.ask_all(taken, beliefs, ScriptedLLM(echo), tmp_path)
    found = {(r.setting, r.metric): r.value for r in llm_answers.summarise("toy", taken, said, "echo")}
    assert found["written | board | perfect", "containment"] == 1
    assert found["written | board | perfect", "attack"] == 0
    assert found["written | board | fooled", "attack"] == 1
    assert "written | vanilla" in llm_answers.table(llm_answers.summarise("toy", taken, said, "echo"))


def test_what_was_answered_is_not_asked_again(taken, beliefs, tmp_path):
    first = llm_answers.ask_all(taken, beliefs, ScriptedLLM(echo, name="m"), tmp_path)
    silent = ScriptedLLM(lambda *_, **__: pytest.fail("asked again"), name="m")
    assert llm_answers.ask_all(taken, beliefs, silent, tmp_path) == first


def test_a_model_that_says_nothing_usable_gives_an_empty_answer(taken, beliefs, tmp_path):
    said = llm_answers.ask_all(taken, beliefs, ScriptedLLM(lambda *_, **__: "..."), tmp_path, n_questions=1)
    assert {s.text for s in said} == {""}
    results = llm_answers.summarise("toy", taken, said, "m")
    assert {r.value for r in results if r.metric == "answered"} == {0.0}


def test_trust_ranks_the_passages_of_the_labelled_prompt(taken, beliefs):
    hits = list(llm_answers._hits(taken, 0, beliefs["perfect"], plain=False))
    own_true = taken.corpus.asked[0].own_true
    assert {hit.passage.id for hit in hits[: len(own_true)]} == own_true
    plain = list(llm_answers._hits(taken, 0, answers.unknown(taken), plain=True))
    assert [hit.relevance_rank for hit in plain] == list(range(1, len(plain) + 1))
    assert plain[0].trust is None
