"""Explanations add up, and say what removing a thing would do."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.errors import InputError
from veridical.testing.solver_contract import random_problem, signed_problem
from veridical.trust.explain import influences
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.solvers.reference import Reference


def explain(problem, node, top=None):
    return influences(problem, Reference().solve(problem), node, top)


@given(st.integers(0, 10_000), st.integers(0, 29), st.sampled_from([0.0, 0.05]))
@settings(max_examples=60, deadline=None)
def test_contributions_add_up_to_the_trust(seed, node, prior):
    problem = random_problem(seed, n_edges=40, prior=prior)
    if prior:
        targets = np.random.default_rng(seed).random(30)
        problem = dataclasses.replace(problem, prior_targets=targets)
    found = explain(problem, node)
    listed = sum(part.contribution for part in (*found.anchors, *found.priors))
    assert 0.5 + found.constant + listed == pytest.approx(found.trust, abs=1e-8)
    assert found.anchor_contribution + found.prior_contribution == pytest.approx(listed, abs=1e-10)
    if found.anchors or found.priors:
        assert sum(part.share for part in (*found.anchors, *found.priors)) == pytest.approx(1.0)
    assert sum(part.share * part.says for part in found.neighbours) == pytest.approx(
        found.trust if found.neighbours else 0.0, abs=1e-8
    )


def test_a_contribution_is_what_the_anchor_does_at_neutral_against_its_target():
    problem = random_problem(8, prior=0.1)
    before = Reference().solve(problem).values[4]
    for part in explain(problem, 4).anchors:
        targets = problem.anchor_targets.copy()
        targets[part.index] = 0.5
        silenced = problem.with_anchors(problem.anchors, targets, problem.anchor_weights)
        assert before - Reference().solve(silenced).values[4] == pytest.approx(part.contribution, abs=1e-9)


def test_the_effect_of_a_relation_is_the_derivative_by_its_weight():
    problem = random_problem(9, prior=0.1)
    for part in explain(problem, 4, top=10).relations:
        step = 1e-6
        weights = [problem.weights.copy() for _ in range(2)]
        weights[0][part.edge] += step
        weights[1][part.edge] -= step
        up, down = (
            Reference().solve(dataclasses.replace(problem, weights=changed)).values[4] for changed in weights
        )
        slope = (up - down) / (2 * step)
        assert part.effect == pytest.approx(-slope * part.weight, abs=1e-6)


def test_all_influence_flows_over_a_bridge_and_none_over_a_dead_end():
    edges = [(0, 1, 1, 0.3), (1, 2, -1, 0.9), (2, 3, 1, 0.5), (1, 4, 1, 1.0)]
    found = explain(signed_problem(5, edges, [(0, 0.9)]), 3)
    flows = {part.edge: part.flow for part in found.relations}
    assert flows[0] == pytest.approx(1.0)
    assert flows[1] == pytest.approx(1.0)
    assert flows[2] == pytest.approx(1.0)
    assert flows.get(3, 0.0) == pytest.approx(0.0, abs=1e-9)
    assert found.anchors[0].share == 1.0
    assert found.trust == pytest.approx(0.1)


def test_flow_divides_among_parallel_ways_by_their_weights():
    edges = [(0, 1, 1, 0.6), (0, 1, 1, 0.2)]
    found = explain(signed_problem(2, edges, [(0, 0.9)]), 1)
    assert [part.flow for part in found.relations] == pytest.approx([0.75, 0.25])


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_no_relation_carries_more_than_everything(seed):
    for part in explain(random_problem(seed, prior=0.01), 0).relations:
        assert -1e-9 <= part.flow <= 1 + 1e-9


def test_where_nothing_reaches_the_starting_value_stands_in():
    problem = signed_problem(3, [(0, 1, 1, 1.0)], [(2, 0.9)], initial=np.array([0.8, 0.6, 0.5]))
    found = explain(problem, 0)
    assert found.anchors == ()
    assert found.relations == ()
    assert found.constant == pytest.approx(0.2)
    assert found.trust == pytest.approx(0.7)


def test_top_keeps_the_largest_and_the_sums_stay_whole():
    problem = random_problem(10, n_anchors=12, prior=0.1)
    whole, cut = explain(problem, 3), explain(problem, 3, top=4)
    assert cut.anchors == whole.anchors[:4]
    assert cut.relations == whole.relations[:4]
    assert cut.anchor_contribution == whole.anchor_contribution
    assert explain(problem, 3, top=0).anchors == ()
    sizes = [abs(part.contribution) for part in whole.anchors]
    assert sizes == sorted(sizes, reverse=True)


def test_an_explanation_is_plain_json():
    problem = random_problem(11)
    found = json.loads(json.dumps(explain(problem, 0, top=3).to_dict()))
    assert set(found) >= {"node", "trust", "anchors", "relations", "neighbours"}


def test_what_cannot_be_explained_is_refused():
    problem = random_problem(12)
    solution = ConjugateGradient().solve(problem)
    with pytest.raises(InputError, match="no node 30"):
        influences(problem, solution, 30)
    with pytest.raises(InputError, match="top is -1"):
        influences(problem, solution, 0, top=-1)
    with pytest.raises(InputError, match="the problem 30"):
        influences(problem, ConjugateGradient().solve(signed_problem(2, [])), 0)
