"""A search leaves the trace calculated by hand, keeps its bounds with any selector, and ends well."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from chained import ByChain, Drawn, lookup, spread, triple
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from veridical.errors import InputError
from veridical.evidence.beam import LABELS
from veridical.evidence.chains import ChainSettings, search
from veridical.types import Chain, Hop, Trace, Triple

QUESTION = "Which river does the town lie on where the Notes were printed?"
WORDS = {"extractor": "hand", "credibility": "llm", "context": "tbs"}


# A search over seven triples, three hops deep, every number calculated by hand.

A, B, C, D, E, F, G, COPY = 11, 12, 13, 14, 15, 16, 17, 18
POOL = [
    triple(A, "Ada; wrote; Notes", 0.9),
    triple(B, "Notes; printed in; Bern", 0.8),
    triple(C, "Ada; wrote; Letters", 0.1),
    triple(D, "Bern; lies on; Aare", 1.0),
    triple(E, "Bern; capital of; Canton", None),
    triple(F, "Letters; printed in; Rome", 0.2),
    triple(G, "Rome; older than; Bern", 0.0),
    triple(COPY, "Ada; wrote; Notes", 0.3),
]
VECTORS = [(1, 0), (0.8, 0.6), (0.96, 0.28), (0, 1), (0.6, 0.8), (0.28, 0.96), (-0.6, 0.8), (1, 0)]
TEXT = {
    A: "<Ada; wrote; Notes>",
    B: "<Notes; printed in; Bern>",
    C: "<Ada; wrote; Letters>",
    D: "<Bern; lies on; Aare>",
    E: "<Bern; capital of; Canton>",
    F: "<Letters; printed in; Rome>",
}
QUERIES = {
    QUESTION: (1, 0),
    f"{TEXT[A]} {QUESTION}": (0.8, 0.6),
    f"{TEXT[B]} {QUESTION}": (0.6, 0.8),
    f"{TEXT[A]} {TEXT[B]} {QUESTION}": (0, 1),
    f"{TEXT[A]} {TEXT[D]} {QUESTION}": (0.28, 0.96),
}
SCRIPT = {
    (): (0.1, 0.6, 0.3, 0.0),
    (TEXT[A],): (0.2, 0.5, 0.25, 0.05),
    (TEXT[B],): (0.7, 0.2, 0.1, 0.0),
    (TEXT[A], TEXT[B]): (0.1, 0.8, 0.1, 0.0),
    (TEXT[A], TEXT[D]): (0.3, 0.6, 0.1, 0.0),
}
SMALL = ChainSettings(top_k=3, n_branches=2, n_beams=3, max_hops=3, n_chains=2)


def traced(selector: ByChain, pool: list[Triple] = POOL, **changes) -> Trace:
    return search(
        QUESTION, pool, VECTORS[: len(pool)], lookup(QUERIES), selector, replace(SMALL, **changes), **WORDS
    )


def told(hop: Hop) -> list[tuple]:
    """What a hop holds, numbers rounded: chain, confidence, options, kept out, asked."""

    def option(o) -> tuple:
        numbers = (o.probability, o.relevance, o.credibility, o.reliability)
        return (o.label, o.triple, *(None if n is None else round(n, 9) for n in numbers), o.kept)

    return [
        (
            s.chain,
            round(s.confidence, 9),
            [option(o) for o in s.options],
            [option(o) for o in s.kept_out],
            s.asked,
        )
        for s in hop.steps
    ]


def stop(probability: float, kept: bool) -> tuple:
    return ("A", None, probability, None, None, None, kept)


def test_the_whole_trace_of_a_search_is_as_calculated_by_hand():
    trace = traced(ByChain(SCRIPT))
    # Hop 1, query (1, 0). Cosines: A 1, B .8, C .96, D 0, E .6, F .28, G -.6. R = .4 cos + .6 eta:
    # A .4+.54, B .32+.48, C .384+.06, D 0+.6, E .24+.3 = .54 (judged by nobody), F .112+.12, G below 0.
    # K = 3: A, B, D. By relevance A, C, B, so that C is kept out. B = 2: A and B, with .6 and .3.
    assert told(trace.hops[0]) == [
        (
            (),
            1.0,
            [
                stop(0.1, False),
                ("B", A, 0.6, 1.0, 0.9, 0.94, True),
                ("C", B, 0.3, 0.8, 0.8, 0.8, True),
                ("D", D, 0.0, 0.0, 1.0, 0.6, False),
            ],
            [("", C, 0.0, 0.96, 0.1, 0.444, False)],
            True,
        )
    ]
    # Hop 2 after A, query (.8, .6). B .64+.36 = 1, C .768+.168 = .936, D .6, E .48+.48 = .96, F .8, G 0. R: B
    # .4+.48, C .3744+.06, D .24+.6, E .384+.3, F .32+.12, G 0. K = 3: B, D, E; by relevance B, E, C.
    # After B, query (.6, .8). A .6, C .8, D .8, E 1, F .168+.768 = .936, G .28. R: A .24+.54, C .32+.06, D
    # .32+.6, E .4+.3, F .3744+.12, G .112. K = 3: D, A, E; by relevance E, F, and of C and D the earlier.
    # All: (A, B) .6*.5 = .3, (A, D) .6*.25 = .15, (B) ended .3*.7 = .21, (B, D) .3*.2 = .06. F = 3.
    assert told(trace.hops[1]) == [
        (
            (A,),
            0.6,
            [
                stop(0.2, False),
                ("B", B, 0.5, 1.0, 0.8, 0.88, True),
                ("C", D, 0.25, 0.6, 1.0, 0.84, True),
                ("D", E, 0.05, 0.96, 0.5, 0.684, False),
            ],
            [("", C, 0.0, 0.936, 0.1, 0.4344, False)],
            True,
        ),
        (
            (B,),
            0.3,
            [
                stop(0.7, True),
                ("B", D, 0.2, 0.8, 1.0, 0.92, False),
                ("C", A, 0.1, 0.6, 0.9, 0.78, False),
                ("D", E, 0.0, 1.0, 0.5, 0.7, False),
            ],
            [("", F, 0.0, 0.936, 0.2, 0.4944, False), ("", C, 0.0, 0.8, 0.1, 0.38, False)],
            True,
        ),
    ]
    # Hop 3 after A, B, query (0, 1). C .28, D 1, E .8, F .96, G .8. R: C .172, D 1, E .32+.3, F .384+.12, G
    # .32. K = 3: D, E, F, and the same by relevance (E before G).
    # After A, D, query (.28, .96). B .224+.576 = .8, C .5376, E .168+.768 = .936, F 1, G .6. R: B .32+.48, C
    # .27504, E .3744+.3, F .4+.12, G .24. K = 3: B, E, F, and the same by relevance.
    # All: (A, B, D) .3*.8 = .24, (A, B) ended .03, as A comes before C at .1 each, (B) ended and carried .21,
    # (A, D, B) .15*.6 = .09, (A, D) ended .15*.3 = .045. F = 3.
    assert told(trace.hops[2]) == [
        (
            (A, B),
            0.3,
            [
                stop(0.1, False),
                ("B", D, 0.8, 1.0, 1.0, 1.0, True),
                ("C", E, 0.1, 0.8, 0.5, 0.62, False),
                ("D", F, 0.0, 0.96, 0.2, 0.504, False),
            ],
            [],
            True,
        ),
        (
            (A, D),
            0.15,
            [
                stop(0.3, False),
                ("B", B, 0.6, 0.8, 0.8, 0.8, True),
                ("C", E, 0.1, 0.936, 0.5, 0.6744, False),
                ("D", F, 0.0, 1.0, 0.2, 0.52, False),
            ],
            [],
            True,
        ),
    ]
    assert [(hop.number, hop.n_finished) for hop in trace.hops] == [(1, 0), (2, 0), (3, 1)]
    assert [(c.triples, round(c.confidence, 9), c.finished) for c in trace.chains] == [
        ((A, B, D), 0.24, False),
        ((B,), 0.21, True),
    ]
    # G is never offered nor kept out, and the less credible copy of A is no claim of its own.
    assert [t.id for t in trace.triples] == [A, B, C, D, E, F]
    assert (trace.n_triples, trace.n_prompts) == (7, 1 + 2 + 2)
    assert (trace.question, trace.selector, trace.notes) == (QUESTION, "by-chain", ())
    assert (trace.extractor, trace.credibility, trace.context) == ("hand", "llm", "tbs")
    assert trace.settings["top_k"] == 3 and trace.settings["relevance_weight"] == 0.4


def test_the_prompts_of_a_hop_are_asked_in_one_call_with_the_chain_and_the_options_by_reliability():
    selector = ByChain(SCRIPT)
    traced(selector)
    assert [[step.chain for step in call] for call in selector.calls] == [
        [()],
        [(TEXT[A],), (TEXT[B],)],
        [(TEXT[A], TEXT[B]), (TEXT[A], TEXT[D])],
    ]
    assert [step.hop for call in selector.calls for step in call] == [1, 2, 2, 3, 3]
    first = selector.calls[0][0]
    assert first.question == QUESTION and first.options == (TEXT[A], TEXT[B], TEXT[D])
    assert first.vectors is not None
    np.testing.assert_allclose(first.vectors.options, [(1, 0), (0.8, 0.6), (0, 1)])


def test_without_credibility_the_most_relevant_are_offered_and_nothing_is_kept_out():
    pool = [replace(each, credibility=None) for each in POOL]
    [step] = traced(ByChain(SCRIPT), pool, max_hops=1).hops[0].steps
    assert [option.triple for option in step.options] == [None, A, C, B]
    assert step.kept_out == ()


def test_triples_that_are_written_the_same_are_offered_once_the_most_credible_of_them():
    pool = [replace(POOL[0], credibility=0.3), *POOL[1:7], replace(POOL[7], credibility=0.9)]
    trace = traced(ByChain(SCRIPT))
    other = traced(ByChain(SCRIPT), pool)
    assert [chain.triples[:1] for chain in trace.chains] == [(A,), (B,)]
    assert [chain.triples[:1] for chain in other.chains] == [(COPY,), (B,)]
    assert other.n_triples == 7


# Ends that are not in the middle.


def test_a_chain_that_stops_at_once_is_a_chain_without_evidence():
    trace = traced(ByChain({(): (1.0, 0.0, 0.0, 0.0)}))
    assert trace.chains == (Chain((), 1.0, True),)
    assert (len(trace.hops), trace.n_prompts) == (1, 1)


def test_without_triples_only_to_stop_is_left_and_nobody_is_asked():
    selector = ByChain({})
    trace = search(QUESTION, [], [], lookup({}), selector, **WORDS)
    assert trace.chains == (Chain((), 1.0, True),)
    assert trace.triples == () and trace.n_triples == 0
    assert selector.calls == [] and trace.n_prompts == 0
    [step] = trace.hops[0].steps
    assert not step.asked
    assert [(option.label, option.probability, option.kept) for option in step.options] == [("A", 1.0, True)]


def test_more_options_than_triples_offer_all_there_are_and_a_chain_of_all_ends_by_itself():
    selector = ByChain({(): (0.0, 0.9, 0.1), (TEXT[A],): (0.1, 0.9), (TEXT[B],): (1.0, 0.0)})
    trace = traced(selector, POOL[:2], top_k=20, max_hops=4, n_beams=20, n_branches=5)
    assert [len(step.options) for hop in trace.hops for step in hop.steps] == [3, 2, 2, 1]
    # (A, B) holds all triples: it ends with the confidence it had, .9 * .9, and no prompt.
    best = trace.chains[0]
    assert (best.triples, round(best.confidence, 9), best.finished) == ((A, B), 0.81, True)
    last = trace.hops[2]
    assert [(step.chain, step.asked) for step in last.steps] == [((A, B), False)]
    assert trace.n_prompts == 3 and len(selector.calls) == 2


def test_a_search_stops_when_all_chains_have_ended():
    trace = traced(ByChain({(): (0.0, 0.5, 0.5, 0.0), **{(TEXT[x],): (1.0, 0.0, 0.0, 0.0) for x in (A, B)}}))
    assert [(hop.number, len(hop.steps)) for hop in trace.hops] == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((0.5, 0.5), "4 probabilities"),
        ((0.5, 0.5, 0.5, 0.5), "sum to one"),
        ((1.5, -0.5, 0.0, 0.0), "sum to one"),
        ((float("nan"), 0.5, 0.5, 0.0), "sum to one"),
    ],
)
def test_a_selector_that_returns_no_probabilities_is_named(answer, says):
    with pytest.raises(InputError, match=f"by-chain.*{says}"):
        traced(ByChain({(): answer}))


def test_a_selector_that_leaves_a_step_out_is_named():
    class Silent(ByChain):
        def select(self, steps):
            return []

    with pytest.raises(InputError, match="answered 0 of 1"):
        traced(Silent({}))


@pytest.mark.parametrize(
    ("pool", "vectors", "says"),
    [
        (POOL[:2], [(1, 0)], "2 rows"),
        (POOL[:2], [1.0, 0.0], "2 rows"),
        (POOL[:1], [(float("nan"), 0)], "NaN"),
        (POOL[:1], [(1, 0, 0)], "3 numbers"),
        ([POOL[0], replace(POOL[1], id=A)], [(1, 0), (0, 1)], "same id"),
        ([replace(POOL[0], credibility=1.2)], [(1, 0)], "credibility of triple 11 is 1.2"),
        ([replace(POOL[0], credibility=float("nan"))], [(1, 0)], "credibility of triple 11 is nan"),
    ],
)
def test_a_pool_that_cannot_be_searched_is_refused(pool, vectors, says):
    with pytest.raises(InputError) as caught:
        search(QUESTION, pool, vectors, lookup(QUERIES), ByChain({}), **WORDS)
    assert says in str(caught.value) and caught.value.hint


# What holds for every selector.

NAMES = [f"n{number}" for number in range(6)]
POOLS = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["r", "s"]),
        st.sampled_from(NAMES),
        st.none() | st.floats(0, 1),
    ),
    max_size=40,
)


@given(
    pool=POOLS,
    seed=st.integers(0, 999),
    sharpness=st.sampled_from([0.0, 1.0, 4.0]),
    top_k=st.integers(1, 25),
    default=st.booleans(),
)
@hypothesis_settings(max_examples=120, deadline=None)
def test_whatever_the_selector_prefers_a_search_keeps_its_bounds_and_tells_all(
    pool, seed, sharpness, top_k, default
):
    options = ChainSettings() if default else ChainSettings(top_k=top_k, n_branches=3, n_beams=4, max_hops=5)
    triples = [triple(10 + place, "; ".join(row[:3]), row[3]) for place, row in enumerate(pool)]
    vectors = spread([f"<{'; '.join(row[:3])}>" for row in pool])
    selector = Drawn(seed, sharpness)
    trace = search("Q?", triples, vectors, spread, selector, options, **WORDS)

    asked = [step for call in selector.calls for step in call]
    assert trace.n_prompts == len(asked) <= options.most_prompts
    assert trace.n_prompts == sum(step.asked for hop in trace.hops for step in hop.steps)
    assert all(len(call) == len(set(call)) for call in selector.calls)
    assert len(selector.calls) <= len(trace.hops) <= options.max_hops
    assert not default or trace.n_prompts <= 46
    assert trace.n_triples == len({row[:3] for row in pool})

    known = {each.id for each in trace.triples}
    for hop in trace.hops:
        for step in hop.steps:
            offered = [option.triple for option in step.options[1:]]
            assert len(set(offered)) == len(offered) <= options.top_k
            assert not set(offered) & set(step.chain)
            assert "".join(option.label for option in step.options) == LABELS[: len(step.options)]
            assert sum(option.probability for option in step.options) == pytest.approx(1.0)
            assert sum(option.kept for option in step.options) <= options.n_branches
            assert {*step.chain, *offered, *(option.triple for option in step.kept_out)} <= known
    for hop, following in pairwise(trace.hops):
        kept = [(*s.chain, o.triple) for s in hop.steps for o in s.options if o.kept and o.triple is not None]
        assert sorted(kept) == sorted(step.chain for step in following.steps)
        ended = sum(o.kept for s in hop.steps for o in s.options if o.triple is None)
        assert following.n_finished <= hop.n_finished + ended
        assert len(following.steps) + following.n_finished <= options.n_beams

    confidences = [chain.confidence for chain in trace.chains]
    assert 1 <= len(trace.chains) <= options.n_chains
    assert confidences == sorted(confidences, reverse=True)
    for chain in trace.chains:
        assert len(set(chain.triples)) == len(chain.triples) <= options.max_hops
        assert 0 < chain.confidence <= 1 and set(chain.triples) <= known
        assert chain.finished or len(chain.triples) == len(trace.hops)
    assert trace == search("Q?", triples, vectors, spread, Drawn(seed, sharpness), options, **WORDS)
