"""The indirect effect is a difference of probabilities, maxima over aliases (methods.md 1.8)."""

from __future__ import annotations

import math

import pytest

from veridical.bench.metrics.effects import answer_probability, indirect_effect, scored_answer
from veridical.errors import InputError
from veridical.llm.base import Message, Scored
from veridical.types import Usage


class Knows:
    """Finds "Oslo" likelier than its alias."""

    def logprob(self, messages, continuation):
        return Scored({"Oslo": math.log(0.6)}.get(continuation, math.log(0.1)), 1, Usage(), 0.0)


def test_the_likeliest_alias_counts():
    assert answer_probability([math.log(0.2), math.log(0.9) + math.log(0.8)]) == pytest.approx(0.72)
    assert answer_probability([]) == 0.0


def test_a_logarithm_above_0_is_no_probability():
    for wrong in (0.1, math.nan):
        with pytest.raises(InputError, match="above 0"):
            answer_probability([wrong])


def test_a_model_is_asked_for_each_alias_that_is_not_empty():
    found = scored_answer(Knows(), [Message("user", "Where?")], ["Kristiania", "Oslo", ""])
    assert found == pytest.approx(0.6)


def test_the_effect_is_the_mean_gain_and_the_share_that_gained():
    found = indirect_effect([0.9, 0.5, 0.2, 0.3], [0.1, 0.5, 0.4, 0.2])
    assert found.mean == pytest.approx((0.8 + 0 - 0.2 + 0.1) / 4)
    assert found.share_positive == 0.5
    assert found.n == 4


def test_no_questions_have_no_effect_to_speak_of():
    found = indirect_effect([], [])
    assert math.isnan(found.mean)
    assert math.isnan(found.share_positive)
    assert found.n == 0


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="one length"):
        indirect_effect([0.1], [0.1, 0.2])
    for wrong in (1.2, math.nan):
        with pytest.raises(InputError, match="from 0 to 1"):
            indirect_effect([wrong], [0.5])
