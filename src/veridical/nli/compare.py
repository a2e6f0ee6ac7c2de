"""Turn two sentences into the numbers that the feature backend decides by."""

from __future__ import annotations

from collections.abc import Sequence

from veridical.nli.lexicon import OPPOSITES
from veridical.nli.values import (
    Facts,
    Quantity,
    When,
    compare_dates,
    compare_quantities,
)

#: Names of the columns, in order. "p" is the premise, "h" the hypothesis; a share is of the side it names.
#: None looks at one text alone: how somebody writes says nothing of what is so.
FEATURES: tuple[str, ...] = (
    "word_share_h", "word_share_p", "word_jaccard", "pair_share_h", "pair_share_p",
    "n_shared", "n_left_h", "n_left_p", "left_per_shared_h", "left_per_shared_p",
    "names_shared", "name_share_h", "name_share_p", "names_left_h", "names_left_p", "names_clash",
    "quantity_same", "quantity_differs", "quantity_left_h", "quantity_left_p",
    "date_same", "date_differs", "date_left_h", "date_left_p", "hedged_differs",
    "negation_odd", "opposites", "kinds_clash", "prefix_opposites",
    "denies_h", "denies_p", "denies_value_h", "denies_value_p", "denied_both",
    "asserted_left_h", "asserted_left_p",
    "name_slots", "loose_name_slots", "word_slots", "loose_word_slots",
)  # fmt: skip
#: The encoder's cosine comes as one column more, last, where there is an encoder.
COSINE = "cosine"


def compare(p: Facts, h: Facts) -> tuple[float, ...]:
    """Compare what two sentences say.

    Directional: columns of the premise and the hypothesis change places when the sentences do.

    Returns
    -------
    tuple of float
        One finite number for each of ``FEATURES``: counts, and shares in [0, 1].
    """
    shared = p.words & h.words
    left_h, left_p = h.words - shared, p.words - shared
    n_shared, n_h, n_p = len(shared), len(h.words), len(p.words)
    shared_pairs = len(p.pairs & h.pairs)
    names_left_h, names_left_p = (h.names & left_h) - p.known, (p.names & left_p) - h.known
    names_shared = len(h.names & p.names)
    quantities = _verdicts(p.quantities, h.quantities)
    dates = _verdicts(p.dates, h.dates)
    return (
        n_shared / (n_h or 1), n_shared / (n_p or 1), n_shared / ((n_h + n_p - n_shared) or 1),
        shared_pairs / (len(h.pairs) or 1), shared_pairs / (len(p.pairs) or 1),
        n_shared, len(left_h), len(left_p), len(left_h) / (n_shared + 1), len(left_p) / (n_shared + 1),
        names_shared, _share(h.names & p.known, h.names), _share(p.names & h.known, p.names),
        len(names_left_h), len(names_left_p), min(len(names_left_h), len(names_left_p)),
        *quantities[:4], *dates[:4], quantities[4] + dates[4],
        (h.n_negations + p.n_negations) % 2,
        _opposites(p, h, left_p, left_h), _kinds_clash(p, h, left_p, left_h), _prefixes(p, h, left_p, left_h),
        _share(h.denied & (p.words - p.denied), h.denied), _share(p.denied & (h.words - h.denied), p.denied),
        _denied_values(h, p), _denied_values(p, h), len(h.denied & p.denied),
        len(left_h - h.denied), len(left_p - p.denied),
        *_slots(p, h, shared),
    )  # fmt: skip


def _runs(facts: Facts, shared: frozenset[str]) -> list[tuple[str, str, frozenset[str]]]:
    """Stretches of words that only one side has, with the shared words before and after them."""
    found: list[tuple[str, str, frozenset[str]]] = []
    before, run = "", list[str]()
    for word in facts.sequence:
        if word in shared:
            if run:
                found.append((before, word, frozenset(run)))
                run = []
            before = word
        else:
            run.append(word)
    if run:
        found.append((before, "", frozenset(run)))
    return found


def _slots(p: Facts, h: Facts, shared: frozenset[str]) -> tuple[float, float, float, float]:
    """Count where either side puts something else between the same words.

    Names against names between two shared words and beside one, then other words likewise. Numbers are
    compared by value, and what is denied is not said.
    """
    counts = [0.0, 0.0, 0.0, 0.0]
    if not shared:
        return 0.0, 0.0, 0.0, 0.0
    others = _runs(p, shared)
    if not others:
        return 0.0, 0.0, 0.0, 0.0
    for before, after, run in _runs(h, shared):
        if run <= h.denied:
            continue
        named = not run.isdisjoint(h.names)
        for other_before, other_after, other in others:
            left = bool(before) and before == other_before
            right = bool(after) and after == other_after
            if (left or right) and not other <= p.denied:
                if named and not other.isdisjoint(p.names):
                    if run <= p.known or other <= h.known:
                        continue
                    counts[0 if left and right else 1] += 1
                elif not named and other.isdisjoint(p.names):
                    counts[2 if left and right else 3] += 1
    return counts[0], counts[1], counts[2], counts[3]


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 0.0


def _same(left: Quantity | When, right: Quantity | When) -> str:
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return compare_quantities(left, right)
    if isinstance(left, When) and isinstance(right, When):
        return compare_dates(left, right)
    return "apart"


def same_value(left: Quantity | When, right: Quantity | When) -> bool:
    """Whether two values agree."""
    return _same(left, right) == "same"


def _verdicts(
    p: Sequence[Quantity | When], h: Sequence[Quantity | When]
) -> tuple[float, float, float, float, float]:
    """Count asserted values that agree, clash with what was left over, and stand alone on either side.

    The last is whether a side is not sure of what clashes.
    """
    if not p and not h:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    left = [value for value in h if not value.denied]
    right = [value for value in p if not value.denied]
    if not left or not right:
        return 0.0, 0.0, float(len(left)), float(len(right)), 0.0
    table = [[_same(a, b) for b in right] for a in left]
    lonely_h = [i for i, row in enumerate(table) if "same" not in row]
    lonely_p = [j for j in range(len(right)) if all(row[j] != "same" for row in table)]
    clashes = [(i, j) for i in lonely_h for j in lonely_p if table[i][j] == "differs"]
    hedged = any(left[i].hedged or right[j].hedged for i, j in clashes)
    n_clashes = min(len({i for i, _ in clashes}), len({j for _, j in clashes}))
    return (
        float(min(len(left) - len(lonely_h), len(right) - len(lonely_p))),
        float(n_clashes),
        float(len(lonely_h)),
        float(len(lonely_p)),
        float(hedged),
    )


def _opposites(p: Facts, h: Facts, left_p: frozenset[str], left_h: frozenset[str]) -> float:
    if not p.opposites or not h.opposites:
        return 0.0
    return float(sum(len(OPPOSITES[word] & left_p) for word in h.opposites if word in left_h))


def _kinds_clash(p: Facts, h: Facts, left_p: frozenset[str], left_h: frozenset[str]) -> float:
    if not p.kinds or not h.kinds:
        return 0.0
    ours = {kind for word, kind in p.kinds if word in left_p}
    return float(len(ours & {kind for word, kind in h.kinds if word in left_h}))


def _prefixes(p: Facts, h: Facts, left_p: frozenset[str], left_h: frozenset[str]) -> float:
    ours = sum(1 for word, rest in p.stripped if word in left_p and rest in left_h)
    return float(ours + sum(1 for word, rest in h.stripped if word in left_h and rest in left_p))


def _denied_values(denier: Facts, other: Facts) -> float:
    """Count the values that one sentence denies and the other asserts."""
    values = [v for v in values_of(denier) if v.denied]
    if not values:
        return 0.0
    asserted = [v for v in values_of(other) if not v.denied]
    return float(sum(1 for v in values if any(same_value(v, w) for w in asserted)))


def values_of(facts: Facts) -> tuple[Quantity | When, ...]:
    """All numbers and dates of a sentence."""
    return (*facts.quantities, *facts.dates)


#: Where the columns of a pair stand for the pair turned round.
TURNED: tuple[int, ...] = tuple(
    FEATURES.index(f"{name[:-2]}_{'p' if name[-1] == 'h' else 'h'}")
    if name.endswith(("_h", "_p")) and f"{name[:-2]}_{'p' if name[-1] == 'h' else 'h'}" in FEATURES
    else place
    for place, name in enumerate(FEATURES)
)
