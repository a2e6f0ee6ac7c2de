"""The embedded model for real, where its library and its file can be had."""

from __future__ import annotations

import builtins

import pytest

from veridical.errors import InputError, LLMError, MissingExtraError, ModelError
from veridical.llm.base import Message
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.testing.llm_contract import LLMContract

NAME = "smollm2-135m-instruct"
ASK = (Message("user", "What is the capital of France?"),)


@pytest.fixture(scope="module")
def model_folder():
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    from veridical.models import ModelStore
    from veridical.settings import Settings

    settings = Settings.from_env()
    try:
        return ModelStore(settings.models_dir, offline=settings.offline).resolve(NAME)
    except ModelError as error:
        pytest.skip(f"the embedded model cannot be had here: {error.message}")


@pytest.fixture(scope="module")
def llm(model_folder):
    model = LlamaCppLLM(model_folder, name=NAME, n_ctx=512, n_threads=1)
    yield model
    model.close()


class TestLlamaCppKeepsTheContract(LLMContract):
    @pytest.fixture(autouse=True)
    def _model(self, llm):
        self.llm = llm

    def make(self):
        return self.llm

    def make_failing(self):
        yield LlamaCppLLM(self.llm._where, n_ctx=64, n_threads=1, timeout_s=1e-6)


def test_it_writes_no_log_to_the_terminal(llm, capfd):
    llm.generate(ASK, max_tokens=4)
    assert capfd.readouterr() == ("", "")


def test_a_prompt_that_is_too_long_is_refused_with_the_sizes(llm):
    with pytest.raises(LLMError, match="512") as caught:
        llm.generate((Message("user", "word " * 2000),), max_tokens=4)
    assert "fewer passages" in caught.value.hint


def test_tokens_are_counted_and_a_cut_is_told(llm):
    generation = llm.generate((Message("user", "Tell me a long story about a ship."),), max_tokens=6)
    assert generation.finish_reason == "length"
    assert generation.usage.completion_tokens == 6
    assert generation.usage.prompt_tokens > 8


def test_a_file_that_is_no_model_is_a_model_error(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF but not really")
    with pytest.raises(ModelError, match=r"broken\.gguf"):
        LlamaCppLLM(path).generate(ASK, max_tokens=4)


def test_a_file_that_is_not_there_names_the_command_that_fetches_it(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    with pytest.raises(ModelError) as caught:
        LlamaCppLLM(tmp_path / "none.gguf").generate(ASK, max_tokens=4)
    assert "veridical models pull" in caught.value.hint


def test_without_the_library_the_pip_line_is_given(monkeypatch):
    honest = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "xllamacpp":
            raise ImportError(name)
        return honest(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtraError) as caught:
        LlamaCppLLM("model.gguf").generate(ASK, max_tokens=4)
    assert "veridical[local]" in caught.value.hint


def test_nothing_is_loaded_or_looked_for_before_the_first_call():
    llm = LlamaCppLLM("no/such/folder/tiny.gguf")
    assert llm.name == "tiny"
    assert LlamaCppLLM("models/smollm2-135m-instruct/model.gguf").name == NAME
    assert LlamaCppLLM(lambda: 1 / 0).name == "llama.cpp"


@pytest.mark.parametrize("wrong", [{"n_ctx": 1}, {"n_threads": 0}, {"timeout_s": 0.0}])
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError):
        LlamaCppLLM("tiny.gguf", **wrong)
