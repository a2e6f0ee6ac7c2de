"""What a sentence can be asked for, and how it is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.graph.askable import askable_values, held_values, kinds_in, words_of
from veridical.testing.nli_contract import ODD_TEXTS


def asked(sentence: str, subject: str = "") -> dict[str, str]:
    return {value.text: value.question for value in askable_values(sentence, subject)}


def test_a_date_a_number_and_a_name_are_each_asked_for_by_their_kind() -> None:
    sentence = "The Halden bridge was opened in 1932 by Mayor Anna Lind, and it is 503 metres long."
    values = askable_values(sentence)
    assert [(value.kind, value.text) for value in values] == [
        ("date", "1932"),
        ("number", "503"),
        ("name", "Mayor Anna Lind"),
    ]
    assert all(sentence[value.start : value.end] == value.text for value in values)
    assert [value.question for value in values] == [
        "The Halden bridge was opened in what year by Mayor Anna Lind, and it is 503 metres long?",
        "The Halden bridge was opened in 1932 by Mayor Anna Lind, and it is how many metres long?",
        "The Halden bridge was opened in 1932 by whom, and it is 503 metres long?",
    ]


@pytest.mark.parametrize(
    ("sentence", "value", "question"),
    [
        ("The tower was finished on 12 May 1889 in Paris.", "12 May 1889", "on what date"),
        ("The tower was finished in the 1880s in Paris.", "1880s", "in what time"),
        ("The tower cost the city $1.5 million in all.", "$1.5 million", "how much money"),
        ("About 45% of the students live in Oslo.", "45%", "what percentage"),
        ("The gateway uses port 443 for all traffic.", "443", "which port"),
        ("The choir has two hundred members in winter.", "two hundred", "how many members"),
        ("The old harbour lies near Bergen on the coast.", "Bergen", "near which place"),
        ("The song was sung for us by Anna Lind.", "Anna Lind", "by whom"),
    ],
)
def test_the_question_words_suit_the_value(sentence: str, value: str, question: str) -> None:
    made = asked(sentence)[value]
    assert question in made
    assert value not in made
    assert made.endswith("?")


def test_a_pronoun_stands_for_the_subject_and_without_one_nothing_is_asked() -> None:
    sentence = "It was completed on 12 May 1889 in the middle of the old town."
    made = asked(sentence, "Eiffel Tower")
    assert made["12 May 1889"] == "Eiffel Tower was completed on what date in the middle of the old town?"
    (value,) = [v for v in askable_values(sentence, "Eiffel Tower") if v.kind == "date"]
    assert sentence[value.start : value.end] == "12 May 1889"
    assert asked(sentence) == {}


@pytest.mark.parametrize(
    "sentence",
    [
        "This was completed in 1889 after a long delay.",
        "Opened in 1889.",
        "1889 " + "and so on " * 40,
    ],
    ids=["points back", "too short", "too long"],
)
def test_a_sentence_that_cannot_stand_alone_is_not_asked(sentence: str) -> None:
    assert askable_values(sentence, "Tower") == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was opened by Anna Lind, Ola Nord and Per Dahl.",
        "The bridge was built by an American company.",
        "Anna Lind opened the bridge over the river.",
        "The answer to this is not Anna Lind.",
        "However, the bridge is closed every winter.",
    ],
    ids=["in a list", "describes", "subject", "denied", "begins the sentence"],
)
def test_a_name_is_not_asked_for_where_another_would_do_as_well(sentence: str) -> None:
    assert [value for value in askable_values(sentence) if value.kind == "name"] == []


def test_what_a_sentence_denies_is_not_asked_for() -> None:
    made = asked("The bridge at Halden was opened in 1932, not 1954.")
    assert set(made) == {"1932", "Halden"}


def test_values_are_held_whether_or_not_they_can_be_asked_for() -> None:
    assert ("date", frozenset({"1889"})) in held_values("It was completed in 1889.")
    assert kinds_in("opened by Anna Lind on 12 May") == {"name", "date"}
    assert kinds_in("nothing of the kind") == frozenset()
    assert words_of("The bridges of 1,932") == {"the", "bridg", "of", "1,932"}


@given(st.text(max_size=300) | st.sampled_from(ODD_TEXTS))
def test_any_text_is_read_without_failing_and_places_are_of_the_text(text: str) -> None:
    for value in askable_values(text, "It"):
        assert text[value.start : value.end] == value.text
        assert value.question.endswith("?")
    held_values(text)
