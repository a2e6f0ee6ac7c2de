"""Credibility out of judgements, of doubt in documents, or of both."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import veridical
from veridical.errors import InputError
from veridical.evidence.credibility import combine, doubted

JUDGED = [0.9, 0.2, np.nan, 0.8, np.nan]
TRUST = [0.9, 0.25, 0.05, np.nan, np.nan]


@pytest.mark.parametrize(
    ("source", "values", "imputed"),
    [
        ("none", [0.5, 0.5, 0.5, 0.5, 0.5], [0, 0, 0, 0, 0]),
        ("llm", [0.9, 0.2, 0.5, 0.8, 0.5], [0, 0, 1, 0, 1]),
        ("trust", [1.0, 0.5, 0.1, 1.0, 1.0], [0, 0, 0, 0, 0]),
        ("joint", [0.9, 0.1, 0.05, 0.8, 0.5], [0, 0, 1, 0, 1]),
    ],
)
def test_sources_are_combined_as_calculated_by_hand(source, values, imputed):
    found, made_up = combine(source, JUDGED, TRUST)
    np.testing.assert_allclose(found, values, atol=1e-12)
    assert made_up.tolist() == [bool(flag) for flag in imputed]


def test_a_failed_judgement_is_replaced_by_the_prior_that_is_given_and_flagged():
    values, imputed = combine("llm", [None, 0.4], [None, None], prior=0.3)
    assert values.tolist() == [0.3, 0.4]
    assert imputed.tolist() == [True, False]


def test_no_source_has_the_labels_of_the_ideal_setting():
    with pytest.raises(InputError, match="ideal") as caught:
        combine("ideal", [0.5], [0.5])
    assert "none, llm, trust, joint" in caught.value.hint


def test_labels_of_a_data_set_are_known_to_the_benchmark_alone():
    package = Path(veridical.__file__).parent
    saying = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if re.search(r"(?i)(?<![a-z])ideal(?![a-z])", path.read_text("utf-8"))
    }
    assert saying == {"bench"}


def test_of_trust_only_the_doubt_counts():
    found = doubted([0.0, 0.05, 0.25, 0.5, 0.9, 1.0, np.nan])
    np.testing.assert_allclose(found, [0.0, 0.1, 0.5, 1.0, 1.0, 1.0, 1.0], atol=1e-12)


def test_doubt_never_falls_as_trust_rises():
    trust = np.linspace(0, 1, 101)
    assert (np.diff(doubted(trust)) >= 0).all()
    assert (doubted(trust) >= trust).all()


@pytest.mark.parametrize(
    ("judged_", "trust", "prior", "said"),
    [
        ([1.2], [0.5], 0.5, "1.2"),  # an eta that the published code can give
        ([0.5], [-0.1], 0.5, "trust"),
        ([0.5, 0.5], [0.5], 0.5, "2 judgements and 1 trusts"),
        ([[0.5]], [[0.5]], 0.5, "shape"),
        ([0.5], [0.5], 1.5, "prior"),
    ],
)
def test_numbers_that_are_no_credibilities_are_refused(judged_, trust, prior, said):
    with pytest.raises(InputError, match=re.escape(said)):
        combine("joint", judged_, trust, prior=prior)


def test_nothing_is_combined_to_nothing():
    values, imputed = combine("joint", [], [])
    assert values.shape == imputed.shape == (0,)
