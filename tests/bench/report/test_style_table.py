"""A report shows how well style alone tells planted from true passages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from veridical.bench.report import styles
from veridical.bench.report.blocks import Table
from veridical.bench.report.build import build
from veridical.bench.report.frame import Frame


def corpora(*found: dict[str, Any]) -> Any:
    return SimpleNamespace(corpora={str(i): about for i, about in enumerate(found)})


def about(seed: int, auc: float, attack: str = "own") -> dict[str, Any]:
    style = {"statistics": {"words": [3.0, 7.0, auc], "odd": None}, "copied": 0.5, "verdict": ""}
    return {"dataset": "towns", "attack": attack, "seed": seed, "style": style}


def test_a_report_of_a_poisoned_corpus_has_the_table(frame: Frame) -> None:
    captions = [block.caption for block in build(frame).blocks if isinstance(block, Table)]
    assert "Style of planted and true passages" in captions


def test_a_giveaway_is_marked_and_the_first_seed_speaks() -> None:
    (table,) = styles.table(corpora(about(1, 0.5), about(0, 0.8), about(0, 0.79, "substitution")))
    assert isinstance(table, Table)
    first, second = table.rows
    assert [cell.text for cell in first] == ["towns, own", "3.00 / 7.00 / 0.80", "", "50%"]
    assert (first[1].mark, second[1].mark) == ("worst", "")


def test_without_planted_passages_there_is_no_table() -> None:
    clean = {"dataset": "towns", "attack": "clean", "seed": 0, "style": {}}
    before = {"dataset": "towns", "attack": "old", "seed": 0}
    assert styles.table(corpora(clean, before)) == []
