"""Any three-class ONNX model can be used, and its labels are read, not guessed."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tiny_models import write_model

from veridical.errors import InputError, ModelError
from veridical.nli.directions import both_directions
from veridical.nli.onnx_ import OnnxNLI, label_columns
from veridical.testing.nli_contract import PAIRS, NLIContract

ORDERS = [
    ("contradiction", "entailment", "neutral"),
    ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
    ("Neutral", "Contradictory", "Entails"),
]


@pytest.fixture
def folder(tmp_path):
    return write_model(tmp_path / "tiny")


class TestTinyModel(NLIContract):
    batch_tolerance = 1e-5

    @pytest.fixture(params=[True, False], ids=["with segments", "without segments"])
    def nli(self, request, tmp_path):
        return OnnxNLI(write_model(tmp_path / "tiny", token_type_ids=request.param), batch_size=4)


class TestTinyModelAlignedByEmbedding(NLIContract):
    batch_tolerance = 1e-5

    @pytest.fixture
    def nli(self, folder):
        return OnnxNLI(folder, embed=lambda texts: np.ones((len(texts), 4), dtype=np.float32) / 2)


@pytest.mark.parametrize("labels", ORDERS)
def test_each_class_is_found_by_its_name_whatever_the_order(tmp_path, labels):
    raw = OnnxNLI(write_model(tmp_path / "a", ("entailment", "neutral", "contradiction"))).judge_sentences(
        PAIRS
    )
    named = OnnxNLI(write_model(tmp_path / "b", labels)).judge_sentences(PAIRS)
    place = [
        next(i for i, label in enumerate(labels) if label.lower().startswith(p))
        for p in ("ent", "neu", "con")
    ]
    # The weights are the same, so outputs are the same, and only their names have moved.
    np.testing.assert_allclose(named, raw[:, place], atol=1e-7)


@pytest.mark.parametrize(
    "id2label",
    [
        None,
        {},
        {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
        {"0": "entailment", "1": "not_entailment"},
        {"0": "entailment", "1": "neutral", "2": "neutral"},
        {"0": "entailment", "1": "neutral", "3": "contradiction"},
        {"0": "entailment", "1": "neutral", "2": "contradiction", "3": "other"},
        ["entailment", "neutral", "contradiction"],
    ],
)
def test_labels_that_are_not_the_three_of_inference_are_refused_by_name(id2label):
    with pytest.raises(ModelError, match="id2label is " + re.escape(repr(id2label))):
        label_columns(id2label, "config.json")


def test_wrong_labels_are_found_on_first_use(tmp_path):
    model = OnnxNLI(write_model(tmp_path / "m", ("LABEL_0", "LABEL_1", "LABEL_2")))
    with pytest.raises(ModelError, match="LABEL_1"):
        model.judge(PAIRS)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=re.escape(missing)):
        OnnxNLI(folder).judge(PAIRS)


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_named(folder, damaged):
    (folder / damaged).write_text("{ this is not", encoding="utf-8")
    with pytest.raises(ModelError, match=re.escape(damaged)):
        OnnxNLI(folder).judge(PAIRS)


def test_a_graph_with_other_than_three_outputs_is_refused(folder, tmp_path):
    two = write_model(tmp_path / "two", ("entailment", "contradiction"))
    (two / "model.onnx").replace(folder / "model.onnx")
    with pytest.raises(ModelError, match="three classes"):
        OnnxNLI(folder).judge(PAIRS)


def test_segments_matter_only_where_the_graph_asks_for_them(tmp_path):
    pairs = [("abc", "abc def")]
    with_segments = OnnxNLI(write_model(tmp_path / "a", token_type_ids=True)).judge_sentences(pairs)
    without = OnnxNLI(write_model(tmp_path / "b", token_type_ids=False)).judge_sentences(pairs)
    assert not np.allclose(with_segments, without)


def test_a_graph_that_wants_32_bit_integers_gets_them(tmp_path):
    wide = OnnxNLI(write_model(tmp_path / "a", int_type="int64")).judge_sentences(PAIRS)
    narrow = OnnxNLI(write_model(tmp_path / "b", int_type="int32")).judge_sentences(PAIRS)
    np.testing.assert_allclose(wide, narrow, atol=1e-7)


def test_both_sides_of_a_pair_that_is_too_long_still_count(tmp_path):
    model = OnnxNLI(write_model(tmp_path / "m", positions=16))
    long = "a b c d e f g h " * 30
    left, right, other = model.judge_sentences([(long, "x y z"), (long, "q r s"), ("z y x " * 30, "x y z")])
    assert not np.allclose(left, right), "the short side was cut away"
    assert not np.allclose(left, other), "the long side was cut away"


def test_the_token_limit_is_the_least_of_model_setting_and_512(tmp_path):
    assert OnnxNLI(write_model(tmp_path / "a", positions=2048))._limit() == 512
    assert OnnxNLI(write_model(tmp_path / "a", positions=64))._limit() == 64
    assert OnnxNLI(write_model(tmp_path / "a", positions=64), max_tokens=32)._limit() == 32
    offset = {"model_type": "roberta", "pad_token_id": 1}
    assert OnnxNLI(write_model(tmp_path / "a", positions=130, config=offset))._limit() == 128


def test_the_batch_size_changes_nothing(folder):
    pairs = [(left * n, right) for left, right in PAIRS for n in (1, 2, 3)]
    one = OnnxNLI(folder, batch_size=1).judge_sentences(pairs)
    many = OnnxNLI(folder, batch_size=64).judge_sentences(pairs)
    np.testing.assert_allclose(one, many, atol=1e-6)


def test_the_strongest_sentence_pair_decides_and_is_shown(folder):
    model = OnnxNLI(folder)
    premise, hypothesis = (
        "Gulls cry at dawn. Boats leave the harbour.",
        "Boats leave the harbour early. Gulls cry.",
    )
    result = model.judge([(premise, hypothesis)])[0]
    shown = model.judge_sentences([(result.premise_span.text, result.hypothesis_span.text)])[0]
    np.testing.assert_allclose(shown, [result.entailment, result.neutral, result.contradiction], atol=1e-6)
    aligned = [(p, h) for p in premise.split(". ") for h in hypothesis.split(". ") if p[:3] == h[:3]]
    strongest = model.judge_sentences([(p.rstrip(".") + ".", h.rstrip(".") + ".") for p, h in aligned])[
        :, [0, 2]
    ].max()
    assert max(result.entailment, result.contradiction) == pytest.approx(strongest, abs=1e-6)


def test_the_name_changes_with_weights_and_with_settings(tmp_path):
    names = {
        OnnxNLI(write_model(tmp_path / "1" / "m", seed=0)).name,
        OnnxNLI(write_model(tmp_path / "2" / "m", seed=1)).name,
        OnnxNLI(write_model(tmp_path / "3" / "m", ORDERS[1])).name,
        OnnxNLI(write_model(tmp_path / "4" / "m"), max_pairs=2).name,
    }
    assert len(names) == 4
    assert OnnxNLI(write_model(tmp_path / "5" / "m")).name in names, "place and time are no part of it"


def test_nothing_is_read_before_first_use(tmp_path):
    asked = []

    def where():
        asked.append(1)
        return write_model(tmp_path / "late")

    model = OnnxNLI(where)
    assert not asked
    model.judge(PAIRS)
    model.judge(PAIRS)
    assert len(asked) == 1


@pytest.mark.parametrize("setting", ["max_tokens", "batch_size", "n_threads", "max_pairs"])
def test_a_setting_out_of_range_is_refused(folder, setting):
    with pytest.raises(InputError, match=setting):
        OnnxNLI(folder, **{setting: 0})


def test_both_directions_asks_the_model_twice(folder):
    model = OnnxNLI(folder)
    forward, backward = model.judge(PAIRS), model.judge([(b, a) for a, b in PAIRS])
    joined = both_directions(model, PAIRS)
    assert json.dumps([r.to_dict() for r in joined]) != json.dumps([r.to_dict() for r in forward])
    for f, b, j in zip(forward, backward, joined, strict=True):
        total = max(1.0, max(f.entailment, b.entailment) + (f.contradiction + b.contradiction) / 2)
        assert j.contradiction == pytest.approx((f.contradiction + b.contradiction) / 2 / total)
        assert j.entailment == pytest.approx(max(f.entailment, b.entailment) / total)
