from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.corpus.split import MAX_SENTENCE_WORDS, n_words, passages, sentence_around, sentences
from veridical.errors import InputError
from veridical.types import Span

# Weighted towards what decides where a sentence ends, with Unicode spaces, quotes and lone surrogates.
NASTY = st.text(
    alphabet=st.one_of(
        st.sampled_from("aB .!?\n\t\r\"'()[]0189é。！…\u2028\u00a0\x85\x1c\u200b😀—-#*|:;,“”日本\ud800\x00"),
        st.sampled_from("e.g. "),
        st.characters(),
    ),
    max_size=120,
)
PROSE = st.lists(
    st.builds(
        lambda n, stop: " ".join(["Word"] * n) + stop, st.integers(1, 60), st.sampled_from([".", "?", ""])
    ),
    max_size=30,
).map("\n\n".join)


def texts(spans: list[Span]) -> list[str]:
    return [span.text for span in spans]


def assert_covers(text: str, spans: list[Span]) -> None:
    position = 0
    for span in spans:
        assert text[span.start : span.end] == span.text
        assert span.text and span.text == span.text.strip()
        assert span.start >= position, "spans overlap or are out of order"
        assert not text[position : span.start].strip(), "text was lost between two spans"
        position = span.end
    assert not text[position:].strip(), "text was lost at the end"


@given(NASTY)
def test_sentences_know_their_place_and_lose_nothing(text: str) -> None:
    assert_covers(text, sentences(text))


@given(st.one_of(NASTY, PROSE), st.integers(1, 150))
def test_passages_know_their_place_and_lose_nothing(text: str, size: int) -> None:
    assert_covers(text, passages(text, n_words=size))


@given(PROSE, st.integers(10, 150))
def test_passages_begin_and_end_where_sentences_do(text: str, size: int) -> None:
    found = sentences(text)
    starts, ends = {s.start for s in found}, {s.end for s in found}
    if all(n_words(s.text) <= 2 * size for s in found):
        for passage in passages(text, n_words=size):
            assert passage.start in starts and passage.end in ends


@given(PROSE, st.integers(1, 150))
def test_passages_are_neither_far_too_long_nor_scraps(text: str, size: int) -> None:
    sizes = [n_words(passage.text) for passage in passages(text, n_words=size)]
    assert all(n <= 2.5 * size + 1 for n in sizes)
    assert len(sizes) < 2 or all(n >= size / 4 for n in sizes)


def test_abbreviations_initials_and_decimals_do_not_end_a_sentence() -> None:
    text = "Dr. J. K. Lee paid $3.50 at 5 p.m. on Jan. 5. See Fig. 2 and Eq. 3. It took approx. 4 h."
    assert texts(sentences(text)) == [
        "Dr. J. K. Lee paid $3.50 at 5 p.m. on Jan. 5.",
        "See Fig. 2 and Eq. 3.",
        "It took approx. 4 h.",
    ]


def test_an_initial_or_abbreviation_before_a_small_letter_does_not_end_a_sentence() -> None:
    text = 'It binds "S. cerevisiae" alone. Acme LLC. is recalling 9 lbs. of it. We chose plan B. It works.'
    assert len(sentences(text)) == 4


def test_quotes_stay_with_their_sentence() -> None:
    assert texts(sentences('"Did he?" she asked. Then she left.')) == [
        '"Did he?" she asked.',
        "Then she left.",
    ]


def test_headings_list_items_and_paragraphs_end_a_sentence() -> None:
    text = "# Backups\nThey run nightly\n\nSteps:\n- stop it\n- copy the data\n1. Restart it.\n2) Check it"
    assert texts(sentences(text)) == [
        "# Backups",
        "They run nightly",
        "Steps:",
        "- stop it",
        "- copy the data",
        "1. Restart it.",
        "2) Check it",
    ]


def test_table_rows_are_sentences() -> None:
    assert texts(sentences("port | 8080\nhost | db.example.com")) == ["port | 8080", "host | db.example.com"]


def test_lines_wrapped_by_an_editor_stay_one_sentence() -> None:
    text = (
        "The backup of the main database runs every night\nUTC and is kept for\nthirty days. It is checked."
    )
    assert len(sentences(text)) == 2


def test_a_short_line_before_a_capital_is_a_heading() -> None:
    text = "Overview\nThe backup of the main database runs every night at two and\nis kept for thirty days."
    assert texts(sentences(text))[0] == "Overview"


def test_text_without_punctuation_is_cut_between_words() -> None:
    text = "word " * 1000
    found = sentences(text)
    assert all(n_words(s.text) <= MAX_SENTENCE_WORDS for s in found)
    assert all(set(s.text.split()) == {"word"} for s in found)
    assert len(found) == 5


def test_text_without_spaces_is_cut_too() -> None:
    for text in ("x" * 50_000, "日" * 5_000):
        assert all(n_words(s.text) <= MAX_SENTENCE_WORDS for s in sentences(text))
        assert len(sentences(text)) > 1


def test_a_url_is_not_cut_in_two_by_the_limit() -> None:
    url = "https://example.com/" + "a" * 70
    found = sentences(" ".join([url] * 300))
    assert len(found) > 1
    assert {word for s in found for word in s.text.split()} == {url}


def test_chinese_and_japanese_full_stops_end_a_sentence() -> None:
    assert texts(sentences("これは本です。彼は行った。")) == ["これは本です。", "彼は行った。"]


def test_passages_hold_about_as_many_words_as_asked_for() -> None:
    text = "This sentence has exactly seven short words. " * 200
    sizes = [n_words(p.text) for p in passages(text, n_words=120)]
    assert all(110 <= n <= 120 for n in sizes[:-1])
    assert sizes[-1] >= 30


def test_a_short_tail_joins_the_passage_before_it() -> None:
    text = "one two three four five six seven eight nine ten. " * 2 + "Tail here."
    assert len(passages(text, n_words=20)) == 1


def test_a_sentence_far_longer_than_a_passage_is_cut_into_even_parts() -> None:
    sizes = [n_words(p.text) for p in passages("word " * 100, n_words=20)]
    assert sizes == [20] * 5


@pytest.mark.parametrize("text", ["", "   ", "\n\n\t"])
def test_blank_text_has_no_passages(text: str) -> None:
    assert passages(text) == []
    assert sentences(text) == []


def test_a_passage_size_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="n_words"):
        passages("Text.", n_words=0)


def test_a_sentence_is_found_for_a_span_that_runs_across_two() -> None:
    text = "It rained. Anna came. Carl left."
    assert sentence_around(text, 12, 14) == (11, 21)
    assert sentence_around(text, 16, 26) == (11, 32)
