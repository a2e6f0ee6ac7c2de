"""The default backend judges by values, names and denials, and shows the two sentences that decided."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from veridical.errors import InputError
from veridical.nli.directions import both_directions
from veridical.nli.features import FeatureNLI
from veridical.testing.nli_contract import PAIRS, TrainedNLIContract
from veridical.types import NLILabel


def hashed_words(texts):
    """Stand in for an encoder: a unit vector of hashed words, the same in every batch."""
    rows = np.zeros((len(texts), 384), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        row[383] = 1e-3
        for word in text.lower().split():
            row[zlib.crc32(word.strip(".,").encode("utf-8", "replace")) % 383] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class TestWithoutEncoder(TrainedNLIContract):
    batch_tolerance = 0

    @pytest.fixture
    def nli(self):
        return FeatureNLI()


class TestQuick(TrainedNLIContract):
    batch_tolerance = 1e-6

    @pytest.fixture
    def nli(self):
        return FeatureNLI(hashed_words, effort="quick")


class TestFull(TrainedNLIContract):
    batch_tolerance = 1e-6

    @pytest.fixture
    def nli(self):
        return FeatureNLI(hashed_words, effort="full")


BRIDGE = (
    "The Halden bridge crosses the Orra. The Halden bridge was opened in 1932 by the mayor. "
    "It is painted green."
)


@pytest.mark.parametrize(
    "against",
    [
        "Traffic grew. The Halden bridge was opened in 1954 by the mayor. Ferries stopped soon after.",
        "The Halden bridge was opened by the mayor in 1954, not 1932.",
        "Contrary to what was opened in 1932, the Halden bridge was opened by the mayor in 1954.",
    ],
)
def test_another_year_for_the_same_event_contradicts_and_the_two_sentences_are_shown(against):
    result = both_directions(FeatureNLI(), [(BRIDGE, against)])[0]
    assert result.label is NLILabel.CONTRADICTION
    assert "1932" in result.premise_span.text and "1954" in result.hypothesis_span.text


def test_a_repeated_sentence_among_others_is_support_and_is_shown():
    said = "The Halden bridge was opened in 1932 by the mayor."
    result = FeatureNLI().judge([(BRIDGE, f"Ore went by rail. {said} Ships were rare.")])[0]
    assert result.label is NLILabel.ENTAILMENT
    assert result.premise_span.text == result.hypothesis_span.text == said


def test_two_passages_on_different_things_are_neutral():
    other = "The orchestra gave 40 concerts in 1954. Its conductor came from Vienna. Tickets cost $12."
    assert FeatureNLI().judge([(BRIDGE, other)])[0].label is NLILabel.NEUTRAL


def test_two_passages_that_deny_the_same_thing_contradict_less_than_one_that_asserts_it():
    denies = "The answer is that Mara Lind wrote the Orra songs, not Tomas Berg."
    also, asserts = FeatureNLI().judge(
        [
            (denies, "Mara Lind, not Tomas Berg, wrote the Orra songs."),
            (denies, "Tomas Berg wrote the Orra songs."),
        ]
    )
    assert also.contradiction < asserts.contradiction


def test_each_distinct_sentence_is_embedded_once_a_call_and_never_again():
    seen: list[str] = []

    def embed(texts):
        seen.extend(texts)
        return hashed_words(texts)

    model = FeatureNLI(embed, effort="full")
    model.judge([*PAIRS, *PAIRS])
    model.judge(PAIRS)
    assert len(seen) == len(set(seen)) > len(PAIRS)


def test_known_vectors_are_not_computed_again():
    def embed(texts):
        raise AssertionError(f"asked for {texts}")

    model = FeatureNLI(embed, effort="full")
    model.warm(
        ["Alpha won the cup.", "Beta won the cup."], hashed_words(["Alpha won the cup.", "Beta won the cup."])
    )
    model.judge([("Alpha won the cup.", "Beta won the cup.")])


def test_quick_embeds_only_what_may_be_more_than_neutral():
    seen: list[str] = []

    def embed(texts):
        seen.extend(texts)
        return hashed_words(texts)

    FeatureNLI(embed, effort="quick").judge([(BRIDGE, "Tea is grown on terraces. Rain falls in June.")])
    assert seen == []


def test_the_screen_of_quick_at_zero_looks_twice_at_everything():
    asked = []
    model = FeatureNLI(lambda t: asked.extend(t) or hashed_words(t), effort="quick", screen=0.0)
    model.judge([("Tea is grown on terraces.", "Tea goes by rail.")])
    assert len(asked) == 2


def test_the_name_changes_with_every_setting_that_changes_judgements():
    names = {
        FeatureNLI().name,
        FeatureNLI(hashed_words).name,
        FeatureNLI(hashed_words, effort="full").name,
        FeatureNLI(max_pairs=2).name,
        FeatureNLI(prior=(0.2, 0.6, 0.2)).name,
        FeatureNLI(hashed_words, screen=0.3).name,
    }
    assert len(names) == 6
    assert FeatureNLI(n_threads=2, cache_size=5).name == FeatureNLI().name


def test_a_larger_prior_of_contradiction_raises_its_probability():
    pair = [(BRIDGE, "The Halden bridge was opened in 1954.")]
    low, high = (FeatureNLI(prior=(0.1, 0.9 - c, c)).judge(pair)[0] for c in (0.01, 0.3))
    assert high.contradiction > low.contradiction


TRUE = "The Halden bridge was opened in 1932 by the mayor."
FALSE = "The Halden bridge was opened in 1954 by the mayor."
AROUND = ("It crosses the Orra.", "It is painted green.", "Ships pass below it.", "Traffic has grown since.")


@pytest.mark.parametrize(
    "plant",
    [
        f"{TRUE} {FALSE}",
        f"{FALSE} {TRUE}",
        " ".join([*AROUND, TRUE, FALSE]),
        " ".join([*AROUND, FALSE]),
    ],
)
def test_repeating_what_is_true_does_not_cover_what_is_false(plant):
    result = both_directions(FeatureNLI(), [(" ".join([TRUE, *AROUND]), plant)])[0]
    assert result.label is NLILabel.CONTRADICTION
    assert "1932" in result.premise_span.text and "1954" in result.hypothesis_span.text


def test_many_repeated_sentences_do_not_crowd_out_the_one_that_is_false():
    around = [
        f"The {word} of Halden is old and grey."
        for word in ["church", "mill", "school", "inn", "barn", "gate"]
    ]
    true, plant = " ".join([*around, TRUE]), " ".join([*around, FALSE])
    result = both_directions(FeatureNLI(max_pairs=2), [(true, plant)])[0]
    assert result.label is NLILabel.CONTRADICTION


def test_adding_something_else_to_what_is_repeated_leaves_it_support():
    added = " ".join([TRUE, *AROUND, "Tea is grown on terraces."])
    assert FeatureNLI().judge([(" ".join([TRUE, *AROUND]), added)])[0].label is NLILabel.ENTAILMENT


@pytest.mark.parametrize(
    "model", [FeatureNLI(), FeatureNLI(hashed_words), FeatureNLI(hashed_words, effort="full")]
)
def test_both_ways_at_once_say_what_each_way_says(model):
    for (left, right), (forward, backward) in zip(PAIRS, model.judge_both(PAIRS), strict=True):
        assert (forward, backward) == tuple(model.judge([(left, right), (right, left)]))


def test_a_short_line_that_both_passages_carry_is_no_support():
    repeated = "Read more. "
    result = FeatureNLI().judge([(repeated + BRIDGE, repeated + "Tea is grown on terraces in June.")])[0]
    assert result.label is NLILabel.NEUTRAL


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"effort": "most"}, "most"),
        ({"effort": "full"}, "encoder"),
        ({"effort": "quick"}, "encoder"),
        ({"max_pairs": 0}, "max_pairs"),
        ({"prior": (0.5, 0.5, 0.0)}, "prior"),
        ({"prior": (0.5, 0.5)}, "prior"),
        ({"prior": (0.5, 0.5, 0.5)}, "prior"),
    ],
)
def test_settings_out_of_range_are_refused(settings, match):
    with pytest.raises(InputError, match=match):
        FeatureNLI(**settings)


def test_another_port_contradicts_and_numbers_that_look_like_years_are_not_compared_as_years():
    port, other = "The tunnel listens on port 1194.", "The tunnel listens on port 6666."
    result = both_directions(FeatureNLI(), [(port, other)])[0]
    assert result.label is NLILabel.CONTRADICTION
