"""The beam grows by one choice as calculated by hand, and its settings are checked."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.errors import InputError
from veridical.evidence.beam import LABELS, Beam, ChainSettings, Choices, expand, ranked
from veridical.llm.labels import shares


def choices(probabilities: dict[int | None, float]) -> Choices:
    """Probabilities by place, ``None`` for to stop, in the order of the options."""
    places = [place for place in probabilities if place is not None]
    return Choices(places, np.array([probabilities[None], *(probabilities[place] for place in places)]))


def rows(beams: list[Beam]) -> list[tuple[tuple[int, ...], float, bool]]:
    return [(beam.triples, round(beam.confidence, 12), beam.finished) for beam in beams]


T1, T2, T3, T4, T5, T6 = range(1, 7)
GIVEN = [Beam((T1,), 0.6, n_choices=1), Beam((T2,), 0.3, n_choices=1), Beam((T3,), 0.1, True, 2)]
CHOSEN = [choices({None: 0.5, T4: 0.3, T5: 0.2}), choices({None: 0.1, T1: 0.7, T6: 0.2}), None]


def test_a_beam_grows_as_calculated_by_hand():
    three = expand(GIVEN, CHOSEN, ChainSettings(n_branches=2, n_beams=3))
    assert rows(three) == [((T1,), 0.3, True), ((T2, T1), 0.21, False), ((T1, T4), 0.18, False)]
    five = expand(GIVEN, CHOSEN, ChainSettings(n_branches=2, n_beams=5))
    assert rows(five)[3:] == [((T3,), 0.1, True), ((T2, T6), 0.06, False)]


def test_a_finished_chain_is_carried_once_with_the_confidence_it_has():
    after = expand([Beam((T1,), 0.25, True, 2)], [None], ChainSettings())
    assert after == [Beam((T1,), 0.25, True, 2)]


def test_of_equals_the_earlier_chain_and_then_the_earlier_label_comes_first():
    even = Choices([T4, T5], np.array([0.25, 0.25, 0.5]))
    after = expand(
        [Beam((T1,), 0.5), Beam((T2,), 0.5), Beam((T3,), 0.25, True)], [even, even, None], ChainSettings()
    )
    assert [(beam.triples, beam.finished) for beam in after] == [
        ((T1, T5), False),
        ((T2, T5), False),
        ((T3,), True),
        ((T1,), True),
        ((T1, T4), False),
        ((T2,), True),
        ((T2, T4), False),
    ]


def test_a_choice_at_the_floor_or_below_is_dropped():
    option = choices({None: 0.6999, T1: 0.2, T2: 0.1, T3: 0.0001})
    assert [beam.triples for beam in expand([Beam()], [option], ChainSettings())] == [(), (T1,), (T2,)]
    high = expand([Beam()], [option], ChainSettings(floor=0.1))
    assert [beam.triples for beam in high] == [(), (T1,)]


@pytest.mark.parametrize("weight", range(1, 30))
def test_a_label_that_was_never_seen_is_not_branched_to(weight: int):
    # Its probability is the floor, but for what rounding adds when all are made to sum to one.
    labels = LABELS[:21]
    given, unseen = shares({"A": 1.0, "D": float(weight)}, labels)
    values = np.array([given[label] for label in labels])
    after = expand([Beam()], [Choices(range(20), values / values.sum())], ChainSettings())
    assert len(unseen) == 19
    assert sorted(beam.triples for beam in after) == [(), (2,)]


def test_the_most_probable_choice_stays_whatever_the_floor():
    even = choices({None: 0.25, T1: 0.25, T2: 0.25, T3: 0.25})
    assert rows(expand([Beam()], [even], ChainSettings(floor=0.5))) == [((), 0.25, True)]


def test_only_the_b_most_probable_choices_branch():
    option = choices({None: 0.05, T1: 0.1, T2: 0.4, T3: 0.15, T4: 0.3})
    after = expand([Beam()], [option], ChainSettings(n_branches=2))
    assert rows(after) == [((T2,), 0.4, False), ((T4,), 0.3, False)]


def test_chains_are_ranked_by_confidence_or_by_the_geometric_mean_of_their_choices():
    short, long = Beam((T1,), 0.3, True, 2), Beam((T1, T2), 0.25, True, 3)
    assert ranked([long, short], ChainSettings()) == [short, long]
    # .3^(1/2) = .548 and .25^(1/3) = .630.
    assert ranked([short, long], ChainSettings(length_normalised=True)) == [long, short]
    assert ranked([short, long], ChainSettings(n_chains=1)) == [short]


@pytest.mark.parametrize(
    "change",
    [
        {"relevance_weight": -0.1},
        {"relevance_weight": 1.1},
        {"relevance_weight": float("nan")},
        {"top_k": 0},
        {"top_k": 26},
        {"top_k": 2.5},
        {"n_branches": 0},
        {"n_beams": 0},
        {"max_hops": 0},
        {"n_chains": 0},
        {"floor": -0.1},
        {"floor": 1.0},
        {"floor": float("nan")},
    ],
)
def test_settings_out_of_range_are_refused_with_a_hint(change):
    [name] = change
    with pytest.raises(InputError, match=name) as caught:
        ChainSettings(**change)
    assert caught.value.hint


def test_the_published_settings_allow_46_prompts():
    assert ChainSettings().most_prompts == 1 + 5 + 20 + 20
    assert ChainSettings(max_hops=1).most_prompts == 1
