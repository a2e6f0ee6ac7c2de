"""Connected components of a signed graph, and whether each can be satisfied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
SignArray = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Components:
    """The connected components of a signed graph.

    Attributes
    ----------
    labels
        Shape (n,): component number of each node, from 0.
    anchored
        Shape (k,): whether some node of it has an anchor or a prior, so that its minimum is unique.
    balanced
        Shape (k,): whether its nodes fall into two sides with support inside a side and contradiction
        across (Harary). A component that is not balanced is frustrated. An isolated node is balanced.
    sides
        Shape (n,): +1 or -1, the side of each node in a balanced component, +1 for the one of its first
        node; 0 in a frustrated one.
    """

    labels: IntArray
    anchored: BoolArray
    balanced: BoolArray
    sides: SignArray

    @property
    def n_components(self) -> int:
        """Number of components k."""
        return len(self.anchored)

    def project(self, z: FloatArray) -> FloatArray:
        """Return the nearest point to ``z``, shape (n,), at which the edges' terms vanish.

        That is ``c s`` in a balanced component, ``c`` the mean of ``s z`` over it, and 0 in a frustrated one.
        """
        sizes = np.bincount(self.labels, minlength=self.n_components)
        means = np.bincount(self.labels, self.sides * z, minlength=self.n_components) / np.maximum(sizes, 1)
        result: FloatArray = self.sides * means[self.labels]
        return result


def connected_labels(indices: npt.NDArray[np.integer], indptr: npt.NDArray[np.integer]) -> IntArray:
    """Return the component number of each row of a symmetric sparsity pattern, shape (n,)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(indptr) - 1
    if n == 0:
        return np.empty(0, dtype=np.int64)
    # Ones instead of the matrix's own data: entries that cancelled to 0 are edges all the same.
    pattern = csr_array((np.ones(len(indices), dtype=np.float64), indices, indptr), shape=(n, n))
    _, labels = connected_components(pattern, directed=True, connection="weak")
    return np.asarray(labels, dtype=np.int64)


def edge_labels(n: int, heads: IntArray, tails: IntArray) -> IntArray:
    """Return the component number of each of ``n`` nodes, shape (n,)."""
    from scipy.sparse import coo_array

    pattern = coo_array((np.ones(len(heads)), (heads, tails)), shape=(n, n)).tocsr()
    return connected_labels(pattern.indices, pattern.indptr)


def analyse(n: int, heads: IntArray, tails: IntArray, signs: SignArray, *, grounded: BoolArray) -> Components:
    """Find the components of a signed graph with ``n`` nodes.

    Balance is read off the double cover, in which each node has a copy on either side, support joins equal
    and contradiction joins opposite copies: a component is frustrated if and only if a node is connected to
    its own other copy.

    Parameters
    ----------
    n
        Number of nodes.
    heads, tails, signs
        Shape (m,): the edges that count, +1 support and -1 contradiction.
    grounded
        Shape (n,): whether a node has an anchor or a prior.
    """
    labels = edge_labels(n, heads, tails)
    k = int(labels.max(initial=-1)) + 1
    anchored = np.zeros(k, dtype=np.bool_)
    anchored[labels[grounded]] = True
    across = np.where(signs > 0, 0, n)
    cover = edge_labels(
        2 * n,
        np.concatenate([heads, heads + n]),
        np.concatenate([tails + across, tails + (n - across)]),
    )
    satisfied = cover[:n] != cover[n:]
    balanced = np.ones(k, dtype=np.bool_)
    balanced[labels[~satisfied]] = False
    # A node is on the side of its component's first node if their plain copies are connected.
    _, first = np.unique(labels, return_index=True)
    same = cover[:n] == cover[first[labels]] if n else np.empty(0, dtype=np.bool_)
    sides = np.where(satisfied, np.where(same, 1, -1), 0).astype(np.int8)
    return Components(labels, anchored, balanced, sides)
