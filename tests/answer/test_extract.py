from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.answer.cite import check
from veridical.answer.extract import extract_answer
from veridical.corpus.split import sentences
from veridical.errors import InputError

QUESTION = "When does the office open?"
NINE = "The office opens at nine. Visitors sign in at the front desk."
EIGHT = "Badges are blue. The office opens at eight."


def test_the_answer_is_a_sentence_word_for_word_with_its_place(make_hits):
    hits = make_hits(EIGHT, starts=(500,))
    found = extract_answer(QUESTION, hits)
    assert found.text == "The office opens at eight."
    assert found.citation.marker == "[1]"
    assert found.citation.start == 500 + EIGHT.index("The office")
    assert check(found.citation, {100: hits[0].passage}) is None
    assert "no language model" in found.notes[0]


def test_the_more_trusted_of_two_sayings_wins(make_hits):
    for trust, expected in (((0.9, 0.2), "nine"), ((0.2, 0.9), "eight")):
        assert expected in extract_answer(QUESTION, make_hits(NINE, EIGHT, trust=trust)).text


def test_unknown_trust_is_neutral(make_hits):
    assert "eight" in extract_answer(QUESTION, make_hits(NINE, EIGHT, trust=(None, 0.6))).text
    assert "nine" in extract_answer(QUESTION, make_hits(NINE, EIGHT, trust=(None, 0.4))).text
    assert extract_answer(QUESTION, make_hits(NINE, trust=(float("nan"),))).best.trust == 0.5


def test_what_others_say_as_well_wins_over_what_one_says(make_hits):
    hits = make_hits("The office opens at 9.", "The office opens at 8.", "Our office opens daily at 8.")
    found = extract_answer(QUESTION, hits)
    assert "8" in found.text
    assert found.best.supporters == (3,)
    assert found.notes[-1] == "1 other document says the same"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The office opens on 14 September 2026.", "The office opens on 2 March 2026."),
        (
            "The office is opened by the porter Ines Rotheram.",
            "The office is opened by the porter Oskar Penn.",
        ),
    ],
)
def test_sentences_with_different_values_do_not_support_each_other(make_hits, one, other):
    assert extract_answer(QUESTION, make_hits(one, other)).best.supporters == ()


def test_copies_are_one_voice(make_hits):
    said = "Our office opens daily at 8."
    once = extract_answer(QUESTION, make_hits("The office opens at 8.", said))
    thrice = extract_answer(QUESTION, make_hits("The office opens at 8.", said, said, said))
    assert thrice.best.support == once.best.support > 0


def test_a_document_does_not_support_itself_and_neither_do_its_copies(make_hits):
    same_document = make_hits("The office opens at 8.", "Our office opens daily at 8.", documents=(1, 1))
    copy = make_hits("The office opens at 8.", "The office opens at 8.")
    for hits in (same_document, copy):
        assert extract_answer(QUESTION, hits).best.support == 0


def test_an_untrusted_voice_supports_less(make_hits):
    def support(trust):
        hits = make_hits("The office opens at 8.", "Our office opens daily at 8.", trust=(0.9, trust))
        return extract_answer(QUESTION, hits).best.support

    assert support(0.9) > support(0.1) > 0


def test_a_question_in_the_text_is_no_answer(make_hits):
    found = extract_answer(QUESTION, make_hits("When does the office open? At eight, from Monday to Friday."))
    assert found.text == "At eight, from Monday to Friday."


def test_the_title_helps_where_the_sentence_does_not_repeat_it(make_hits):
    hits = make_hits("It has nine floors in all.", "It has four floors in all.", titles=("Library", "Office"))
    assert "four" in extract_answer("How many floors does the office have?", hits).text


def test_without_any_sentence_there_is_no_answer(make_hits):
    assert extract_answer(QUESTION, []) is None
    assert extract_answer(QUESTION, make_hits("", "  \n ")) is None


def unit(*numbers):
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def test_cached_vectors_decide_where_words_do_not(make_hits):
    text = "Doors unlock at eight sharp. Lunch is served at noon daily."
    vectors = {100: np.stack([unit(0, 1), unit(1, 0)])}
    found = extract_answer(QUESTION, make_hits(text), question_vector=unit(1, 0), sentence_vectors=vectors)
    assert found.text.startswith("Lunch")


def test_vectors_that_do_not_fit_the_text_are_passed_over(make_hits):
    for wrong in (np.ones((5, 2)), np.ones(2)):
        found = extract_answer(
            QUESTION, make_hits(EIGHT), question_vector=unit(1, 0), sentence_vectors={100: wrong}
        )
        assert found.text == "The office opens at eight."


def test_at_most_so_many_sentences_are_encoded_and_the_question_only_if_need_be(make_hits):
    asked = []

    def embed(texts):
        asked.append(list(texts))
        return np.ones((len(texts), 2)) / np.sqrt(2)

    hits = make_hits(
        *[f"The office opens at {n} o'clock on day {n}. Bring badge number {n}." for n in range(9)]
    )
    extract_answer(QUESTION, hits, embed=embed, max_encoded=3)
    assert (len(asked[0]), asked[0][0]) == (4, QUESTION)
    extract_answer(QUESTION, hits, embed=embed, question_vector=unit(1, 1), max_encoded=3)
    assert len(asked[1]) == 3
    assert QUESTION not in asked[1]


def test_nothing_is_encoded_that_is_cached(make_hits):
    hits = make_hits(NINE, EIGHT)
    cached = {hit.passage.id: np.ones((len(sentences(hit.passage.text)), 2)) for hit in hits}
    found = extract_answer(
        QUESTION, hits, question_vector=unit(1, 1), sentence_vectors=cached, embed=lambda texts: 1 / 0
    )
    assert found is not None


def test_a_negative_number_of_sentences_is_refused(make_hits):
    with pytest.raises(InputError):
        extract_answer(QUESTION, make_hits(NINE), max_encoded=-1)


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.text(max_size=80), st.one_of(st.none(), st.floats(0, 1))), max_size=4),
)
def test_no_text_breaks_it_and_what_it_says_is_really_there(question, given_hits):
    from veridical.types import Document, Hit, Passage

    hits = [
        Hit(Passage(i, i, 0, 3, 3 + len(text), text), Document(i, f"k{i}", "v", text), 1.0, i + 1, 1.0, trust)
        for i, (text, trust) in enumerate(given_hits)
    ]
    found = extract_answer(question, hits)
    if found is None:
        assert not any(sentences(text) for text, _ in given_hits)
        return
    assert check(found.citation, {hit.passage.id: hit.passage for hit in hits}) is None
    assert found.candidates[0] == found.best
    for candidate in found.candidates:
        assert 0 <= candidate.relevance <= 1
        assert 0 <= candidate.support < 1
        assert candidate.standing <= found.best.standing
