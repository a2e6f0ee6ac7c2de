"""What every ``NLIModel`` has to keep, as tests: subclass ``NLIContract`` and give it a fixture.

For example::

    class TestMyModel(NLIContract):
        @pytest.fixture
        def nli(self):
            return MyModel()
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from veridical.nli.base import NLIModel
from veridical.nli.directions import both_directions
from veridical.types import NLILabel, NLIResult, Span

PAIRS: list[tuple[str, str]] = [
    ("The bridge was opened in 1932. It is 503 metres long.", "The bridge opened in 1954."),
    ("A cat sleeps on the mat.", "An animal is resting."),
    ("Ore is shipped from the harbour.", "The orchestra gave its first concert in Vienna."),
    (
        "Contrary to common belief, the tower has 12 floors, not 20.",
        "The tower has 20 floors. Offices fill it.",
    ),
    (
        "Sales rose by 5% to $3 million. The plant employs 200 people.",
        "Sales fell. The plant employs 200 people.",
    ),
    ("One.", "Two."),
]

ODD_TEXTS: list[str] = [
    "",
    "   \n\t ",
    "...",
    "?!?! -- ***",
    "\u200b\ufeff",
    "Ünïcödé naïve façade.",
    "東京は日本の首都です。人口は約1400万人です。",
    "مرحبا بالعالم ١٢٣",
    "👩‍👩‍👧‍👦 🎉🎉",
    "e\u0301" * 40,
    "nul \x00 byte and \x1b[31m escape",
    "\ud800 alone",
    "1,2,3,4 ½ ² ٣ 1e999 " + "9" * 400,
    "$" * 50 + "%" * 50,
    "not " * 200,
    "one two three. " * 400,
    "word" * 5_000,
]


class NLIContract:
    """Tests for a backend. They ask for the fixture ``nli``: a fresh model."""

    tolerance = 1e-6
    #: How far a probability may move with the batch a pair is judged in; 0.02 leaves room for int8 encoders.
    batch_tolerance = 0.02

    def test_it_is_an_nli_model_with_a_stable_name(self, nli: NLIModel) -> None:
        _require(isinstance(nli, NLIModel), "it must have name and judge()")
        _require(bool(nli.name) and nli.name == nli.name, "its name must be there and stay")

    def test_no_pairs_give_no_results(self, nli: NLIModel) -> None:
        _require(list(nli.judge([])) == [], "judge([]) must be []")

    def test_probabilities_are_finite_and_sum_to_one(self, nli: NLIModel) -> None:
        self._check(PAIRS, nli.judge(PAIRS))

    def test_spans_point_into_the_texts_they_came_with(self, nli: NLIModel) -> None:
        moved = [("Some heading comes first. " + left, "\n\n  " + right) for left, right in PAIRS]
        self._check(moved, nli.judge(moved))

    def test_results_keep_the_order_of_the_pairs(self, nli: NLIModel) -> None:
        forward, backward = nli.judge(PAIRS), nli.judge(PAIRS[::-1])
        for a, b in zip(forward, backward[::-1], strict=True):
            self._same(a, b)

    def test_a_pair_is_judged_the_same_alone_and_in_a_batch(self, nli: NLIModel) -> None:
        together = nli.judge(PAIRS)
        for pair, expected in zip(PAIRS, together, strict=True):
            self._same(nli.judge([pair])[0], expected)

    def test_the_same_pair_twice_in_a_batch_is_judged_the_same(self, nli: NLIModel) -> None:
        first, _, second = nli.judge([PAIRS[0], PAIRS[1], PAIRS[0]])
        self._same(first, second)

    def test_odd_texts_do_not_break_it(self, nli: NLIModel) -> None:
        plain = PAIRS[0][0]
        pairs = [pair for odd in ODD_TEXTS for pair in ((odd, plain), (plain, odd), (odd, odd))]
        self._check(pairs, nli.judge(pairs))

    def test_a_text_without_words_is_neutral_to_everything(self, nli: NLIModel) -> None:
        for result in nli.judge([("", PAIRS[0][0]), (PAIRS[0][0], "..."), ("", "")]):
            _require(result.label is NLILabel.NEUTRAL, f"nothing was said, yet {result}")

    def test_both_directions_agree_whichever_text_comes_first(self, nli: NLIModel) -> None:
        forward = both_directions(nli, PAIRS)
        backward = both_directions(nli, [(right, left) for left, right in PAIRS])
        self._check(PAIRS, forward)
        for a, b in zip(forward, backward, strict=True):
            self._same(a, b, spans=False)

    def _check(self, pairs: Sequence[tuple[str, str]], results: Sequence[NLIResult]) -> None:
        _require(len(results) == len(pairs), f"{len(pairs)} pairs gave {len(results)} results")
        for (premise, hypothesis), result in zip(pairs, results, strict=True):
            parts = (result.entailment, result.neutral, result.contradiction)
            _require(all(math.isfinite(p) and 0 <= p <= 1 for p in parts), f"not probabilities: {result}")
            _require(abs(sum(parts) - 1) <= self.tolerance, f"they sum to {sum(parts)}: {result}")
            _points_into(premise, result.premise_span)
            _points_into(hypothesis, result.hypothesis_span)

    def _same(self, a: NLIResult, b: NLIResult, *, spans: bool = True) -> None:
        for label in NLILabel:
            gap = abs(getattr(a, label.value) - getattr(b, label.value))
            _require(gap <= self.batch_tolerance, f"{label.value} moved by {gap}: {a} and {b}")
        if spans and self.batch_tolerance == 0:
            _require(a.premise_span == b.premise_span, f"spans moved: {a} and {b}")


class TrainedNLIContract(NLIContract):
    """What can be asked only of a model that has learnt something."""

    def test_a_text_does_not_contradict_itself(self, nli: NLIModel) -> None:
        texts = [text for pair in PAIRS for text in pair]
        for text, result in zip(texts, nli.judge([(text, text) for text in texts]), strict=True):
            _require(
                result.contradiction < 0.5 and result.label is not NLILabel.CONTRADICTION, f"{text}: {result}"
            )

    def test_another_number_contradicts_more_than_another_topic(self, nli: NLIModel) -> None:
        said = "The Halden bridge was opened in 1932 and is 503 metres long."
        clash, topic = nli.judge(
            [
                (said, "The Halden bridge was opened in 1954."),
                (said, "Ore is shipped from the western harbour."),
            ]
        )
        _require(clash.contradiction > topic.contradiction, f"{clash} and {topic}")

    def test_a_repeated_statement_is_entailed_more_than_another_topic(self, nli: NLIModel) -> None:
        said = "The Halden bridge was opened in 1932 by the mayor."
        same, topic = nli.judge(
            [
                (said, "The Halden bridge was opened in 1932."),
                (said, "Ore is shipped from the western harbour."),
            ]
        )
        _require(same.entailment > topic.entailment, f"{same} and {topic}")


def _points_into(text: str, span: Span | None) -> None:
    if span is not None:
        _require(
            text[span.start : span.end] == span.text and span.text != "", f"{span} is not in {text[:80]!r}"
        )


def _require(condition: bool, message: str) -> None:
    """Fail as a test does, without ``assert``, which runs optimised away."""
    if not condition:
        raise AssertionError(message)


__all__ = ["ODD_TEXTS", "PAIRS", "NLIContract", "TrainedNLIContract"]
