"""The file of results: rows come back as they went in, and of a corpus the latest counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.bench.rows import Key, Results, Row, is_results
from veridical.errors import NotFoundError, StoreError
from veridical.types import Usage


def key(**changed: object) -> Key:
    given = Key("nq", "own", "", "vanilla", "{}", "q1", 0, "c0", "")
    return given._replace(**changed)  # type: ignore[arg-type]


FULL = Row(
    key(),
    text='a "quoted" answer',
    probability=0.25,
    ranking=(3, 1, 2),
    marks={"strict": 1.0},
    usage=Usage(2, 30, 4, money=0.5),
    seconds=1.5,
    notes=("a stand-in was used",),
    detail={"kept": [1, 2]},
    version="1",
)


def test_a_row_comes_back_as_it_went_in(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as kept:
        kept.put(FULL)
    with Results(tmp_path / "r.db", read_only=True) as kept:
        assert list(kept.all()) == [FULL]


@pytest.mark.parametrize("field", Key._fields)
def test_every_part_of_the_key_tells_rows_apart(tmp_path: Path, field: str) -> None:
    with Results(tmp_path / "r.db") as kept:
        kept.put(FULL)
        other = 1 if field == "seed" else "other"
        kept.put(Row(key(**{field: other})))
        kept.put(Row(key(), text="again"))
        assert sorted(row.text for row in kept.all()) == ["", "again"]


def test_failures_can_be_counted_as_not_done(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as kept:
        kept.put(FULL)
        kept.put(Row(key(question="q2"), error="ValueError: no"))
        assert len(kept.done("c0", "")) == 2
        assert kept.done("c0", "", failures_too=False) == {key()}
        assert not kept.done("another", "")


def test_a_systems_rows_can_be_forgotten(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as kept:
        for system in ("vanilla", "vanilla, top_k=3", "vanillas"):
            kept.put(Row(key(system=system)))
        assert kept.forget("vanilla") == 2
        assert [row.key.system for row in kept.all()] == ["vanillas"]


def test_of_a_corpus_that_was_made_anew_the_latest_counts(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as kept:
        kept.put_corpus("old", "nq", "own", 0, {"n": 1})
        kept.put_corpus("new", "nq", "own", 0, {"n": 2})
        kept.put_corpus("clean", "nq", "clean", 0, {"n": 3})
        assert {digest: about["n"] for digest, about in kept.corpora().items()} == {"new": 2, "clean": 3}


def test_results_that_are_to_be_read_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Results(tmp_path / "none.db", read_only=True)
    assert not (tmp_path / "none.db").exists()


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, and long enough to be told from one\n" * 20, "utf-8")
    assert not is_results(tmp_path / "text.db")
    with pytest.raises(StoreError):
        Results(tmp_path / "text.db")


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as kept:
        kept.say({"format": 99})
    assert is_results(tmp_path / "r.db")
    with pytest.raises(StoreError, match="format 99"):
        Results(tmp_path / "r.db")


def test_of_two_accounts_of_trust_the_one_over_more_documents_stays(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as kept:
        for n in (5, 9, 3):
            kept.put_belief("c0", "evaluator", "credibility evaluator", {"n": n})
        assert kept.beliefs() == [("c0", "evaluator", "credibility evaluator", {"n": 9})]
