"""Judgements that show which side of a clash is wrong speak of other clashes too, and no further."""

from __future__ import annotations

import numpy as np

from veridical.bench import protocol
from veridical.graph.arrays import Anchors
from veridical.methods.veridical import Veridical

N_CLASHES = 60  # documents 3i (bold), 3i + 1 (firm) and 3i + 2 (meek); the bold one contradicts the others
N = 300


def world():
    bold = np.arange(0, 3 * N_CLASHES, 3)
    heads, tails = np.repeat(bold, 2), np.stack([bold + 1, bold + 2], axis=1).ravel()
    weights = np.tile([0.9, 0.3], N_CLASHES)
    graph = protocol.source_graph(N, None)
    return protocol.with_relations(graph, heads, tails, np.full(len(heads), -1, dtype=np.int64), weights)


def judged(documents, values):
    at = np.array(documents, dtype=np.int64)
    return Anchors(at, np.array(values, dtype=np.float64), np.ones(len(at)))


BOLD, MEEK = range(60, 120, 3), range(122, 180, 3)
"""Judged: the bold of 20 clashes and the meek of 20 others; the first 20 clashes are not looked at."""


def test_where_the_bold_side_was_found_bad_it_loses_trust_in_clashes_that_nobody_judged():
    state = Veridical().believe(world(), judged([*BOLD, *MEEK], [0] * 20 + [1] * 20))
    assert (state.trust[0:60:3] < 0.45).all()
    assert (state.trust[2:60:3] > 0.6).all()
    assert np.isnan(state.trust[1:60:3]).all()  # no surer contradicted than the one that contradicts it
    assert np.isnan(state.trust[250])
    assert any("clash" in note for note in state.notes)


def test_where_the_bold_side_was_found_good_nothing_is_said_of_other_clashes():
    state = Veridical().believe(world(), judged([*BOLD, *MEEK], [1] * 20 + [0] * 20))
    assert np.isnan(state.trust[:60]).all()
    assert not any("clash" in note for note in state.notes)


def test_two_judgements_say_nothing_of_other_clashes():
    assert np.isnan(Veridical().believe(world(), judged([60, 62], [0, 1])).trust[:60]).all()


def test_a_judgement_outweighs_what_standing_out_says():
    feedback = judged([*BOLD, *MEEK, 0], [0] * 20 + [1] * 20 + [1])
    trust = Veridical().believe(world(), feedback).trust
    assert trust[0] > 0.9
    assert trust[1] < 0.5


def test_undoing_a_judgement_restores_trust_in_clashes_that_nobody_judged():
    method, graph = Veridical(), world()
    values = [0] * 16 + [1] * 4 + [1] * 16 + [0] * 4
    feedback = judged([*BOLD, *MEEK], values)
    before = method.believe(graph, feedback)
    more = judged([*BOLD, *MEEK, 3], [*values, 1])
    moved = method.believe(graph, more, warm_start=before.raw)
    again = method.believe(graph, feedback, warm_start=moved.raw)
    assert abs(moved.trust[6] - before.trust[6]) > 1e-3
    np.testing.assert_allclose(again.trust, before.trust, atol=1e-8)
