"""ReliableRAG and its ablations as compared systems: whose triples are followed and answered from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.reliable import (
    ReliableSBS,
    ReliableTBS,
    ReliableTrust,
    SBSNoCredibility,
    SBSNoExtraction,
    TBSNoCredibility,
    TBSNoExtraction,
)
from veridical.errors import InputError
from veridical.llm.base import Choice, Message
from veridical.llm.managed import manage
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.system_contract import fake_tools
from veridical.types import Usage

QUESTION = "Halden Bridge was opened when?"
POISON = Retrieved(1, "The Halden Bridge was opened in 1954.", "Halden Bridge", relevance=0.9, credibility=1)
CLEAN = Retrieved(2, "Halden Bridge was opened in 1932.", "Halden Bridge", relevance=0.8, credibility=10)
OTHER = Retrieved(3, "The river Tista flows through Halden.", "Tista", relevance=0.3, credibility=10)
POOL = (POISON, CLEAN, OTHER)
TRIPLES = {text: f"<Halden Bridge; was opened in; {text}>" for text in ("1932", "1954")}


class Model(ScriptedLLM):
    """Finds the triple of a passage, scores claims, takes the first option and then stops, answers 1932."""

    n_concurrent = 8

    def __init__(self) -> None:
        super().__init__(self._write)

    def _write(self, messages: Sequence[Message]) -> str:
        system, asked = messages[0].content, messages[-1].content
        if "triples" in system.casefold():
            found = [triple for year, triple in TRIPLES.items() if year in asked]
            return found[0] if found else "<Tista; flows; Halden>"
        if "T1" in asked:
            lines = [line for line in asked.splitlines() if line.startswith("T")]
            return "\n".join(f"{line[:2]} | score: {1 if '1954' in line else 10}" for line in lines)
        return "1932"

    def choose(
        self, messages: Sequence[Message], labels: Sequence[str], *, n_votes: int = 5, seed: int = 0
    ) -> Choice:
        del n_votes, seed
        label = "B" if "(empty)" in messages[-1].content else "A"
        self.calls.append(tuple(messages))
        weights = {name: (1.0 if name == label else 0.0) for name in labels}
        return Choice(weights, "logprobs", Usage(calls=1), 0.0)

    def last(self) -> str:
        """What the answer was asked with."""
        return self.calls[-1][-1].content


def by(model: Model) -> Tools:
    return replace(fake_tools(), llm=manage(model))


def test_chains_follow_what_is_credible() -> None:
    reply = ReliableTBS(fake_tools()).answer(Task(QUESTION, POOL))
    assert reply.text == "1932"
    assert reply.ranking[0] == 1
    assert reply.detail["chains"][0][0].endswith("1932")
    assert reply.usage.calls == 0


@pytest.mark.parametrize("system", [ReliableTBS, ReliableSBS])
def test_a_model_answers_from_the_chains_alone(system: type[ReliableTBS]) -> None:
    model = Model()
    reply = system(by(model)).answer(Task(QUESTION, POOL))
    assert reply.text == "1932"
    assert reply.ranking == (1,)
    assert "1932" in model.last() and "1954" not in model.last()
    # Three passages, hop 1, hop 2 of the one chain, the answer.
    assert reply.usage.calls == len(model.calls) == 3 + 1 + 1 + 1


def test_triples_are_shown_without_separators_and_passages_with_their_titles() -> None:
    tbs, sbs = Model(), Model()
    ReliableTBS(by(tbs)).answer(Task(QUESTION, POOL))
    assert "1. Halden Bridge was opened in 1932" in tbs.last()
    ReliableSBS(by(sbs)).answer(Task(QUESTION, POOL))
    assert "1. Halden Bridge, Halden Bridge was opened in 1932." in sbs.last()


@pytest.mark.parametrize("system", [TBSNoCredibility, SBSNoCredibility])
def test_without_credibility_relevance_alone_decides(system: type[ReliableTBS]) -> None:
    credible = Model()
    near_poison = (replace(POISON, text=f"{QUESTION[:-1]} 1954."), CLEAN, OTHER)
    # The hashed words of the question are nearest to the triple that repeats them.
    first = system(by(credible)).answer(Task(QUESTION, near_poison))
    undone = tuple(replace(own, credibility=10.0 - (own.credibility or 0.0)) for own in near_poison)
    assert system(by(Model())).answer(Task(QUESTION, undone)).ranking == first.ranking
    assert "credibility" not in system.about.needs


def test_the_judge_of_triples_overrules_that_of_passages() -> None:
    wronged = (replace(POISON, credibility=10.0), replace(CLEAN, credibility=0.0))
    assert ReliableTBS(by(Model())).answer(Task(QUESTION, wronged)).ranking == (0,)
    model = Model()
    reply = ReliableTBS(by(model), judge="triples").answer(Task(QUESTION, wronged))
    assert reply.ranking == (1,)
    assert any("T1" in call[-1].content for call in model.calls)


def test_triples_are_judged_by_a_language_model_or_not_at_all() -> None:
    with pytest.raises(InputError, match="judged by a language model"):
        ReliableTBS(fake_tools(), judge="triples").answer(Task(QUESTION, POOL))
    with pytest.raises(InputError, match="no judge"):
        ReliableTBS(fake_tools(), judge="nobody")  # type: ignore[arg-type]


def test_what_nobody_judged_counts_as_half_credible() -> None:
    unknown = replace(CLEAN, credibility=None)
    assert ReliableTBS(by(Model())).answer(Task(QUESTION, (POISON, unknown))).ranking == (1,)
    better = replace(POISON, credibility=9.0)
    assert ReliableTBS(by(Model())).answer(Task(QUESTION, (better, unknown))).ranking == (0,)


def test_passages_without_chains_are_ordered_by_relevance_and_credibility() -> None:
    pool = tuple(
        replace(CLEAN, document=n, relevance=cosine, credibility=score)
        for n, (cosine, score) in enumerate([(0.8, 10), (0.9, 1), (0.9, 0), (0.5, 7), (0.75, 5), (0.1, 0)])
    )
    # .92, .42, .36, .62, .60 and .04; five are shown.
    assert SBSNoExtraction(fake_tools()).answer(Task(QUESTION, pool)).ranking == (0, 3, 4, 1, 2)


def test_the_most_reliable_triples_without_chains_are_shown_as_they_are() -> None:
    model = Model()
    reply = TBSNoExtraction(by(model), n_options=1).answer(Task(QUESTION, POOL))
    assert reply.ranking == (1,)
    assert "1954" not in model.last()
    both = TBSNoExtraction(by(Model())).answer(Task(QUESTION, POOL))
    assert set(both.ranking) >= {0, 1}
    assert both.usage.calls == 3 + 1


def test_doubt_in_a_document_is_doubt_in_its_triples() -> None:
    doubted = (replace(POISON, trust=0.1), replace(CLEAN, trust=None))
    assert ReliableTrust(by(Model())).answer(Task(QUESTION, doubted)).ranking == (1,)
    undoubted = (replace(POISON, trust=0.5), replace(CLEAN, trust=0.2))
    assert ReliableTrust(by(Model())).answer(Task(QUESTION, undoubted)).ranking == (0,)
    assert ReliableTrust(fake_tools()).context == "sbs"
    assert ReliableTrust(by(Model())).context == "tbs"


def test_only_the_nearest_passages_are_searched() -> None:
    model = Model()
    reply = ReliableTBS(by(model), n_passages=1).answer(Task(QUESTION, POOL))
    assert reply.ranking == (0,)
    assert all("1932" not in message.content for call in model.calls[:-1] for message in call[1:])


def test_widths_and_limits_of_the_search_are_settings() -> None:
    assert ReliableTBS(fake_tools(), relevance_weight=1.0, max_hops=2).settings.max_hops == 2
    with pytest.raises(InputError, match="top_k"):
        ReliableTBS(fake_tools(), n_options=30)
    blind = ReliableTBS(by(Model()), relevance_weight=1.0)
    sighted = ReliableTBS(by(Model()), relevance_weight=0.0)
    assert sighted.answer(Task(QUESTION, POOL)).ranking == (1,)
    assert blind.answer(Task(QUESTION, (POISON, replace(CLEAN, text="In 1932 it was.")))).ranking == (0,)


def test_where_there_is_no_triple_the_model_answers_from_what_it_knows() -> None:
    model = Model()
    nothing = (Retrieved(1, "... !", relevance=0.9),)
    reply = ReliableTBS(by(model)).answer(Task(QUESTION, nothing))
    assert reply.text == "1932"
    assert "There was nothing to answer from." in reply.notes
    assert ReliableTBS(fake_tools()).answer(Task(QUESTION, nothing)).abstained
