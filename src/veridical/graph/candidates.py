"""Which passage pairs are worth judging: nearest neighbours by embedding, never all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from veridical.index.dense import top_rows

N_NEIGHBOURS = 10
MIN_SIMILARITY = 0.45
_BLOCK_CELLS = 16_000_000  # cosines held at a time: 64 MB

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Neighbours = dict[int, dict[int, float]]


def update_neighbours(
    ids: IntArray,
    document_of: IntArray,
    vectors: Float32Array,
    known: Mapping[int, Mapping[int, float]],
    *,
    n_neighbours: int = N_NEIGHBOURS,
    on_progress: Callable[[int], None] | None = None,
) -> Neighbours:
    """Bring every passage's list of nearest neighbours in other documents up to date.

    Exact: the lists are those of a computation from scratch. Only passages that are new, or that lost a
    neighbour, are compared with all others (one row of n cosines each); the rest only with the new ones.

    Parameters
    ----------
    ids, document_of
        Shape (p,): passage ids, ascending, and the document of each.
    vectors
        Shape (p, d): unit rows.
    known
        Lists as they stand, without passages that have gone.

    Returns
    -------
    dict
        The lists that changed, whole: passage id to {neighbour id: cosine}.
    """
    n = len(ids)
    if n == 0:
        return {}
    _, inverse, sizes = np.unique(document_of, return_inverse=True, return_counts=True)
    expected = np.minimum(n_neighbours, n - sizes[inverse])
    lengths = np.array([len(known.get(int(i), ())) for i in ids])
    redo = np.flatnonzero(lengths < expected)
    fresh = np.array([int(i) not in known for i in ids])
    old = lengths >= expected
    weakest = np.full(n, np.inf)
    for row in np.flatnonzero(old & (expected > 0)):
        weakest[row] = min(known[int(ids[row])].values())
    changed: Neighbours = {}
    block = max(1, _BLOCK_CELLS // n)
    for begin in range(0, len(redo), block):
        rows = redo[begin : begin + block]
        cosines = vectors[rows] @ vectors.T
        cosines[document_of[rows][:, None] == document_of[None, :]] = -np.inf
        for row, line in zip(rows, cosines, strict=True):
            best = top_rows(line, int(expected[row]))
            changed[int(ids[row])] = {int(ids[j]): float(line[j]) for j in best}
        newcomers = np.flatnonzero(fresh[rows])
        for k, j in zip(*np.nonzero(cosines[newcomers] > weakest[None, :]), strict=True):
            newcomer = rows[newcomers[k]]
            near = changed.setdefault(int(ids[j]), dict(known[int(ids[j])]))
            near[int(ids[newcomer])] = float(cosines[newcomers[k], j])
        if on_progress is not None:
            on_progress(len(rows))
    return {i: _strongest(near, n_neighbours) for i, near in changed.items()}


def _strongest(near: Mapping[int, float], n: int) -> dict[int, float]:
    return dict(sorted(near.items(), key=lambda item: (-item[1], item[0]))[:n])


def candidate_pairs(
    neighbours: Mapping[int, Mapping[int, float]], *, min_similarity: float = MIN_SIMILARITY
) -> list[tuple[int, int]]:
    """Passage pairs (low id, high id) where either is among the other's neighbours and near enough."""
    pairs = {
        (min(i, j), max(i, j))
        for i, near in neighbours.items()
        for j, similarity in near.items()
        if similarity >= min_similarity
    }
    return sorted(pairs)


def merged(known: Neighbours, changed: Neighbours, live: Iterable[int]) -> Neighbours:
    """The lists in force after an update."""
    alive = set(live)
    return {i: near for i, near in {**known, **changed}.items() if i in alive}
