"""A wrong answer is of the kind of the right one, and whoever gives it has it from the poison."""

from __future__ import annotations

import re

import pytest
from multihops import passage

from veridical.bench.datasets.questions import Question
from veridical.bench.wrong_answers import wrong_answers_for


def asking(text: str, *answers: str, says: str = "") -> Question:
    return Question(text, text, answers, (passage("p", "", says),) if says else ())


def wrong(question: Question, *others: Question, seed: int = 0) -> str | None:
    return wrong_answers_for([question, *others], seed=seed).get(question.id)


def test_yes_and_no_turn_round():
    assert wrong(asking("Is it old?", "yes")) == "no"
    assert wrong(asking("Is it old?", "No.")) == "yes"


@pytest.mark.parametrize("seed", range(10))
def test_another_year_is_near_and_never_the_same(seed):
    found = wrong(asking("When was it opened?", "1931"), seed=seed)
    assert 3 <= abs(int(found) - 1931) < 20


@pytest.mark.parametrize("seed", range(10))
def test_dates_and_numbers_keep_their_form_and_change_every_number(seed):
    date = wrong(asking("When was she born?", "12 May 1931"), seed=seed)
    day, year = re.fullmatch(r"(\d{1,2}) [A-Z][a-z]+ (\d{4})", date).groups()
    assert 1 <= int(day) <= 28
    assert int(day) != 12
    assert 3 <= abs(int(year) - 1931) < 20
    length = wrong(asking("How long is it?", "1,200 metres"), seed=seed)
    assert re.fullmatch(r"[2-9],\d{3} metres", length)
    assert not length.endswith(",200 metres")


def test_a_number_within_a_name_does_not_make_it_a_number():
    other = asking("Which band sang it?", "Blue Boats")
    assert wrong(asking("Which band played it?", "Nine Inch 9"), other) == "Blue Boats"


def test_the_answer_of_a_question_for_the_same_noun_comes_before_one_of_the_same_kind():
    film = asking("Which film was shot first?", "Northern Light")
    song, other = asking("Which song is it?", "Paper Moon"), asking("What film is long?", "Winter")
    for seed in range(10):
        assert wrong(film, song, other, seed=seed) == "Winter"
    assert wrong(film, song) == "Paper Moon"


def test_no_answer_of_another_kind_will_do():
    who = asking("Who designed the bridge?", "Ada Lind")
    assert wrong(who, asking("Which town is it?", "Malmo")) is None
    assert wrong(who, asking("Who painted it?", "Nils Berg")) == "Nils Berg"


def test_a_wrong_answer_has_as_many_words_and_is_a_name_as_the_right_one_is():
    right = asking("Who designed the bridge?", "Ada Lind")
    long, short = asking("Who sang?", "Karl Johan Erik Berg"), asking("Who ran?", "Nils Berg")
    lower = asking("Who cried?", "a child")
    for seed in range(10):
        assert wrong(right, lower, long, short, seed=seed) == "Nils Berg"
        assert wrong(right, lower, long, seed=seed) == "Karl Johan Erik Berg"


def test_it_shares_no_word_with_any_alias_of_the_right_answer():
    right = asking("Which country won?", "UK", "United Kingdom")
    assert wrong(right, asking("Which country lost?", "Kingdom of Sweden")) is None
    assert wrong(right, asking("Which country lost?", "Sweden")) == "Sweden"


def test_it_stands_neither_in_the_question_nor_in_its_passages():
    other = asking("Which town is it?", "Malmo")
    assert wrong(asking("Which town is larger than Malmo?", "Uppsala"), other) is None
    assert wrong(asking("Which town?", "Uppsala", says="The way from malmo is long."), other) is None
    assert wrong(asking("Which town?", "Uppsala", says="The way from Malmohus is long."), other) == "Malmo"


def test_a_question_without_an_answer_gets_none_and_gives_none():
    assert wrong_answers_for([asking("Which town?"), asking("Which town is it?", "Malmo")]) == {}


def test_one_seed_gives_one_answer():
    towns = [asking(f"Which town is number {i}?", name) for i, name in enumerate(("Malmo", "Lund", "Ystad"))]
    first = asking("Which town?", "Uppsala")
    assert wrong(first, *towns, seed=1) == wrong(first, *towns, seed=1)
    assert len({wrong(first, *towns, seed=seed) for seed in range(20)}) == 3
