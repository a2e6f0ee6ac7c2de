"""Examples before a choice: the nearest ones, at the same hop, and as many as fit."""

from __future__ import annotations

import numpy as np
import pytest
from choosing import Choosing, chain_of, listed, selector_of

from veridical.errors import InputError
from veridical.evidence.select_llm import Exemplar, LLMSelector, exemplars
from veridical.evidence.selectors import Step
from veridical.testing.selector_contract import (
    BORN,
    FIRST,
    MANY,
    OTHERS,
    QUESTION,
)

POOL = (
    Exemplar("Which port is near?", ("<a; b; c>", "<d; e; f>"), (1,)),
    Exemplar("Who built the mill?", ("<g; h; i>", "<j; k; l>", "<m; n; o>"), (2, 0)),
    Exemplar("How tall is the tower?", ("<p; q; r>", "<s; t; u>", "<v; w; x>"), (0, 1, 2)),
)


def near(question):
    """An encoder for which the question of the last step is nearest to ``question``."""

    def encode(texts):
        axes = [example.question for example in POOL]
        return np.array(
            [[float(axis == (text if text in axes else question)) for axis in axes] for text in texts]
        )

    return encode


def shots(call):
    """Question, chain and letter of each example of a prompt."""
    pairs = zip(call[1:-1:2], call[2:-1:2], strict=True)
    return [(asked.content.splitlines()[0][10:], chain_of([asked]), said.content) for asked, said in pairs]


def test_examples_show_the_step_at_the_same_hop_and_those_that_ended_before_are_left_out():
    expected = {
        1: {("Which port is near?", "(empty)", "C"), ("Who built the mill?", "(empty)", "D"),
            ("How tall is the tower?", "(empty)", "B")},
        2: {("Which port is near?", "<d; e; f>", "A"), ("Who built the mill?", "<m; n; o>", "B"),
            ("How tall is the tower?", "<p; q; r>", "C")},
        3: {("Who built the mill?", "<m; n; o> <g; h; i>", "A"),
            ("How tall is the tower?", "<p; q; r> <s; t; u>", "D")},
        4: {("How tall is the tower?", "<p; q; r> <s; t; u> <v; w; x>", "A")},
        5: set(),
    }  # fmt: skip
    for hop, said in expected.items():
        llm = Choosing()
        LLMSelector(llm, near("Who built the mill?"), pool=POOL).select(
            [Step("Q?", hop, (BORN,) * (hop - 1), OTHERS)]
        )
        assert set(shots(llm.calls[0])) == said


def test_the_nearest_examples_are_taken_nearest_first():
    for example in POOL:
        llm = Choosing()
        LLMSelector(llm, near(example.question), n_exemplars=2, pool=POOL).select([Step("Q?", 1, (), OTHERS)])
        found = [question for question, _, _ in shots(llm.calls[0])]
        assert found[0] == example.question and len(found) == 2


def test_examples_that_do_not_fit_are_dropped_from_the_end():
    found = {}
    for budget in (2048, 500, 350):
        llm = Choosing()
        selector_of(llm, budget_tokens=budget).select([FIRST])
        found[budget] = shots(llm.calls[0])
        assert sum(len(message.content) for message in llm.calls[0]) <= 4 * budget
    assert len(found[2048]) == 3
    assert 0 < len(found[500]) < 3 and found[500] == found[2048][: len(found[500])]
    assert found[350] == []


def test_triples_are_shortened_when_no_example_is_left_to_drop():
    long = [f"<{'long ' * 20}head {n}; stands for; {'long ' * 20}tail>" for n in range(20)]
    sizes = {}
    for budget in (2048, 700):
        llm = Choosing()
        selector_of(llm, budget_tokens=budget).select([Step(QUESTION, 1, (), tuple(long))])
        sizes[budget] = max(len(text) for text in listed(llm.calls[0]).values())
        assert len(llm.labels[0]) == 21
        assert sum(len(message.content) for message in llm.calls[0]) <= 4 * budget
    assert sizes[700] < sizes[2048]


def test_options_that_cannot_fit_are_refused_with_what_to_do():
    with pytest.raises(InputError, match="budget_tokens is 200") as caught:
        selector_of(Choosing(), budget_tokens=200).select([MANY])
    assert "top_k" in caught.value.hint


def test_without_examples_nothing_is_encoded():
    for options in ({"n_exemplars": 0}, {"pool": ()}):
        llm = Choosing()
        LLMSelector(llm, lambda texts: pytest.fail("encoded"), **options).select([FIRST])
        assert len(llm.calls[0]) == 2


def test_the_pool_has_examples_for_every_hop_and_their_paths_are_their_own_options():
    pool = exemplars()
    assert len(pool) >= 20
    assert len({example.question for example in pool}) == len(pool)
    for hop in (1, 2, 3, 4, 5):
        assert sum(example.right(hop) is not None for example in pool) >= 3
    for example in pool:
        assert len(set(example.path)) == len(example.path) >= 1
        assert max(example.path) < len(example.options) <= 25
        assert len(set(example.options)) == len(example.options)
        assert example.right(len(example.path) + 1) == "A"
        assert example.right(len(example.path) + 2) is None
