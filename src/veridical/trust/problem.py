"""The trust problem: a convex quadratic program over a signed graph of nodes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError
from veridical.trust.components import Components, analyse, connected_labels, edge_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_array

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
SignArray = npt.NDArray[np.int8]


def _no_ints() -> IntArray:
    return np.empty(0, dtype=np.int64)


def _no_signs() -> SignArray:
    return np.empty(0, dtype=np.int8)


def _no_floats() -> FloatArray:
    return np.empty(0, dtype=np.float64)


def _nodes(values: Any, name: str, n_nodes: int) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}.", "Pass a one-dimensional array of node numbers.")
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{name} holds {array.dtype} values.", "Node numbers are integers.")
    array = array.astype(np.int64, copy=False)
    if array.size and (array.min() < 0 or array.max() >= n_nodes):
        bad = int(array.min()) if array.min() < 0 else int(array.max())
        raise InputError(f"{name} names node {bad}, but nodes are 0 to {n_nodes - 1}.")
    return array


def _floats(values: Any, name: str, length: int, default: float | None = None) -> FloatArray:
    """Check one real array; an empty one (or None) stands for ``default`` everywhere."""
    array = np.asarray([] if values is None else values, dtype=np.float64)
    if default is not None and (array.ndim == 0 or array.size == 0):
        array = np.broadcast_to(np.float64(default) if array.ndim else array, (length,))
    if array.shape != (length,):
        raise InputError(f"{name} has shape {array.shape}, expected ({length},).")
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds NaN or infinity at index {int(np.argmin(np.isfinite(array)))}.")
    return array


def _within(array: FloatArray, name: str, low: float, high: float) -> None:
    outside = (array < low) | (array > high)
    if outside.any():
        place = int(np.argmax(outside))
        raise InputError(f"{name}[{place}] is {array[place]}, outside [{low:g}, {high:g}].")


@dataclass(frozen=True, eq=False)
class TrustProblem:
    r"""Find the trust ``t`` in [0, 1]^n that agrees best with relations, feedback and priors.

    .. math::

        L(t) = \sum_{support} w (t_i - t_j)^2 + \sum_{contradict} w (t_i + t_j - 1)^2
             + \sum_a \lambda_a (t_{i(a)} - y_a)^2 + \sum_i \mu_i (t_i - p_i)^2

    This is TrustPropRAG's objective (section "Trust propagation"), with a weight for each anchor and an
    optional prior for each node. It is quadratic: ``L(t) = t'At/2 - b't + const`` with a symmetric,
    diagonally dominant ``A``. With ``z = t - 1/2`` the right-hand side is ``c = b - A 1/2``, to which only
    anchors and priors contribute. Hence the maximum principle: ``|z|`` is never larger than the largest
    ``|y - 1/2|`` or ``|p - 1/2|``, so that the box [0, 1] never binds.

    The problem knows nodes and edges, not what they stand for. Parallel edges add. Where a connected
    component has no anchor and no prior the minimum is not unique; ``unanchored`` says what holds there.

    Parameters
    ----------
    n_nodes
        Number of nodes n, numbered from 0.
    heads, tails
        Shape (m,): the two ends of each edge, in either order; no self-loops.
    signs
        Shape (m,): +1 supports, -1 contradicts.
    weights
        Shape (m,): edge weights >= 0; an edge of weight 0 counts as absent.
    anchors, anchor_targets, anchor_weights
        Shape (f,): judged nodes (a node may repeat), targets ``y`` in [0, 1] and weights ``lambda`` > 0
        (empty: 1 each).
    prior_targets, prior_weights
        Shape (n,): ``p`` in [0, 1] (empty: 1/2) and ``mu`` >= 0 (empty: no prior).
    initial
        Shape (n,): values in [0, 1] that decide components without anchor or prior (empty: the paper's
        initial trust, `paper_initial`).

    Raises
    ------
    InputError
        If a shape, a node number or a range is wrong.
    """

    n_nodes: int
    heads: IntArray = field(default_factory=_no_ints)
    tails: IntArray = field(default_factory=_no_ints)
    signs: SignArray = field(default_factory=_no_signs)
    weights: FloatArray = field(default_factory=_no_floats)
    anchors: IntArray = field(default_factory=_no_ints)
    anchor_targets: FloatArray = field(default_factory=_no_floats)
    anchor_weights: FloatArray = field(default_factory=_no_floats)
    prior_targets: FloatArray = field(default_factory=_no_floats)
    prior_weights: FloatArray = field(default_factory=_no_floats)
    initial: FloatArray = field(default_factory=_no_floats)

    def __post_init__(self) -> None:
        if self.n_nodes < 0:
            raise InputError(f"n_nodes is {self.n_nodes}.", "Pass the number of nodes, 0 or more.")
        self._check_edges()
        self._check_anchors()
        self._check_priors()

    def _set(self, name: str, array: npt.NDArray[Any]) -> None:
        view = array.view()
        view.flags.writeable = False
        object.__setattr__(self, name, view)

    def _check_edges(self) -> None:
        heads = _nodes(self.heads, "heads", self.n_nodes)
        tails = _nodes(self.tails, "tails", self.n_nodes)
        if heads.shape != tails.shape:
            raise InputError(
                f"heads has {len(heads)} entries and tails {len(tails)}.", "One of each per edge."
            )
        if (heads == tails).any():
            raise InputError(
                f"Edge {int(np.argmax(heads == tails))} joins a node to itself.", "Leave it out."
            )
        signs = np.asarray(self.signs)
        if signs.shape != heads.shape or not (np.abs(signs) == 1).all():
            raise InputError(f"signs must hold +1 or -1 for each of the {len(heads)} edges.")
        weights = _floats(self.weights, "weights", len(heads))
        _within(weights, "weights", 0.0, np.inf)
        self._set("heads", heads)
        self._set("tails", tails)
        self._set("signs", signs.astype(np.int8, copy=False))
        self._set("weights", weights)

    def _check_anchors(self) -> None:
        anchors = _nodes(self.anchors, "anchors", self.n_nodes)
        targets = _floats(self.anchor_targets, "anchor_targets", len(anchors))
        _within(targets, "anchor_targets", 0.0, 1.0)
        weights = _floats(self.anchor_weights, "anchor_weights", len(anchors), default=1.0)
        if (weights <= 0).any():
            place = int(np.argmax(weights <= 0))
            raise InputError(f"anchor_weights[{place}] is {weights[place]}.", "Leave such anchors out.")
        self._set("anchors", anchors)
        self._set("anchor_targets", targets)
        self._set("anchor_weights", weights)

    def _check_priors(self) -> None:
        targets = _floats(self.prior_targets, "prior_targets", self.n_nodes, default=0.5)
        _within(targets, "prior_targets", 0.0, 1.0)
        weights = _floats(self.prior_weights, "prior_weights", self.n_nodes, default=0.0)
        _within(weights, "prior_weights", 0.0, np.inf)
        if self.initial is not None and len(self.initial):
            initial = _floats(self.initial, "initial", self.n_nodes)
            _within(initial, "initial", 0.0, 1.0)
        else:
            initial = _no_floats()
        self._set("prior_targets", targets)
        self._set("prior_weights", weights)
        self._set("initial", initial)

    # --- the quadratic -------------------------------------------------------------------------------------

    @property
    def n_edges(self) -> int:
        """Number of edges m, parallel ones and those of weight 0 included."""
        return len(self.heads)

    def system(self) -> tuple[csr_array, FloatArray]:
        """Return sparse symmetric ``A`` (n, n) and ``b`` (n,), with ``A t = b`` at the optimum.

        Computed once and kept; treat both as read-only.
        """
        return self._matrix, self._right

    def pull(self) -> FloatArray:
        """Return ``c = b - A 1/2``, shape (n,): what anchors and priors add, so that ``A (t - 1/2) = c``."""
        return self._pull

    @property
    def offset(self) -> float:
        """The objective at ``t = 1/2`` everywhere: ``L = offset + z'Az/2 - c'z``."""
        anchors = self.anchor_weights @ (self.anchor_targets - 0.5) ** 2
        return float(anchors + self.prior_weights @ (self.prior_targets - 0.5) ** 2)

    def objective(self, t: npt.ArrayLike) -> float:
        """Return ``L(t)``, summed term by term over edges, anchors and priors."""
        t = self._point(t)
        # t_i - t_j for support, (t_i - 1/2) + (t_j - 1/2) for contradiction: one formula in z.
        z = t - 0.5
        gap = z[self.heads] - self.signs * z[self.tails]
        edges = self.weights @ (gap * gap)
        anchors = self.anchor_weights @ (t[self.anchors] - self.anchor_targets) ** 2
        return float(edges + anchors + self.prior_weights @ (t - self.prior_targets) ** 2)

    def matrix(self) -> csr_array:
        """Return ``A`` alone, as `system` does."""
        return self._matrix

    def gradient(self, t: npt.ArrayLike) -> FloatArray:
        """Return the gradient of ``L`` at ``t``, shape (n,): ``A t - b``."""
        result: FloatArray = self._matrix @ (self._point(t) - 0.5) - self._pull
        return result

    def ground(self) -> FloatArray:
        """Return what ties each node to a target, shape (n,): its anchors' and prior's weights."""
        return self._anchor_mass + self.prior_weights

    def gershgorin(self) -> float:
        """Return an upper bound on the largest eigenvalue of ``A``: the largest absolute row sum."""
        sums = abs(self._matrix) @ np.ones(self.n_nodes)
        return float(sums.max(initial=0.0))

    def sigma_max(self, *, tol: float = 1e-4, max_iter: int = 200, seed: int = 0) -> float:
        """Return the largest eigenvalue of ``A`` by power iteration (an estimate from below).

        Stops when the estimate changes by less than ``tol`` of itself. The gradient is stable for steps below
        ``2 / sigma_max``.
        """
        if self.n_nodes == 0:
            return 0.0
        vector = np.random.default_rng(seed).standard_normal(self.n_nodes)
        value = 0.0
        for _ in range(max_iter):
            vector /= np.linalg.norm(vector)
            vector = self._matrix @ vector
            previous, value = value, float(np.linalg.norm(vector))
            if value == 0.0 or abs(value - previous) <= tol * value:
                break
        return value

    # --- where there is nothing to go by -------------------------------------------------------------------

    def paper_initial(self) -> FloatArray:
        """Return the paper's initial trust, shape (n,), in [.3, .7].

        Each node's signed edge weights are summed and the sums scaled to [.3, .7] by their minimum and
        maximum; where all are equal, .5. A node without edges gets .5 whatever the others are (the paper is
        silent).
        """
        signed = self.weights * self.signs
        balance = self._at_nodes(signed)
        low, high = balance.min(initial=np.inf), balance.max(initial=-np.inf)
        if not high > low:
            return np.full(self.n_nodes, 0.5)
        start: FloatArray = 0.3 + 0.4 * (balance - low) / (high - low)
        start[self._at_nodes(self.weights) == 0] = 0.5
        return start

    def rest(self) -> FloatArray:
        """Return the values that decide components without anchor or prior: ``initial``, else the paper's."""
        return self.initial if len(self.initial) else self.paper_initial()

    def components(self) -> Components:
        """Return the connected components, and which are anchored, balanced or frustrated."""
        present = self.weights > 0
        edges = (self.heads[present], self.tails[present], self.signs[present])
        return analyse(self.n_nodes, *edges, grounded=self.ground() > 0)

    def labels(self) -> IntArray:
        """Return the component number of each node, shape (n,), without the analysis of `components`."""
        return self._labels

    def unanchored(self) -> tuple[IntArray, FloatArray]:
        """Return the nodes that no anchor or prior reaches, shape (k,), and their values by definition.

        In a frustrated component (one that no assignment satisfies) the value is 1/2, the unique minimum. In
        a balanced one ``z = c s``, where ``s`` is the component's two-sided assignment and ``c`` the mean of
        ``s`` times ``z`` of `rest`: what the paper's projected gradient converges to. An isolated node keeps
        `rest`.
        """
        return self._unanchored

    def with_anchors(
        self,
        anchors: npt.ArrayLike,
        targets: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
    ) -> TrustProblem:
        """Return the same problem with other anchors; what depends on edges alone is not computed again."""
        other = replace(
            self,
            anchors=np.asarray(anchors, dtype=np.int64),
            anchor_targets=np.asarray(targets, dtype=np.float64),
            anchor_weights=_no_floats() if weights is None else np.asarray(weights, dtype=np.float64),
        )
        for name in ("_edge_matrix", "_labels"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    # --- computed once --------------------------------------------------------------------------------------

    def _point(self, t: npt.ArrayLike) -> FloatArray:
        point = np.asarray(t, dtype=np.float64)
        if point.shape != (self.n_nodes,):
            raise InputError(f"A point of shape {point.shape} was given, expected ({self.n_nodes},).")
        return point

    def _at_nodes(self, values: FloatArray) -> FloatArray:
        """Sum edge values at both ends."""
        total = np.bincount(self.heads, values, minlength=self.n_nodes).astype(np.float64)
        total += np.bincount(self.tails, values, minlength=self.n_nodes)
        return total

    @cached_property
    def _anchor_mass(self) -> FloatArray:
        return np.bincount(self.anchors, self.anchor_weights, minlength=self.n_nodes).astype(np.float64)

    @cached_property
    def _pull(self) -> FloatArray:
        moments = self.anchor_weights * (self.anchor_targets - 0.5)
        anchors = np.bincount(self.anchors, moments, minlength=self.n_nodes)
        result: FloatArray = 2.0 * (anchors + self.prior_weights * (self.prior_targets - 0.5))
        return result

    @cached_property
    def _edge_matrix(self) -> tuple[csr_array, IntArray]:
        """The edges' part of ``A``, and where in its data the diagonal lies."""
        from scipy.sparse import coo_array

        n = self.n_nodes
        index = np.int32 if n < 2**31 - 1 else np.int64
        heads, tails = self.heads.astype(index), self.tails.astype(index)
        diagonal = np.arange(n, dtype=index)
        across = -2.0 * self.weights * self.signs
        rows = np.concatenate([heads, tails, diagonal])
        columns = np.concatenate([tails, heads, diagonal])
        data = np.concatenate([across, across, 2.0 * self._at_nodes(self.weights)])
        matrix = coo_array((data, (rows, columns)), shape=(n, n)).tocsr()
        rows = np.repeat(diagonal, np.diff(matrix.indptr))
        return matrix, np.flatnonzero(matrix.indices == rows)

    @cached_property
    def _matrix(self) -> csr_array:
        from scipy.sparse import csr_array

        edges, diagonal = self._edge_matrix
        data = edges.data.copy()
        data[diagonal] += 2.0 * self.ground()
        return csr_array((data, edges.indices, edges.indptr), shape=edges.shape)

    @cached_property
    def _right(self) -> FloatArray:
        right: FloatArray = self._matrix @ np.full(self.n_nodes, 0.5) + self._pull
        return right

    @cached_property
    def _labels(self) -> IntArray:
        present = self.weights > 0
        if present.all():
            matrix, _ = self._edge_matrix
            return connected_labels(matrix.indices, matrix.indptr)
        return edge_labels(self.n_nodes, self.heads[present], self.tails[present])

    @cached_property
    def _unanchored(self) -> tuple[IntArray, FloatArray]:
        grounded = self.ground() > 0
        if grounded.all():
            return _no_ints(), _no_floats()
        reached = np.zeros(int(self._labels.max()) + 1, dtype=np.bool_)
        reached[self._labels[grounded]] = True
        nodes = np.flatnonzero(~reached[self._labels])
        if not len(nodes):
            return nodes, _no_floats()
        number = np.full(self.n_nodes, -1, dtype=np.int64)
        number[nodes] = np.arange(len(nodes))
        inside = (number[self.heads] >= 0) & (self.weights > 0)
        parts = analyse(
            len(nodes),
            number[self.heads[inside]],
            number[self.tails[inside]],
            self.signs[inside],
            grounded=np.zeros(len(nodes), dtype=np.bool_),
        )
        return nodes, 0.5 + parts.project(self.rest()[nodes] - 0.5)
