"""Answers say what they cost; replies are kept in the knowledge base, within a budget, until it forgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.errors import BudgetError
from veridical.llm.base import Message
from veridical.llm.cache import FILE, ReplyCache
from veridical.llm.scripted import ScriptedLLM
from veridical.nli.base import NLIModel
from veridical.pipeline import facade
from veridical.pipeline.models import Models
from veridical.reading.llm_ import LLMReader
from veridical.settings import Settings
from veridical.testing.fake_models import FakeModels
from veridical.testing.fakes import FakeReader, HashEncoder
from veridical.testing.llm_server import Fault, ScriptedServer, completion
from veridical.types import Usage

Open = Callable[..., Veridical]
GATEWAY = "Which setting does the gateway of the office use?"
PRINTER = "Which setting does the printer of the office use?"
REPLY = "It uses setting 443 [1]."


class Known(ScriptedLLM):
    """A script that says what its replies depend on."""

    identity = "a script that always says the same"


def always(messages: Sequence[Message]) -> str:
    return REPLY


def reopened(path: Path, llm: ScriptedLLM, settings: Settings) -> Veridical:
    v = Veridical.open(path, llm=llm, settings=settings)
    v.models = FakeModels()
    return v


@pytest.fixture
def plain(tmp_path: Path) -> Settings:
    return Settings(models_dir=tmp_path / "models", offline=True)


def test_an_answer_says_what_it_cost_by_stage(open_kb: Open, kb: Veridical) -> None:
    reader = LLMReader(ScriptedLLM(lambda messages: "443", name="reader"))
    v = open_kb("kb", llm=ScriptedLLM(always), reader=reader)
    answer = v.ask(GATEWAY, n_read=3)
    assert set(answer.usage_by_stage) == {"read", "answer"}
    assert answer.usage_by_stage["answer"].calls == 1
    assert answer.usage_by_stage["read"].calls >= 3
    assert answer.usage == sum(answer.usage_by_stage.values(), Usage())
    assert answer.usage.prompt_tokens > 0


def test_an_answer_without_a_language_model_cost_nothing(kb: Veridical) -> None:
    answer = kb.ask(GATEWAY)
    assert (answer.usage, dict(answer.usage_by_stage)) == (Usage(), {})


def test_a_question_asked_again_is_answered_from_the_folder(kb: Veridical, plain: Settings) -> None:
    with reopened(kb.path, Known(always), plain) as v:
        first = v.ask(GATEWAY)
    assert (kb.path / FILE).is_file()
    silent = Known([])
    with reopened(kb.path, silent, plain) as v:
        again = v.ask(GATEWAY)
    assert silent.calls == []
    assert (again.text, again.citations) == (first.text, first.citations)
    assert (first.usage.calls, again.usage) == (1, Usage(cached_calls=1))


def test_replies_of_a_model_that_may_have_changed_are_not_kept(kb: Veridical, plain: Settings) -> None:
    with reopened(kb.path, ScriptedLLM(always), plain) as v:
        v.ask(GATEWAY)
    assert not (kb.path / FILE).exists()


def test_deleting_a_document_forgets_what_replies_said_of_it(kb: Veridical, plain: Settings) -> None:
    secret = "It uses setting 443, said Ada Quibble [1]."
    with reopened(kb.path, Known(lambda messages: secret), plain) as v:
        v.ask(GATEWAY)
        stored = [file.read_bytes() for file in kb.path.iterdir() if file.name.startswith(FILE)]
        assert any(b"Quibble" in raw for raw in stored)
        v.delete("d1")
    stored = [file.read_bytes() for file in kb.path.iterdir() if file.name.startswith(FILE)]
    assert not any(b"Quibble" in raw for raw in stored)


def test_the_cache_can_be_switched_off(kb: Veridical, plain: Settings) -> None:
    llm = Known(always)
    with reopened(kb.path, llm, replace(plain, llm_cache=False)) as v:
        v.ask(GATEWAY)
        v.ask(GATEWAY)
    assert len(llm.calls) == 2
    assert not (kb.path / FILE).exists()


@pytest.mark.parametrize("where", ["elsewhere/replies.db", "folder"])
def test_the_cache_can_be_elsewhere(kb: Veridical, plain: Settings, tmp_path: Path, where: str) -> None:
    (tmp_path / "folder").mkdir()
    chosen = tmp_path / where
    with reopened(kb.path, Known(always), replace(plain, llm_cache=chosen)) as v:
        v.ask(GATEWAY)
    assert (chosen / FILE if where == "folder" else chosen).is_file()
    assert not (kb.path / FILE).exists()


def test_all_caches_are_forgotten_wherever_they_are_now(
    kb: Veridical, plain: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [kb.path / FILE, tmp_path / "replies.db"]
    for place in places:
        with ReplyCache(place) as cache:
            cache.put(b"key", "reply", Usage(1))
    v = Veridical.open(kb.path, settings=replace(plain, llm_cache=places[1]))
    assert [report.n_replies for report in v.cached_replies()] == [1, 1]
    assert v.forget_replies() == 2
    assert [report.n_replies for report in v.cached_replies()] == [0, 0]
    off = Veridical.open(kb.path, settings=replace(plain, llm_cache=False))
    assert [Path(report.path) for report in off.cached_replies()] == [kb.path / FILE]


def test_a_used_up_budget_leaves_the_evidence_and_says_what_to_do(kb: Veridical, plain: Settings) -> None:
    llm = Known(always)
    with reopened(kb.path, llm, replace(plain, llm_max_calls=1)) as v:
        assert v.ask(GATEWAY).status == "answered"
        refused = v.ask(PRINTER)
        assert v.ask(GATEWAY).text == REPLY  # from the cache
    assert (refused.status, refused.usage) == ("failed", Usage())
    assert refused.hits
    assert any("budget of calls is used up" in n and "VERIDICAL_LLM_MAX_CALLS" in n for n in refused.notes)
    assert len(llm.calls) == 1


class ServedModels(Models):
    """A real client and a real judge, on a fake encoder and reader."""

    encoder = HashEncoder()  # type: ignore[assignment]

    def reader(self, spec: str) -> FakeReader:
        return FakeReader()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(facade, "Models", ServedModels)
    running = ScriptedServer()
    running.usual = Fault(completion("neutral"))
    yield running
    running.close()


def test_a_build_that_ran_out_of_budget_goes_on_with_a_larger_one(
    corpus: Path, tmp_path: Path, plain: Settings, server: ScriptedServer
) -> None:
    served = replace(plain, llm_base_url=server.url, llm_model="tiny", llm_retries=0)
    few = replace(served, llm_max_calls=5)
    with Veridical.open(tmp_path / "new", settings=few) as v:
        v.ingest(corpus)
        with pytest.raises(BudgetError, match="5 of 5"):
            v.build(nli="llm")
    assert len(server.requests) == 5
    with Veridical.open(tmp_path / "new", settings=served) as v:
        report = v.build(nli="llm")
    assert report.n_pairs_judged > 0
    prompts = [str(request["messages"]) for request in server.requests]
    assert len(prompts) == len(set(prompts)) > 5


def test_one_model_serves_judge_reader_and_answers_under_one_budget(
    plain: Settings, server: ScriptedServer
) -> None:
    served = replace(plain, llm_base_url=server.url, llm_model="tiny", llm_max_calls=2, llm_concurrency=3)
    models = Models(served)
    llm = models.llm()
    assert llm is models.llm() and llm is not None
    assert llm.n_concurrent == 3
    judge: NLIModel = models.nli("llm")
    judge.judge([("The port is 1.", "The port is 2.")])
    models.reader("llm").read("Which port?", ["The port is 1."])
    assert {name: used.calls for name, used in llm.usage_by_stage().items()} == {"relations": 1, "read": 1}
    own = models.managed(ScriptedLLM(always))
    with pytest.raises(BudgetError):
        own.generate((Message("user", "?"),), max_tokens=3)
    assert llm.cache is None  # there is no knowledge base to keep replies in


def test_money_is_counted_at_the_prices_in_the_settings(kb: Veridical, plain: Settings) -> None:
    with reopened(kb.path, Known(always), replace(plain, llm_price_in=1.0, llm_price_out=4.0)) as v:
        used = v.ask(GATEWAY).usage
    assert used.money == pytest.approx((used.prompt_tokens + 4 * used.completion_tokens) / 1e6)
    assert used.money > 0
