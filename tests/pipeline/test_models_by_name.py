"""Settings name backends, and what is missing is said."""

from __future__ import annotations

from dataclasses import replace
from importlib import util

import pytest

from veridical.errors import InputError, MissingExtraError
from veridical.llm.llama_cpp_ import LlamaCppLLM
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


def test_a_gguf_file_without_a_server_is_run_in_this_process(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: object())
    file = tmp_path / "my-model-q4.gguf"
    file.write_bytes(b"GGUF")
    llm = Models(replace(settings, llm_model=str(file), llm_context=2048)).llm()
    assert llm is not None and isinstance(llm.llm, LlamaCppLLM)
    assert llm.name == "my-model-q4"
    assert "n_ctx=2048" in repr(llm.llm)


def test_a_model_of_the_manifest_is_run_in_this_process_too(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: object())
    llm = Models(replace(settings, llm_model="smollm2-135m-instruct")).llm()
    assert llm is not None and isinstance(llm.llm, LlamaCppLLM)
    assert llm.name == "smollm2-135m-instruct"


@pytest.mark.parametrize(
    "named", ["gpt-large", "no/such/file.gguf", "~nobody-at-all/x.gguf", "minilm-l6-int8"]
)
def test_a_name_that_is_no_file_and_no_language_model_needs_a_server(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: object())
    with pytest.raises(InputError, match="VERIDICAL_LLM_BASE_URL is not set") as caught:
        Models(replace(settings, llm_model=named)).llm()
    assert "smollm2-135m-instruct" in caught.value.hint


def test_a_model_that_is_named_asks_for_the_extra_that_runs_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    assert Models(settings).llm() is None
    with pytest.raises(MissingExtraError, match="VERIDICAL_LLM_MODEL"):
        Models(replace(settings, llm_model="smollm2-135m-instruct")).llm()


def test_a_server_without_a_model_is_configured_by_half(settings: Settings) -> None:
    with pytest.raises(InputError, match="VERIDICAL_LLM_MODEL is not set"):
        Models(replace(settings, llm_base_url="http://127.0.0.1:9")).llm()
