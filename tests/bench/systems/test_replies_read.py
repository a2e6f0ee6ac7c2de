"""Answers are taken out of replies that are longer than an answer."""

from __future__ import annotations

import pytest

from veridical.bench.systems.replies import confidence, final_answer, is_unsure, tagged


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>1954?</think><answer> 1932 </answer>", "1932"),
        ("<answer>1954</answer> No: <answer>1932</answer>", "1932"),
        ("So it is <answer>1932", "1932"),
        ("Document [1] says 1932.\nAnswer: 1932", "1932"),
        ("Answer: 1954? Rather not.\nFinal answer: 1932.\nConfidence: 80%", "1932"),
        ("**Final Answer:** 1932", "1932"),
        ("The answer is 1932.", "1932"),
        ("1932", "1932"),
        ("[1] 1932\n[2] 1954", "1932"),
        ("Answer: [3]: 1932", "1932"),
        ("...", ""),
    ],
)
def test_the_last_answer_that_a_reply_gives_counts(text: str, answer: str) -> None:
    assert final_answer(text) == answer


def test_tags_may_be_missing_or_of_any_case() -> None:
    assert tagged("no tags", "answer") is None
    assert tagged("<ANSWER>yes</Answer>", "answer") == "yes"
    assert tagged("<think>a\nb</think>", "think") == "a\nb"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Confidence: 80%", 0.8),
        ("confidence: 0.8", 0.8),
        ("confidence: 85", 0.85),
        ("Confidence: 1%", 0.01),
        ("**Confidence:** 90 %", 0.9),
        ("Confidence: 20%\nConfidence: 70%", 0.7),
        ("confidence: 400%", 1.0),
        ("I am sure", None),
    ],
)
def test_a_stated_confidence_is_a_probability(text: str, value: float | None) -> None:
    assert confidence(text) == value


def test_not_knowing_is_said_at_the_beginning() -> None:
    assert is_unsure("I don't know.")
    assert is_unsure("Sorry, I cannot say when that was.")
    assert not is_unsure("The Halden Bridge was opened in 1932, which most people who live there don't know.")
