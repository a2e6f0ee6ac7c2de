from __future__ import annotations

import os
from pathlib import Path

import pytest

from veridical.corpus.scan import scan
from veridical.errors import InputError


def write(path: Path, text: str = "Some text.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def keys(*paths: Path | str, **options: str | Path) -> list[str]:
    return [item.key for item in scan(paths, **options)]


def test_a_folder_gives_its_known_files_in_a_fixed_order_named_by_it(tmp_path: Path) -> None:
    for name in ("b.txt", "wiki/z.md", "wiki/a.html", "a.PDF", "notes.rst", "data.jsonl"):
        write(tmp_path / "docs" / name)
    assert keys(tmp_path / "docs") == [
        "docs/a.PDF",
        "docs/b.txt",
        "docs/data.jsonl",
        "docs/notes.rst",
        "docs/wiki/a.html",
        "docs/wiki/z.md",
    ]


def test_keys_do_not_depend_on_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "docs/wiki/a.md")
    absolute = keys(tmp_path / "docs")
    assert keys(f"{tmp_path}/docs/") == absolute == ["docs/wiki/a.md"]
    monkeypatch.chdir(tmp_path / "docs")
    assert keys(".") == keys("./") == keys("../docs") == absolute
    monkeypatch.chdir(tmp_path / "docs/wiki")
    assert keys("..") == keys("../../docs/") == absolute
    monkeypatch.chdir(tmp_path)
    assert keys("docs") == keys("docs/wiki/..") == absolute


def test_a_linked_folder_that_is_named_is_called_what_it_leads_to(tmp_path: Path) -> None:
    write(tmp_path / "docs/a.md")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/link").symlink_to(tmp_path / "docs")
    assert keys(tmp_path / "deep/link") == ["docs/a.md"]


def test_equal_file_names_in_two_folders_do_not_collide(tmp_path: Path) -> None:
    for folder in ("handbook", "wiki"):
        write(tmp_path / folder / "vpn.md")
    assert keys(tmp_path / "handbook", tmp_path / "wiki") == ["handbook/vpn.md", "wiki/vpn.md"]


def test_the_root_of_the_file_system_has_no_name_to_put_before_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "a.md").resolve()
    root = file.anchor
    # One file of it is enough.
    monkeypatch.setattr(os, "walk", lambda *_, **__: iter([(str(file.parent), [], [file.name])]))
    (item,) = scan([root])
    assert item.key == file.relative_to(root).as_posix()
    assert item.folder == item.key.split("/")[0]


def test_a_file_that_is_named_has_its_name_for_a_key(tmp_path: Path) -> None:
    assert keys(write(tmp_path / "docs/wiki/a.md")) == ["a.md"]


def test_keys_can_be_made_relative_to_another_folder_and_be_prefixed(tmp_path: Path) -> None:
    file = write(tmp_path / "docs/wiki/a.md")
    assert keys(file, key_root=tmp_path / "docs") == ["wiki/a.md"]
    assert keys(file, prefix="mine/") == ["mine/a.md"]


def test_a_path_outside_of_the_key_root_is_a_problem(tmp_path: Path) -> None:
    file = write(tmp_path / "docs/a.md")
    (tmp_path / "other").mkdir()
    result = scan([file], key_root=tmp_path / "other")
    assert not result.items and "outside" in result.problems[0].reason


def test_a_key_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="key_root"):
        scan([], key_root=tmp_path / "none")


def test_a_flat_folder_is_kept_for_the_source(tmp_path: Path) -> None:
    write(tmp_path / "handbook/a.txt")
    write(tmp_path / "wiki/b.txt")
    found = scan([tmp_path / "handbook", tmp_path / "wiki"], prefix="x")
    assert [item.folder for item in found] == ["handbook", "wiki"]


def test_of_a_folder_of_folders_those_are_kept_for_the_source(tmp_path: Path) -> None:
    write(tmp_path / "docs/forum/old/a.txt")
    write(tmp_path / "docs/wiki/b.txt")
    write(tmp_path / "docs/c.txt")
    found = {item.key: item.folder for item in scan([tmp_path / "docs"])}
    assert found == {"docs/c.txt": "docs", "docs/forum/old/a.txt": "forum", "docs/wiki/b.txt": "wiki"}


def test_with_a_key_root_the_top_folder_below_it_is_kept_for_the_source(tmp_path: Path) -> None:
    write(tmp_path / "forum/old/a.txt")
    write(tmp_path / "b.txt")
    assert [item.folder for item in scan([tmp_path], key_root=tmp_path)] == [None, "forum"]
    assert [item.folder for item in scan([tmp_path / "forum/old"], key_root=tmp_path)] == ["forum"]


def test_a_file_that_is_named_has_no_folder_for_its_source(tmp_path: Path) -> None:
    assert [item.folder for item in scan([write(tmp_path / "wiki/a.txt")])] == [None]


def test_hidden_and_unknown_files_are_left_out_of_a_folder_and_counted(tmp_path: Path) -> None:
    for name in (".hidden.txt", ".git/a.txt", "a.png", "b.docx", "c.docx", "d.txt"):
        write(tmp_path / name)
    result = scan([tmp_path], key_root=tmp_path)
    assert [item.key for item in result] == ["d.txt"]
    assert any("1 .png" in note and "2 .docx" in note for note in result.notes)


def test_a_file_of_unknown_type_is_kept_when_it_is_named(tmp_path: Path) -> None:
    (item,) = scan([write(tmp_path / "README")])
    assert item.format is None


def test_links_out_of_the_folder_and_linked_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "secret/x.txt")
    inside = write(tmp_path / "docs/a.txt")
    (tmp_path / "docs/out.txt").symlink_to(tmp_path / "secret/x.txt")
    (tmp_path / "docs/again").symlink_to(tmp_path / "docs")
    (tmp_path / "docs/same.txt").symlink_to(inside)
    result = scan([tmp_path / "docs"])
    assert [item.key for item in result] == ["docs/a.txt"]
    assert any("links" in note for note in result.notes)


def test_a_file_reached_twice_is_read_once(tmp_path: Path) -> None:
    file = write(tmp_path / "docs/a.txt")
    assert keys(tmp_path / "docs", file, tmp_path / "docs") == ["docs/a.txt"]


def test_missing_paths_and_special_files_are_problems_and_the_rest_is_found(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    write(tmp_path / "a.txt")
    result = scan([tmp_path / "none.txt", tmp_path / "pipe.txt", tmp_path], key_root=tmp_path)
    assert [item.key for item in result] == ["a.txt"]
    assert [Path(problem.path).name for problem in result.problems] == ["none.txt", "pipe.txt"]


def test_a_folder_in_beir_layout_stands_for_its_corpus(tmp_path: Path) -> None:
    write(tmp_path / "set/corpus.jsonl", '\n{"_id": "d1", "title": "", "text": "Some text."}\n')
    write(tmp_path / "set/queries.jsonl", '{"_id": "q1", "text": "Which?"}\n')
    write(tmp_path / "set/qrels/test.tsv", "query-id\tcorpus-id\tscore\n")
    write(tmp_path / "set/README.md")
    write(tmp_path / "other.txt")
    assert keys(tmp_path, key_root=tmp_path) == ["other.txt", "set/corpus.jsonl"]
    assert keys(tmp_path / "set") == ["set/corpus.jsonl"]


def test_what_a_folder_in_beir_layout_leaves_out_is_counted(tmp_path: Path) -> None:
    write(tmp_path / "set/corpus.jsonl", '{"_id": "d1", "title": "", "text": "Some text."}\n')
    for name in ("set/queries.jsonl", "set/README.md", "set/more/a.txt", "set/.hidden/b.txt", "set/x.png"):
        write(tmp_path / name)
    (tmp_path / "set/again").symlink_to(tmp_path / "set")
    (note,) = scan([tmp_path]).notes
    assert "corpus.jsonl" in note and "3" in note


def test_a_beir_corpus_with_its_queries_and_judgements_needs_no_note(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", '{"_id": "d1", "title": "", "text": "Some text."}\n')
    write(tmp_path / "queries.jsonl", '{"_id": "q1", "text": "Which?"}\n')
    write(tmp_path / "qrels/test.tsv", "query-id\tcorpus-id\tscore\n")
    assert scan([tmp_path]).notes == ()


def test_a_corpus_file_that_is_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "secret/c.jsonl", '{"_id": "d1", "title": "", "text": "Secret."}\n')
    write(tmp_path / "docs/a.txt")
    (tmp_path / "docs/corpus.jsonl").symlink_to(outside)
    result = scan([tmp_path / "docs"])
    assert [item.path.name for item in result] == ["a.txt"]
    assert any("links" in note for note in result.notes)


def test_a_corpus_file_in_another_layout_is_a_file_like_others(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", '{"text": "Some text."}\n')
    write(tmp_path / "a.txt")
    assert keys(tmp_path, key_root=tmp_path) == ["a.txt", "corpus.jsonl"]


def test_names_that_are_not_utf8_and_decomposed_names_make_storable_keys(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x")
    write(tmp_path / "Cafe\u0301.txt")
    found = keys(tmp_path, key_root=tmp_path)
    assert "Caf\u00e9.txt" in found and len(found) == 2
    for key in found:
        key.encode("utf-8")


def test_the_sizes_add_up(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "12345")
    write(tmp_path / "b.txt", "123")
    assert scan([tmp_path]).n_bytes == 8
