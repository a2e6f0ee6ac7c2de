"""What every trust ``Solver`` has to keep, as tests.

Subclass ``SolverContract``, give it a fixture ``solver``, and pytest collects the rest::

    class TestMySolver(SolverContract):
        @pytest.fixture
        def solver(self):
            return MySolver()

The class attributes say how exact the solver is and which options it needs for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError
from veridical.trust.problem import TrustProblem
from veridical.trust.solution import TrustSolution
from veridical.trust.solvers.base import Solver
from veridical.trust.solvers.reference import Reference

Edge = tuple[int, int, int, float]


def signed_problem(
    n_nodes: int, edges: Sequence[Edge], anchors: Sequence[tuple[int, float]] = (), **options: Any
) -> TrustProblem:
    """Build a problem from rows ``(head, tail, sign, weight)`` and ``(node, target)``."""
    heads, tails, signs, weights = zip(*edges, strict=True) if edges else ((), (), (), ())
    return TrustProblem(
        n_nodes,
        heads=np.array(heads, dtype=np.int64),
        tails=np.array(tails, dtype=np.int64),
        signs=np.array(signs, dtype=np.int8),
        weights=np.array(weights, dtype=np.float64),
        anchors=np.array([node for node, _ in anchors], dtype=np.int64),
        anchor_targets=np.array([target for _, target in anchors], dtype=np.float64),
        **options,
    )


def random_problem(
    seed: int,
    *,
    n_nodes: int = 30,
    n_edges: int = 60,
    n_anchors: int = 6,
    contradict: float = 0.4,
    prior: float = 0.0,
) -> TrustProblem:
    """Draw a signed graph: edges and signs at random, so that it is frustrated and has several components."""
    rng = np.random.default_rng(seed)
    heads = rng.integers(0, n_nodes, n_edges)
    tails = (heads + rng.integers(1, n_nodes, n_edges)) % n_nodes
    return TrustProblem(
        n_nodes,
        heads=heads,
        tails=tails,
        signs=np.where(rng.random(n_edges) < contradict, -1, 1).astype(np.int8),
        weights=rng.uniform(0.05, 1.0, n_edges),
        anchors=rng.integers(0, n_nodes, n_anchors),
        anchor_targets=rng.choice([0.1, 0.9], n_anchors),
        anchor_weights=rng.uniform(0.5, 2.0, n_anchors),
        prior_weights=np.full(n_nodes, prior),
    )


#: Small problems with solutions worked out by hand: (name, problem, values, objective).
KNOWN: list[tuple[str, TrustProblem, list[float], float | None]] = [
    (
        "one anchor decides a chain",
        signed_problem(3, [(0, 1, 1, 0.8), (1, 2, -1, 0.5)], [(0, 0.9)]),
        [0.9, 0.9, 0.1],
        0.0,
    ),
    (
        "two anchors pull a chain apart",
        signed_problem(3, [(0, 1, 1, 0.8), (1, 2, 1, 0.4)], [(0, 0.9), (2, 0.1)]),
        [35 / 46, 27 / 46, 11 / 46],
        0.111304347826,
    ),
    (
        "a frustrated triangle",
        signed_problem(3, [(0, 1, 1, 1.0), (1, 2, 1, 1.0), (0, 2, -1, 1.0)], [(0, 0.9)]),
        [47 / 70, 39 / 70, 31 / 70],
        None,
    ),
    (
        "a contradiction between two trusted nodes",
        signed_problem(2, [(0, 1, -1, 1.0)], [(0, 0.9), (1, 0.9)]),
        [19 / 30, 19 / 30],
        None,
    ),
    (
        "support between a trusted and a distrusted node",
        signed_problem(2, [(0, 1, 1, 1.0)], [(0, 0.9), (1, 0.1)]),
        [19 / 30, 11 / 30],
        None,
    ),
    (
        "support without feedback meets in the middle",
        signed_problem(2, [(0, 1, 1, 1.0)], initial=np.array([0.7, 0.3])),
        [0.5, 0.5],
        0.0,
    ),
    (
        "contradiction without feedback",
        signed_problem(2, [(0, 1, -1, 1.0)], initial=np.array([0.7, 0.5])),
        [0.6, 0.4],
        0.0,
    ),
    (
        "a frustrated pair without feedback is undecided",
        signed_problem(2, [(0, 1, 1, 0.3), (0, 1, -1, 0.3)], initial=np.array([0.9, 0.2])),
        [0.5, 0.5],
        None,
    ),
    (
        "an isolated node stays",
        signed_problem(2, [], [(0, 0.9)], initial=np.array([0.2, 0.35])),
        [0.9, 0.35],
        0.0,
    ),
    (
        "a prior alone decides",
        signed_problem(1, [], prior_targets=np.array([0.3]), prior_weights=np.array([0.1])),
        [0.3],
        0.0,
    ),
    (
        "anchors of one node are averaged by weight",
        signed_problem(1, [], [(0, 1.0), (0, 0.0)], anchor_weights=np.array([3.0, 1.0])),
        [0.75],
        0.75,
    ),
    ("no node at all", signed_problem(0, []), [], 0.0),
]


class SolverContract:
    """Tests for a solver. They ask for the fixture ``solver``."""

    #: Largest difference from the exact values that is allowed.
    accuracy: float = 1e-6
    #: Passed to every ``solve``, such as a tighter ``tol``.
    options: ClassVar[dict[str, Any]] = {}
    #: Whether more iterations make it better; a direct solver sets this to False.
    iterative: bool = True

    def _solve(
        self, solver: Solver, problem: TrustProblem, initial: npt.ArrayLike | None = None
    ) -> TrustSolution:
        solution = solver.solve(problem, initial=initial, **self.options)
        _require(
            solution.status == "converged",
            f"{solver.name} ended {solution.status} on {problem.n_nodes} nodes",
        )
        return solution

    def _close(self, left: npt.ArrayLike, right: npt.ArrayLike, what: str) -> None:
        found, expected = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
        np.testing.assert_allclose(found, expected, rtol=0, atol=self.accuracy, err_msg=what)

    def test_it_is_a_solver_with_a_stable_name(self, solver: Solver) -> None:
        _require(isinstance(solver, Solver), "it must have name and solve()")
        _require(bool(solver.name) and solver.name == solver.name, "its name must be there and stay")

    def test_it_finds_the_solutions_worked_out_by_hand(self, solver: Solver) -> None:
        for name, problem, values, objective in KNOWN:
            solution = self._solve(solver, problem)
            self._close(solution.values, values, name)
            if objective is not None:
                self._close(solution.objective, objective, name)

    def test_it_agrees_with_dense_elimination_on_random_signed_graphs(self, solver: Solver) -> None:
        for seed in range(20):
            problem = random_problem(seed, prior=0.0 if seed % 2 else 0.02)
            self._close(
                self._solve(solver, problem).values, Reference().solve(problem).values, f"seed {seed}"
            )

    def test_values_stay_between_the_extremes_of_the_targets(self, solver: Solver) -> None:
        for seed in range(20):
            problem = random_problem(seed)
            solution = self._solve(solver, problem)
            reach = max(np.abs(problem.anchor_targets - 0.5).max(), np.abs(problem.rest() - 0.5).max())
            _require(bool(np.abs(solution.values - 0.5).max() <= reach + self.accuracy), f"seed {seed}")
            _require(not solution.box_active, f"the box must not bind (seed {seed})")

    def test_its_account_of_itself_is_true(self, solver: Solver) -> None:
        problem = random_problem(5, prior=0.05)
        solution = self._solve(solver, problem)
        matrix, right = problem.system()
        residual = matrix @ solution.values - right
        np.testing.assert_allclose(
            solution.residual,
            np.linalg.norm(residual) / np.linalg.norm(problem.pull()),
            rtol=1e-3,
            atol=1e-14,
        )
        np.testing.assert_allclose(solution.kkt, np.abs(residual).max(), rtol=1e-3, atol=1e-14)
        np.testing.assert_allclose(solution.objective, problem.objective(solution.values), rtol=1e-9)
        exact = Reference().solve(problem).values
        _require(bool(np.abs(solution.values - exact).max() <= solution.error_bound + 1e-14), "error bound")
        _require(solution.values.shape == (problem.n_nodes,) and solution.seconds >= 0, "shape and time")
        _require("values" not in solution.to_dict(), "to_dict() leaves the values out")

    def test_where_it_starts_does_not_decide_where_it_ends(self, solver: Solver) -> None:
        for seed in (1, 2, 3):
            problem = random_problem(seed, n_edges=25, n_anchors=3)
            starts = [np.zeros(30), np.ones(30), np.random.default_rng(seed).random(30)]
            for start in starts:
                moved = self._solve(solver, problem, start).values
                self._close(moved, self._solve(solver, problem).values, f"seed {seed}")

    def test_it_leaves_the_start_and_the_problem_alone(self, solver: Solver) -> None:
        problem, start = random_problem(7), np.full(30, 0.25)
        before = [problem.weights.copy(), problem.anchor_targets.copy(), problem.system()[1].copy()]
        self._solve(solver, problem, start)
        after = [problem.weights, problem.anchor_targets, problem.system()[1]]
        _require(all(np.array_equal(a, b) for a, b in zip(before, after, strict=True)), "the problem changed")
        _require(bool((start == 0.25).all()), "the start changed")

    def test_the_same_problem_gives_the_same_bits(self, solver: Solver) -> None:
        first, second = (self._solve(solver, random_problem(9)).values for _ in range(2))
        _require(np.array_equal(first, second), "two runs differ")

    def test_running_out_of_iterations_is_not_called_converged(self, solver: Solver) -> None:
        if self.iterative:
            chain = signed_problem(40, [(i, i + 1, 1, 0.5) for i in range(39)], [(0, 0.9), (39, 0.1)])
            solution = solver.solve(chain, **{**self.options, "max_iter": 2})
            _require(solution.status == "max_iter" and solution.n_iter == 2, solution.status)

    def test_bad_arguments_are_refused(self, solver: Solver) -> None:
        problem = random_problem(1)
        bad: list[dict[str, Any]] = [
            {"initial": np.zeros(29)},
            {"initial": np.full(30, np.nan)},
            {"tol": 0.0},
            {"tol": -1.0},
            {"max_iter": -1},
        ]
        for arguments in bad:
            try:
                solver.solve(problem, **arguments)
            except InputError:
                continue
            raise AssertionError(f"{arguments} was accepted")


def _require(holds: bool, what: str) -> None:
    """Fail with ``what`` unless ``holds``; a plain assert could be optimised away."""
    if not holds:
        raise AssertionError(what)
