"""The extractor without a language model: what it reads off sentences, its names for things, its bounds."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.evidence.asides import BORN, DIED, IN
from veridical.evidence.extract_embedded import (
    CALLED,
    MOST_PER_PASSAGE,
    MOST_PER_SENTENCE,
    EmbeddedExtractor,
)
from veridical.evidence.joins import MOST_RELATION_WORDS
from veridical.nli.lexicon import word_list
from veridical.testing.extractor_contract import LONG, PASSAGES, ExtractorContract, check

WORD = re.compile(r"[^\W_]+")


class TestEmbeddedExtractor(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> EmbeddedExtractor:
        return EmbeddedExtractor()


def said(title: str, text: str) -> list[str]:
    """What is found in one passage, as lines."""
    [extraction] = EmbeddedExtractor().extract([(title, text)])
    return [f"{t.head}; {t.relation}; {t.tail}" for t in extraction.triples]


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        # what something is, and the phrase that follows it
        (
            "Olm",
            "Olm is a Danish folk band from Ribe.",
            ["is a; Danish folk band", "is a Danish folk band from; Ribe"],
        ),
        ("Tor Vik", "Tor Vik became the first mayor of Halden.", ["became the first mayor of; Halden"]),
        # verbs with their objects, dates and places
        ("Tor Vik", "Tor Vik was born in Lom in 1871.", ["was born in; Lom", "was born in; 1871"]),
        ("Tor Vik", "Tor Vik joined Brann United in May 1951.", ["joined Brann United in; May 1951"]),
        ("Tor Vik", "Tor Vik wrote 12 novels between 1901 and 1930.", ["wrote; 12 novels", "between; 1930"]),
        # lists
        (
            "Grey Tide",
            "Grey Tide was written by Ann Moe, Bo Lie and Cy Dahl.",
            ["was written by; Ann Moe", "was written by; Bo Lie", "was written by; Cy Dahl"],
        ),
        (
            "Grey Tide",
            "Grey Tide is a 1931 drama film directed by Ann Moe and starring Bo Lie.",
            ["is a; 1931 drama film", "directed by; Ann Moe", "starring; Bo Lie"],
        ),
        # towns with what they lie in, and lists of countries
        ("Tor Vik", "Tor Vik was born in Lom, Ohio.", ["was born in; Lom, Ohio"]),
        ("Tor Vik", "Born in Lom, Ohio, Vik was sent to Oslo.", ["Born in; Lom, Ohio", "was sent to; Oslo"]),
        (
            "Olm",
            "Olm is found in Peru, Chile and Cuba.",
            ["is found in; Peru", "is found in; Chile", "in; Cuba"],
        ),
        # lives and other asides
        ("Tor Vik", "Tor Vik (born 3 May 1871) was a painter.", ["born; 3 May 1871"]),
        (
            "Tor Vik",
            "Tor Vik (3 May 1871 – 9 June 1930) was a painter.",
            ["born; 3 May 1871", "died; 9 June 1930"],
        ),
        (
            "Tor Vik",
            "Tor Vik (3 May 1871, Lom – 9 June 1930, Bergen) was a painter.",
            ["born; Lom", "died; Bergen", "died; 9 June 1930"],
        ),
        (
            "Siege of Ulm",
            "The Siege of Ulm (3 May 1671 – 9 June 1671) was a battle.",
            ["in; 3 May 1671 – 9 June 1671"],
        ),
        ("Olm", "Olm (also known as The Olms) is a band.", ["also known as; The Olms"]),
        # possessives, what stands before the clause, and fields
        ("Olm", "Its capital is Ribe.", ["capital is; Ribe"]),
        ("Tor Vik", "In 1894, he moved to Oslo.", ["moved in; 1894", "moved to; Oslo"]),
        (
            "Tor Vik",
            "Born in Lom in 1871, Vik studied law at Leiden University.",
            ["Born in; Lom", "studied law at; Leiden University"],
        ),
        ("Tor Vik", "Tor Emil Vik was a painter.", ["called; Tor Emil Vik", "was a; painter"]),
        (
            "Olm",
            "Olm is a singer, actor, and mixed martial artist.",
            ["singer, actor, and mixed martial artist"],
        ),
        ("Olm", "Olm owns about 40 listed old houses.", ["owns about; 40 listed old houses"]),
        ("Olm", 'Olm was led by Jo "Red" Moe.', ['was led by; Jo "Red" Moe']),
        ("Olm", "Olm won the 1908 Summer Games.", ["won; 1908 Summer Games"]),
        ("Olm", "(In 1950 it moved to Lom.)", ["moved to; Lom"]),
        ("Olm", "- Origin: Ribe, Denmark", ["Origin; Ribe, Denmark"]),
        # a sentence that names nothing
        ("Olm", "They played loud and simple songs.", ["played; loud and simple songs"]),
    ],
)
def test_it_reads_what_a_sentence_says_of_its_subject(title: str, text: str, expected: list[str]) -> None:
    lines = said(title, text)
    for wanted in expected:
        assert any(line.startswith(title) and line.endswith(wanted) for line in lines), (wanted, lines)


@pytest.mark.parametrize(
    ("title", "text", "line"),
    [
        ("Grey Tide (1931 film)", "It was shot in Lom.", "Grey Tide; was shot in; Lom"),
        ("Grey Tide", "Grey Tide is a drama. The drama was shot in Lom.", "Grey Tide; was shot in; Lom"),
        ("Grey Tide", "The film's music is by Bo Lie.", "Grey Tide; music is by; Bo Lie"),
        ("Ada Moe", "Ada Birgit Moe was born in Lom.", "Ada Moe; was born in; Lom"),
        ("Ada Moe", "Moe was a singer from Lom.", "Ada Moe; was a singer from; Lom"),
        ("", "Ada Moe was a singer. She moved to Lom.", "Ada Moe; moved to; Lom"),
        ("Bo Dal", "Ada Moe (born 1900), better known as Bo Dal, is a singer.", "Bo Dal; is a; singer"),
        ("Grey Tide", "Ada Moe sang in Lom. She died in 1950.", "Ada Moe; died in; 1950"),
        ("Olm", "Ada Moe's brother Bo Moe lives in Lom.", "Ada Moe; brother; Bo Moe"),
        ("Olm", "Olm was led by Ada Moe, who was born in Lom.", "Ada Moe; was born in; Lom"),
        ("Olm", "Olm was led by Ada Moe, a singer from Lom.", "Ada Moe; singer from; Lom"),
        ("Olm", "Ada Moe and Bo Dal founded Olm Records in 1950.", "Bo Dal; founded; Olm Records"),
        ("Olm", "The label dropped Olm, and Ada Moe was sent to Lom.", "Ada Moe; was sent to; Lom"),
        ("Ada Moe, 2nd Earl of Lom", "She was the heir of Bo Moe, 1st Earl of Lom.",
         "Ada Moe, 2nd Earl of Lom; was the heir of; Bo Moe, 1st Earl of Lom"),
    ],
)  # fmt: skip
def test_heads_are_names_and_not_what_stands_for_them(title: str, text: str, line: str) -> None:
    assert line in said(title, text)


@pytest.mark.parametrize(
    ("title", "text", "head"),
    [
        ("Paris Agreement", "Paris Saint-Paul is a club from Lyon.", "Paris Saint-Paul"),
        ("Lom Agreement", "Lom signed the treaty in 1950.", "Lom"),
        ("Bo Moe", "Ada Moe was a singer from Lom.", "Ada Moe"),
        ("Lom", "Lom Valley Railway was opened in 1950.", "Lom Valley Railway"),
    ],
)
def test_a_name_that_only_shares_words_with_the_title_is_another(title: str, text: str, head: str) -> None:
    if title == "Bo Moe":
        text = f"Bo Moe was a baker. {text}"
    assert said(title, text)[-1].startswith(f"{head}; ")


def test_a_capital_before_a_common_noun_makes_no_name() -> None:
    lines = said("Olm", "Olm was praised by the Danish critic Ada Moe.")
    assert lines == ["Olm; was praised by the Danish critic; Ada Moe"]


def test_dots_of_initials_and_shortened_words_do_not_end_a_name() -> None:
    lines = said("Olm", "It was bought by J. R. Moe of St. Lom.")
    assert lines == ["Olm; was bought by; J. R. Moe of St. Lom"]


def test_an_accent_that_is_a_character_of_its_own_does_not_cut_a_word() -> None:
    text = "Amélie Zürich was born in Genève in 1950."
    apart = unicodedata.normalize("NFD", text)
    assert len(apart) > len(text)
    lines = [unicodedata.normalize("NFC", line) for line in said("", apart)]
    assert lines == said("", text) == [f"Amélie Zürich; was born in; {tail}" for tail in ("Genève", "1950")]


@pytest.mark.parametrize("text", ["In 12\n songs.", "Bo who 1,000\n\tx."])
def test_where_lines_break_makes_no_other_triple(text: str) -> None:
    assert said("Olm", text) == said("Olm", " ".join(text.split())) != []


def test_a_triple_points_to_the_sentence_that_says_it() -> None:
    text = "  Olm is a band.  It was founded in Ribe in 1990.\n"
    [extraction] = EmbeddedExtractor().extract([("Olm", text)])
    [place] = {(t.start, t.end) for t in extraction.triples if t.tail == "Ribe"}
    assert text[slice(*place)] == "It was founded in Ribe in 1990."


def test_headings_say_nothing() -> None:
    assert said("Olm", "# Early years\n\nEarly years in Ribe\n\n") == []


def test_no_passage_and_no_sentence_gives_more_than_its_share() -> None:
    names = ", ".join(f"Ann M{'abcdefghijklmnopqrstuvwxyz'[i]}" for i in range(26))
    sentence = f"It was written by {names} and Bo Lie."
    assert len(said("Olm", sentence)) == MOST_PER_SENTENCE
    cities = " ".join(f"In {1800 + i} it moved to Lom {'ABCDEFGHIJ'[i % 10]}." for i in range(100))
    assert len(said("Olm", cities)) == MOST_PER_PASSAGE


def test_another_language_gives_few_triples_and_no_error() -> None:
    [extraction] = EmbeddedExtractor().extract(
        [("Ulm", "Ulm ist eine Stadt an der Donau. 乌尔姆是德国的一座城市。")]
    )
    assert len(extraction.triples) <= 3


@pytest.mark.parametrize(
    "text",
    ["(" * 50_000, '"' * 50_000, "A " * 30_000, "of " * 30_000, ", and" * 20_000, "a's" * 20_000,
     "1," * 30_000, "Ann of the " * 10_000, "X (" * 20_000, "é" * 50_000, "is a b, c " * 10_000,
     "<a; b; c>" * 10_000],
)  # fmt: skip
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    began = time.process_time()
    check([("T", text)], EmbeddedExtractor().extract([("T", text)]))
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize(("title", "text"), [*PASSAGES, ("The line", LONG)])
def test_every_word_is_the_passages_or_the_titles(title: str, text: str) -> None:
    _own_words_only(title, text)


pieces = st.sampled_from(
    word_list("""Ann Moe Bo Lie Lom He She It The the a of in by and , . ( ) " 's is was who which born 1871 –
    12 films 3 May 1871 directed starring Olm German band - ; : United Kingdom & his first ; < > è 中""")
)


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=40), st.sampled_from(["Olm", "", "Ann Moe (singer)", "The Lom"]))
def test_whatever_is_said_is_read_in_its_own_words(words: list[str], title: str) -> None:
    text = " ".join(words)
    found = EmbeddedExtractor().extract([(title, text)])
    check([(title, text)], found)
    _own_words_only(title, text)


def _own_words_only(title: str, text: str) -> None:
    known = set(WORD.findall(f"{title} {text}".casefold())) | {CALLED, BORN, DIED, IN}
    [extraction] = EmbeddedExtractor().extract([(title, text)])
    for triple in extraction.triples:
        words = set(WORD.findall(f"{triple.head} {triple.relation} {triple.tail}".casefold()))
        assert words <= known, (triple, words - known)
        assert len(triple.relation.split()) <= MOST_RELATION_WORDS
