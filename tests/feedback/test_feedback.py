"""Feedback: recorded, averaged, bound to a version, reversible, and carried from one place to another."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from veridical import Veridical
from veridical.errors import InputError, NotFoundError
from veridical.testing.fake_models import FakeModels

PAGES = {
    "handbook/port.md": "The port of the gateway is 443 for all of the staff.",
    "wiki/port.md": "The port of the gateway is 443 for all of the staff, says wiki.",
    "blog/port.md": "The port of the gateway is 8080 for all of the staff.",
    "blog/tea.md": "Tea is served at 4 in the small kitchen.",
    "wiki/tea.md": "Coffee is served at 3 in the large hall.",
}


def write(root: Path, pages: dict[str, str]) -> Path:
    for key, text in pages.items():
        (root / key).parent.mkdir(parents=True, exist_ok=True)
        (root / key).write_text(text, "utf-8")
    return root


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", PAGES)


def opened(path: Path) -> Veridical:
    v = Veridical.open(path)
    v.models = FakeModels()
    return v


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base built of the pages, to be copied."""
    root = tmp_path_factory.mktemp("voted")
    with opened(root / "kb") as v:
        v.ingest(write(root / "corpus", PAGES), key_root=root / "corpus")
        v.build()
    shutil.rmtree(root / "corpus")  # so that a copy of the corpus may take its place
    return root / "kb"


@pytest.fixture
def v(tmp_path: Path, built: Path, corpus: Path) -> Iterator[Veridical]:
    shutil.copytree(built, tmp_path / "kb")
    with opened(tmp_path / "kb") as kb:
        yield kb


def trusts(v: Veridical) -> dict[str, float | None]:
    found = v.trust()
    return {node.ref: node.trust for node in (*found.documents, *found.sources)}


def assert_close(ours: dict[str, float | None], theirs: dict[str, float | None]) -> None:
    assert ours.keys() == theirs.keys()
    for key, trust in ours.items():
        if trust is None or theirs[key] is None:
            assert trust is theirs[key] is None, key
        else:
            assert trust == pytest.approx(theirs[key], abs=1e-8), key


def test_good_raises_and_bad_lowers_and_neighbours_follow(v: Veridical) -> None:
    v.feedback("handbook/port.md", "good")
    trust = {d.key: trusts(v)[d.ref] for d in v.documents()}
    assert trust["handbook/port.md"] > 0.9
    assert trust["blog/port.md"] < 0.5
    v.undo_feedback("f1")
    v.feedback("handbook/port.md", "bad")
    trust = {d.key: trusts(v)[d.ref] for d in v.documents()}
    assert trust["handbook/port.md"] < 0.1
    assert trust["blog/port.md"] > 0.5


def test_feedback_says_what_moved_from_where_to_where(v: Veridical) -> None:
    before = trusts(v)
    report = v.feedback("handbook/port.md", "good")
    after = trusts(v)
    [recorded] = report.recorded
    assert (recorded.ref, recorded.value, recorded.state) == ("f1", 1.0, "active")
    assert report.moved[0].key == recorded_ref(v, "handbook/port.md")
    for change in report.moved:
        assert (change.before, change.after) == (before[change.key], after[change.key])
    sizes = [abs((c.after or 0.5) - (c.before or 0.5)) for c in report.moved]
    assert sizes == sorted(sizes, reverse=True)


def recorded_ref(v: Veridical, key: str) -> str:
    return {d.key: d.ref for d in v.documents()}[key]


def test_below_ten_judged_documents_trust_is_called_uncalibrated(v: Veridical) -> None:
    report = v.feedback("d1", "good")
    assert not report.calibrated
    assert any("ncalibrated" in note for note in report.notes)
    assert any("1 document has been judged" in note for note in v.trust().notes)


def test_ten_judged_documents_calibrate(tmp_path: Path) -> None:
    pages = {f"{s}/p{i}.md": f"{s} says that room {i} has {i + 3} chairs." for s in "ab" for i in range(8)}
    with opened(tmp_path / "kb") as v:
        v.ingest(write(tmp_path / "c", pages), key_root=tmp_path / "c")
        v.build()
        reports = [v.feedback(f"{s}/p{i}.md", good) for i in range(6) for s, good in (("a", 1.0), ("b", 0.0))]
        assert [report.calibrated for report in reports] == [False] * 9 + [True] * 3
        assert v.trust().calibrated
        assert v.trust().notes == ()


def test_feedback_on_an_answer_goes_to_the_documents_it_cited(v: Veridical) -> None:
    answer = v.ask("What is the port of the gateway?", read=False)
    cited = {c.document_id for c in answer.citations}
    report = v.feedback(answer.ref, "bad", by="anna", note="no")
    assert {f.document_id for f in report.recorded} == cited
    assert {(f.answer_id, f.by, f.note, f.value) for f in report.recorded} == {(answer.id, "anna", "no", 0.0)}
    undone = v.undo_feedback(answer.ref)
    assert {f.state for f in undone.recorded} == {"undone"}
    assert all(trust is None for trust in trusts(v).values())


def test_an_answer_that_cited_nothing_takes_no_feedback(v: Veridical) -> None:
    v.ask("zzz qqq", retriever="bm25")
    with pytest.raises(NotFoundError, match="cited no document"):
        v.feedback("a1", "good")
    with pytest.raises(NotFoundError, match="no answer a9"):
        v.feedback("a9", "good")


def asked(v: Veridical) -> dict[str, str]:
    """Asks for the port; returns the name of each candidate, such as a1.2, by what it says."""
    answer = v.ask("What is the port of the gateway?")
    return {candidate.text: f"{answer.ref}.{candidate.number}" for candidate in answer.candidates}


def test_a_vote_on_a_candidate_goes_to_the_documents_that_give_it_and_to_no_other(v: Veridical) -> None:
    named = asked(v)
    report = v.feedback(named["443"], "good", by="anna")
    assert {f.key for f in report.recorded} == {"handbook/port.md", "wiki/port.md"}
    assert {(f.answer_id, f.candidate, f.value, f.by) for f in report.recorded} == {
        (1, int(named["443"][-1]), 1.0, "anna")
    }
    assert max(f.weight for f in report.recorded) == 1.0
    trust = {d.key: trusts(v)[d.ref] for d in v.documents()}
    assert min(trust["handbook/port.md"], trust["wiki/port.md"]) > 0.9
    assert trust["blog/port.md"] < 0.5


def test_a_vote_against_a_candidate_does_not_brand_those_who_were_right(v: Veridical) -> None:
    report = v.feedback(asked(v)["8080"], "bad")
    assert [f.key for f in report.recorded] == ["blog/port.md"]
    trust = {d.key: trusts(v)[d.ref] for d in v.documents()}
    assert trust["blog/port.md"] < 0.1
    assert min(trust["handbook/port.md"], trust["wiki/port.md"]) > 0.5
    assert v.ask("What is the port of the gateway?").text == "443"


def test_a_vote_on_what_the_reader_answered_is_one_on_its_first_candidate(v: Veridical) -> None:
    v.feedback("blog/port.md", "bad")
    answer = v.ask("What is the port of the gateway?")
    assert answer.generator == "reader"
    report = v.feedback(answer.ref, 0.8)
    assert {(f.key, f.candidate) for f in report.recorded} == {("handbook/port.md", 1), ("wiki/port.md", 1)}


def test_a_vote_on_a_candidate_is_taken_back_by_its_name_by_its_answers_and_one_by_one(v: Veridical) -> None:
    named = asked(v)
    v.feedback(named["8080"], "bad")
    before = trusts(v)
    v.feedback(named["443"], "good", weight=2)
    assert trusts(v) != before
    undone = v.undo_feedback(named["443"])
    assert {f.key for f in undone.recorded} == {"handbook/port.md", "wiki/port.md"}
    assert_close(trusts(v), before)
    again = v.feedback(named["443"], "good")
    for item in again.recorded:
        v.undo_feedback(item.ref)
    assert_close(trusts(v), before)
    v.feedback(named["443"], "good")
    assert len(v.undo_feedback("a1").recorded) == 3
    assert all(trust is None for trust in trusts(v).values())


@pytest.mark.parametrize(
    ("ref", "error", "said"),
    [
        ("a1.0", NotFoundError, "no candidate 0"),
        ("a1.3", NotFoundError, "no candidate 3"),
        ("a1.99", NotFoundError, "no candidate 99"),
        ("a9.1", NotFoundError, "no answer a9"),
        ("a1.2.3", InputError, "neither an answer nor a candidate"),
        ("a1.", InputError, "neither an answer nor a candidate"),
        ("a1..2", InputError, "neither an answer nor a candidate"),
        ("a1.x", NotFoundError, "No document is called"),
        ("a1.-2", NotFoundError, "No document is called"),
        ("a1.99999999999999999999", InputError, "neither an answer nor a candidate"),
    ],
)
def test_a_candidate_that_is_not_there_is_refused(
    v: Veridical, ref: str, error: type[Exception], said: str
) -> None:
    assert len(asked(v)) == 2
    with pytest.raises(error, match=said):
        v.feedback(ref, "good")
    assert v.list_feedback() == []
    with pytest.raises((NotFoundError, InputError)):
        v.undo_feedback(ref)


def test_a_document_may_be_called_like_a_candidate(v: Veridical, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "a1.2.3", "text": "The lift is out of order."}))
    v.ingest(tmp_path / "rows.jsonl")
    assert [f.key for f in v.feedback("a1.2.3", "good").recorded] == ["a1.2.3"]


def test_votes_on_candidates_travel_as_judgements_of_documents(
    v: Veridical, tmp_path: Path, corpus: Path
) -> None:
    v.feedback(asked(v)["443"], "good")
    with opened(tmp_path / "other") as other:
        other.ingest(corpus, key_root=corpus)
        other.build()
        asked(other)  # what a question teaches does not travel with feedback
        carried = other.import_feedback(list(v.export_feedback())).recorded
        assert {(f.key, f.answer_id, f.candidate) for f in carried} == {
            ("handbook/port.md", None, None),
            ("wiki/port.md", None, None),
        }
        assert_close(trusts(other), trusts(v))


@pytest.mark.parametrize("method", ["veridical", "trustprop"])
def test_undo_restores_trust(v: Veridical, method: str) -> None:
    v.build(method=method)
    v.feedback("handbook/port.md", "good")
    v.feedback("blog/tea.md", 0.2)
    before = trusts(v)
    v.feedback("wiki/tea.md", "bad", weight=3)
    v.feedback("handbook/port.md", "bad")
    assert trusts(v) != before
    v.undo_feedback("f4")
    v.undo_feedback("f3")
    assert_close(trusts(v), before)


def test_undone_feedback_stays_on_record_and_cannot_be_undone_twice(v: Veridical) -> None:
    v.feedback("d1", "good")
    v.undo_feedback("f1")
    assert [f.state for f in v.list_feedback()] == ["undone"]
    for ref in ("f1", "f2", "a1", "d1", "nonsense"):
        with pytest.raises(NotFoundError):
            v.undo_feedback(ref)


def test_repeated_feedback_is_averaged_by_weight(v: Veridical, tmp_path: Path, corpus: Path) -> None:
    v.feedback("d1", 1.0, weight=3)
    v.feedback("d1", 0.0, weight=1)
    with opened(tmp_path / "other") as other:
        other.ingest(corpus, key_root=corpus)
        other.build()
        other.feedback("d1", 0.75, weight=4)
        assert_close(trusts(v), trusts(other))


def test_more_weight_moves_more(v: Veridical) -> None:
    v.feedback("d1", 0.8, weight=0.1)
    light = trusts(v)["blog"]
    v.undo_feedback("f1")
    v.feedback("d1", 0.8, weight=10)
    assert trusts(v)["blog"] > light > 0.5


def test_order_of_feedback_does_not_matter(v: Veridical) -> None:
    votes = [("d1", 1.0), ("d2", 0.0), ("d3", 0.3)]
    for ref, value in votes:
        v.feedback(ref, value)
    forward = trusts(v)
    for item in v.list_feedback():
        v.undo_feedback(item.ref)
    for ref, value in reversed(votes):
        v.feedback(ref, value)
    assert_close(trusts(v), forward)


def test_feedback_on_an_edited_document_is_stale_until_the_text_comes_back(
    v: Veridical, corpus: Path
) -> None:
    v.feedback("handbook/port.md", "good")
    before = trusts(v)
    write(corpus, {"handbook/port.md": "The port of the gateway is 666 for all of the staff."})
    v.ingest(corpus, key_root=corpus)
    assert [f.state for f in v.list_feedback()] == ["stale"]
    assert all(trust is None for trust in trusts(v).values())
    v.build()
    assert all(trust is None for trust in trusts(v).values())
    write(corpus, PAGES)
    v.ingest(corpus, key_root=corpus)
    v.build()
    assert [f.state for f in v.list_feedback()] == ["active"]
    assert_close(trusts(v), before)


def test_feedback_on_an_old_answer_is_stale_and_says_so(v: Veridical, corpus: Path) -> None:
    answer = v.ask("What is the port of the gateway?", always_answer=True)
    write(corpus, {key: text + " Really." for key, text in PAGES.items()})
    v.ingest(corpus, key_root=corpus)
    for ref in (answer.ref, f"{answer.ref}.2"):
        report = v.feedback(ref, "good")
        assert {f.state for f in report.recorded} == {"stale"}
        assert any("not count" in note for note in report.notes)


def test_feedback_on_a_deleted_document_is_gone_and_returns_with_it(v: Veridical, corpus: Path) -> None:
    v.feedback("handbook/port.md", "good")
    before = {d.key: trusts(v)[d.ref] for d in v.documents()}
    v.delete("handbook/port.md")
    assert [f.state for f in v.list_feedback()] == ["gone"]
    v.ingest(corpus, key_root=corpus)
    v.build()
    assert [f.state for f in v.list_feedback()] == ["active"]
    after = {d.key: trusts(v)[d.ref] for d in v.documents()}
    assert_close(after, before)


def test_feedback_before_a_build_counts_from_the_build_on(tmp_path: Path, corpus: Path) -> None:
    with opened(tmp_path / "kb") as v:
        v.ingest(corpus, key_root=corpus)
        report = v.feedback("handbook/port.md", "good")
        assert report.moved == ()
        assert any("veridical build" in note for note in report.notes)
        v.build()
        assert trusts(v)[recorded_ref(v, "handbook/port.md")] > 0.9


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), True, None, "fine", 10**400])
def test_a_value_that_is_no_grade_is_refused(v: Veridical, value: Any) -> None:
    with pytest.raises(InputError):
        v.feedback("d1", value)
    assert v.list_feedback() == []


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), 1e308, 1e-320, True, "2"])
def test_a_weight_that_is_none_is_refused(v: Veridical, weight: Any) -> None:
    with pytest.raises(InputError, match="weight"):
        v.feedback("d1", 1.0, weight=weight)
    assert v.list_feedback() == []


def test_a_document_that_is_not_there_is_refused_with_near_names(v: Veridical) -> None:
    with pytest.raises(NotFoundError) as caught:
        v.feedback("port.md", "good")
    assert "handbook/port.md" in caught.value.hint
    for ref in ("d99", "", "d", "d-1", "d99999999999999999999"):
        with pytest.raises(NotFoundError):
            v.feedback(ref, "good")


def test_odd_names_and_notes_are_kept_as_text(v: Veridical) -> None:
    v.feedback("d1", "good", by="anna\ud800", note="a\x00b\u2028c\n[red]")
    lines = list(v.export_feedback())
    assert len(lines) == 1
    assert "[red]" in v.list_feedback()[0].note


def test_export_and_import_carry_every_vote_to_another_place(
    v: Veridical, tmp_path: Path, corpus: Path
) -> None:
    for _ in range(3):
        v.feedback("d1", "good", by="anna")  # three equal votes within one second
    v.feedback("d1", "bad", by="ben", note="line\u2028separator and ünïcode")
    v.feedback("d2", 0.4, weight=2.5)
    v.undo_feedback("f5")
    lines = list(v.export_feedback())
    with opened(tmp_path / "other") as other:
        other.ingest(corpus, key_root=corpus)
        other.build()
        assert len(other.import_feedback(lines).recorded) == 5
        assert_close(trusts(other), trusts(v))
        kept = [(f.key, f.value, f.weight, f.by, f.note, f.at, f.state) for f in v.list_feedback()]
        assert [
            (f.key, f.value, f.weight, f.by, f.note, f.at, f.state) for f in other.list_feedback()
        ] == kept
        assert other.import_feedback(lines).recorded == ()
        assert len(other.list_feedback()) == 5


GOOD = {"key": "handbook/port.md", "version": "v", "value": 1.0, "at": "2024-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "3",
        json.dumps({**GOOD, "value": 2}),
        json.dumps({**GOOD, "value": "good"}),
        json.dumps({**GOOD, "value": None}),
        json.dumps({**GOOD, "value": 10**400}),
        json.dumps({**GOOD, "weight": 0}),
        json.dumps({**GOOD, "weight": 10**400}),
        json.dumps({**GOOD, "weight": True}),
        json.dumps({**GOOD, "key": ""}),
        json.dumps({**GOOD, "version": 7}),
        json.dumps({**GOOD, "at": None}),
        json.dumps({**GOOD, "note": "\ud800"}),
        '{"value": NaN}',
        "[" * 100_000,
    ],
)
def test_a_malformed_line_is_named_and_nothing_of_the_file_is_kept(v: Veridical, line: str) -> None:
    with pytest.raises(InputError, match="votes, line 3") as caught:
        v.import_feedback([json.dumps(GOOD), "", line], where="votes")
    assert caught.value.hint
    assert v.list_feedback() == []


@pytest.mark.parametrize("method", ["veridical", "trustprop"])
def test_undo_restores_calibrated_trust_too(tmp_path: Path, method: str) -> None:
    pages = {f"{s}/p{i}.md": f"{s} says that room {i} has {i + 3} chairs." for s in "abc" for i in range(8)}
    with opened(tmp_path / "kb") as v:
        v.ingest(write(tmp_path / "c", pages), key_root=tmp_path / "c")
        v.build(method=method)
        for i in range(6):
            v.feedback(f"a/p{i}.md", 1.0 - 0.03 * i)
            v.feedback(f"b/p{i}.md", 0.05 * i)
        before = trusts(v)
        v.feedback("c/p0.md", "bad", weight=5)
        v.feedback("a/p0.md", "bad")
        assert trusts(v) != before
        v.undo_feedback("f14")
        v.undo_feedback("f13")
        assert_close(trusts(v), before)


def test_trust_is_the_same_however_it_was_reached(v: Veridical) -> None:
    v.feedback("d1", "good")
    v.feedback("d3", 0.1, weight=2)
    warm = trusts(v)
    with v.store.write() as connection:
        connection.exec_driver_sql("DELETE FROM trust")
    v.build()
    assert_close(trusts(v), warm)
