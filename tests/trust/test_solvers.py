"""All solvers under one contract."""

from __future__ import annotations

from typing import ClassVar

import pytest

from veridical.errors import SolverError
from veridical.testing.solver_contract import SolverContract, random_problem
from veridical.trust.solvers.conjugate_gradient import ConjugateGradient
from veridical.trust.solvers.projected_gradient import ProjectedGradient
from veridical.trust.solvers.reference import Reference


class TestReference(SolverContract):
    accuracy = 1e-9
    iterative = False

    @pytest.fixture
    def solver(self):
        return Reference()

    def test_it_refuses_more_nodes_than_it_can_hold(self):
        with pytest.raises(SolverError, match="at most 20"):
            Reference(max_nodes=20).solve(random_problem(0))


class TestConjugateGradient(SolverContract):
    accuracy = 1e-8

    @pytest.fixture
    def solver(self):
        return ConjugateGradient()


class TestProjectedGradientWithAutomaticStep(SolverContract):
    options: ClassVar = {"tol": 1e-8}

    @pytest.fixture
    def solver(self):
        return ProjectedGradient(step="auto")


class TestProjectedGradientWithFixedStep(SolverContract):
    # A stop on the objective leaves an error of about the square root of the tolerance.
    accuracy = 1e-4
    options: ClassVar = {"tol": 1e-14, "max_iter": 100_000}

    @pytest.fixture
    def solver(self):
        return ProjectedGradient(step=0.02, stop="loss", dtype="float64")
