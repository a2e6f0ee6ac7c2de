"""The solver benchmark draws what it says and measures what it runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from veridical.trust.problem import TrustProblem

PATH = Path(__file__).parents[2] / "benchmarks" / "solver.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("solver_benchmark", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("kind", ["topics", "uniform", "normalised"])
def test_a_graph_has_the_size_asked_for_and_no_edge_twice(bench, kind):
    arrays = bench.draw(bench.Setting(300, 2000, kind, 0.1, 0))
    problem = TrustProblem(300, **arrays)
    assert problem.n_edges == 2000
    assert len(problem.anchors) == 30
    assert len({*zip(problem.heads, problem.tails, strict=True)}) == 2000
    again = bench.draw(bench.Setting(300, 2000, kind, 0.1, 0))
    assert all(np.array_equal(arrays[key], again[key]) for key in arrays)


def test_conjugate_gradients_are_measured_at_the_residual_promised(bench, tmp_path):
    setting = bench.Setting(300, 2000, "topics", 0.1, 0)
    bench.save(setting, tmp_path)
    reports = {
        method.name: bench.measure(tmp_path, 300, method) for method in bench.methods(setting, only_cg=False)
    }
    found = reports[bench.CG]
    assert found["status"] == "converged"
    assert found["residual"][0] <= 1e-8
    np.testing.assert_allclose(found["values"], reports[bench.OPTIMUM]["values"], atol=1e-7)
    assert len(reports) == 5
