"""Export and import: all that is truth, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veridical import Veridical
from veridical.corpus.dedupe import content_hash
from veridical.errors import InputError, StoreError
from veridical.pipeline import backup
from veridical.stores import questions

Open = Callable[..., Veridical]
MEMBERS = ("documents.jsonl", "feedback.jsonl", "settings.json", "questions.jsonl")


@pytest.fixture
def saved(kb: Veridical, tmp_path: Path) -> Path:
    kb.build(method="trustprop")
    kb.feedback("handbook/gateway.md", "good", by="anna", note="yes")
    kb.feedback("handbook/gateway.md", "good", by="anna", note="yes")
    kb.feedback("blog/badge.md", 0.2, weight=2)
    kb.undo_feedback("f3")
    kb.feedback("wiki/badge.md", "bad")
    path = tmp_path / "backup.zip"
    report = kb.export(path)
    assert (report.n_documents, report.n_feedback) == (16, 4)
    return path


def rewritten(path: Path, *, without: str = "", **members: bytes) -> Path:
    """The same export with members replaced or one left out, and hashes that fit."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(held["manifest.json"])
    for name in MEMBERS:
        if without == name:
            del held[name], manifest["sha256"][name]
            continue
        held[name] = members.get(name.replace(".", "_"), held[name])
        manifest["sha256"][name] = hashlib.sha256(held[name]).hexdigest()
    held["manifest.json"] = members.get("manifest_json", json.dumps(manifest).encode())
    out = path.with_name("rewritten.zip")
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    return out


def trusts(v: Veridical) -> dict[str, float | None]:
    keys = {d.ref: d.key for d in v.documents()}
    return {keys[node.ref]: node.trust for node in v.trust().documents}


def test_an_import_elsewhere_gives_the_same_trust_after_a_build(
    open_kb: Open, kb: Veridical, saved: Path
) -> None:
    other = open_kb("other")
    report = other.import_(saved)
    assert (report.n_documents, report.n_feedback) == (16, 4)
    other.build()
    assert other.setting("method") == "trustprop"
    ours, theirs = trusts(kb), trusts(other)
    assert ours.keys() == theirs.keys()
    for key in ours:
        assert ours[key] == pytest.approx(theirs[key], abs=1e-8)
    left, right = (
        [(f.key, f.value, f.weight, f.by, f.note, f.state) for f in v.list_feedback()] for v in (kb, other)
    )
    assert left == right
    assert other.check().problems == ()


def test_what_was_imported_answers_before_a_build(open_kb: Open, saved: Path) -> None:
    other = open_kb("other")
    other.import_(saved)
    assert other.ask("Which setting does the gateway use?").hits


def test_the_files_that_were_exported_are_unchanged_when_read_again(
    open_kb: Open, corpus: Path, saved: Path
) -> None:
    other = open_kb("other")
    other.import_(saved)
    report = other.ingest(corpus, key_root=corpus)
    assert (report.unchanged, report.replaced, report.problems) == (16, 0, ())


def test_an_import_into_a_place_that_holds_documents_is_refused(kb: Veridical, saved: Path) -> None:
    kb.delete("d1")
    with pytest.raises(InputError, match="holds documents already") as caught:
        kb.import_(saved)
    assert "--merge" in caught.value.hint
    assert len(kb.documents()) == 15


def test_a_merge_adds_what_is_new_and_keeps_settings(open_kb: Open, saved: Path, tmp_path: Path) -> None:
    other = open_kb("other")
    page = tmp_path / "more" / "notes" / "own.txt"
    page.parent.mkdir(parents=True)
    page.write_text("A page of their own.", "utf-8")
    other.ingest(tmp_path / "more")
    other.build()
    other.import_(saved, merge=True)
    other.import_(saved, merge=True)
    assert len(other.documents()) == 17
    assert len(other.list_feedback()) == 4
    assert other.setting("method") == "veridical"
    assert other.check().problems == ()


def test_a_merge_replaces_documents_of_the_same_key(kb: Veridical, corpus: Path, saved: Path) -> None:
    question = "Which setting does the gateway use?"
    for source in ("blog", "forum", "handbook", "wiki"):
        (corpus / source / "gateway.md").write_text("# g\n\nThe gateway uses setting 6 only.\n", "utf-8")
    kb.ingest(corpus, key_root=corpus)
    kb.import_(saved, merge=True)
    assert not any("6 only" in hit.passage.text for hit in kb.ask(question, top_k=100).hits)
    assert kb.check().problems == ()


def first_document(path: Path, **changes: Any) -> bytes:
    with zipfile.ZipFile(path) as archive:
        lines = archive.read("documents.jsonl").decode().splitlines()
    return ("\n".join([*lines[:-1], json.dumps({**json.loads(lines[-1]), **changes})]) + "\n").encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "Something else."},
        {"text": 5},
        {"key": None},
        {"key": ""},
        {"title": None},
        {"source": 7},
        {"date": ["2020"]},
        {"metadata": "none"},
        {"metadata": {"a": "\ud800"}},
        {"metadata": {"a": float("nan")}},
        {"key": "\ud800"},
        {"key": "a\x1b[2Jb"},
        {"date": "someday"},
        {"date": "6 hours ago"},
        {"date": "May 5, 2024"},
        {"format": "exe"},
        {"text": " ", "title": "t", "version": content_hash("t", " ")},
        {"text": "\ud800"},
    ],
)
def test_a_document_that_is_not_what_it_should_be_imports_nothing(
    open_kb: Open, saved: Path, changes: dict[str, Any]
) -> None:
    other = open_kb("other")
    with pytest.raises(InputError, match="document 16"):
        other.import_(rewritten(saved, documents_jsonl=first_document(saved, **changes)))
    assert not other.path.exists()
    other.import_(saved)
    assert len(other.documents()) == 16


@pytest.mark.parametrize(
    "members",
    [
        {"documents_jsonl": b"not json\n"},
        {"documents_jsonl": b"[]\n"},
        {"documents_jsonl": b"\xff\xfe\n"},
        {"feedback_jsonl": b"{}\n"},
        {"feedback_jsonl": b"\xff\n"},
        {"settings_json": b"[]"},
        {"settings_json": b"\xff"},
        {"settings_json": b"{"},
        {"settings_json": b'{"method": "nope"}'},
        {"settings_json": b'{"retriever": "zz"}'},
        {"settings_json": b'{"colour": "blue"}'},
        {"settings_json": b'{"query_log": "maybe"}'},
        {"settings_json": b'{"made_questions": "-1"}'},
        {"documents_jsonl": b"[" * 100_000},
        {"manifest_json": b"{}"},
        {"manifest_json": b"[]"},
        {"manifest_json": b"\xff"},
        {"manifest_json": b'{"format": "veridical-export-1", "sha256": 3}'},
        {"manifest_json": b'{"format": "veridical-export-1", "sha256": {}}'},
    ],
)
def test_a_malformed_export_is_refused_whole(open_kb: Open, saved: Path, members: dict[str, bytes]) -> None:
    other = open_kb("other")
    with pytest.raises(InputError):
        other.import_(rewritten(saved, **members))
    assert not other.path.exists()
    other.ingest(saved.parent)
    other.delete(*(d.ref for d in other.documents()))
    with pytest.raises(InputError):
        other.import_(rewritten(saved, **members))
    assert other.documents() == []
    assert other.list_feedback() == []
    assert other.setting("method") == "veridical"


def test_text_and_title_are_cleaned_as_when_they_are_ingested(open_kb: Open, saved: Path) -> None:
    title, text = "A\x1b[2J\ntitle\ud800", "Some\x00 text\ud800 here."
    changes = {"title": title, "text": text, "version": content_hash(title, text), "source": "a\nb"}
    other = open_kb("other")
    other.import_(rewritten(saved, documents_jsonl=first_document(saved, **changes)))
    document = other.documents()[-1]
    assert (document.title, document.source) == ("A title\ufffd", "a b")
    assert document.version == content_hash("A title\ufffd", "Some  text\ufffd here.")
    assert other.check().problems == ()


def test_an_export_does_not_choose_a_path_that_a_build_opens(open_kb: Open, saved: Path) -> None:
    other = open_kb("other")
    settings = b'{"nli": "onnx:/etc", "method": "trustprop", "retriever": "bm25"}'
    report = other.import_(rewritten(saved, settings_json=settings))
    assert other.setting("nli") == "features"
    assert (other.setting("method"), other.setting("retriever")) == ("trustprop", "bm25")
    assert "onnx:/etc" in " ".join(report.notes)


def test_the_query_log_travels_and_teaches_the_same(open_kb: Open, kb: Veridical, tmp_path: Path) -> None:
    question = "Which setting does the gateway of the office use?"
    for text in (question, question.upper(), "Which badge?"):
        with kb.store.write() as connection:
            questions.log(connection, text)
    kb.questions.switch(on=False)
    kb.build(made=2)
    assert kb.export(tmp_path / "log.zip").n_questions == 2
    other = open_kb("other")
    assert other.import_(tmp_path / "log.zip").n_questions == 2
    ours, theirs = ([(q.text, q.origin, q.at, q.n_asked) for q in v.questions.every()] for v in (kb, other))
    assert ours == theirs
    assert (other.questions.is_on, other.setting("made_questions")) == (False, "2")
    other.build()
    with kb.store.read() as mine, other.store.read() as its:
        assert questions.n_pairs(mine) == questions.n_pairs(its) > 0
    assert other.import_(tmp_path / "log.zip", merge=True).n_questions == 0


def test_an_export_from_before_there_was_a_query_log_is_read(open_kb: Open, saved: Path) -> None:
    other = open_kb("other")
    report = other.import_(rewritten(saved, without="questions.jsonl"))
    assert (report.n_documents, report.n_questions) == (16, 0)
    assert other.questions.every() == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ('{"text": "Which port?"}', "no 'question'"),
        ('{"question": 3}', "no text"),
        ('{"question": " "}', "empty"),
        ('{"question": "Which port?", "origin": "nowhere"}', "nowhere"),
        ('{"question": "Which port?", "n_asked": -1}', "n_asked"),
        ('{"question": "Which port?", "at": 5}', "'at'"),
    ],
)
def test_a_damaged_query_log_imports_nothing(open_kb: Open, saved: Path, line: str, said: str) -> None:
    lines = f'{{"question": "Which door?"}}\n{line}\n'.encode()
    with pytest.raises(InputError, match="line 2") as caught:
        open_kb("other").import_(rewritten(saved, questions_jsonl=lines))
    assert said in caught.value.message
    assert not open_kb("other").path.exists()


def test_a_query_log_that_the_manifest_names_must_be_there(open_kb: Open, saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if name != "questions.jsonl"}
    with zipfile.ZipFile(saved, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    with pytest.raises(InputError, match=r"lacks questions\.jsonl"):
        open_kb("other").import_(saved)


def test_an_export_chooses_no_reader_but_the_embedded_one(open_kb: Open, saved: Path) -> None:
    other = open_kb("other")
    report = other.import_(rewritten(saved, settings_json=b'{"reader": "onnx:/etc"}'))
    assert other.setting("reader") == "embedded"
    assert any("--reader onnx:/etc" in note for note in report.notes)


def test_a_line_that_is_too_long_is_refused(
    open_kb: Open, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "_MAX_LINE_BYTES", 100)
    with pytest.raises(InputError, match="line 1 is longer"):
        open_kb("other").import_(saved)


def test_a_newer_format_says_upgrade(open_kb: Open, saved: Path) -> None:
    manifest = b'{"format": "veridical-export-9", "sha256": {}}'
    with pytest.raises(InputError, match="veridical-export-9") as caught:
        open_kb("other").import_(rewritten(saved, manifest_json=manifest))
    assert "Upgrade" in caught.value.hint


def test_damage_anywhere_in_the_file_is_noticed(open_kb: Open, saved: Path) -> None:
    data = saved.read_bytes()
    damaged = saved.with_name("damaged.zip")
    other = open_kb("other")
    for place in range(0, len(data), max(1, len(data) // 60)):
        damaged.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            other.import_(damaged)
        except InputError:
            assert not other.path.exists() or other.documents() == []
        else:  # a byte that says nothing, such as a time stamp
            assert len(other.documents()) == 16
            other.delete(*(d.ref for d in other.documents()))
    for length in (0, 1, len(data) // 2, len(data) - 1):
        damaged.write_bytes(data[:length])
        with pytest.raises(InputError):
            other.import_(damaged)


def test_what_is_no_export_is_named(open_kb: Open, tmp_path: Path) -> None:
    other = open_kb("other")
    empty = tmp_path / "empty.zip"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("hello.txt", "x")
    for path in (tmp_path / "missing.zip", tmp_path, empty):
        with pytest.raises(InputError, match=path.name):
            other.import_(path)


def test_an_export_that_cannot_be_written_leaves_nothing_behind(kb: Veridical, tmp_path: Path) -> None:
    (tmp_path / "folder.zip").mkdir()
    before = sorted(tmp_path.iterdir())
    for path in (tmp_path / "no" / "such" / "x.zip", tmp_path / "folder.zip"):
        with pytest.raises(StoreError, match="cannot be written"):
            kb.export(path)
    assert sorted(tmp_path.iterdir()) == before


def test_an_export_replaces_an_older_one_whole(kb: Veridical, tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(b"old")
    kb.export(path)
    assert zipfile.is_zipfile(path)
    with zipfile.ZipFile(path) as archive:
        assert str(tmp_path) not in "".join(archive.read(name).decode() for name in archive.namelist())
