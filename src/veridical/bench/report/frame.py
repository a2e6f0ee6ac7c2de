"""The rows of a run, arranged for tables: which system, on what, knowing what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from veridical.bench import known as knowns
from veridical.bench.known import Known
from veridical.bench.report.stats import Values
from veridical.bench.rows import Results, Row
from veridical.errors import NotFoundError

At = tuple[str, str, str, str]
"""Data set, attack, system, and what was known."""


class Frame:
    """The latest corpora's rows.

    Parameters
    ----------
    results
        A run's file.

    Raises
    ------
    NotFoundError
        It holds no rows.
    """

    def __init__(self, results: Results) -> None:
        self.facts: dict[str, Any] = results.facts()
        self.corpora = results.corpora()
        self.trust = results.beliefs()
        self.llm = str(self.facts.get("models", {}).get("llm", ""))
        self._rows: dict[At, dict[tuple[str, int], Row]] = {}
        systems = self.facts.get("systems", {})
        for row in results.all(self.corpora, brief=True):
            key = row.key
            if key.llm != self.llm or key.system not in systems:
                continue  # of another run into the same file
            at = (key.dataset, key.attack, key.system, key.known)
            self._rows.setdefault(at, {})[key.question, key.seed] = row
        if not self._rows:
            raise NotFoundError(
                f"There are no rows in {results.path} yet.", "Make them with: veridical bench run CONFIG.toml"
            )

    @cached_property
    def datasets(self) -> list[str]:
        """Data sets, in the order in which they were run."""
        return list(dict.fromkeys(about["dataset"] for about in self.corpora.values()))

    @cached_property
    def attacks(self) -> list[str]:
        """Attacks, in the order in which they were run."""
        return list(dict.fromkeys(about["attack"] for about in self.corpora.values()))

    @cached_property
    def systems(self) -> list[str]:
        """Systems that have rows, as configured."""
        there = {system for _, _, system, _ in self._rows}
        return [name for name in self.facts["systems"] if name in there]

    @cached_property
    def known(self) -> list[Known]:
        """What was known in some row, least first."""
        return sorted({knowns.read(name) for *_, name in self._rows})

    @property
    def shares(self) -> list[float]:
        """Shares of judged documents, judged rightly."""
        return sorted({one.share for one in self.known if one.accuracy == 1.0} | {0.0})

    @property
    def credibilities(self) -> list[str]:
        """Who judged passages; ``none`` where nobody did."""
        return sorted({one.credibility for one in self.known})

    @cached_property
    def n_answered(self) -> list[int]:
        """How many questions some system has answered, for each data set and attack."""
        found: dict[tuple[str, str], set[str]] = {}
        for (dataset, attack, _, _), rows in self._rows.items():
            found.setdefault((dataset, attack), set()).update(question for question, _ in rows)
        return [len(questions) for questions in found.values()]

    def about(self, system: str) -> dict[str, Any]:
        """What was said of a system."""
        found: dict[str, Any] = self.facts["systems"][system]
        return found

    def title(self, system: str) -> str:
        """How a system is called in tables: its title, with its settings where it is one of several."""
        about = self.about(system)
        if system == about["name"]:
            return str(about["title"])
        return f"{about['title']}{system.removeprefix(about['name'])}"

    def of(self, system: str, known: Known) -> str:
        """The part of what is known that a system takes, by name."""
        about = self.about(system)
        share, accuracy = (known.share, known.accuracy) if about["belief"] else (0.0, 1.0)
        judged = known.credibility if "credibility" in about["needs"] else "none"
        return Known(share, accuracy if share else 1.0, judged).name

    def rows(self, dataset: str, attack: str, system: str, known: Known) -> dict[tuple[str, int], Row]:
        """Rows by question and seed."""
        return self._rows.get((dataset, attack, system, self.of(system, known)), {})

    def values(self, dataset: str, attack: str, system: str, known: Known, metric: str) -> Values:
        """One metric by question and seed; questions where it is undefined are missing."""
        rows = self.rows(dataset, attack, system, known)
        return {at: value for at, row in rows.items() if (value := measure(row, metric)) is not None}

    def n_failed(self) -> dict[str, int]:
        """How many rows of each system are failures, those with none left out."""
        found: dict[str, int] = {}
        for (_, _, system, _), rows in self._rows.items():
            n = sum(row.failed for row in rows.values())
            if n:
                found[system] = found.get(system, 0) + n
        return found

    def all_rows(self, systems: Sequence[str] | None = None) -> list[Row]:
        """Every row, or those of some systems."""
        return [
            row
            for (_, _, system, _), rows in self._rows.items()
            if systems is None or system in systems
            for row in rows.values()
        ]


def measure(row: Row, metric: str) -> float | None:
    """One metric of one row; ``None`` where it is undefined."""
    if metric == "calls":
        return float(row.usage.calls)
    if metric == "tokens":
        return float(row.usage.prompt_tokens + row.usage.completion_tokens)
    if metric == "money":
        return row.usage.money
    return row.marks.get(metric)
