"""Settings name backends, and what is missing is said."""

from __future__ import annotations

from dataclasses import replace
from importlib import util

import pytest

from veridical.errors import InputError
from veridical.nli.features import FeatureNLI
from veridical.nli.llm_ import LLMNLI
from veridical.nli.onnx_ import OnnxNLI
from veridical.pipeline.models import Models
from veridical.reading.llm_ import LLMReader
from veridical.settings import Settings


def test_inference_by_name(settings: Settings, tmp_path) -> None:
    served = replace(settings, llm_base_url="http://127.0.0.1:9", llm_model="small")
    models = Models(served)
    assert isinstance(models.nli("features"), FeatureNLI)
    assert isinstance(models.nli(f"onnx:{tmp_path}"), OnnxNLI)
    asked = models.nli("llm")
    assert isinstance(asked, LLMNLI) and "small" in asked.name
    assert isinstance(models.reader("llm"), LLMReader)


@pytest.mark.parametrize("make", ["nli", "reader"])
def test_a_judge_or_reader_that_asks_a_language_model_needs_one(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, make: str
) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="'llm' needs a language model") as caught:
        getattr(Models(settings), make)("llm")
    assert "VERIDICAL_LLM_BASE_URL" in str(caught.value.hint)


@pytest.mark.parametrize("make", ["nli", "reader"])
def test_a_folder_must_be_named(settings: Settings, make: str) -> None:
    with pytest.raises(InputError, match="names no folder"):
        getattr(Models(settings), make)("onnx")
