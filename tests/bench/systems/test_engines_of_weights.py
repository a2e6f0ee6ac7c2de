"""Weights are a file that is loaded when it is needed, or any language model; raw ones see no template."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.bench.systems.base import Tools
from veridical.bench.systems.weights import RawLlamaCppLLM, engine
from veridical.errors import LLMError, ModelError
from veridical.llm.base import Message
from veridical.llm.budget import Budget
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.llm.managed import ManagedLLM, manage
from veridical.llm.scripted import ScriptedLLM

NAME = "smollm2-135m-instruct"
ASK = (Message("system", "You are short."), Message("user", "What is the capital of France?"))


def test_a_language_model_is_taken_as_it_is() -> None:
    given = ScriptedLLM(["yes"])
    assert engine(Tools(weights={"mine": given}), "mine").llm is given


def test_a_file_is_an_engine_of_that_name_which_is_not_loaded_yet(tmp_path: Path) -> None:
    tools = Tools(weights={"mine": tmp_path / "nowhere"})
    chat, raw = engine(tools, "mine"), engine(tools, "mine", raw=True)
    assert type(chat.llm) is LlamaCppLLM and type(raw.llm) is RawLlamaCppLLM
    assert chat.name == raw.name == "mine"
    assert chat.llm.identity != raw.llm.identity


def test_the_budget_of_the_run_is_that_of_its_weights(tmp_path: Path) -> None:
    budget = Budget(max_calls=1)
    shared = ManagedLLM(ScriptedLLM(["a", "b"]), budget=budget)
    tools = Tools(llm=shared, weights={"mine": ScriptedLLM(["a", "b"])})
    assert engine(tools, "mine").budget is budget
    given = manage(ScriptedLLM(["a"]))
    assert engine(Tools(llm=shared, weights={"mine": given}), "mine") is given


@pytest.fixture(scope="module")
def models():
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    from veridical.models import ModelStore
    from veridical.settings import Settings

    settings = Settings.from_env()
    try:
        folder = ModelStore(settings.models_dir, offline=settings.offline).resolve(NAME)
    except ModelError as error:
        pytest.skip(f"the embedded model cannot be had here: {error.message}")
    chat = LlamaCppLLM(folder, name=NAME, n_ctx=256, n_threads=1)
    raw = RawLlamaCppLLM(folder, name=NAME, n_ctx=256, n_threads=1)
    yield chat, raw
    chat.close()
    raw.close()


def as_text(chat: LlamaCppLLM) -> tuple[Message, ...]:
    """The conversation as the text that its template makes of it."""
    turns = [{"role": message.role, "content": message.content} for message in ASK]
    return (Message("user", chat._run(lambda server: server.template(turns))),)


def test_raw_text_that_is_what_the_template_writes_is_continued_as_the_conversation(models) -> None:
    chat, raw = models
    text = as_text(chat)
    assert raw.generate(text, max_tokens=8).text == chat.generate(ASK, max_tokens=8).text
    conversation, plain = chat.next_tokens(ASK, n_top=3), raw.next_tokens(text, n_top=3)
    assert [token for token, _ in plain.tokens] == [token for token, _ in conversation.tokens]


def test_what_was_written_is_part_of_the_text(models) -> None:
    _, raw = models
    before = raw.next_tokens((Message("user", "Paris is the capital"),), " of", n_top=3)
    whole = raw.next_tokens((Message("user", "Paris is the capital of"),), n_top=3)
    assert [token for token, _ in before.tokens] == [token for token, _ in whole.tokens]


def test_a_text_that_is_too_long_is_refused(models) -> None:
    _, raw = models
    with pytest.raises(LLMError, match="256"):
        raw.generate((Message("user", "word " * 400),), max_tokens=4)
