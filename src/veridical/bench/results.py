"""Results of benchmarks: flat records, averages with intervals, and where they come from."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Result:
    """One figure with its 95% interval; ``n`` is how many questions (or other units) it stands on.

    ``value``, ``low`` and ``high`` are NaN where nothing could be averaged (``n`` is 0 then).
    """

    dataset: str
    setting: str
    method: str
    metric: str
    value: float
    low: float
    high: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; NaN becomes ``None``."""
        row = dataclasses.asdict(self)
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in row.items()
        }


@dataclass(frozen=True)
class Interval:
    """A mean with its percentile interval, and the number of clusters it stands on."""

    value: float
    low: float
    high: float
    n: int


class Bootstrap:
    """Percentile bootstrap of a mean whose observations come in clusters.

    A question that is asked under several seeds gives several observations that are not independent, so whole
    questions are drawn, with all their observations. All means of one run use the same draws, which makes
    differences of methods paired.

    Parameters
    ----------
    clusters
        The cluster of each observation, in the order in which ``mean`` will get values.
    n_draws
        Resamples.
    level
        Coverage of the interval, in (0, 1).
    seed
        Of the draws.
    """

    def __init__(
        self, clusters: Sequence[Hashable], *, n_draws: int = 1000, level: float = 0.95, seed: int = 0
    ) -> None:
        numbers: dict[Hashable, int] = {}
        self._cluster = np.array([numbers.setdefault(key, len(numbers)) for key in clusters], dtype=np.int64)
        self._n_clusters = len(numbers)
        self._tail = 50.0 * (1.0 - level)
        rng = np.random.default_rng(seed)
        # How often each cluster is drawn in each resample, shape (n_draws, n_clusters).
        shares = np.full(max(self._n_clusters, 1), 1.0 / max(self._n_clusters, 1))
        self._counts = rng.multinomial(self._n_clusters, shares, size=n_draws).astype(float)

    def mean(self, values: npt.ArrayLike) -> Interval:
        """Average the values that are not NaN.

        Parameters
        ----------
        values
            Shape (n_observations,); NaN where a metric is undefined.
        """
        numbers = np.asarray(values, dtype=float)
        defined = ~np.isnan(numbers)
        if not defined.any():
            return Interval(math.nan, math.nan, math.nan, 0)
        rows = self._cluster[defined]
        totals = np.bincount(rows, numbers[defined], self._n_clusters)
        sizes = np.bincount(rows, minlength=self._n_clusters).astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            draws = (self._counts @ totals) / (self._counts @ sizes)
        low, high = np.nanpercentile(draws, [self._tail, 100.0 - self._tail])
        return Interval(
            float(totals.sum() / sizes.sum()), float(low), float(high), int(np.count_nonzero(sizes))
        )


def commit(folder: Path) -> str:
    """Return the short hash of the checkout that holds ``folder``, with ``+`` where files differ from it."""
    command = ["git", "-C", str(folder), "describe", "--always", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()


def write(path: Path, results: Iterable[Result], about: Mapping[str, Any]) -> None:
    """Write a JSON list of flat records; ``about`` (commit, seeds and so on) goes into each of them."""
    rows = [{**result.to_dict(), **about} for result in results]
    text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[\n{text}\n]\n", encoding="utf-8")
