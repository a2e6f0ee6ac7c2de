"""The shipped reader reads English, is the model that its record names, and stays small."""

from __future__ import annotations

import json

import pytest
from tiny_readers import write_reader

from veridical.errors import ModelError
from veridical.models import ModelStore
from veridical.reading.embedded import EmbeddedReader, data_folder
from veridical.settings import Settings
from veridical.testing.reader_contract import PASSAGES, QUESTION, ReaderContract, TrainedReaderContract

SHIPPED = data_folder()


@pytest.fixture(scope="module")
def tokenizer():
    settings = Settings.from_env()
    store = ModelStore(settings.models_dir, offline=settings.offline)
    try:
        return store.resolve("minilm-l6-int8") / "tokenizer.json"
    except ModelError as error:
        pytest.skip(f"the tokenizer cannot be had: {error.message}")


@pytest.mark.skipif(not (SHIPPED / "model.onnx").is_file(), reason="the model is not trained yet")
class TestShippedReader(TrainedReaderContract):
    @pytest.fixture
    def reader(self, tokenizer):
        return EmbeddedReader(tokenizer)

    def test_it_weighs_at_most_25_megabytes(self):
        assert (SHIPPED / "model.onnx").stat().st_size <= 25_000_000

    def test_its_card_tells_data_licence_and_figures(self):
        card = (SHIPPED / "MODEL_CARD.md").read_text(encoding="utf-8")
        for part in ("SQuADShifts", "CC BY 4.0", "Apache-2.0", "seed", "F1", "Natural Questions"):
            assert part in card

    def test_its_name_tells_the_weights(self, reader):
        about = json.loads((SHIPPED / "model.json").read_text(encoding="utf-8"))
        assert reader.name == f"embedded-{about['sha256'][:8]}"


def tiny(tmp_path, **changes):
    import hashlib

    folder = write_reader(tmp_path / "tiny")
    about = {
        "sha256": hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest(),
        "temperature": 1.5,
        "null_bias": -0.5,
        "max_span": 12,
    }
    (folder / "model.json").write_text(json.dumps(about | changes), encoding="utf-8")
    return EmbeddedReader(folder / "tokenizer.json", folder=folder)


class TestTinyEmbedded(ReaderContract):
    batch_tolerance = 1e-9

    @pytest.fixture
    def reader(self, tmp_path):
        return tiny(tmp_path)


def test_its_constants_come_from_the_record(tmp_path):
    how = tiny(tmp_path).decoding
    assert (how.temperature, how.null_bias, how.max_span) == (1.5, -0.5, 12)


def test_a_model_that_is_not_the_recorded_one_is_refused(tmp_path):
    reader = tiny(tmp_path, sha256="0" * 64)
    with pytest.raises(ModelError, match="not the model"):
        reader.read(QUESTION, PASSAGES)


def test_a_record_without_constants_is_refused(tmp_path):
    reader = tiny(tmp_path)
    (reader.folder / "model.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="lacks"):
        reader.read(QUESTION, PASSAGES)


def test_nothing_is_loaded_before_something_is_read():
    def never():
        raise AssertionError("asked too early")

    assert EmbeddedReader(never).batch_tokens > 0
