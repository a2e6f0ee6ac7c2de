"""Turn two sentences into the numbers that the feature backend decides by."""

from __future__ import annotations

from collections.abc import Sequence

from veridical.nli.lexicon import KINDS, NEGATING_PREFIXES, OPPOSITES
from veridical.nli.values import (
    Facts,
    Quantity,
    When,
    compare_dates,
    compare_quantities,
)

#: Names of the columns, in order. "p" is the premise, "h" the hypothesis; a share is of the side it names.
FEATURES: tuple[str, ...] = (
    "word_share_h", "word_share_p", "word_jaccard", "pair_share_h", "pair_share_p",
    "n_left_h", "n_left_p", "n_words_h", "n_words_p", "length_ratio",
    "names_h", "names_p", "name_share_h", "name_share_p", "names_left_h", "names_left_p", "names_clash",
    "quantity_same", "quantity_differs", "quantity_left_h", "quantity_left_p",
    "date_same", "date_differs", "date_left_h", "date_left_p",
    "negations_h", "negations_p", "negation_odd",
    "opposites", "kinds_clash", "prefix_opposites",
    "denied_h_in_p", "denied_p_in_h", "denied_value_h_in_p", "denied_value_p_in_h",
    "n_denied_h", "n_denied_p", "denied_both", "asserted_left_h", "asserted_left_p",
    "disputes_h", "disputes_p", "hedges_h", "hedges_p",
    "first_name_shared", "left_h_per_shared", "left_p_per_shared",
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
    quantities = _verdicts(p.quantities, h.quantities)
    dates = _verdicts(p.dates, h.dates)
    return (
        n_shared / (n_h or 1), n_shared / (n_p or 1), n_shared / ((n_h + n_p - n_shared) or 1),
        shared_pairs / (len(h.pairs) or 1), shared_pairs / (len(p.pairs) or 1),
        len(left_h), len(left_p), n_h, n_p, (h.n_tokens + 1) / (p.n_tokens + 1),
        len(h.names), len(p.names),
        _share(h.names & p.words, h.names), _share(p.names & h.words, p.names),
        len(names_left_h), len(names_left_p), min(len(names_left_h), len(names_left_p)),
        *quantities, *dates,
        h.n_negations, p.n_negations, (h.n_negations + p.n_negations) % 2,
        _opposites(left_p, left_h), _kinds_clash(left_p, left_h), _prefixes(left_p, left_h),
        _share(h.denied & (p.words - p.denied), h.denied), _share(p.denied & (h.words - h.denied), p.denied),
        _denied_values(h, p), _denied_values(p, h),
        len(h.denied), len(p.denied), len(h.denied & p.denied),
        len(left_h - h.denied), len(left_p - p.denied),
        h.n_disputes, p.n_disputes, h.n_hedges, p.n_hedges,
        float(bool(h.names & p.names)), len(left_h) / (n_shared + 1), len(left_p) / (n_shared + 1),
    )  # fmt: skip


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 0.0


def _same(left: Quantity | When, right: Quantity | When) -> str:
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return compare_quantities(left, right)
    if isinstance(left, When) and isinstance(right, When):
        return compare_dates(left, right)
    return "apart"


def _verdicts(
    p: Sequence[Quantity | When], h: Sequence[Quantity | When]
) -> tuple[float, float, float, float]:
    """Count asserted values that agree, clash with what was left over, and stand alone on either side."""
    left = [value for value in h if not value.denied]
    right = [value for value in p if not value.denied]
    if not left or not right:
        return 0.0, 0.0, float(len(left)), float(len(right))
    table = [[_same(a, b) for b in right] for a in left]
    lonely_h = [i for i, row in enumerate(table) if "same" not in row]
    lonely_p = [j for j in range(len(right)) if all(row[j] != "same" for row in table)]
    clashes = sum(1 for i in lonely_h if any(table[i][j] == "differs" for j in lonely_p))
    return (
        float(len(left) - len(lonely_h)),
        float(clashes),
        float(len(lonely_h)),
        float(len(lonely_p)),
    )


def _opposites(left_p: frozenset[str], left_h: frozenset[str]) -> float:
    return float(sum(1 for word in left_h if not left_p.isdisjoint(OPPOSITES.get(word, ()))))


def _kinds_clash(left_p: frozenset[str], left_h: frozenset[str]) -> float:
    kinds = {KINDS[word] for word in left_p if word in KINDS}
    return float(sum(1 for word in left_h if KINDS.get(word) in kinds)) if kinds else 0.0


def _prefixes(left_p: frozenset[str], left_h: frozenset[str]) -> float:
    def negated(words: frozenset[str], others: frozenset[str]) -> int:
        return sum(
            1
            for other in others
            if other.startswith(NEGATING_PREFIXES)
            for prefix in NEGATING_PREFIXES
            if other.startswith(prefix) and other[len(prefix) :] in words
        )

    return float(negated(left_p, left_h) + negated(left_h, left_p))


def _denied_values(denier: Facts, other: Facts) -> float:
    """Count the values that one sentence denies and the other asserts."""
    values = [v for v in _values(denier) if v.denied]
    asserted = [v for v in _values(other) if not v.denied]
    return float(sum(1 for v in values if any(_same(v, w) == "same" for w in asserted)))


def _values(facts: Facts) -> list[Quantity | When]:
    return [*facts.quantities, *facts.dates]
