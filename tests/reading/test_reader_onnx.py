"""Any span model can be a reader: its answers are spans of the passage, however long that is."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_readers import write_reader

from veridical.errors import InputError, ModelError
from veridical.reading.onnx_ import OnnxReader
from veridical.reading.windows import Decoding
from veridical.testing.reader_contract import LONG, PASSAGES, QUESTION, ReaderContract


class TestTinyReader(ReaderContract):
    batch_tolerance = 1e-9

    @pytest.fixture(params=["two", "one"], ids=["two outputs", "one output"])
    def reader(self, request, tmp_path):
        return OnnxReader(write_reader(tmp_path / "tiny", outputs=request.param), stride=16, batch_tokens=200)


class TestTinyReaderWithoutSegments(ReaderContract):
    batch_tolerance = 1e-9

    @pytest.fixture
    def reader(self, tmp_path):
        folder = write_reader(tmp_path / "tiny", token_type_ids=False, int_type="int32")
        return OnnxReader(folder, max_tokens=48, stride=12)


@pytest.fixture
def folder(tmp_path):
    return write_reader(tmp_path / "tiny")


def test_every_token_of_a_long_passage_is_in_a_window_and_windows_overlap(folder):
    reader = OnnxReader(folder, max_tokens=64, stride=10)
    windows = reader.windows([(QUESTION, LONG)])
    assert len(windows) > 10
    assert all(len(window.ids) <= 64 for window in windows)
    covered = np.zeros(len(LONG), dtype=int)
    for window in windows:
        for start, end in zip(window.starts, window.ends, strict=True):
            covered[start:end] += 1
    letters = np.array([char.isalnum() for char in LONG])
    assert (covered[letters] >= 1).all()
    assert (covered[letters] >= 2).mean() > 0.1


def test_a_long_question_leaves_room_for_the_passage(folder):
    reader = OnnxReader(folder, max_tokens=64)
    (window,) = reader.windows([("why " * 500, "Short.")])
    assert len(window.ids) <= 64
    assert window.starts[0] == 0


def test_the_models_own_limit_is_kept(folder):
    windows = OnnxReader(folder, max_tokens=256).windows([(QUESTION, LONG)])
    assert max(len(window.ids) for window in windows) == 96


def test_answers_begin_and_end_with_whole_words(folder):
    for passage, reading in zip(PASSAGES, OnnxReader(folder).read(QUESTION, PASSAGES), strict=True):
        for answer in reading.answers:
            around = passage[max(0, answer.start - 1) : answer.start] + passage[answer.end : answer.end + 1]
            assert not any(char.isalnum() for char in around)


def test_a_higher_temperature_makes_no_span_certain(folder):
    cold = OnnxReader(folder, decoding=Decoding(temperature=0.2)).read(QUESTION, PASSAGES[:1])[0]
    warm = OnnxReader(folder, decoding=Decoding(temperature=50.0)).read(QUESTION, PASSAGES[:1])[0]
    assert warm.best.probability < cold.best.probability


def test_the_name_changes_with_the_weights_and_with_the_settings(folder, tmp_path):
    other = write_reader(tmp_path / "other" / "tiny", seed=1)
    names = {
        OnnxReader(folder).name,
        OnnxReader(other).name,
        OnnxReader(folder, max_tokens=64, stride=8).name,
        OnnxReader(folder, decoding=Decoding(null_bias=1.0)).name,
    }
    assert len(names) == 4
    assert all(name.startswith("onnx-tiny-") for name in names)


def test_a_callable_folder_is_asked_only_when_something_is_read(folder):
    asked = []
    reader = OnnxReader(lambda: asked.append(1) or folder)
    assert not asked
    reader.read(QUESTION, PASSAGES[:1])
    assert asked


def test_a_classifier_is_refused(tmp_path):
    reader = OnnxReader(write_reader(tmp_path / "tiny", outputs="classes"))
    with pytest.raises(ModelError, match="question-answering model"):
        reader.read(QUESTION, PASSAGES)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder, file):
    (folder / file).unlink()
    with pytest.raises(ModelError, match=file):
        OnnxReader(folder).read(QUESTION, PASSAGES)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_damaged_file_is_named(folder, file):
    (folder / file).write_bytes(b"\x00 not what it should be")
    with pytest.raises(ModelError, match=file):
        OnnxReader(folder).read(QUESTION, PASSAGES)


@pytest.mark.parametrize(
    "wrong", [{"max_tokens": 8}, {"stride": -1}, {"stride": 100}, {"batch_tokens": 0}, {"n_threads": 0}]
)
def test_a_setting_out_of_range_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        OnnxReader(lambda: None, **wrong)
