"""Judgements that a language model writes in many ways, each read for the claim it names or not at all."""

from __future__ import annotations

import json

import pytest
from judging import CLAIMS, DANUBE, RHINE, SCORES, OptionsLLM, judged, knowing, line

from veridical.evidence.credibility import LLMEvaluator
from veridical.llm.base import Generation
from veridical.types import Usage

# --- one number, however it is put ---


@pytest.mark.parametrize(
    ("said", "credibility"),
    [
        ("0", 0.0),
        ("7", 0.7),
        ("10", 1.0),
        ("7.5", 0.75),
        ("7,5", 0.75),
        ("9/10", 0.9),
        ("9 out of 10", 0.9),
        ("80%", 0.8),
        ("seven", 0.7),
        ("**6**", 0.6),
        ("15", 1.0),
        ("-3", 0.0),
        ("910", 1.0),
        ("rather high", None),
        ("", None),
        ("?", None),
    ],
)
def test_a_score_is_a_tenth_of_the_number_and_clamped_and_words_are_none(said, credibility):
    assert judged(line("T1", said), [DANUBE]) == [credibility]


def test_an_alone_claim_needs_no_id():
    assert judged("Real river, real sea.\nCredibility Score: 9", [DANUBE]) == [0.9]


def test_a_number_in_the_analysis_is_no_score():
    assert judged("T1 | head: real, 2850 km long | tail: real, 8 states | relation: true", [DANUBE]) == [None]


def test_two_scores_of_one_claim_are_none():
    assert judged("T1 | score: 9 or score: 2, who knows", [DANUBE]) == [None]


# --- each judgement goes to the claim that it names ---


def test_ids_out_of_order_find_their_claims():
    reply = "\n".join([line("T3", 9), line("T1", 10), line("T2", 1)])
    assert judged(reply, CLAIMS[:3]) == [1.0, 0.1, 0.9]


def test_a_missing_judgement_moves_no_other():
    assert judged("\n".join([line("T1", 10), line("T3", 9)]), CLAIMS[:3]) == [1.0, None, 0.9]


def test_a_judgement_without_a_score_moves_no_other():
    assert judged("\n".join([line("T1", "high"), line("T2", 1)])) == [None, 0.1]


def test_an_id_that_comes_twice_counts_for_neither():
    reply = "\n".join([line("T1", 10), line("T1", 2), line("T2", 1)])
    assert judged(reply) == [None, 0.1]


def test_ids_that_were_not_asked_about_are_passed_over():
    assert judged("\n".join([line("T0", 3), line("T1", 10), line("T2", 1), line("T9", 5)])) == [1.0, 0.1]


def test_scores_without_ids_are_given_to_nobody():
    assert judged("score: 10\nscore: 1") == [None, None]


def test_the_last_line_of_a_reply_that_was_cut_is_not_read():
    text = "\n".join([line("T1", 10), line("T2", 1)])  # it may have been going to be 10
    reply = Generation(text, Usage(calls=1), "length", 0.1)
    assert judged(reply) == [1.0, None]


@pytest.mark.parametrize(
    "reply", ["I am sorry, I cannot help with that.", "T1 T2", "{}", "[]", "<T1; score; 9>"]
)
def test_a_reply_of_no_use_is_none_for_all(reply):
    assert judged(reply) == [None, None]


# --- schema mode ---


def test_the_schema_mode_asks_for_json_by_id():
    rows = [{"id": "T2", "head": "", "tail": "", "relation": "", "score": 1}, {"id": "t1", "score": 9.5}]
    llm = OptionsLLM([json.dumps({"judgements": rows})])
    assert LLMEvaluator(llm, n_per_call=2, schema_mode=True).judge_triples([DANUBE, RHINE]) == [0.95, 0.1]
    items = llm.options[0]["schema"]["properties"]["judgements"]["items"]
    assert list(items["properties"]) == items["required"] == ["id", "head", "tail", "relation", "score"]
    for message in llm.calls[0]:
        if message.role == "assistant":
            (row,) = json.loads(message.content)["judgements"]
            assert list(row) == items["required"]


def test_without_the_schema_mode_no_schema_is_sent():
    llm = OptionsLLM(knowing(SCORES))
    LLMEvaluator(llm).judge_triples([DANUBE])
    assert llm.options[0].get("schema") is None


@pytest.mark.parametrize(
    ("score", "credibility"),
    [(15, 1.0), (-3, 0.0), ("9/10", 0.9), ("high", None), (True, None), (None, None)],
)
def test_odd_scores_in_json_are_clamped_or_none(score, credibility):
    reply = json.dumps({"judgements": [{"id": "T1", "score": score}, {"id": "T2", "score": 4}]})
    assert judged(reply, schema_mode=True) == [credibility, 0.4]


def test_a_model_that_ignores_the_schema_is_read_all_the_same():
    assert judged("\n".join([line("T2", 1), line("T1", 10)]), schema_mode=True) == [1.0, 0.1]


def test_json_that_is_cut_gives_what_is_whole():
    text = '{"judgements": [{"id": "T1", "score": 10}, {"id": "T2", "sco'
    assert judged(Generation(text, Usage(calls=1), "length", 0.1), schema_mode=True) == [1.0, None]
