"""Judgements that show which side of a clash is wrong speak of other clashes too, and no further."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical.bench import protocol
from veridical.graph.arrays import Anchors
from veridical.methods.veridical import Veridical

N_CLASHES = 60  # documents 2i (bold) and 2i + 1 (meek) contradict each other; the bold ones answer outright
N = 300


def world():
    bold = np.arange(0, 2 * N_CLASHES, 2)
    graph = protocol.with_relations(
        protocol.source_graph(N, None), bold, bold + 1, np.full(N_CLASHES, -1), np.full(N_CLASHES, 0.4)
    )
    return replace(graph, margins=np.full(N_CLASHES, 0.5))


def judged(documents, values):
    at = np.array(documents, dtype=np.int64)
    return Anchors(at, np.array(values, dtype=np.float64), np.ones(len(at)))


BOLD, MEEK = range(40, 80, 2), range(81, 120, 2)
"""Judged: the bold of 20 clashes and the meek of 20 others; the first 20 clashes are not looked at."""


def test_where_the_bold_side_was_found_bad_it_loses_trust_in_clashes_that_nobody_judged():
    state = Veridical().believe(world(), judged([*BOLD, *MEEK], [0] * 20 + [1] * 20))
    assert (state.trust[0:40:2] < 0.4).all()
    assert (state.trust[1:40:2] > 0.6).all()
    assert np.isnan(state.trust[120:]).all()
    assert any("clash" in note for note in state.notes)


def test_where_the_bold_side_was_found_good_nothing_is_said_of_other_clashes():
    state = Veridical().believe(world(), judged([*BOLD, *MEEK], [1] * 20 + [0] * 20))
    assert np.isnan(state.trust[:40]).all()
    assert not any("clash" in note for note in state.notes)


def test_two_judgements_say_nothing_of_other_clashes():
    assert np.isnan(Veridical().believe(world(), judged([40, 81], [0, 1])).trust[:40]).all()


def test_a_judgement_outweighs_what_standing_out_says():
    feedback = judged([*BOLD, *MEEK, 0], [0] * 20 + [1] * 20 + [1])
    trust = Veridical().believe(world(), feedback).trust
    assert trust[0] > 0.9
    assert trust[1] < trust[3]


def test_undoing_a_judgement_restores_trust_in_clashes_that_nobody_judged():
    method, graph = Veridical(), world()
    values = [0] * 16 + [1] * 4 + [1] * 16 + [0] * 4
    feedback = judged([*BOLD, *MEEK], values)
    before = method.believe(graph, feedback)
    more = judged([*BOLD, *MEEK, 2], [*values, 1])
    moved = method.believe(graph, more, warm_start=before.raw)
    again = method.believe(graph, feedback, warm_start=moved.raw)
    assert abs(moved.trust[4] - before.trust[4]) > 1e-3
    np.testing.assert_allclose(again.trust, before.trust, atol=1e-8)
