"""A vote on a candidate answer reaches the documents that give it, each by how surely it does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.feedback.attribution import LEAST_SHARE, shares, vote_weights
from veridical.types import Candidate, Span, Witness

SPAN = Span("443", 0, 3)
SHARE = st.floats(0.0, 1.0)


def witness(document: int, probability: float, relevance: float = 1.0, **more: float) -> Witness:
    return Witness(document, document, SPAN, SPAN, probability, relevance, **more)  # type: ignore[arg-type]


def candidate(*witnesses: Witness) -> Candidate:
    return Candidate(1, "443", 1.0, 0.5, witnesses)


def test_the_surest_document_has_the_whole_share_and_others_theirs_of_it() -> None:
    found = shares(candidate(witness(1, 0.4, 0.5), witness(2, 0.8, 1.0), witness(3, 0.8, 0.5)))
    assert found == {2: 1.0, 3: pytest.approx(0.5), 1: pytest.approx(0.25)}
    assert list(found) == [2, 3, 1]


def test_a_document_with_several_witnesses_counts_by_its_surest() -> None:
    assert shares(candidate(witness(1, 0.2), witness(1, 0.6), witness(2, 0.6))) == {1: 1.0, 2: 1.0}


def test_neither_trust_nor_the_company_of_copies_changes_what_a_vote_reaches() -> None:
    alone = shares(candidate(witness(1, 0.9), witness(2, 0.6)))
    low, high = {"trust": 0.05, "voice": 0.1, "part": 0.01}, {"trust": 0.95, "part": 0.99}
    heard = shares(candidate(witness(1, 0.9, **low), witness(2, 0.6, **high)))
    assert heard == alone


@pytest.mark.parametrize("found", [candidate(), candidate(witness(1, 0.0)), candidate(witness(1, 0.5, 0.0))])
def test_an_answer_that_nobody_gives_reaches_nobody(found: Candidate) -> None:
    assert shares(found) == {}


@given(st.dictionaries(st.integers(1, 9), st.tuples(SHARE, SHARE), max_size=9))
def test_shares_lie_in_zero_to_one_and_fall(given_by: dict[int, tuple[float, float]]) -> None:
    found = list(shares(candidate(*(witness(i, p, r) for i, (p, r) in given_by.items()))).values())
    assert found == sorted(found, reverse=True)
    assert all(0.0 <= share <= 1.0 for share in found)
    assert not found or found[0] == 1.0


@given(st.dictionaries(st.text(max_size=3), SHARE), st.floats(1e-3, 1e3))
def test_a_vote_weighs_by_share_and_spares_those_who_hardly_gave_the_answer(
    given_by: dict[str, float], weight: float
) -> None:
    found = vote_weights(given_by, weight)
    assert set(found) == {key for key, share in given_by.items() if share >= LEAST_SHARE}
    assert all(found[key] == weight * given_by[key] for key in found)
