"""What calls cost is counted by stage, and for one question apart from another."""

from __future__ import annotations

import threading
from pathlib import Path

from veridical.llm.base import Message
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ManagedLLM, Request
from veridical.llm.scripted import ScriptedLLM
from veridical.llm.usage import measure, stage
from veridical.types import Usage


def ask(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def test_usage_is_kept_apart_by_stage_and_sums_up() -> None:
    llm = ManagedLLM(ScriptedLLM(lambda messages: "one two"))
    with measure() as spent:
        with llm.stage("triples"):
            llm.generate(ask("a b c"), max_tokens=9)
        llm.generate_many([Request(ask("d"), 9), Request(ask("e"), 9)], stage="credibility")
        with stage("answer"):
            llm.generate(ask("f"), max_tokens=9)
    parts = {"triples": Usage(1, 3, 2), "credibility": Usage(2, 2, 4), "answer": Usage(1, 1, 2)}
    assert spent.by_stage() == parts == llm.usage_by_stage()
    assert spent.total == Usage(4, 6, 8)


def test_a_measurement_holds_only_what_happened_inside() -> None:
    llm = ManagedLLM(ScriptedLLM(lambda messages: "one"))
    llm.generate(ask("before"), max_tokens=9)
    with measure() as outer:
        llm.generate(ask("a"), max_tokens=9)
        with measure() as inner:
            llm.generate(ask("b"), max_tokens=9)
    llm.generate(ask("after"), max_tokens=9)
    assert (inner.total.calls, outer.total.calls, llm.usage_by_stage()["other"].calls) == (1, 2, 4)


def test_several_models_are_measured_together() -> None:
    with measure() as spent:
        for name in "ab":
            ManagedLLM(ScriptedLLM(["one"], name=name)).generate(ask("a"), max_tokens=9)
    assert spent.total.calls == 2


def test_two_questions_in_two_threads_do_not_mix() -> None:
    meet = threading.Barrier(2)

    def script(messages):
        meet.wait(5)  # both are on their way at once
        return "one"

    found = {}

    def question(name: str, llm: ManagedLLM, n: int) -> None:
        with measure() as spent:
            llm.generate_many([Request(ask(f"{name}{i}"), 9) for i in range(n)], stage=name)
        found[name] = spent.by_stage()

    models = [ManagedLLM(ScriptedLLM(script)) for _ in range(2)]
    threads = [threading.Thread(target=question, args=(n, m, 3)) for n, m in zip("xy", models, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == {"x": {"x": Usage(3, 3, 3)}, "y": {"y": Usage(3, 3, 3)}}


def test_what_comes_from_the_cache_costs_nothing_and_is_counted(tmp_path: Path) -> None:
    with ReplyCache(tmp_path / "c.db") as cache:
        llm = ManagedLLM(ScriptedLLM(["one"]), cache=cache)
        llm.generate(ask("a"), max_tokens=9)
        with measure() as spent:
            llm.generate(ask("a"), max_tokens=9)
    assert spent.total == Usage(cached_calls=1)


def test_a_broken_cache_is_noted_where_it_was_met(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    path.write_bytes(b"this is no database" * 100)
    with ReplyCache(path) as cache, measure() as spent:
        reply = ManagedLLM(ScriptedLLM(["one"]), cache=cache).generate(ask("a"), max_tokens=9)
    assert reply.text == "one"
    assert len(spent.notes) == 1 and "damaged" in spent.notes[0]
