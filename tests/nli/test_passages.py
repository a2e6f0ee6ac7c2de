"""What sentences say is summed up to a judgement of their passages."""

from __future__ import annotations

import numpy as np

from veridical.nli.align import lexical_similarities
from veridical.nli.passages import (
    N_EVIDENCE,
    Scaling,
    comparable,
    denials,
    passage_evidence,
    repeats,
    said_of,
)
from veridical.nli.values import facts_of


def test_shifting_the_prior_multiplies_the_odds_by_the_ratio_of_the_priors():
    scaling = Scaling(np.zeros((3, 2)), np.log(np.array([0.1, 0.8, 0.1])), (0.1, 0.8, 0.1))
    np.testing.assert_allclose(scaling.at_prior((0.3, 0.4, 0.3)).apply(np.zeros(2)), [0.3, 0.4, 0.3])
    np.testing.assert_allclose(scaling.at_prior(None).apply(np.zeros(2)), [0.1, 0.8, 0.1])


def test_passage_evidence_names_the_strongest_rows_and_carries_their_overlap_and_denials():
    probabilities = np.array([[0.2, 0.7, 0.1], [0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    overlaps = np.array([0.1, 0.25, 0.5], dtype=np.float32)
    evidence, at_e, at_c = passage_evidence(probabilities, overlaps, np.zeros(3, dtype=bool), 2)
    assert (at_e, at_c) == (1, 2)
    np.testing.assert_allclose(evidence, [0, np.log(4), 0.25, 0, 0, 0, np.log(3)], atol=1e-6)
    assert len(evidence) == N_EVIDENCE


def test_a_copied_sentence_speaks_for_entailment_and_never_for_contradiction():
    probabilities = np.array([[0.2, 0.0, 0.8], [0.5, 0.4, 0.1]])
    overlaps = np.array([1.0, 0.5], dtype=np.float32)
    evidence, at_e, at_c = passage_evidence(probabilities, overlaps, np.array([True, False]))
    assert (at_e, at_c) == (0, 1)
    np.testing.assert_allclose(evidence, [-np.log(4), -np.log(9), 1, -np.log(4), 1, -np.log(9), 0], atol=1e-6)


def said(*sentences):
    return said_of([facts_of(sentence) for sentence in sentences])


def test_what_one_passage_denies_and_the_other_says_anywhere_is_counted():
    denier = said("The bridge is old.", "Lind, not Berg, built it with 12 arches rather than 20 arches.")
    assert denials(denier, said("Berg was ill.", "There are 20 arches.")) == 2
    assert denials(said("Berg was ill.", "There are 20 arches."), denier) == 2
    assert denials(denier, said("Lind was ill.", "There are 12 arches.")) == 0


def test_a_name_that_a_passage_also_says_is_not_denied():
    assert denials(said("It was Lind, not Berg.", "Berg was there."), said("It was Berg.")) == 0


def test_two_passages_that_deny_the_same_do_not_deny_each_other():
    assert denials(said("It was Lind, not Berg."), said("Lind did it instead of Berg.")) == 0


LINES = ["Ore is shipped from here.", "The bridge was opened in 1932.", "Read more."]


def test_repeated_sentences_are_found_by_their_text_and_short_ones_left_alone():
    facts = [facts_of(line) for line in LINES]
    assert repeats(LINES, ["Read more.", "Tea is rare.", LINES[0], LINES[0]], facts) == []
    longer = "The Halden bridge was opened in 1932 by the mayor."
    assert repeats([*LINES, longer], [longer, *LINES], [*facts, facts_of(longer)]) == [(3, 0)]


def test_of_repeated_sentences_one_pair_is_compared_and_the_others_bring_none():
    same = [
        "The Halden bridge was opened in 1932 by the mayor.",
        "Ore is shipped daily from the western harbour.",
    ]
    added = "The Halden bridge was opened in 1954 by the king."
    left, right = same, [*same, added]
    facts = [facts_of(t) for t in left], [facts_of(t) for t in right]
    repeated = repeats(left, right, facts[0])
    assert sorted(repeated) == [(0, 0), (1, 1)]
    pairs = comparable(lexical_similarities(*facts), *facts, repeated, 1)
    assert pairs == [(0, 2), repeated[0]]
