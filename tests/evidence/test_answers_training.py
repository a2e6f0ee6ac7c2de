"""What fits the constants of the evidence board draws what it says and measures what it reports."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from veridical.evidence.board import BoardModel, PassageRead, hear
from veridical.reading.base import ReadAnswer, Reading
from veridical.reading.squad import Context, Item, Question
from veridical.types import Passage, Span

PATH = Path(__file__).parents[2] / "training" / "answers.py"


@pytest.fixture(scope="module")
def training():
    spec = importlib.util.spec_from_file_location("training_answers", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_drawn_trust_means_what_it_says(training):
    rng = np.random.default_rng(0)
    rows = [training.Text("", True), training.Text("", False)]
    drawn = [(t.trust, t.is_true) for _ in range(20_000) for t in training.trusted(rows, rng)]
    trust, true = np.array([d for d in drawn if not np.isnan(d[0])]).T
    assert 0.35 < 1 - len(trust) / len(drawn) < 0.45
    for low in (0.1, 0.3, 0.5, 0.7):
        inside = (trust >= low) & (trust < low + 0.2)
        assert true[inside].mean() == pytest.approx(trust[inside].mean(), abs=0.02)


def test_a_shortened_passage_keeps_its_answer(training):
    text = "One goes first. Two follows in 1932. Three is last. Four stays. Five leaves."
    start = text.index("1932")
    item = Item("own", "file", "When?", text, ((start, start + 4),))
    made = {training.shortened(item, np.random.default_rng(seed)).text for seed in range(20)}
    assert len(made) > 5
    assert all("Two follows in 1932." in shorter for shorter in made)


def test_questions_are_drawn_from_held_out_passages_only(training):
    question = Question("q", "When?", (Span("1932", 0, 4),))
    contexts = [Context("file", f"1932 {i}", (question,), held_out=i % 3 == 0) for i in range(30)]
    assert {c.held_out for c, _ in training.chosen(contexts, 100, 0)} == {True}


def test_the_calibration_error_is_the_gap_between_what_is_said_and_what_comes_true(training):
    chances = np.full(1000, 0.8)
    right = np.arange(1000) % 2 == 0
    assert training.calibration_error(chances, right) == pytest.approx(0.3)
    assert training.calibration_error(chances, np.arange(1000) % 5 != 0) == pytest.approx(0, abs=1e-9)


def test_risk_falls_with_coverage_where_probabilities_rank_well(training):
    right = np.array([True] * 6 + [False] * 4)
    curve = dict(training.risk_coverage(np.linspace(0.9, 0.1, 10), right))
    assert curve[1.0] == pytest.approx(0.4) and curve[0.6] == 0 and curve[0.8] == pytest.approx(0.25)


def test_weights_are_the_boards_own(training):
    model = BoardModel(1.0, 1.0, 1.0, 2.0, 1.5, 0.2, 0.3, 0.05)
    texts = ["Anna came at noon.", "Carl came late."]
    reads = [
        PassageRead(
            Passage(i, i, 0, 0, 40, text),
            None,
            Reading((ReadAnswer(text[:4], 0, 4, p),), 1 - p),
            0.5,
            float("nan"),
        )
        for i, (text, p) in enumerate(zip(texts, (0.5, 0.9), strict=True))
    ]
    pool = training.Pool("Who came?", ("Anna",), (), True)
    weights = training.Weights.of([pool], [hear("Who came?", reads)], model)
    assert weights.values[0] == pytest.approx([0.45, 0.25])
    assert weights.right.tolist() == [[False, True]]
    chances = weights.probabilities(model.sharpness, model.missing)[0]
    assert chances == pytest.approx(model.probabilities([0.45, 0.25]))
    assert weights.loss(model.sharpness, model.missing) == pytest.approx(-np.log(chances[1]))
