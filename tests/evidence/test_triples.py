"""Triples are read tolerantly from what a model wrote, and only what the passage bears out is kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.corpus.split import sentences
from veridical.errors import InputError
from veridical.evidence.triples import (
    FAILED,
    MAX_TRIPLES,
    Extraction,
    ground,
    locate,
    parse,
    repair_head,
    written,
)

TITLE = "Leo Harris"
TEXT = "Leo Harris was an American lawyer. Dr. Harris was born in 1934. He ran 3.5 km a day. He died at York."
SAID = [span.text for span in sentences(TEXT)]
A_TRIPLE = [("Leo Harris", "born in", "1934")]

piece = st.text(st.characters(codec="utf-8", exclude_characters="<>;＜＞﹤﹥〈〉⟨⟩；﹔&\\"), max_size=30)


def tidy(text):
    return " ".join("".join(" " if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in text).split())


plain_piece = piece.map(tidy).filter(lambda p: p and p[0] not in '"“`')


def test_a_triple_is_split_from_the_right():
    assert parse("<Leo Harris; deal; A; B>") == [("Leo Harris; deal", "A", "B")]


@pytest.mark.parametrize(
    "reply", ["<a; b>", "<a>", "<>", "<; b; c>", "<a; ; c>", "<a; b; >", "no triple", ""]
)
def test_what_has_not_three_pieces_is_skipped(reply):
    assert parse(reply) == []
    assert parse(reply + "<Leo Harris; born in; 1934>") == A_TRIPLE


@pytest.mark.parametrize(
    "reply",
    [
        "<Leo Harris; born in; 1934>",
        "1. <Leo Harris; born in; 1934>.",
        "Sure! Here they are:\n- <  Leo  Harris ;born in;1934 >,",
        "```\n<Leo Harris; born in; 1934>\n```",
        "`<Leo Harris; born in; 1934>`",
        "&lt;Leo Harris; born in; 1934&gt;",
        "\\<Leo Harris; born in; 1934\\>",
        "＜Leo Harris； born in； 1934＞",
        "〈Leo Harris; born in; 1934〉",
        "<<Leo Harris; born in; 1934>>",
        '<"Leo Harris"; born in; "1934">',
        "<Leo Harris; born\nin; 1934>",
        "<triples><Leo Harris; born in; 1934></triples>",
    ],
)
def test_the_form_may_vary(reply):
    assert parse(reply) == A_TRIPLE


def test_an_escaped_ampersand_is_no_semicolon():
    assert parse("<Bell &amp; Sons; based in; York>") == [("Bell & Sons", "based in", "York")]


def test_a_triple_that_was_cut_off_is_dropped():
    assert parse("<Leo Harris; born in; 1934>\n<Leo Harris; died in; Le") == A_TRIPLE


def test_a_forgotten_bracket_costs_nothing_where_the_line_ends():
    reply = "<Leo Harris; born in; 1934\n<Leo Harris; died at; York>"
    assert parse(reply) == [*A_TRIPLE, ("Leo Harris", "died at", "York")]


def test_a_forgotten_bracket_within_a_line_says_nothing_for_sure():
    assert parse("<Leo Harris; knew; <a> and others; died>") == []


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "Here you are:\n{}"])
def test_json_is_read(fence):
    rows = {"triples": [{"head": "Leo Harris", "relation": "born in", "tail": 1934}]}
    assert parse(fence.format(json.dumps(rows))) == A_TRIPLE
    assert parse(fence.format(json.dumps(rows, indent=2))) == A_TRIPLE


def test_other_names_for_the_three_are_understood():
    assert parse('[{"Subject": "Leo Harris", "predicate": "born in", "object": "1934"}]') == A_TRIPLE


def test_json_that_was_cut_off_gives_what_is_whole_of_it():
    reply = '{"triples": [{"head": "Leo Harris", "relation": "born in", "tail": "1934"}, {"head": "Leo", "rel'
    assert parse(reply) == A_TRIPLE


def test_what_comes_first_says_how_a_reply_is_written():
    row = {"head": "a", "relation": "b", "tail": "<c; d; e>"}
    assert parse(json.dumps([row])) == [("a", "b", "<c; d; e>")]
    assert parse("<f; holds; " + json.dumps(row | {"tail": "c"}) + ">")[0][:2] == ("f", "holds")


def test_braces_and_quotes_within_json_are_text():
    row = {"head": 'f{"x"}', "relation": "returns", "tail": "{} \\ }"}
    assert parse(json.dumps([row])) == [('f{"x"}', "returns", "{} \\ }")]


@pytest.mark.parametrize(
    "row", [{"head": "a", "relation": "b"}, {"head": "a", "relation": None, "tail": "c"}, {"head": ["a"]}, {}]
)
def test_json_of_another_shape_is_skipped(row):
    assert parse(json.dumps([row, {"head": "x", "relation": "y", "tail": "z"}])) == [("x", "y", "z")]


def test_a_repeated_triple_counts_once_whatever_its_case():
    assert parse("<Leo Harris; born in; 1934> <leo harris; Born  in; 1934>") == A_TRIPLE


def test_there_is_an_end_to_how_many_are_read():
    assert len(parse("\n".join(f"<a; b; {i}>" for i in range(5 * MAX_TRIPLES)))) == MAX_TRIPLES


def test_a_piece_of_a_page_is_no_phrase():
    assert parse(f"<a; b; {'c' * 501}>") == []


def test_nothing_that_a_store_could_not_take_comes_out():
    assert parse("<a\ud800; b\x00; c\x1bd>") == [("a", "b", "c d")]
    assert parse('{"head": "a\\ud800", "relation": "b", "tail": "c\\u0000d"}') == [("a", "b", "c d")]


@given(plain_piece, plain_piece, plain_piece)
def test_what_is_written_is_read_back(head, relation, tail):
    assert parse(written(head, relation, tail)) == [(head, relation, tail)]


@given(st.text(st.sampled_from('<>;{}"\\\n&lt ab:,[]1＜；')))
def test_no_reply_breaks_the_parser(text):
    for triple in parse(text):
        assert all(p and p == " ".join(p.split()) for p in triple)
    assert "{" in text or ("x", "y", "z") in parse(text + "\n<x; y; z>")


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        ">",
        "<a",
        "<a;",
        "{",
        '{"',
        '{"a":[',
        '{"x\\"',
        "<a; b; c\n",
        ";",
        "&lt",
        "&lt;",
        "\\",
        "\\<",
        "\n",
    ],
)
@pytest.mark.timeout(120)  # quadratic work on so long a text would take far longer
def test_hostile_replies_are_read_to_the_end(unit):
    assert len(parse(unit * (400_000 // len(unit)))) <= MAX_TRIPLES


def test_a_head_that_names_nothing_in_the_passage_becomes_the_title():
    assert repair_head("The attorney", TITLE, TEXT) == TITLE
    assert repair_head("the subject", " Leo\nHarris ", TEXT) == TITLE


@pytest.mark.parametrize("head", ["leo harris", "LEO  HARRIS", "american lawyer", "York"])
def test_a_head_that_is_there_stays(head):
    assert repair_head(head, TITLE, TEXT) == head


def test_the_title_is_a_head_even_where_the_text_does_not_name_it():
    assert repair_head("leo harris", TITLE, "He died.") == "leo harris"


@pytest.mark.parametrize("pronoun", ["He", "he", "It", "they"])
def test_a_pronoun_is_nobody_away_from_its_passage(pronoun):
    assert repair_head(pronoun, TITLE, TEXT + " It rained, they say.") == TITLE
    assert repair_head(pronoun, "", TEXT) == pronoun


def test_without_a_title_a_head_stays():
    assert repair_head("The attorney", " \n", TEXT) == "The attorney"


def test_sentences_are_not_cut_at_every_full_stop():
    said = [span.text for span in sentences("Dr. Smith was born in 1934. He died.")]
    assert said == ["Dr. Smith was born in 1934.", "He died."]
    assert locate("born in", "1934", said) == 0
    assert locate("ran", "3.5 km", SAID) == 2


@pytest.mark.parametrize(
    ("relation", "tail", "place"),
    [("occupation", "lawyer", 0), ("born in", "1934", 1), ("died at", "York.", 3), ("DIED AT", "york", 3)],
)
def test_a_triple_is_found_in_the_sentence_with_most_of_its_words(relation, tail, place):
    assert locate(relation, tail, SAID) == place


def test_words_are_found_within_longer_ones():
    assert locate("found", "firm", ["He left.", "She founded two firms."]) == 1


def test_of_equal_sentences_the_one_with_the_whole_tail_says_it():
    said = ["A year of two more.", "It took two years more."]
    assert locate("lasted", "two years", said) == 1
    assert locate("was", "Ann Lee", ["Lee saw Ann.", "This is Ann Lee."]) == 1


def test_of_equal_sentences_reading_goes_on_from_where_it_is():
    said = ["He lived in York.", "He worked.", "He lived in York."]
    assert locate("lived in", "York", said) == 0
    assert locate("lived in", "York", said, start=1) == 2


def test_a_sentence_before_the_start_is_found_if_it_says_more():
    assert locate("born in", "1934", SAID, start=3) == 1


def test_where_there_is_no_sentence_none_is_found():
    with pytest.raises(InputError, match="no sentence"):
        locate("a", "b", [])


def test_triples_get_the_place_of_their_sentence():
    found = ground(TITLE, TEXT, [("He", "born in", "1934"), ("Leo Harris", "died at", "York")])
    assert [triple.head for triple in found] == [TITLE, TITLE]
    assert [TEXT[triple.start : triple.end] for triple in found] == [SAID[1], SAID[3]]


def test_what_is_made_up_is_no_evidence():
    invented = [
        ("head", "relation", "tail"),
        ("Marta Lind", "occupation", "botanist of the court"),
        ("Evil", "was", "all over"),
        (TITLE, "gender", "male"),
    ]
    assert ground(TITLE, TEXT, invented) == ()


def test_a_head_the_passage_does_not_name_needs_a_tail_that_it_does():
    found = ground(TITLE, TEXT, [("The attorney", "died at", "York"), ("The attorney", "died in", "Paris")])
    assert [(triple.head, triple.tail) for triple in found] == [(TITLE, "York")]


def test_without_a_title_a_head_that_names_nothing_makes_no_triple():
    assert ground("", TEXT, [("None", "born in", "1934"), ("the attorney", "died at", "York")]) == ()
    assert len(ground("", TEXT, [("Lawyers", "born in", "1934"), ("Harris", "died at", "York")])) == 2


def test_repairs_do_not_make_two_of_one():
    found = ground(TITLE, TEXT, [("He", "died at", "York"), (TITLE, "died at", "York")])
    assert len(found) == 1


def test_only_what_was_shown_is_looked_in():
    assert ground(TITLE, TEXT, [(TITLE, "died at", "York")], shown=len(SAID[0])) == ()
    assert ground(TITLE, TEXT, [(TITLE, "is an", "American lawyer")], shown=len(SAID[0]))


def test_a_passage_without_spaces_is_searched_too():
    text = "東京は日本の首都です。人口は約1400万人です。"
    [found] = ground("東京", text, [("東京", "国", "日本")])
    assert text[found.start : found.end] == "東京は日本の首都です。"


@given(
    st.text(max_size=60), st.text(max_size=200), st.lists(st.tuples(plain_piece, plain_piece, plain_piece))
)
def test_every_place_is_a_sentence_of_the_text(title, text, triples):
    places = {(span.start, span.end) for span in sentences(text)}
    for found in ground(title, text, triples):
        assert (found.start, found.end) in places
        assert found.head
        assert found.head.encode("utf-8")


def test_an_extraction_that_failed_says_so():
    assert Extraction((), FAILED + "the server is down").failed
    assert not Extraction((), "the reply holds no triple").failed
    assert not Extraction(()).failed
