"""Style-neutral poison differs from the real passage in its answer and in nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from veridical.bench.metrics.answers import contains
from veridical.bench.substitute import substitute

PASSAGE = "Barack Obama was born in Honolulu. Obama grew up in Hawaii."


def test_every_alias_is_replaced_and_the_longest_first():
    changed = substitute(PASSAGE, ["Obama", "Barack Obama"], "Joe Biden")
    assert changed == "Joe Biden was born in Honolulu. Joe Biden grew up in Hawaii."


def test_only_whole_words_are_mentions():
    assert substitute("In 1923 it was 23 years old.", ["23"], "40") == "In 1923 it was 40 years old."
    assert substitute("In 1923.", ["23"], "40") is None


def test_case_and_punctuation_do_not_hide_a_mention():
    assert substitute("Built by the u.s. navy.", ["U.S."], "France") == "Built by the France. navy."
    assert substitute("Some 1,000 of them.", ["1000"], "20") == "Some 20 of them."
    assert substitute("Some 1000 of them.", ["1,000"], "20") == "Some 20 of them."
    assert substitute("They met on Feb. 14, 1929.", ["feb 14 1929"], "June 2") == "They met on June 2."


def test_the_wrong_answer_takes_the_capital_of_the_mention():
    assert substitute("Four teams, four towns.", ["four"], "three") == "Three teams, three towns."


def test_a_text_without_the_answer_is_no_poison():
    assert substitute(PASSAGE, ["Joe Biden"], "Obama") is None
    assert substitute(PASSAGE, [], "Joe Biden") is None
    assert substitute(PASSAGE, ["..."], "Joe Biden") is None


def test_answers_that_contain_one_another_are_left_alone():
    assert substitute(PASSAGE, ["Obama"], "Michelle Obama") is None
    assert substitute(PASSAGE, ["Barack Obama"], "Obama") is None
    assert substitute(PASSAGE, ["Obama"], "the") is None


@given(st.lists(st.sampled_from(["red", "Blue", "1,000", "x-ray", "new york", "York"]), max_size=12))
def test_what_comes_back_names_the_wrong_answer_and_no_right_one(words):
    golds = ["Blue", "1000", "New York", "x ray"]
    changed = substitute(" ".join(words), golds, "green")
    if changed is None:
        assert not contains(" ".join(words), ["Blue", "new york"])
    else:
        assert contains(changed, ["green"])
        assert not contains(changed, golds)
