"""Which passage pairs are worth judging: nearest neighbours by embedding, never all pairs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.index.dense import EXACT_LIMIT, ann_index, top_rows

N_NEIGHBOURS = 10
MIN_SIMILARITY = 0.45
_BLOCK_CELLS = 16_000_000  # cosines held at a time: 64 MB
_ANN_BATCH = 4_096
_ANN_FACTOR = 4  # so many times the neighbours wanted are asked for, as some share a document or a text

Float32Array = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Neighbours = dict[int, dict[int, float]]


def update_neighbours(
    ids: IntArray,
    document_of: IntArray,
    vectors: Float32Array,
    known: Mapping[int, Mapping[int, float]],
    *,
    text_of: IntArray | None = None,
    n_neighbours: int = N_NEIGHBOURS,
    exact_cells: int = EXACT_LIMIT**2,
    on_progress: Callable[[int], None] | None = None,
) -> Neighbours:
    """Bring every passage's list of nearest neighbours in other documents up to date.

    Exact: the lists are those of a computation from scratch. Only passages that are new, or that lost a
    neighbour, are compared with all others (one row of n cosines each); the rest only with the new ones.
    Where that would be more than ``exact_cells`` cosines, they are looked up in an approximate index
    instead, and newcomers enter the lists of those that they find.

    Of passages with the same text only the nearest is a neighbour, and none of a copy of itself: a text that
    is repeated many times does not drive the others out of the lists.

    Parameters
    ----------
    ids, document_of
        Shape (p,): passage ids, ascending, and the document of each.
    vectors
        Shape (p, d): unit rows.
    known
        Lists as they stand, without passages that have gone.
    text_of
        Shape (p,): a number of each passage's text, shared by equal texts. None: all differ.

    Returns
    -------
    dict
        The lists that changed, whole: passage id to {neighbour id: cosine}.

    Raises
    ------
    MissingExtraError
        The approximate index is needed, and the extra ``ann`` is not installed.
    """
    if len(ids) == 0:
        return {}
    passages = _Passages(ids, document_of, np.arange(len(ids)) if text_of is None else text_of, vectors)
    expected = passages.expected(n_neighbours)
    lengths = np.array([passages.length(known.get(int(i), ()), row) for row, i in enumerate(ids)])
    redo = np.flatnonzero(lengths < expected)
    fresh = np.array([int(i) not in known for i in ids])
    weakest = np.full(len(ids), np.inf)
    for row in np.flatnonzero((lengths >= expected) & (expected > 0)):
        weakest[row] = min(known[int(ids[row])].values())
    exact = len(redo) * len(ids) <= exact_cells
    found = (_exact if exact else _approximate)(passages, redo, expected, n_neighbours)
    any_old = bool(np.isfinite(weakest).any())
    changed: Neighbours = {}
    for rows, columns, cosines in found:
        for row, near, line in zip(rows, columns, cosines, strict=True):
            places = passages.nearest(line, near, int(expected[row]))
            changed[int(ids[row])] = {int(ids[near[k]]): float(line[k]) for k in places}
            if fresh[row] and any_old:
                for k in np.flatnonzero(line > weakest[near]):
                    other = int(near[k])
                    own = changed.setdefault(int(ids[other]), dict(known[int(ids[other])]))
                    own[int(ids[row])] = float(line[k])
        if on_progress is not None:
            on_progress(len(rows))
    return {i: passages.strongest(near, n_neighbours) for i, near in changed.items()}


class _Passages:
    """The passages of an update, by row."""

    def __init__(
        self, ids: IntArray, document_of: IntArray, text_of: IntArray, vectors: Float32Array
    ) -> None:
        self.ids = ids
        self.document = np.unique(document_of, return_inverse=True)[1].astype(np.int64)
        self.text = np.unique(text_of, return_inverse=True)[1].astype(np.int64)
        self.vectors = vectors
        self._repeats = int(self.text.max()) + 1 < len(ids)
        self._row = {int(i): row for row, i in enumerate(ids)}

    def expected(self, n_neighbours: int) -> IntArray:
        """Length of each list: texts but its own that another document holds, at most ``n_neighbours``."""
        n_texts = int(self.text.max()) + 1
        low, high = np.full(n_texts, len(self.ids)), np.full(n_texts, -1)
        np.minimum.at(low, self.text, self.document)
        np.maximum.at(high, self.text, self.document)
        within = np.bincount(low[low == high], minlength=int(self.document.max()) + 1)
        own_is_within = (low == high)[self.text]
        others = n_texts - 1 - within[self.document] + own_is_within
        return np.asarray(np.minimum(n_neighbours, others), dtype=np.int64)

    def length(self, near: Collection[int], row: int) -> int:
        """Length of a list; -1 if it holds a text twice, its own, or a passage that is not here."""
        texts = {int(self.text[self._row[i]]) for i in near if i in self._row} - {int(self.text[row])}
        return len(texts) if len(texts) == len(near) else -1

    def nearest(self, line: Float32Array, near: IntArray, n: int) -> IntArray:
        """Places in ``line`` of the n largest cosines that belong to different texts, largest first."""
        if not self._repeats:
            return top_rows(line, n)
        asked = n
        while True:
            places = top_rows(line, asked)
            _, first = np.unique(self.text[near[places]], return_index=True)
            if len(first) >= n or asked >= len(line):
                return places[np.sort(first)][:n]
            asked *= 2

    def strongest(self, near: Mapping[int, float], n: int) -> dict[int, float]:
        """The n nearest of a list, one of each text, ties by lower id."""
        kept: dict[int, tuple[int, float]] = {}
        for i, cosine in sorted(near.items(), key=lambda item: (-item[1], item[0])):
            kept.setdefault(int(self.text[self._row[i]]), (i, cosine))
        return dict(list(kept.values())[:n])

    def apart(self, row: int, columns: IntArray) -> npt.NDArray[np.bool_]:
        """Which columns are of another document and another text."""
        return np.asarray(
            (self.document[columns] != self.document[row]) & (self.text[columns] != self.text[row])
        )


_Found = Iterator[tuple[IntArray, Iterable[IntArray], Iterable[Float32Array]]]


def _exact(passages: _Passages, redo: IntArray, expected: IntArray, n_neighbours: int) -> _Found:  # noqa: ARG001
    """Rows in blocks, with their cosines to all passages; minus infinity to those of no use."""
    columns = np.arange(len(passages.ids))
    block = max(1, _BLOCK_CELLS // len(columns))
    for begin in range(0, len(redo), block):
        rows = redo[begin : begin + block]
        cosines = passages.vectors[rows] @ passages.vectors.T
        cosines[passages.document[rows][:, None] == passages.document[None, :]] = -np.inf
        cosines[passages.text[rows][:, None] == passages.text[None, :]] = -np.inf
        yield rows, (columns for _ in rows), cosines


def _approximate(passages: _Passages, redo: IntArray, expected: IntArray, n_neighbours: int) -> _Found:
    """Rows in batches, with their exact cosines to what an approximate index finds near them."""
    index = ann_index(passages.vectors.shape[1])
    index.add(np.arange(len(passages.ids), dtype=np.uint64), passages.vectors)
    for begin in range(0, len(redo), _ANN_BATCH):
        rows = redo[begin : begin + _ANN_BATCH]
        matches = index.search(passages.vectors[rows], _ANN_FACTOR * n_neighbours)
        if len(rows) == 1:
            matches = [matches]  # one question gives no batch
        columns = [_useful(passages, int(row), match) for row, match in zip(rows, matches, strict=True)]
        for place, row in enumerate(rows):
            if len(np.unique(passages.text[columns[place]])) < expected[row]:  # its document is all around it
                columns[place] = np.flatnonzero(passages.apart(int(row), np.arange(len(passages.ids))))
        yield (
            rows,
            columns,
            [passages.vectors[near] @ passages.vectors[row] for row, near in zip(rows, columns, strict=True)],
        )


def _useful(passages: _Passages, row: int, match: Any) -> IntArray:
    near = np.sort(np.asarray(match.keys).astype(np.int64))
    return near[passages.apart(row, near)]


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
