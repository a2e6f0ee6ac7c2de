"""What the published procedure would have a model read on the chains of a search, counted by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from multihops import n_words

from veridical.bench.published_prompts import N_WRITTEN, published
from veridical.evidence.chains import ChainSettings, search
from veridical.testing.fakes import HashEncoder
from veridical.types import Span, Triple

QUESTION = "Which river does the town lie on where the Notes were printed?"
TEXTS = ("<Ada; wrote; Notes>", "<Notes; printed in; Bern>", "<Bern; lies on; Aare>")
T1, T2, T3 = TEXTS
EMPTY = "(empty)"
encode = HashEncoder().encode


class ByChain:
    """Gives the probabilities written down for a chain; where none are, all choices are alike."""

    name = "by-chain"

    def __init__(self, script=None):
        self.script = script or {}

    def select(self, steps):
        alike = [np.full(1 + len(step.options), 1 / (1 + len(step.options))) for step in steps]
        return [
            np.array(self.script[step.chain], dtype=float) if step.chain in self.script else same
            for step, same in zip(steps, alike, strict=True)
        ]


class Drawn:
    """Draws probabilities, step by step."""

    name = "drawn"

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def select(self, steps):
        return [self.rng.dirichlet(np.full(1 + len(step.options), 0.3)) for step in steps]


def searched(selector, texts=TEXTS, **settings):
    """A search in which all triples are equally reliable, so that they are offered in their order."""
    triples = [
        Triple(number, 1, 1, *text.strip("<>").split("; "), Span(text, 0, len(text)), "hand", 0.5)
        for number, text in enumerate(texts, 1)
    ]
    return search(
        QUESTION,
        triples,
        np.ones((len(texts), 2)),
        lambda asked: np.ones((len(asked), 2)),
        selector,
        ChainSettings(**settings),
        extractor="hand",
        credibility="none",
        context="tbs",
    )


def counted(trace):
    """The count, and the last message of each prompt in turn."""
    seen = []

    def count(messages):
        seen.append(messages)
        return n_words(messages)

    found = published(trace, count, encode)
    assert found.prompts == len(seen)
    assert found.prompt_tokens == sum(map(n_words, seen))
    assert found.written_tokens == 16 * len(seen)
    return found, [messages[-1].content for messages in seen]


def chains(asked):
    return Counter(text.split("Chain so far: ")[1].splitlines()[0] for text in asked)


def options(text):
    lines = text.split("A. no more is needed\n")[1].splitlines()
    return [line for line in lines if line[1:3] == ". "]


ALL_STOP_SOON = {(): (0.2, 0.5, 0.3, 0), (T1,): (1, 0, 0), (T2,): (1, 0, 0)}


def test_finished_chains_are_prompted_again_at_every_hop_up_to_the_last():
    trace = searched(ByChain(ALL_STOP_SOON))
    assert (len(trace.hops), trace.n_prompts) == (2, 3)
    found, asked = counted(trace)
    # Hop 1 has the empty chain, hops 2, 3 and 4 that one and the two others: 1 + 3 + 3 + 3.
    assert found.prompts == 10
    assert chains(asked) == {EMPTY: 4, T1: 3, T2: 3}
    assert chains(asked[:1]) == {EMPTY: 1}
    for hop in (asked[1:4], asked[4:7], asked[7:]):
        assert chains(hop) == {EMPTY: 1, T1: 1, T2: 1}


def test_the_hops_end_with_the_last_one_that_there_may_be():
    trace = searched(ByChain(ALL_STOP_SOON), max_hops=3)
    assert counted(trace)[0].prompts == 1 + 3 + 3
    assert counted(searched(ByChain(ALL_STOP_SOON), max_hops=1))[0].prompts == 1


def test_each_chain_has_a_list_of_its_own_in_its_own_order():
    _, asked = counted(searched(ByChain(ALL_STOP_SOON)))
    lists = {}
    for text in asked:
        chain = text.split("Chain so far: ")[1].splitlines()[0]
        lists.setdefault(chain, set()).add(tuple(options(text)))
    assert lists == {
        EMPTY: {(f"B. {T1}", f"C. {T2}", f"D. {T3}")},
        T1: {(f"B. {T2}", f"C. {T3}")},
        T2: {(f"B. {T1}", f"C. {T3}")},
    }


@pytest.mark.parametrize(("n_beams", "n_prompts"), [(2, 3), (3, 1 + 2 + 2 + 2)])
def test_it_stops_early_only_where_the_beam_is_full_of_finished_chains(n_beams, n_prompts):
    trace = searched(ByChain({(): (0.6, 0.4, 0, 0), (T1,): (1, 0, 0)}), n_beams=n_beams)
    assert trace.n_prompts == 2
    assert counted(trace)[0].prompts == n_prompts


def test_a_finished_chain_that_falls_off_the_beam_is_not_prompted_any_more():
    script = {(): (0.1, 0.9, 0, 0), (T1,): (0.5, 0.5, 0), (T1, T2): (1, 0)}
    trace = searched(ByChain(script), n_beams=2, n_branches=2)
    assert [hop.n_finished for hop in trace.hops] == [0, 1, 1]
    _, asked = counted(trace)
    # Hop 2: the chain of one and the empty one, which .45 and .45 then displace; hop 3: those two.
    assert [chains(asked[:1]), chains(asked[1:3]), chains(asked[3:])] == [
        {EMPTY: 1},
        {T1: 1, EMPTY: 1},
        {T1: 1, f"{T1} {T2}": 1},
    ]


def test_where_nothing_is_left_to_choose_nobody_is_asked():
    trace = searched(ByChain({(): (0, 1)}), texts=TEXTS[:1])
    assert len(trace.hops) == 2
    assert chains(counted(trace)[1]) == {EMPTY: 1}
    assert counted(searched(ByChain(), texts=()))[0].prompts == 0


def test_the_defaults_give_46_prompts_at_most_and_reach_them():
    many = tuple(f"<head {i}; joins; tail {i}>" for i in range(24))
    trace = searched(ByChain(), texts=many)
    # Each chain stops, too, with one of its five branches. The search itself leaves out what is finished: 1
    # of 5 chains at hop 2, then 1 + 4 of 20, then 5 + 3 of 20.
    assert counted(trace)[0].prompts == 1 + 5 + 20 + 20 == 46
    assert [hop.n_finished for hop in trace.hops] == [0, 1, 5, 8]
    assert trace.n_prompts == 1 + 4 + 15 + 12


@pytest.mark.parametrize("seed", range(8))
def test_it_takes_as_many_prompts_as_the_search_or_more_and_never_above_46(seed):
    texts = tuple(f"<head {i}; joins; tail {i}>" for i in range(3 * seed))
    trace = searched(Drawn(seed), texts=texts)
    assert trace.n_prompts <= counted(trace)[0].prompts <= 46


def test_the_count_of_a_search_is_the_same_each_time():
    trace = searched(Drawn(3), texts=tuple(f"<head {i}; joins; tail {i}>" for i in range(9)))
    assert counted(trace) == counted(trace)
    assert N_WRITTEN == 16
