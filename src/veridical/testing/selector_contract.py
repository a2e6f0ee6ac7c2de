"""What every ``Selector`` has to keep, as tests: subclass ``SelectorContract``, give it a ``selector``.

class TestMySelector(SelectorContract):
    @pytest.fixture
    def selector(self):
        return MySelector()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from veridical.evidence.selectors import FloatArray, Selector, Step
from veridical.testing.nli_contract import ODD_TEXTS

QUESTION = "Which river lies on the border of the town where Anna Berg was born?"
BORN = "<Anna Berg; was born in; the town of Halden>"
RIVER = "<the town of Halden; lies on the border river; Tista>"
OTHERS = (
    "<the orchestra; gave its first concert in; Vienna>",
    "<ore; is shipped from; the western harbour>",
    "<the price of tea; rose by; four per cent>",
)
FIRST = Step(QUESTION, 1, (), (BORN, *OTHERS))
STEPS: list[Step] = [
    FIRST,
    Step(QUESTION, 2, (BORN,), (*OTHERS[:1], RIVER, *OTHERS[1:])),
    Step(QUESTION, 2, (OTHERS[0],), (BORN, RIVER)),
    Step(QUESTION, 3, (BORN, RIVER), OTHERS),
    Step("Who?", 4, (BORN, OTHERS[0], RIVER), (OTHERS[1],)),
]
MANY = Step(QUESTION, 1, (), tuple(f"<Anna Berg; wrote; book number {number}>" for number in range(25)))


class SelectorContract:
    """Tests for a selector. They ask for the fixture ``selector``: a fresh selector."""

    #: How far a probability may move with the steps that a step is asked beside.
    batch_tolerance = 1e-6

    def test_it_is_a_selector_with_a_stable_name(self, selector: Selector) -> None:
        _require(isinstance(selector, Selector), "it must have name and select()")
        _require(bool(selector.name) and selector.name == selector.name, "its name must be there and stay")

    def test_no_steps_give_no_probabilities(self, selector: Selector) -> None:
        _require(list(selector.select([])) == [], "select([]) must be []")

    def test_each_step_gets_a_probability_for_stopping_and_one_for_each_option(
        self, selector: Selector
    ) -> None:
        _check(STEPS, selector.select(STEPS))

    def test_as_many_options_as_there_are_letters_can_be_weighed(self, selector: Selector) -> None:
        _check([MANY], selector.select([MANY]))

    def test_probabilities_keep_the_order_of_the_steps(self, selector: Selector) -> None:
        forward, backward = selector.select(STEPS), selector.select(STEPS[::-1])
        self._same(forward, backward[::-1])

    def test_a_step_is_weighed_the_same_alone_and_beside_others(self, selector: Selector) -> None:
        self._same(selector.select(STEPS), [selector.select([step])[0] for step in STEPS])

    def test_the_same_steps_give_the_same_probabilities_again(self, selector: Selector) -> None:
        self._same(selector.select(STEPS), selector.select(STEPS))

    def test_odd_texts_do_not_break_it(self, selector: Selector) -> None:
        steps = [Step(odd, 2, (odd,), (BORN, odd)) for odd in ODD_TEXTS]
        steps += [replace(FIRST, options=(odd, *OTHERS)) for odd in ODD_TEXTS]
        steps.append(replace(FIRST, options=("<a; b; " + "long " * 2000 + ">", BORN)))
        _check(steps, selector.select(steps))

    def _same(self, left: Sequence[FloatArray], right: Sequence[FloatArray]) -> None:
        for a, b in zip(left, right, strict=True):
            gap = float(np.abs(np.asarray(a) - np.asarray(b)).max())
            _require(gap <= self.batch_tolerance, f"a probability moved by {gap}: {a} and {b}")


class TellingSelectorContract(SelectorContract):
    """What can be asked only of a selector that can tell what leads to an answer."""

    def test_it_starts_with_the_triple_that_the_question_asks_for(self, selector: Selector) -> None:
        [chances] = selector.select([FIRST])
        _require(int(np.argmax(chances)) == 1, f"{BORN} is what leads on: {chances}")

    def test_it_goes_on_with_the_triple_that_the_chain_leads_to(self, selector: Selector) -> None:
        [chances] = selector.select([STEPS[1]])
        _require(int(np.argmax(chances[1:])) == 1, f"{RIVER} is what leads on: {chances}")

    def test_it_is_readier_to_stop_when_the_chain_answers(self, selector: Selector) -> None:
        before, after = selector.select(
            [Step(QUESTION, 2, (OTHERS[0],), (BORN, RIVER)), Step(QUESTION, 3, (BORN, RIVER), OTHERS)]
        )
        _require(after[0] > before[0], f"it answers, yet to stop has {after[0]} after {before[0]}")


def _check(steps: Sequence[Step], found: Sequence[FloatArray]) -> None:
    _require(len(found) == len(steps), f"{len(steps)} steps gave {len(found)} rows")
    for step, chances in zip(steps, found, strict=True):
        values = np.asarray(chances, dtype=np.float64)
        wanted = (1 + len(step.options),)
        _require(values.shape == wanted, f"shape {values.shape}, not {wanted}")
        _require(bool(((values >= 0) & (values <= 1)).all()), f"not probabilities: {values}")
        _require(abs(float(values.sum()) - 1.0) <= 1e-6, f"they sum to {values.sum()}")


def _require(holds: bool, what: str) -> None:
    """Fail with ``what`` unless ``holds``; a plain assert could be optimised away."""
    if not holds:
        raise AssertionError(what)


__all__ = ["FIRST", "MANY", "QUESTION", "STEPS", "SelectorContract", "TellingSelectorContract"]
