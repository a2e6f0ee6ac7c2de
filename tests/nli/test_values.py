"""What a sentence says that can be compared: numbers, dates, names, denial."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.nli.lexicon import stem
from veridical.nli.values import compare_dates, compare_quantities, facts_of


def quantity(text: str):
    found = facts_of(text).quantities
    assert len(found) == 1, found
    return found[0]


def date(text: str):
    found = facts_of(text).dates
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("It cost $1.2 billion.", "It cost 1,200 million dollars.", "same"),
        ("It cost $1.2 billion.", "It cost $1.4 billion.", "differs"),
        ("It cost $5.", "It cost £5.", "apart"),
        ("It rose by 5%.", "It rose by 5 percent.", "same"),
        ("It rose by 5%.", "It rose by 7 per cent.", "differs"),
        ("It is 5 km away.", "It is 3.1 miles away.", "same"),
        ("It is 5 km away.", "It is 5 miles away.", "differs"),
        ("It is 5 km long.", "It weighs 5 kg.", "apart"),
        ("It has 12 floors.", "It has twelve floors.", "same"),
        ("It has 12 floors.", "It has a dozen floors.", "same"),
        ("It has 12 floors.", "It has 13 floors.", "differs"),
        ("It has 12 floors.", "It has 13 windows.", "apart"),
        ("It has twenty-two players.", "It has 22 players.", "same"),
        ("About 10,000 people came.", "It drew 10,400 people.", "same"),
        ("About 10,000 people came.", "It drew 14,000 people.", "differs"),
        ("More than 300 people came.", "It drew 420 people.", "same"),
        ("More than 300 people came.", "It drew 120 people.", "differs"),
        ("He was the second winner.", "He was the 2nd winner.", "same"),
        ("He was the second winner.", "He was the 3rd winner.", "differs"),
        ("3 million people live there.", "2.9 million people live there.", "same"),
        ("It took 90 minutes.", "It took 1.5 hours.", "same"),
        ("It took 2 hours.", "It took 3 hours.", "differs"),
    ],
)
def test_quantities_are_compared_by_what_they_measure(left, right, verdict):
    assert compare_quantities(quantity(left), quantity(right)) == verdict
    assert compare_quantities(quantity(right), quantity(left)) == verdict


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("He was born on 12 March 1934.", "He was born in 1934.", "same"),
        ("He was born on 12 March 1934.", "He was born on March 12, 1934.", "same"),
        ("He was born on 12 March 1934.", "He was born on 1934-03-12.", "same"),
        ("He was born on 12 March 1934.", "He was born in March 1935.", "differs"),
        ("He was born on 12 March 1934.", "He was born on 12 April 1934.", "differs"),
        ("It opened in 1994.", "It opened in the 1990s.", "same"),
        ("It opened in 1994.", "It opened in the 1980s.", "differs"),
        ("It was built in 1850.", "It was built in the 19th century.", "same"),
        ("It lasted from 1914–18.", "It was in 1916.", "same"),
        ("It lasted from 1914-1918.", "It was in 1921.", "differs"),
        ("It is on 4 July.", "It was in 1776.", "apart"),
    ],
)
def test_dates_are_compared_at_the_precision_they_share(left, right, verdict):
    assert compare_dates(date(left), date(right)) == verdict
    assert compare_dates(date(right), date(left)) == verdict


@pytest.mark.parametrize(
    "text",
    [
        "It opened in 1932.",
        "It has been open since 1932.",
        "It stood until 1932.",
        "The bridge (1932) is green.",
        "The bridge (opened 1932) is green.",
        "Between 1932 and 1954 it was closed.",
        "The 1932 film won a prize.",
        "It was the 1932 Olympics.",
        "It was the hit of spring 1932.",
        "It dates from the year 1932.",
        "The port was founded in 1932.",
        "Page made it in 1932.",
        "It has a long history: in 1932, 200 people came.",
        "By 1932, it was closed.",
        "Its 1932 season was its last.",
        "He died in Halden, 1932.",
        "In late 1932 scientists found it.",
        "In 1932 scientists found it.",
        "1932 saw its end.",
        "The 1932–33 season.",
        "It was about 1932.",
    ],
)
def test_a_number_with_a_cue_is_a_year(text):
    facts = facts_of(text)
    assert facts.dates and facts.dates[0].first == 1932
    assert not [q for q in facts.quantities if q.low <= 1932 <= q.high and q.kind != "count:person"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The server listens on port 1194.", "label:port"),
        ("The port is 1194.", "label:port"),
        ("Its port number is 1194.", "label:port"),
        ("The default port has been 1194.", "label:port"),
        ("It moved to port: 1194.", "label:port"),
        ("Meet in room 1194.", "label:room"),
        ("Call extension 1194.", "label:extension"),
        ("It is model 1194.", "label:model"),
        ("See page 1194.", "label:pag"),
        ("It is flight no. 1194.", "label:flight"),
        ("Use code 1194.", "label:cod"),
        ("Its ID is 1194.", "label:id"),
        ("Ticket #1194 is open.", "label:ticket"),
        ("No. 1194 won.", "label:"),
        ("It seats 1194 people.", "count:person"),
        ("It weighs 1194 kg.", "mass"),
        ("It is 1194 metres long.", "length"),
        ("They found 1194 coins.", "count:coin"),
        ("In 1500 homes it was dark.", "count:hom"),
        ("A population of 1194 was counted.", "count:"),
        ("It was more than 1194.", "count:"),
        ("It reached 1194.", "count:"),
    ],
)
def test_a_number_without_a_cue_or_after_what_it_labels_is_no_year(text, kind):
    facts = facts_of(text)
    assert facts.dates == ()
    assert [q.kind for q in facts.quantities] == [kind]


def test_labels_clash_with_others_of_their_kind_alone_and_exactly():
    port, other, near, room = (
        quantity(text) for text in ("port 1194", "the port is 6666", "port 1195", "room 6666")
    )
    assert compare_quantities(port, other) == compare_quantities(port, near) == "differs"
    assert compare_quantities(port, port) == "same"
    assert compare_quantities(other, room) == "apart"


def test_both_numbers_of_a_change_of_port_are_ports():
    facts = facts_of("The port was changed from 1194 to 6666.")
    assert [(q.kind, q.low) for q in facts.quantities] == [("label:port", 1194), ("label:port", 6666)]
    assert facts.dates == ()


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ("He died in 44 BC.", "He died in 44 BCE.", "same"),
        ("He died in 44 BC.", "He died in 44 AD.", "differs"),
        ("He died in AD 79.", "It fell in 79 CE.", "same"),
        ("He died in 44 BC.", "It fell in the 1st century BC.", "same"),
        ("It fell in the 1st century BC.", "It fell in the 1st century.", "differs"),
        ("It fell in the 19th century.", "It fell in the 1850s.", "same"),
    ],
)
def test_eras_are_told_apart(left, right, verdict):
    assert compare_dates(date(left), date(right)) == verdict
    assert compare_dates(date(right), date(left)) == verdict


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Dr. Mara Lind wrote it.", "Mara Lind wrote it."),
        ("President Mara Lind wrote it.", "Professor Lind wrote it."),
        ("Sir Tomas Berg, Jr. wrote it.", "Mr Tomas Berg wrote it."),
        ("J. K. Lind wrote it.", "Mara Lind wrote it."),
        ("The United States won.", "The U.S. won."),
        ("The United Kingdom won.", "The UK won."),
        ("The National Air and Space Guild won.", "NASG won."),
        ("The Soviet Union won.", "The USSR won."),
        ("The French team won.", "The team of France won."),
    ],
)
def test_titles_initials_and_aliases_make_no_other_name(left, right):
    a, b = facts_of(left), facts_of(right)
    assert not (left_over(a, b) and left_over(b, a))


def left_over(facts, other):
    return facts.names - other.known


@pytest.mark.parametrize(
    ("text", "denied", "said"),
    [
        ("Contrary to popular belief it was not Paris but Lyon.", "paris", "lyon"),
        ("Contrary to popular belief, it was not Paris but Lyon.", "paris", "lyon"),
        ("It isn't Paris; it is Lyon.", "paris", "lyon"),
        ("It's not Paris, it's Lyon.", "paris", "lyon"),
        ("While many believe that it is Paris, it is Lyon.", "paris", "lyon"),
        ("Although often attributed to Paris, it is the work of Lyon.", "paris", "lyon"),
        ("Many people assume it is Paris, but it is Lyon.", "paris", "lyon"),
        ("It was long thought to be Paris, yet it is Lyon.", "paris", "lyon"),
        ("The claim that it is Paris is false, as Lyon shows.", "paris", "lyon"),
        ("It is a myth that it was Paris; Lyon did it.", "paris", "lyon"),
        ("Some mistakenly credit Paris; Lyon did it.", "paris", "lyon"),
        ("Despite reports of Paris, it was Lyon.", "paris", "lyon"),
        ("Lyon disproves the theory about Paris.", "paris", "lyon"),
        ("It was Lyon, not Paris.", "paris", "lyon"),
        ("It was Lyon and not Paris.", "paris", "lyon"),
        ("It was Lyon instead of Paris.", "paris", "lyon"),
        ("Neither Paris nor Rome did it, Lyon did.", "paris", "lyon"),
        ("Not in Paris but in Lyon it was built.", "paris", "lyon"),
    ],
)
def test_what_is_denied_is_told_from_what_is_said(text, denied, said):
    facts = facts_of(text)
    denied, said = stem(denied), stem(said)
    assert denied in facts.denied and said not in facts.denied
    assert {denied, said} <= facts.words


@pytest.mark.parametrize(
    "text",
    [
        "It was not until 1954 that Lyon rose.",
        "Not only Lyon but also Rome rose.",
        "Although it rained, Lyon rose.",
        "While in Lyon, he wrote.",
        "The report that Lyon rose is new.",
        "Once in Lyon, he wrote.",
    ],
)
def test_what_only_sounds_like_denial_denies_nothing(text):
    assert facts_of(text).denied == frozenset()


def test_a_denied_value_is_marked_and_a_hedged_one_too():
    facts = facts_of("While many believe it had 20 doors, it may have 12 gates and opened in 1932.")
    assert [(q.denied, q.hedged) for q in facts.quantities] == [(True, False), (False, True)]
    assert not facts_of("It opened in 1932 and may close.").dates[0].hedged
    assert facts_of("It reportedly opened in 1932.").dates[0].hedged


def test_a_year_is_a_date_and_no_quantity():
    facts = facts_of("In 1994 it had 2000 people and 1,994 seats.")
    assert [d.first for d in facts.dates] == [1994]
    assert [(q.kind, round(q.low + q.high) / 2) for q in facts.quantities] == [
        ("count:person", 2000),
        ("count:seat", 1994),
    ]


def test_digits_within_a_name_are_no_quantity():
    assert facts_of("The B52 and the R2D2 unit").quantities == ()


def test_what_follows_rather_than_is_denied_and_the_rest_asserted():
    facts = facts_of("It has 10,000 gates, rather than 100,000 doors, and 3 towers.")
    assert [q.denied for q in facts.quantities] == [False, True, False]
    assert "door" in facts.denied and not {"gat", "tow"} & facts.denied


def test_contrary_to_belief_denies_up_to_the_comma():
    facts = facts_of("Contrary to popular belief, Mara Lind wrote it.")
    assert facts.denied == {"popular", "belief"}
    assert {"mara", "lind"} <= facts.names


def test_negations_are_counted_and_are_no_content_words():
    facts = facts_of("It isn't open and has never been.")
    assert facts.n_negations == 2
    assert not {"isn't", "nev", "not"} & facts.words


def test_inflected_forms_of_a_word_meet():
    assert facts_of("released movies").words == facts_of("release film").words


@given(st.text())
def test_any_text_can_be_read(text):
    facts = facts_of(text)
    assert all(not math.isnan(q.low) and q.low <= q.high for q in facts.quantities)
    assert facts.denied <= facts.words and facts.names <= facts.words


@given(st.from_regex(r"[0-9.,%$€ \-–a-z]{0,40}", fullmatch=True))
def test_any_run_of_digits_and_signs_can_be_read(text):
    for q in facts_of(text).quantities:
        assert compare_quantities(q, q) == "same"


@given(st.integers(1, 28), st.sampled_from(["January", "June", "December"]), st.integers(1000, 2099))
def test_a_full_date_agrees_with_its_month_its_year_and_itself(day, month, year):
    full = date(f"on {day} {month} {year}")
    for other in (f"{month} {day}, {year}", f"{month} {year}", f"in {year}"):
        assert compare_dates(full, date(other)) == "same"


@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6))
def test_quantities_further_apart_than_their_rounding_differ(a, b):
    left, right = quantity(f"{a:.2f} kg"), quantity(f"{b:.2f} kg")
    if abs(a - b) > 0.02 * max(a, b) + 0.02:
        assert compare_quantities(left, right) == "differs"


def test_b_not_a_denies_a_and_is_no_negation_of_b():
    facts = facts_of("The answer is “otter dog,” not “mer cat”.")
    assert facts.denied == {"mer", "cat"} and facts.n_negations == 0


def test_what_a_sentence_also_asserts_is_not_denied():
    assert facts_of("The gates are iron gates, not wooden gates.").denied == {"wooden"}
