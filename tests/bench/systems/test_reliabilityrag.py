"""ReliabilityRAG: independent sets, sampling by rank, and what is answered from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.isolated import UNKNOWN
from veridical.bench.systems.reliabilityrag import (
    MAX_EXACT,
    ReliabilityRAG,
    ReliabilityRAGKeyword,
    ReliabilityRAGSampled,
    contradictions,
    draw,
    independent_set,
    sampling_weights,
)
from veridical.errors import InputError
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.fakes import FakeReader

STAR = [(0, 1), (0, 2), (0, 3)]


def gamma_set(gamma: float) -> tuple[int, ...]:
    return independent_set(4, STAR, [gamma**rank for rank in range(4)])


class TestIndependentSet:
    def test_of_a_path_the_ends_and_of_equals_the_first(self) -> None:
        assert independent_set(4, [(0, 1), (1, 2), (2, 3)]) == (0, 2)

    def test_of_a_star_the_many_win_over_the_one_in_the_middle(self) -> None:
        assert independent_set(4, STAR) == (1, 2, 3)

    def test_of_a_star_weighed_by_rank_the_first_can_win(self) -> None:
        assert gamma_set(0.5) == (0,)  # 1 against .875
        assert gamma_set(0.5436) == (0,)
        assert gamma_set(0.5438) == (1, 2, 3)

    def test_of_a_square_two_that_are_not_neighbours(self) -> None:
        assert independent_set(4, [(0, 1), (1, 2), (2, 3), (0, 3)]) == (0, 2)

    def test_of_two_pairs_the_first_of_each(self) -> None:
        assert independent_set(4, [(0, 2), (1, 3)]) == (0, 1)

    def test_without_edges_all_and_without_nodes_none(self) -> None:
        assert independent_set(5, []) == (0, 1, 2, 3, 4)
        assert independent_set(0, []) == ()

    @settings(max_examples=60, deadline=None)
    @given(st.integers(1, 8), st.data())
    def test_no_larger_set_and_no_earlier_one_of_its_size(self, n: int, data: st.DataObject) -> None:
        pairs = list(combinations(range(n), 2))
        edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        free = [
            chosen
            for size in range(n + 1)
            for chosen in combinations(range(n), size)
            if not any(i in chosen and j in chosen for i, j in edges)
        ]
        best = max(map(len, free))
        assert independent_set(n, edges) == min(chosen for chosen in free if len(chosen) == best)

    def test_as_many_answers_as_are_allowed_are_done_at_once(self) -> None:
        edges = [(i, j) for i, j in combinations(range(MAX_EXACT), 2) if (i + j) % 3]
        assert independent_set(MAX_EXACT, edges)


class TestSampling:
    def test_ranks_are_drawn_by_powers_of_gamma(self) -> None:
        expected = [0.2442, 0.2198, 0.1978, 0.1780, 0.1602]
        assert sampling_weights(5, 0.9) == pytest.approx(expected, abs=5e-5)
        assert sampling_weights(4, 1.0) == pytest.approx([0.25] * 4)

    def test_gamma_zero_falls_evenly(self) -> None:
        assert sampling_weights(5, 0.0) == pytest.approx([0.3333, 0.2667, 0.2, 0.1333, 0.0667], abs=5e-5)

    def test_samples_are_drawn_with_replacement_and_again_the_same(self) -> None:
        first, again, other = (draw(3, n_samples=20, size=3, gamma=0.9, seed=s) for s in (1, 1, 2))
        assert first == again != other
        assert any(len(set(sample)) < 3 for sample in first)
        assert all(list(sample) == sorted(sample) for sample in first)

    def test_samples_are_no_larger_than_what_there_is(self) -> None:
        assert draw(2, n_samples=1, size=5, gamma=1.0, seed=0) in ([(0, 0)], [(0, 1)], [(1, 1)])
        assert draw(0, n_samples=3, size=1, gamma=1.0, seed=0) == []


def scripted(answers: Mapping[str, str]) -> ScriptedLLM:
    """Replies with the answer of the first passage shown; to several passages all their texts."""

    def reply(messages: Sequence[Message]) -> str:
        asked = messages[-1].content
        if UNKNOWN not in asked:  # the last call
            return " ".join(line.partition("] ")[2] for line in asked.splitlines() if line.startswith("["))
        return next(answer for text, answer in answers.items() if f"[1] {text}\n" in asked)

    return ScriptedLLM(reply)


def task(*texts: str, seed: int = 0) -> Task:
    pool = tuple(Retrieved(n, text) for n, text in enumerate(texts))
    return Task("What is the capital?", pool, seed)


class TestAnswers:
    def test_the_majority_is_answered_from_in_the_order_of_ranks(self) -> None:
        llm = scripted({"a": "Rome", "b": "Oslo", "c": "Oslo", "d": UNKNOWN})
        reply = ReliabilityRAG(Tools(llm=ManagedLLM(llm))).answer(task("a", "b", "c", "d"))
        assert (reply.text, reply.ranking) == ("b c", (1, 2))
        assert reply.detail["edges"] == [(0, 1), (0, 2)]
        assert reply.usage.calls == 5

    def test_three_colluding_passages_beat_the_best_ranked_one_by_design(self) -> None:
        llm = scripted({"a": "Oslo", "b": "Rome", "c": "Rome", "d": "Rome"})
        assert ReliabilityRAG(Tools(llm=ManagedLLM(llm))).answer(task(*"abcd")).ranking == (1, 2, 3)

    def test_with_ranks_that_weigh_the_best_ranked_one_can_stand(self) -> None:
        llm = scripted({"a": "Oslo", "b": "Rome", "c": "Rome", "d": "Rome"})
        assert ReliabilityRAG(Tools(llm=ManagedLLM(llm)), gamma=0.5).answer(task(*"abcd")).ranking == (0,)

    def test_where_no_passage_answers_all_are_kept(self) -> None:
        llm = scripted({"a": UNKNOWN, "b": UNKNOWN})
        assert ReliabilityRAG(Tools(llm=ManagedLLM(llm))).answer(task("a", "b")).ranking == (0, 1)

    def test_the_reader_answers_and_is_compared_where_there_is_no_model(self) -> None:
        texts = [f"The capital is {town}." for town in ("Rome", "Oslo", "Oslo")]
        reply = ReliabilityRAG(Tools(reader=FakeReader())).answer(task(*texts))
        assert reply.ranking == (1, 2)
        assert "Oslo" in reply.text
        assert reply.usage.calls == 0

    def test_answers_contradict_where_they_differ_and_where_inference_says_so(self) -> None:
        answers = ["Oslo", "Oslo, Norway", "Rome"]
        assert contradictions(Tools(), "?", answers) == [(0, 2), (1, 2)]
        asked: list[tuple[str, str]] = []

        def judge(pairs: Sequence[tuple[str, str]]) -> list[float]:
            asked.extend(pairs)
            return [0.5, 0.499, 0.9]

        tools = Tools(weights={"nli-deberta-v3-large": judge})
        assert contradictions(tools, "Where?", answers) == [(0, 1), (1, 2)]
        assert asked[0] == (
            "The answer to the question: Where?\nis Oslo.",
            "The answer to the question: Where?\nis Oslo, Norway.",
        )

    def test_a_share_of_the_judgements_can_be_turned_round(self) -> None:
        answers = ["Oslo"] * 3 + ["Rome"] * 3
        plain, turned, again = (contradictions(Tools(), "?", answers, rate, 3) for rate in (0.0, 1.0, 1.0))
        assert turned == again
        assert set(plain) | set(turned) == set(combinations(range(6), 2))
        assert not set(plain) & set(turned)
        assert 0 < len(set(plain) ^ set(contradictions(Tools(), "?", answers, 0.3, 3))) < 15

    def test_the_stand_in_is_named(self) -> None:
        llm = ManagedLLM(scripted({"a": "Oslo"}))
        judge = {"nli-deberta-v3-large": lambda pairs: [0.0] * len(pairs)}
        assert "DeBERTa" in ReliabilityRAG(Tools(llm=llm)).answer(task("a")).notes[0]
        assert ReliabilityRAG(Tools(llm=llm, weights=judge)).answer(task("a")).notes == ()

    def test_settings_that_make_no_sense_are_refused(self) -> None:
        for wrong in ({"top_k": 21}, {"top_k": 0}, {"flip_rate": 2.0}, {"gamma": 0.0}):
            with pytest.raises(InputError):
                ReliabilityRAG(Tools(), **wrong)
        for wrong in ({"n_samples": 21}, {"size": 0}, {"gamma": -0.1}):
            with pytest.raises(InputError):
                ReliabilityRAGSampled(Tools(), **wrong)


class TestSampledAnswers:
    def test_samples_that_agree_are_answered_from_repetitions_included(self) -> None:
        answers = {"a": "Oslo", "b": "Rome", "c": "Oslo", "d": UNKNOWN}
        llm = scripted(answers)
        reply = ReliabilityRAGSampled(Tools(llm=ManagedLLM(llm)), gamma=1.0).answer(task(*"abcd", seed=5))
        drawn = ["abcd"[sample[0]] for sample in reply.detail["samples"]]
        kept = [text for text in drawn if answers[text] == "Oslo"]
        assert len(drawn) == 10 and drawn.count("b") < len(kept)
        assert reply.text.split() == kept
        assert set(reply.ranking) == {"abcd".index(text) for text in kept}

    def test_a_sample_is_shown_worst_first(self) -> None:
        llm = scripted({"a": "Oslo", "b": "Oslo", "c": "Oslo"})
        sampled = ReliabilityRAGSampled(Tools(llm=ManagedLLM(llm)), n_samples=1, size=3)
        sample = sampled.answer(task(*"abc", seed=4)).detail["samples"][0]
        shown = [line[4:] for line in llm.calls[0][-1].content.splitlines() if line.startswith("[")]
        assert shown == ["abc"[rank] for rank in reversed(sample)]
        assert len(set(sample)) > 1

    def test_of_two_equally_large_sets_the_better_ranks_win(self) -> None:
        llm = scripted({"a": "Oslo", "b": "Rome"})
        for seed in range(8):
            sampled = ReliabilityRAGSampled(Tools(llm=ManagedLLM(llm)), n_samples=2)
            reply = sampled.answer(task("a", "b", seed=seed))
            if sorted(reply.detail["samples"]) == [(0,), (1,)]:
                assert reply.ranking == (0,)
                return
        pytest.fail("no seed draws both")

    def test_equal_samples_are_asked_once(self) -> None:
        llm = scripted({"a": "Oslo"})
        ReliabilityRAGSampled(Tools(llm=ManagedLLM(llm))).answer(task("a"))
        assert len(llm.calls) == 2


def test_keywords_of_better_ranks_count_more() -> None:
    def reply(messages: Sequence[Message]) -> str:
        asked = messages[-1].content
        return next((town for text, town in zip("abcd", TOWNS, strict=True) if f"] {text}\n" in asked), "x")

    TOWNS = ("Oslo", UNKNOWN, "Rome", "Bern")
    llm = ScriptedLLM(reply)
    kept = ReliabilityRAGKeyword(Tools(llm=ManagedLLM(llm))).answer(task(*"abcd")).detail["keywords"]
    assert kept == ["Oslo", "Rome"]
