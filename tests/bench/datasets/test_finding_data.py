"""A data set is found by its name, in the own format, as published, or in BEIR layout."""

from __future__ import annotations

from pathlib import Path

import published
import pytest

from veridical.bench.datasets.find import load
from veridical.errors import NotFoundError


def test_the_own_format_comes_first(tmp_path: Path) -> None:
    published.own(tmp_path).rename(tmp_path / "hotpotqa.jsonl")
    published.hotpotqa(tmp_path)
    assert [question.id for question in load(tmp_path, "hotpotqa")] == ["o0", "o1", "o2"]


def test_a_published_file_is_found_in_a_folder_of_its_name_or_in_the_folder_itself(tmp_path: Path) -> None:
    published.hotpotqa(tmp_path)
    assert load(tmp_path, "hotpotqa")[0].id == "h1"
    (tmp_path / "musique").mkdir()
    published.musique(tmp_path / "musique")
    assert load(tmp_path, "musique")[0].id == "2hop__1_9"


def test_a_folder_of_any_name_may_have_the_layout_of_beir(tmp_path: Path) -> None:
    (tmp_path / "scifact").mkdir()
    published.beir(tmp_path / "scifact")
    assert [question.id for question in load(tmp_path, "scifact")] == ["q1", "q2", "q3"]


def test_what_can_be_fetched_is_said_to_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        load(tmp_path, "qacc")
    assert f"veridical bench fetch qacc {tmp_path}" in caught.value.hint
    with pytest.raises(NotFoundError, match="'nothing'"):
        load(tmp_path, "nothing")
