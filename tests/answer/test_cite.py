from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.answer.cite import attach_citations, check, read_citations
from veridical.answer.context import build_context
from veridical.answer.words import find_quote

PARIS = "France lies in Europe. Its capital is Paris, on the river Seine. The city has 2,100,000 people."
ROME = "Italy is in the south. The capital of Italy is Rome. It was founded in 753 BC."
FAKE = "Some say otherwise. The capital of France is Lyon, as reported."


@pytest.fixture
def context(make_hits):
    return build_context(make_hits(PARIS, ROME, FAKE, starts=(1000, 0, 50), trust=(0.9, 0.6, 0.1)))


def quotes(cited):
    return [(citation.marker, citation.quote) for citation in cited.citations]


def assert_all_hold(cited, context):
    passages = {entry.passage.id: entry.passage for entry in context.entries}
    for citation in cited.citations:
        assert citation.valid
        assert citation.problem is None
        assert check(citation, passages) is None
        passage = passages[citation.passage_id]
        assert passage.text[citation.start - passage.start : citation.end - passage.start] == citation.quote
    for citation in cited.dropped:
        assert not citation.valid
        assert citation.problem


def test_a_marker_is_tied_to_the_sentence_that_says_it(context):
    cited = read_citations("The capital of France is Paris [1].", context)
    assert quotes(cited) == [("[1]", "Its capital is Paris, on the river Seine.")]
    assert cited.citations[0].start == 1000 + PARIS.index("Its capital")
    assert cited.text == "The capital of France is Paris [1]."
    assert_all_hold(cited, context)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Paris is the capital [1, 3].", "Paris is the capital [1, 3]."),
        ("Paris is the capital [1][3].", "Paris is the capital [1][3]."),
        ("Paris is the capital [1-3].", "Paris is the capital [1, 2, 3]."),
        ("Paris is the capital 【1】.", "Paris is the capital [1]."),
        ("Paris is the capital 【1†source】.", "Paris is the capital [1]."),
        ("Paris is the capital [document 1].", "Paris is the capital [1]."),
        ("Paris is the capital [1 and 3].", "Paris is the capital [1, 3]."),
        ("Paris is the capital [^1].", "Paris is the capital [1]."),
        ("Paris is the capital. [1]", "Paris is the capital. [1]"),
        ("Paris is the capital[1].", "Paris is the capital [1]."),
        ("[1] Paris is the capital.", "[1] Paris is the capital."),
    ],
)
def test_markers_of_many_shapes_are_read_and_written_one_way(context, written, shown):
    cited = read_citations(written, context)
    assert cited.text == shown
    assert cited.dropped == ()
    assert ("[1]", "Its capital is Paris, on the river Seine.") in quotes(cited)


def test_each_claim_of_a_sentence_gets_its_own_place(context):
    cited = read_citations("Paris lies on the Seine [1] and Rome is the capital of Italy [2].", context)
    assert quotes(cited) == [
        ("[1]", "Its capital is Paris, on the river Seine."),
        ("[2]", "The capital of Italy is Rome."),
    ]


def test_one_passage_can_be_cited_for_two_claims(context):
    cited = read_citations("Paris lies on the Seine [1]. The city has 2,100,000 people [1].", context)
    assert [citation.quote for citation in cited.citations] == [
        "Its capital is Paris, on the river Seine.",
        "The city has 2,100,000 people.",
    ]


def test_a_list_with_its_markers_in_front_is_understood(context):
    cited = read_citations("[2] Rome is the capital of Italy.\n[1] Paris lies on the Seine.", context)
    assert quotes(cited) == [
        ("[2]", "The capital of Italy is Rome."),
        ("[1]", "Its capital is Paris, on the river Seine."),
    ]


@pytest.mark.parametrize("number", [0, 4, 2019, 999999])
def test_a_marker_that_was_never_given_is_dropped_and_named(context, number):
    cited = read_citations(f"The capital is Paris [{number}].", context)
    assert cited.citations == ()
    assert [citation.marker for citation in cited.dropped] == [f"[{number}]"]
    assert f"no passage [{number}]" in cited.dropped[0].problem
    assert cited.text == "The capital is Paris."


def test_only_the_bad_number_of_a_group_goes(context):
    cited = read_citations("The capital is Paris [1, 9].", context)
    assert cited.text == "The capital is Paris [1]."
    assert [citation.marker for citation in cited.dropped] == ["[9]"]


def test_words_that_the_model_quotes_are_the_citation(context):
    cited = read_citations('It says "capital is Paris, on the river" there [1].', context)
    assert quotes(cited) == [("[1]", "capital is Paris, on the river")]
    assert_all_hold(cited, context)


def test_a_quotation_that_is_not_in_the_passage_is_dropped_and_named(context):
    cited = read_citations('It says "the capital is Lyon on the Rhone" [1].', context)
    assert cited.citations == ()
    assert cited.dropped[0].problem == "the quoted text is not in the passage"
    assert cited.dropped[0].quote == "the capital is Lyon on the Rhone"
    assert "[1]" not in cited.text


def test_a_quotation_in_one_of_two_passages_drops_neither(context):
    cited = read_citations('Its "capital is Paris, on the river Seine" [1, 3].', context)
    assert cited.dropped == ()
    assert len(cited.citations) == 2


def test_a_word_in_quotation_marks_is_no_quotation(context):
    assert read_citations('The "City of Light" Paris is the capital [1].', context).dropped == ()


def test_a_claim_that_shares_no_word_with_its_passage_is_dropped(context):
    cited = read_citations("Bananas grow in Ecuador [1].", context)
    assert cited.citations == ()
    assert "shares no word" in cited.dropped[0].problem


def test_yes_is_tied_to_the_sentence_that_the_question_is_about(context):
    cited = read_citations("Yes [2].", context, question="Was Rome founded in 753 BC?")
    assert quotes(cited) == [("[2]", "It was founded in 753 BC.")]


def test_what_the_model_was_not_shown_cannot_be_cited_by_its_words(make_hits):
    context = build_context(make_hits(PARIS), max_chars_each=20)
    cited = read_citations("The city has 2,100,000 people and lies in France [1].", context)
    assert quotes(cited) == [("[1]", "France lies in Europe.")]


@pytest.mark.parametrize(
    "text", ["", "   ", "[1]", "[1][2]", "[]", "[a]", "[[1]]", "[1", "1]", "\n\n[1]\n", "¹"]
)
def test_texts_with_hardly_anything_in_them_do_no_harm(context, text):
    assert_all_hold(read_citations(text, context), context)


PIECES = st.sampled_from(
    [
        PARIS,
        ROME,
        FAKE,
        "The capital is Paris",
        "[1]",
        "[2, 9]",
        "【3】",
        '"capital is Paris"',
        "“",
        '"',
        ".",
        "\n",
        " ",
        *["[1-99999]", "[3-1]", "\ud800", "İ", "ß", "東京。", "\u202e", "[١]"],
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=12).map("".join), st.text(max_size=30))
def test_no_answer_breaks_it_and_every_valid_citation_is_really_there(text, question):
    context = _context()
    for cited in (
        read_citations(text, context, question=question),
        attach_citations(text, context, question=question),
    ):
        assert_all_hold(cited, context)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=60))
def test_no_passage_breaks_it_either(passage, answer):
    from veridical.types import Document, Hit, Passage

    hit = Hit(Passage(1, 1, 0, 0, len(passage), passage), Document(1, "k", "v", ""), 1.0, 1, 1.0)
    context = build_context([hit])
    assert_all_hold(read_citations(f'{answer} "{passage[:40]}" [1]', context), context)
    assert_all_hold(attach_citations(answer, context), context)


def _context():
    from veridical.types import Document, Hit, Passage

    hits = [
        Hit(Passage(i, i, 0, 7, 7 + len(text), text), Document(i, f"k{i}", "v", ""), 1.0, i, 1.0)
        for i, text in enumerate((PARIS, ROME, FAKE), start=1)
    ]
    return build_context(hits)


def test_checking_finds_every_way_to_be_wrong(context):
    passages = {entry.passage.id: entry.passage for entry in context.entries}
    good = read_citations("The capital of France is Paris [1].", context).citations[0]
    assert check(good, passages) is None
    for wrong, problem in (
        (replace(good, passage_id=5), "no such passage"),
        (replace(good, passage_id=None), "no such passage"),
        (replace(good, document_id=2), "another document"),
        (replace(good, quote=""), "quotes nothing"),
        (replace(good, start=None), "quotes nothing"),
        (replace(good, start=0), "outside"),
        (replace(good, end=10**6), "outside"),
        (replace(good, start=good.end, end=good.start), "outside"),
        (replace(good, start=good.start + 1), "not at that place"),
        (replace(good, quote=good.quote.upper()), "not at that place"),
    ):
        assert problem in check(wrong, passages)


def test_a_short_answer_without_markers_is_matched_to_the_sentence_that_holds_it(context):
    cited = attach_citations("Paris", context, question="What is the capital of France?")
    assert cited.text == "Paris [1]"
    assert quotes(cited) == [("[1]", "Its capital is Paris, on the river Seine.")]
    assert_all_hold(cited, context)


def test_a_marker_goes_before_the_full_stop(context):
    cited = attach_citations("Rome was founded in 753 BC.", context)
    assert cited.text == "Rome was founded in 753 BC [2]."


def test_an_answer_that_no_passage_holds_gets_no_citation(context):
    cited = attach_citations("Madrid", context, question="What is the capital of France?")
    assert (cited.text, cited.citations) == ("Madrid", ())


def test_of_equal_sentences_the_more_trusted_one_is_cited(make_hits):
    text = "The gate code is 4711."
    context = build_context(make_hits(text, text, trust=(0.2, 0.8)))
    assert attach_citations("4711", context).citations[0].marker == "[2]"


def test_repeating_the_question_is_no_evidence(context):
    cited = attach_citations(
        "The capital of France is Berlin.", context, question="What is the capital of France?"
    )
    assert cited.citations == ()


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("the  Cat", "See the cat.", "the cat"),
        ("“it's”", "So it’s said.", "it’s"),
        ("a-b", "x a–b y", "a–b"),
        ("(see below)", "it [see below]", "[see below]"),
        ("the cat ... mat", "See the cat on the mat.", "the cat on the mat"),
        ("mat ... cat", "See the cat on the mat.", None),
        ("dog", "See the cat.", None),
        ("", "See the cat.", None),
        ("...", "See the cat.", None),
        ("STRASSE", "Die Straße hier", "Straße"),
    ],
)
def test_a_quotation_is_found_whatever_its_dress(quote, text, found):
    place = find_quote(quote, text)
    assert (text[place[0] : place[1]] if place else None) == found


@pytest.mark.timeout(10)
@pytest.mark.parametrize("quote", [" " * 50_000 + "x", "a" + " " * 50_000 + "b", ". " * 25_000])
def test_a_hostile_quotation_is_looked_up_at_little_cost(quote):
    assert find_quote(quote, "Some text. " * 1000) is None


def test_a_quotation_longer_than_any_is_not_found():
    text = "word " * 10_000
    assert find_quote(text[:2000], text) is not None
    assert find_quote(text, text) is None


@given(st.text(max_size=100), st.data())
def test_what_was_cut_out_of_a_text_is_found_in_it(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    place = find_quote(text[start:end], text)
    assert place is None or 0 <= place[0] < place[1] <= len(text)
    if place is None:
        assert (
            "." in text[start:end] or "…" in text[start:end] or not any(c.isalnum() for c in text[start:end])
        )
