"""The sentence encoder gives one unit vector a text, whatever the text and its company."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from veridical.errors import ModelError
from veridical.index.encoder import Encoder, TextEncoder
from veridical.models import ModelStore
from veridical.settings import Settings
from veridical.testing.fakes import HashEncoder

TEXTS = [
    "The staging server listens on port 8443.",
    "",
    "Staging is reached through port 8443.",
    "Bananas ripen faster in a paper bag.",
    "one " * 2500,
    "😀 \u202e ﬁ\0",
    "Refunds are paid within thirty days.",
]


@pytest.fixture(scope="module")
def model() -> Path:
    try:
        return ModelStore(Settings.from_env().models_dir).resolve("minilm-l6-int8")
    except ModelError as error:
        pytest.skip(f"the encoder cannot be had here: {error.message[:200]}")


@pytest.fixture(scope="module")
def encoder(model: Path) -> Encoder:
    return Encoder(model)


def test_every_vector_has_length_one(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_what_else_is_encoded_makes_no_difference(model: Path, encoder: Encoder) -> None:
    expected = encoder.encode(TEXTS)
    np.testing.assert_allclose(encoder.encode(TEXTS[::-1])[::-1], expected, atol=1e-5)
    alone = np.vstack([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, expected, atol=1e-5)
    np.testing.assert_allclose(
        Encoder(model, batch_tokens=40, n_threads=2).encode(TEXTS), expected, atol=1e-5
    )


def test_a_paraphrase_is_nearer_than_another_subject(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    paraphrase, unrelated = vectors[0] @ vectors[2], vectors[0] @ vectors[3]
    assert paraphrase > 0.7
    assert unrelated < 0.3


def test_text_beyond_the_limit_is_cut(encoder: Encoder) -> None:
    long = "The cat sat on the mat. " * 500
    np.testing.assert_allclose(encoder.encode([long]), encoder.encode([long + "Bananas."]), atol=1e-6)


def test_no_text_makes_no_vector(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_a_lone_surrogate_is_no_reason_to_fail(encoder: Encoder) -> None:
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(["\udcff port"]), axis=1), 1.0, atol=1e-5)


def test_progress_adds_up_to_the_number_of_texts(model: Path) -> None:
    steps: list[int] = []
    Encoder(model, batch_tokens=48).encode(TEXTS, on_progress=steps.append)
    assert sum(steps) == len(TEXTS)
    assert len(steps) == 3


def test_nothing_is_loaded_before_the_first_text(tmp_path: Path) -> None:
    asked = []

    def folder() -> Path:
        asked.append(1)
        return tmp_path

    encoder = Encoder(folder)
    encoder.encode([])
    assert asked == []
    with pytest.raises(ModelError):
        encoder.encode(["text"])
    assert asked == [1]


def test_a_folder_without_a_model_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        Encoder(tmp_path).encode(["text"])
    assert str(tmp_path) in caught.value.message
    assert "veridical models pull" in caught.value.hint


def test_the_stand_in_does_what_an_encoder_does() -> None:
    encoder = HashEncoder()
    assert isinstance(encoder, TextEncoder)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[3]
    assert np.array_equal(HashEncoder().encode(TEXTS[::-1])[::-1], vectors)
    assert encoder.n_encoded == len(TEXTS)
