"""The order of pairs keeps those of one passage together, and depends on nothing but the pairs."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from veridical.graph.locality import near_together, ranks

EDGES = st.sets(st.tuples(st.integers(1, 30), st.integers(1, 30)).filter(lambda pair: pair[0] < pair[1]))


def test_along_a_path_neighbours_have_neighbouring_ranks() -> None:
    ids = random.Random(0).sample(range(1000), 200)
    path = [(min(a, b), max(a, b)) for a, b in pairwise(ids)]
    rank = ranks(path)
    assert {abs(rank[a] - rank[b]) for a, b in path} == {1}


def test_pairs_of_separate_groups_do_not_mix() -> None:
    groups = [range(0, 40, 2), range(1, 40, 2)]
    pairs = sorted((a, b) for group in groups for a in group for b in group if a < b)
    sides = [low % 2 for low, _ in near_together(pairs)]
    assert sides in (sorted(sides), sorted(sides, reverse=True))


def test_no_pairs_have_no_order() -> None:
    assert ranks([]) == {}
    assert near_together([]) == []


@given(EDGES, st.randoms())
def test_every_pair_is_there_once_and_the_order_does_not_depend_on_theirs(pairs, chance) -> None:
    shuffled = sorted(pairs)
    chance.shuffle(shuffled)
    assert sorted(ranks(shuffled).values()) == list(range(len({end for pair in pairs for end in pair})))
    assert near_together(shuffled) == near_together(sorted(pairs))
    assert sorted(near_together(shuffled)) == sorted(pairs)
