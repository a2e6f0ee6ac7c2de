"""Every compared system keeps the contract, with a language model and, where it needs none, without."""

from __future__ import annotations

import pytest

from veridical import registry
from veridical.bench.systems.base import Retrieved, System, Task, Tools, missing
from veridical.models import load_manifest
from veridical.testing.system_contract import (
    HOSTILE,
    QUESTION,
    TASK,
    FakeLLM,
    SystemContract,
    fake_tools,
    pool,
)

NAMES = registry.names("systems")
ABOUT = {name: registry.load("systems", name).about for name in NAMES}
WITHOUT_LLM = [name for name in NAMES if not missing(ABOUT[name], fake_tools())]
WITH_LLM = [name for name in NAMES if not missing(ABOUT[name], fake_tools(FakeLLM()))]


def make(name: str, tools: Tools) -> System:
    system: System = registry.load("systems", name)(tools)
    return system


class TestWithALanguageModel(SystemContract):
    @pytest.fixture(params=WITH_LLM)
    def system(self, request: pytest.FixtureRequest) -> System:
        return make(request.param, fake_tools(FakeLLM()))


class TestWithoutALanguageModel(SystemContract):
    @pytest.fixture(params=WITHOUT_LLM)
    def system(self, request: pytest.FixtureRequest) -> System:
        return make(request.param, fake_tools())


@pytest.mark.parametrize("name", NAMES)
def test_a_system_has_the_name_that_it_is_registered_by(name: str) -> None:
    assert registry.load("systems", name).name == name


@pytest.mark.parametrize("name", [name for name in NAMES if ABOUT[name].ablation_of])
def test_an_ablation_is_of_a_system_that_there_is(name: str) -> None:
    assert ABOUT[name].ablation_of in NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if ABOUT[name].weights])
def test_the_weights_that_a_system_waits_for_are_in_the_manifest(name: str) -> None:
    assert ABOUT[name].weights in load_manifest()
    assert f"weights {ABOUT[name].weights}" in missing(ABOUT[name], fake_tools(FakeLLM()))


def test_what_waits_for_nothing_runs_with_a_language_model() -> None:
    assert set(WITH_LLM) == {name for name in NAMES if ABOUT[name].weights is None}


def test_titles_tell_systems_apart() -> None:
    titles = [about.title for about in ABOUT.values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", WITH_LLM)
def test_text_of_passages_cannot_leave_its_place_in_a_prompt(name: str) -> None:
    llm = FakeLLM()
    poisoned = tuple(Retrieved(9, HOSTILE + own.text, HOSTILE, relevance=own.relevance) for own in pool())
    make(name, fake_tools(llm)).answer(Task(f"{HOSTILE} {QUESTION}", poisoned))
    for message in (message for call in llm.calls for message in call):
        assert "<|im_" not in message.content
        assert HOSTILE[-20:] not in message.content


@pytest.mark.parametrize("name", WITH_LLM)
def test_calls_are_counted(name: str) -> None:
    llm = FakeLLM()
    reply = make(name, fake_tools(llm)).answer(TASK)
    assert reply.usage.calls == len(llm.calls)
