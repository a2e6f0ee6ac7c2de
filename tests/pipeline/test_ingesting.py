"""Ingesting: the same twice changes nothing, a change replaces, and what cannot be read is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.errors import InputError, NotFoundError, ReadError
from veridical.stores import derived

Open = Callable[..., Veridical]
RETRIEVERS = ("hybrid", "dense", "bm25")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def texts_served(v: Veridical, question: str, retriever: str) -> str:
    answer = v.ask(question, retriever=retriever, top_k=100)
    return "\n".join([answer.text, *(hit.passage.text for hit in answer.hits)])


def test_ingesting_the_same_twice_changes_nothing(open_kb: Open, corpus: Path) -> None:
    v = open_kb()
    first, before = v.ingest(corpus, key_root=corpus), v.documents()
    second = v.ingest(corpus, key_root=corpus)
    assert (first.added, first.replaced, first.unchanged) == (16, 0, 0)
    assert (second.added, second.replaced, second.unchanged) == (0, 0, 16)
    assert v.documents() == before


def test_ids_and_order_do_not_depend_on_the_run(open_kb: Open, corpus: Path) -> None:
    one, two = open_kb("one"), open_kb("two")
    one.ingest(corpus, key_root=corpus)
    two.ingest(corpus, key_root=corpus)
    assert one.documents() == two.documents()
    assert [d.key for d in one.documents()] == sorted(d.key for d in one.documents())


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_a_changed_file_is_served_in_its_new_version_only_even_before_a_build(
    kb: Veridical, corpus: Path, retriever: str
) -> None:
    question = "Which setting does the gateway use?"
    assert "8080" in texts_served(kb, question, retriever)
    for source in ("blog", "forum"):
        write(corpus / source / "gateway.md", "# gateway\n\nThe gateway of the office uses setting 7777.\n")
    assert kb.ingest(corpus, key_root=corpus).replaced == 2
    assert "8080" not in texts_served(kb, question, retriever)
    kb.build()
    served = texts_served(kb, question, retriever)
    assert "8080" not in served
    assert "7777" in served
    assert kb.check().problems == ()


def test_a_changed_document_keeps_its_id(kb: Veridical, corpus: Path) -> None:
    before = {d.key: d for d in kb.documents()}
    write(corpus / "wiki" / "badge.md", "# badge\n\nNobody needs a badge any more.\n")
    kb.ingest(corpus, key_root=corpus)
    after = {d.key: d for d in kb.documents()}
    changed = [key for key in after if after[key] != before[key]]
    assert changed == ["wiki/badge.md"]
    assert after["wiki/badge.md"].id == before["wiki/badge.md"].id


def test_text_that_moves_from_body_to_title_is_served_as_it_now_is(open_kb: Open, tmp_path: Path) -> None:
    # Title and text are indexed together, so that both versions look the same to the indexes.
    record = tmp_path / "c.jsonl"
    v = open_kb()
    write(
        record, json.dumps({"id": "x", "title": "Ports", "text": "Ports\nThe gateway uses 443. It is new."})
    )
    v.ingest(record)
    v.build()
    write(record, json.dumps({"id": "x", "title": "Ports", "text": "Use 443. It is new."}))
    v.ingest(record)
    v.build()
    [hit] = v.ask("Which of the ports is new?").hits
    assert hit.passage.text == "Use 443. It is new."
    with v.store.read() as connection:
        vectors = derived.sentence_vectors(connection, v.models.encoder.name, [hit.passage.id])
    assert len(vectors[hit.passage.id]) == 2
    assert v.check().problems == ()


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_a_deleted_document_is_gone_everywhere(kb: Veridical, retriever: str) -> None:
    [gone] = kb.delete("wiki/printer.md")
    assert gone.key not in {d.key for d in kb.documents()}
    answer = kb.ask("Which setting does the printer use?", retriever=retriever, top_k=100)
    assert gone.key not in {hit.document.key for hit in answer.hits}
    assert gone.ref not in {node.ref for node in kb.trust().documents}
    assert kb.check().problems == ()
    with pytest.raises(NotFoundError, match="No document"):
        kb.explain(gone.ref)


def test_deleting_is_all_or_nothing(kb: Veridical) -> None:
    with pytest.raises(NotFoundError):
        kb.delete("d1", "d999")
    assert len(kb.documents()) == 16


def test_the_last_document_can_be_deleted(kb: Veridical) -> None:
    kb.delete(*(d.ref for d in kb.documents()))
    assert kb.ask("Which setting?").status == "no_evidence"
    assert kb.build().n_documents == 0
    assert kb.check().problems == ()


def test_an_id_is_never_used_twice(kb: Veridical, corpus: Path) -> None:
    gone = kb.delete("wiki/printer.md")
    kb.ingest(corpus, key_root=corpus)
    back = {d.key: d for d in kb.documents()}["wiki/printer.md"]
    assert back.id > max(d.id for d in kb.documents() if d.key != back.key)
    assert back.version == gone[0].version


def test_a_key_of_another_folder_is_reported_and_not_overwritten(
    open_kb: Open, corpus: Path, tmp_path: Path
) -> None:
    v = open_kb()
    v.ingest(corpus, key_root=corpus)
    other = tmp_path / "other"
    write(other / "wiki" / "badge.md", "# badge\n\nA plant.\n")
    report = v.ingest(other, key_root=other)
    [problem] = report.problems
    assert "wiki/badge.md" in problem.reason
    assert "--prefix" in problem.reason
    assert report.added == report.replaced == 0
    assert v.ingest(other, key_root=other, prefix="other").added == 1
    with pytest.raises(ReadError, match="badge"):
        v.ingest(other, key_root=other, strict=True)


def test_two_folders_are_two_sources_and_their_equal_names_do_not_collide(
    open_kb: Open, corpus: Path
) -> None:
    v = open_kb()
    report = v.ingest(corpus / "handbook", corpus / "wiki")
    assert (report.added, report.problems) == (8, ())
    assert {d.key for d in v.documents()} >= {"handbook/badge.md", "wiki/badge.md"}
    assert v.build().n_sources == 2
    assert {s.name for s in v.trust().sources} == {"handbook", "wiki"}
    assert v.ingest(corpus / "wiki").unchanged == 4


def test_a_folder_of_folders_gives_a_source_for_each(open_kb: Open, corpus: Path) -> None:
    v = open_kb()
    v.ingest(corpus)
    assert {(d.key.split("/")[0], d.source) for d in v.documents()} == {
        ("corpus", name) for name in ("handbook", "wiki", "blog", "forum")
    }


def test_a_folder_that_moved_keeps_its_documents(open_kb: Open, corpus: Path, tmp_path: Path) -> None:
    v = open_kb()
    v.ingest(corpus, key_root=corpus)
    corpus.rename(tmp_path / "moved")
    report = v.ingest(tmp_path / "moved", key_root=tmp_path / "moved")
    assert report.problems == ()
    assert (report.added, report.unchanged) == (0, 16)


def test_what_cannot_be_read_is_named_with_its_reason_and_the_rest_goes_on(
    open_kb: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    write(folder / "good.txt", "Water boils at 100 degrees.")
    write(folder / "empty.txt", "")
    (folder / "binary.txt").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "latin.txt").write_bytes("Über".encode("latin-1"))
    write(folder / "rows.jsonl", '{"text": "Ice melts at 0 degrees."}\n{"no": 1}\nnot json\n')
    report = open_kb().ingest(folder, tmp_path / "missing")
    assert report.added == 2
    reasons = {(Path(p.path).name, p.line): p.reason for p in report.problems}
    assert set(reasons) == {
        ("empty.txt", None),
        ("binary.txt", None),
        ("latin.txt", None),
        ("rows.jsonl", 2),
        ("rows.jsonl", 3),
        ("missing", None),
    }
    assert all(reason.endswith(".") for reason in reasons.values())


def test_strict_stops_at_the_first_and_keeps_what_was_read(open_kb: Open, tmp_path: Path) -> None:
    write(tmp_path / "c" / "a.txt", "Water boils at 100 degrees.")
    write(tmp_path / "c" / "b.txt", "")
    write(tmp_path / "c" / "z.txt", "Never reached.")
    v = open_kb()
    with pytest.raises(ReadError, match=r"b\.txt"):
        v.ingest(tmp_path / "c", strict=True)
    assert [d.key for d in v.documents()] == ["c/a.txt"]
    assert v.check().problems == ()


def test_an_empty_folder_is_no_error(open_kb: Open, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    v = open_kb()
    report = v.ingest(tmp_path / "none")
    assert (report.added, report.problems) == (0, ())
    assert v.ask("Anything?").status == "no_evidence"
    assert v.build().n_documents == 0
    assert v.ask("Anything?").status == "no_evidence"
    assert v.trust().documents == ()
    assert v.status().documents == 0


def test_naming_nothing_is_refused(open_kb: Open) -> None:
    with pytest.raises(InputError, match="nothing to ingest"):
        open_kb().ingest()


def test_a_list_in_place_of_a_path_is_refused_with_the_way_to_name_several(open_kb: Open) -> None:
    with pytest.raises(InputError, match="list is no path") as caught:
        open_kb().ingest(["a", "b"])  # type: ignore[arg-type]
    assert "v.ingest('a', 'b')" in caught.value.hint


@pytest.mark.parametrize("text", ["...", "!", "—", "1", "a\n\n\nb"])
def test_odd_texts_become_documents_that_pass_the_check(open_kb: Open, tmp_path: Path, text: str) -> None:
    v = open_kb()
    v.ingest(write(tmp_path / "odd.txt", text))
    v.build()
    assert v.check().problems == ()
    assert v.ask("What is there?").status in ("answered", "no_evidence")


def test_a_new_source_and_date_of_the_same_text_are_taken_over(open_kb: Open, tmp_path: Path) -> None:
    record = {"id": "x", "text": "Water boils at 100 degrees.", "source": "lab", "date": "2020-01-01"}
    v = open_kb()
    v.ingest(write(tmp_path / "r.jsonl", json.dumps(record)))
    v.build()
    v.feedback("x", "good")
    assert [s.name for s in v.trust().sources] == ["lab"]
    v.ingest(write(tmp_path / "r.jsonl", json.dumps({**record, "source": "desk", "date": "2021-01-01"})))
    assert [(d.source, d.date) for d in v.documents()] == [("desk", "2021-01-01")]
    assert [(s.name, s.trust is None) for s in v.trust().sources] == [("desk", False)]
    assert [f.state for f in v.list_feedback()] == ["active"]
    assert v.check().problems == ()


def test_an_ingest_that_died_before_it_refreshed_trust_is_made_good_by_the_next(
    kb: Veridical, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.feedback("wiki/badge.md", "good")
    for source in ("blog", "forum"):
        write(corpus / source / "badge.md", "# badge\n\nNo badge is needed at all.\n")
    (corpus / "handbook" / "new.md").write_text("# new\n\nA new page of the handbook.\n", "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(Veridical, "_refresh_beliefs", lambda self: None)  # killed here
        kb.ingest(corpus, key_root=corpus)
    stopped = {node.ref: node.trust for node in kb.trust().documents}
    kb.ingest(corpus, key_root=corpus)
    again = {node.ref: node.trust for node in kb.trust().documents}
    kb.build()
    assert again != stopped
    assert all(again[node.ref] is not None for node in kb.trust().documents if node.source == "handbook")


def test_a_file_name_that_is_no_text_is_read_all_the_same(open_kb: Open, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    try:
        Path(os.fsdecode(bytes(folder) + b"/caf\xe9.txt")).write_text("Coffee is served at four.", "utf-8")
    except OSError:
        pytest.skip("this file system wants names in UTF-8")
    v = open_kb()
    assert v.ingest(folder, key_root=folder).added == 1
    assert v.ingest(folder, key_root=folder).unchanged == 1
    [hit] = v.ask("When is coffee served?").hits
    json.dumps(hit.to_dict(), ensure_ascii=False).encode("utf-8")
