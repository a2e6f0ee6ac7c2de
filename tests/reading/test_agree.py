"""Whether two answers mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.reading.agree import DIFFERENT, SAME, agreement

SAME_THING = [
    ("U.S.", "United States"),
    ("USA", "the United States of America"),
    ("US", "United States"),
    ("the UK", "Great Britain"),
    ("FBI", "Federal Bureau of Investigation"),
    ("JFK", "John F. Kennedy"),
    ("U.S. Army", "United States Army"),
    ("St. Louis", "Saint Louis"),
    ("Obama", "Barack Obama"),
    ("President Obama", "Barack Obama"),
    ("John F. Kennedy", "John Kennedy"),
    ("J. Smith", "John Smith"),
    ("J.K. Rowling", "J. K. Rowling"),
    ("Paris", "Paris, France"),
    ("the Beatles", "Beatles"),
    ("Beyoncé", "Beyonce"),
    ("dogs", "a dog"),
    ("Tom and Jerry", "Jerry and Tom"),
    ("World War 2", "World War II"),
    ("Second World War", "World War II"),
    ("Henry VIII", "Henry the Eighth"),
    ("in 1932", "12 May 1932"),
    ("1932", "May 1932"),
    ("Jan 5", "January 5th"),
    ("June", "June 1932"),
    ("three", "3"),
    ("twenty-five", "25"),
    ("first", "1st"),
    ("twelve people", "12"),
    ("5 km", "5,000 m"),
    ("5 feet 11 inches", "71 inches"),
    ("18 mph", "18 miles per hour"),
    ("1.2 million", "1,200,000"),
    ("1.2 million", "1,234,567"),
    ("about 100", "105"),
    ("$5 million", "5 million dollars"),
    ("5%", "5 percent"),
    ("no", "it is not"),
    ("Henry, not Shearer", "Henry"),
    ('"12", not "18"', "twelve"),
    ("October 29 , 2017", "October 29, 2017"),
    ("Gregor Mendel Gregor Johann Mendel", "Gregor Mendel"),
    ("paso doble", "Pasodoble"),
    ("world war ii", "World War 2"),
    ("Vincent van Gogh", "van Gogh"),
    ("Phillip", "Philip"),
    ("over 13", "more than thirteen"),
    ("24 hours", "one day"),
    ("a dozen", "12"),
    ("port 1194", "1194"),
]
DIFFERENT_THINGS = [
    ("London", "Paris"),
    ("John Smith", "Jane Smith"),
    ("York", "New York"),
    ("Austria", "Australia"),
    ("Battle of Hastings", "Battle of Waterloo"),
    ("World War I", "World War II"),
    ("Henry VII", "Henry VIII"),
    ("1932", "1933"),
    ("May 1932", "June 1932"),
    ("44 BC", "44 AD"),
    ("5 pm", "5 am"),
    ("1194", "6666"),
    ("1194", "1195"),
    ("port 8080", "port 8081"),
    ("Python 3.11", "Python 3.12"),
    ("C++", "C"),
    ("5 km", "5 miles"),
    ("$5", "£5"),
    ("5%", "6%"),
    ("-5", "5"),
    ("yes", "no"),
    ("yes", "it is not"),
    ("guilty", "not guilty"),
    ("three", "four"),
    ("1932", "London"),
    ("Henry, not Shearer", "Shearer"),
    ("October 29 , 2017", "October 30, 2017"),
    ("President", "Vice President"),
    ("over 13", "over 24"),
    ("under 5 km", "under 9 km"),
    ("world war ii", "world war i"),
]
UNCLEAR = [
    ("blue", "dark blue"),
    ("over 100", "120"),
    ("from 1665 to 1666", "1665"),
    ("it stops but nothing else happens then", "it stops"),
    ("to not spend money on figures", "to not spend money on citizens"),
    ("Roger Nichols and Paul Williams", "Paul Williams"),
]

ANSWERS = st.one_of(
    st.text(max_size=30),
    st.sampled_from([side for pair in SAME_THING + DIFFERENT_THINGS + UNCLEAR for side in pair]),
)


@pytest.mark.parametrize(("left", "right"), SAME_THING)
def test_two_ways_to_say_the_same_agree(left: str, right: str) -> None:
    assert agreement(left, right) >= SAME


@pytest.mark.parametrize(("left", "right"), DIFFERENT_THINGS)
def test_two_different_answers_do_not(left: str, right: str) -> None:
    assert agreement(left, right) <= DIFFERENT


@pytest.mark.parametrize(("left", "right"), UNCLEAR)
def test_one_that_says_more_than_the_other_is_unclear(left: str, right: str) -> None:
    assert DIFFERENT < agreement(left, right) < SAME


def test_what_the_question_says_already_sets_no_answers_apart() -> None:
    assert agreement("Nile", "Nile River", question="Which river is the longest?") > agreement(
        "Nile", "Nile River"
    )
    assert (
        agreement("obama", "barack obama") < SAME <= agreement("obama", "barack obama", question="Who won?")
    )

    country = "In which country is it?"
    assert (
        agreement("France", "southern France")
        < SAME
        <= agreement("France", "southern France", question=country)
    )


@settings(max_examples=300)
@given(ANSWERS, ANSWERS)
def test_agreement_is_symmetric_and_lies_between_0_and_1(left: str, right: str) -> None:
    assert 0.0 <= agreement(left, right) == agreement(right, left) <= 1.0


@given(ANSWERS)
def test_an_answer_agrees_with_itself_and_an_empty_one_with_nothing(answer: str) -> None:
    assert agreement(answer, answer) == float(bool(answer.strip()))
    assert agreement(answer, " ") == 0.0
