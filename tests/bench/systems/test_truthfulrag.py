"""TruthfulRAG: entropies, which paths stay, the graph and its paths, and the calls it makes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.truthful_graph import (
    FactGraph,
    chunks,
    conflicting,
    entropy,
    legacy_conflicting,
)
from veridical.bench.systems.truthfulrag import TruthfulRAG, asked_about, facts, mean_entropy
from veridical.errors import EmptyReplyError, InputError
from veridical.llm.base import Likely, Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.fakes import HashEncoder
from veridical.types import Usage

ENCODE = HashEncoder().encode


def logs(*chances: float) -> list[float]:
    return [math.log(chance) for chance in chances]


class TestEntropy:
    @pytest.mark.parametrize(
        ("chances", "bits"), [((0.5, 0.5), 1.0), ((0.9, 0.1), 0.4690), ((0.7, 0.2, 0.1), 1.1568)]
    )
    def test_it_is_in_bits(self, chances: tuple[float, ...], bits: float) -> None:
        assert entropy(logs(*chances)) == pytest.approx(bits, abs=5e-5)

    def test_what_is_listed_is_scaled_to_sum_to_one(self) -> None:
        assert entropy(logs(0.09, 0.01)) == pytest.approx(entropy(logs(0.9, 0.1)))

    def test_certainty_has_none_and_hopeless_tokens_add_none(self) -> None:
        assert entropy([-0.1]) == 0.0
        assert entropy([0.0, -2000.0]) == 0.0

    def test_a_path_stays_if_it_raises_the_entropy_by_more_than_tau(self) -> None:
        assert conflicting([2.0, 2.1, 0.0], 1.0, 1.0) == (1,)
        assert conflicting([], 1.0, 1.0) == conflicting([0.5], 1.0, 0.0) == ()

    def test_the_public_code_keeps_all_but_great_drops(self) -> None:
        kept = legacy_conflicting([1.0, 0.5, 0.1, 0.09, 2.0], 1.0, 1.0)
        assert kept == (4, 0, 1, 2)

    def test_the_public_code_keeps_the_highest_where_all_drop(self) -> None:
        assert legacy_conflicting([0.01, 0.02, 0.02, 0.0], 1.0, 1.0) == (1, 2)
        assert legacy_conflicting([], 1.0, 1.0) == ()

    def test_the_public_code_keeps_ten(self) -> None:
        assert legacy_conflicting([1.0 + k for k in range(12)], 0.0, 1.0) == tuple(range(11, 1, -1))


TRIPLES = [
    ("Halden Bridge", "was opened by", "Ann Lee"),
    ("Ann Lee", "was born in", "Oslo"),
    ("Oslo", "lies in", "Norway"),
    ("HALDEN  bridge", "crosses", "Tista"),
    ("Ann Lee", "is a", "person"),
    ("Oslo", "is a", "place"),
]


@pytest.fixture
def graph() -> FactGraph:
    made = FactGraph()
    made.add(TRIPLES)
    return made


class TestGraph:
    def test_paths_have_one_or_two_steps_whichever_way_they_are_said(self, graph: FactGraph) -> None:
        found = graph.paths("Who opened it?", ["Oslo"], [], ENCODE)
        from_oslo = {path.entities for path in found if path.entities[0] == "Oslo"}
        assert from_oslo == {
            ("Oslo", "Ann Lee"),
            ("Oslo", "Norway"),
            ("Oslo", "Ann Lee", "Halden Bridge"),
        }

    def test_a_path_says_what_joins_its_entities(self, graph: FactGraph) -> None:
        found = {path.entities: path.text for path in graph.paths("?", ["Oslo"], [], ENCODE)}
        assert found["Oslo", "Ann Lee", "Halden Bridge"] == (
            "Ann Lee was born in Oslo; Halden Bridge was opened by Ann Lee"
        )

    def test_names_that_differ_in_capitals_and_spaces_are_one(self, graph: FactGraph) -> None:
        joined = {path.entities for path in graph.paths("?", ["Halden Bridge"], [], ENCODE)}
        assert ("Halden Bridge", "Tista") in joined

    def test_the_same_steps_are_one_path_from_either_end(self, graph: FactGraph) -> None:
        steps = [frozenset(path.text.split("; ")) for path in graph.paths("?", ["Oslo"], [], ENCODE)]
        assert len(steps) == len(set(steps))

    def test_entities_of_an_answers_type_put_a_path_first(self, graph: FactGraph) -> None:
        first = graph.paths("zzz", ["Halden Bridge"], ["Person"], ENCODE)[0]
        assert first.hits == 1
        assert "Ann Lee" in first.entities
        both = graph.paths("zzz", ["Halden Bridge"], ["person", "place"], ENCODE)[0]
        assert both.hits == 2

    def test_the_commonest_type_is_an_entitys_type(self, graph: FactGraph) -> None:
        graph.add([("Oslo", "is a", "thing"), ("Oslo", "IS A", "place")])
        assert graph.of_type(["thing"]) == frozenset()
        assert graph.of_type([" Place "]) == {"oslo"}

    def test_steps_near_to_the_question_vote(self) -> None:
        graph = FactGraph()
        graph.add([("Hub", "serves", f"Town{n}") for n in range(9)] + [("Hub", "was built in", "1932")])
        found = graph.paths("In which year was Hub built", ["Hub"], [], ENCODE)
        votes = {path.entities: path.votes for path in found if path.entities[0] == "Hub"}
        assert votes["Hub", "1932"] == 1
        assert sum(votes.values()) == 5  # of ten

    def test_a_graph_without_facts_has_no_paths(self) -> None:
        graph = FactGraph()
        graph.add([("Oslo", "is a", "place"), ("Oslo", "is", "oslo")])
        assert graph.paths("?", ["Oslo"], [], ENCODE) == []

    def test_a_question_without_entities_stands_for_itself(self, graph: FactGraph) -> None:
        assert graph.paths("Who opened Halden Bridge?", [], [], ENCODE)


class TestChunks:
    def test_a_short_text_is_one(self) -> None:
        assert chunks(" a b ") == ["a b"]
        assert chunks("") == chunks("  ") == []

    def test_a_long_one_is_cut_with_an_overlap(self) -> None:
        text = "".join(chr(97 + n % 26) for n in range(10_000))
        found = chunks(text)
        assert [len(chunk) for chunk in found] == [4096, 4096, 10_000 - 2 * 3584]
        assert found[0][-512:] == found[1][:512]


class Engine(ScriptedLLM):
    """Replies by what is asked, and is as unsure of what comes next as the fact shown makes it."""

    def __init__(self, unsure: Mapping[str, float] | None = None, **replies: str | Exception) -> None:
        self.unsure = unsure or {}
        self.replies = {
            "facts": "<Halden Bridge; was opened in; 1932>\n<1932; is a; date>",
            "missed": "<Halden Bridge; crosses; Tista>",
            "question": "Entities: Halden Bridge\nType: date",
            "answer": "The bridge is old.\nAnswer: 1932",
        } | replies
        self.tried: list[tuple[str, str]] = []
        super().__init__(self._reply)

    def _reply(self, messages: Sequence[Message]) -> str | Exception:
        last, system = messages[-1].content, messages[0].content
        if last.startswith("Were facts"):
            return self.replies["missed"]
        if last.startswith("Passage:"):
            return self.replies["facts"]
        return self.replies["answer" if "Passages:" in last else "question"] if system else ""

    def next_tokens(self, messages: Sequence[Message], written: str = "", *, n_top: int = 100) -> Likely:
        asked = messages[-1].content
        self.tried.append((asked.partition("\n\n")[0], written))
        chance = next((value for text, value in self.unsure.items() if text in asked), 1.0)
        word = "" if written else "1932"
        tokens = [(word, math.log(chance)), ("x", math.log(max(1 - chance, 1e-300)))]
        return Likely(tuple(tokens[:n_top]), Usage(1, 9, 1), 0.0)


def tools(llm: ScriptedLLM) -> Tools:
    return Tools(llm=ManagedLLM(llm), encode=ENCODE)


TASK = Task("When was Halden Bridge opened?", (Retrieved(0, "It was opened in 1932.", "Halden Bridge"),))


class TestCalls:
    def test_two_calls_a_chunk_one_for_the_question_some_for_entropy_and_one_to_answer(self) -> None:
        llm = Engine()
        reply = TruthfulRAG(tools(llm)).answer(TASK)
        n_tried = len({prompt for prompt, _ in llm.tried})
        assert n_tried == 1 + reply.detail["n_paths"] > 1
        assert len(llm.calls) == 2 + 1 + 1
        assert reply.usage.calls == 4 + len(llm.tried)

    def test_the_paths_that_unsettle_the_model_stand_beside_the_passages(self) -> None:
        llm = Engine({"opened in 1932": 0.5})
        reply = TruthfulRAG(tools(llm), tau=0.9).answer(TASK)
        assert reply.text == "1932"
        kept, passages = llm.calls[-1][-1].content.split("Passages:")
        assert "opened in 1932" in kept and "- Halden Bridge crosses Tista" not in kept.splitlines()
        assert "[1] Halden Bridge: It was opened in 1932." in passages

    def test_without_such_paths_it_answers_from_the_passages_alone(self) -> None:
        llm = Engine()
        reply = TruthfulRAG(tools(llm)).answer(TASK)
        assert reply.detail["kept"] == []
        assert llm.calls[-1][-1].content.startswith("Facts:\n(none)")
        assert reply.text == "1932"

    def test_the_public_rule_keeps_what_the_papers_drops(self) -> None:
        assert TruthfulRAG(tools(Engine()), rule="legacy").answer(TASK).detail["kept"]

    def test_no_more_paths_are_tried_than_allowed(self) -> None:
        llm = Engine()
        assert TruthfulRAG(tools(llm), n_paths=1).answer(TASK).detail["n_paths"] == 1

    def test_what_was_missed_is_asked_in_the_same_conversation(self) -> None:
        llm = Engine()
        found = facts(ManagedLLM(llm), TASK.pool)
        assert ("Halden Bridge", "crosses", "Tista") in found and len(found) == 3
        assert [message.role for message in llm.calls[1]] == ["system", "user", "assistant", "user"]
        assert llm.calls[1][2].content == llm.replies["facts"]

    def test_a_reply_without_facts_costs_only_them(self) -> None:
        llm = Engine(facts=EmptyReplyError("-"), missed="none")
        reply = TruthfulRAG(tools(llm)).answer(TASK)
        assert (reply.text, reply.detail["n_paths"]) == ("1932", 0)
        assert llm.tried == []

    @pytest.mark.parametrize(
        ("said", "entities", "types"),
        [
            ("Entities: Ann Lee; Oslo\nType: person", ("Ann Lee", "Oslo"), ("person",)),
            ("- entities named: 'Oslo'.\n- Types: place, date", ("Oslo",), ("place", "date")),
            ("Entities: a; b; c; d; e; f\nType:", ("a", "b", "c", "d", "e"), ()),
            ("I would say Oslo.", (), ()),
        ],
    )
    def test_what_is_asked_about_is_read_tolerantly(
        self, said: str, entities: tuple[str, ...], types: tuple[str, ...]
    ) -> None:
        assert asked_about(tools(Engine(question=said)), "?") == (entities, types)

    def test_rules_and_numbers_that_make_no_sense_are_refused(self) -> None:
        for wrong in ({"rule": "both"}, {"n_paths": 0}, {"n_tokens": 0}):
            with pytest.raises(InputError):
                TruthfulRAG(Tools(), **wrong)


class TestMeanEntropy:
    def test_it_is_the_mean_over_the_tokens_to_the_end(self) -> None:
        llm = Engine({"fact": 0.5})
        value = mean_entropy(ManagedLLM(llm), (Message("user", "fact"),), 8)
        assert [written for _, written in llm.tried] == ["", "1932"]
        assert value == pytest.approx(1.0)

    def test_it_goes_no_further_than_asked(self) -> None:
        llm = Engine()
        mean_entropy(ManagedLLM(llm), (Message("user", "?"),), 1)
        assert len(llm.tried) == 1
