from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.corpus.read import read
from veridical.corpus.scan import Item
from veridical.types import Problem, SourceDocument

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["id", "_id", "title", "text", "source", "url", "date", "metadata", "other"])
RECORDS = st.dictionaries(FIELDS, JSON_VALUES | st.text(max_size=20), max_size=9)


def read_bytes(
    tmp_path: Path, data: bytes, *, prefix: str = "", folder: str | None = None, max_bytes: int = 10_000
) -> list[SourceDocument | Problem]:
    path = tmp_path / "data.jsonl"
    path.write_bytes(data)
    key = f"{prefix}/data.jsonl" if prefix else "data.jsonl"
    item = Item(path, key, len(data), "jsonl", folder, prefix)
    return list(read(item, max_bytes=max_bytes))


def read_records(tmp_path: Path, *records: Any, **options: Any) -> list[SourceDocument | Problem]:
    return read_bytes(tmp_path, "\n".join(json.dumps(record) for record in records).encode(), **options)


def only_document(results: list[SourceDocument | Problem]) -> SourceDocument:
    (result,) = results
    assert isinstance(result, SourceDocument), result
    return result


def only_problem(results: list[SourceDocument | Problem]) -> Problem:
    (result,) = results
    assert isinstance(result, Problem), result
    return result


def test_every_field_of_the_own_schema_arrives(tmp_path: Path) -> None:
    record = {
        "id": "n1",
        "title": "News",
        "text": "The port is 8080.",
        "source": "Gazette",
        "url": "https://a.example.com/n1",
        "date": "March 5, 2024",
        "metadata": {"lang": "en"},
        "author": "Lee",
    }
    document = only_document(read_records(tmp_path, record))
    assert (document.key, document.title, document.text) == ("n1", "News", "The port is 8080.")
    assert (document.source, document.url, document.date) == (
        "Gazette",
        "https://a.example.com/n1",
        "2024-03-05",
    )
    assert document.format == "jsonl"
    assert document.metadata == {
        "lang": "en",
        "author": "Lee",
        "path": str(tmp_path / "data.jsonl"),
        "line": 1,
    }


def test_text_alone_is_enough_and_the_file_and_line_name_the_document(tmp_path: Path) -> None:
    first, second = read_records(tmp_path, {"text": "One."}, {"text": "Two."}, folder="forum")
    assert isinstance(first, SourceDocument) and isinstance(second, SourceDocument)
    assert (first.key, second.key) == ("data.jsonl#L1", "data.jsonl#L2")
    assert first.source == "forum" and first.date is None


def test_a_record_without_an_id_is_named_by_its_url(tmp_path: Path) -> None:
    document = only_document(read_records(tmp_path, {"text": "One.", "url": "https://b.example.org/x"}))
    assert document.key == "https://b.example.org/x"
    assert document.source == "example.org"


def test_a_prefix_keeps_the_ids_of_two_corpora_apart(tmp_path: Path) -> None:
    assert only_document(read_records(tmp_path, {"id": 7, "text": "One."}, prefix="a")).key == "a/7"
    assert only_document(read_records(tmp_path, {"text": "One."}, prefix="a")).key == "a/data.jsonl#L1"


def test_the_first_record_decides_that_a_file_is_in_beir_layout(tmp_path: Path) -> None:
    first, second = read_records(
        tmp_path,
        {"_id": "d1", "title": "T", "text": "One.", "metadata": {"url": "https://c.example.net/"}},
        {"_id": "d2", "title": "", "text": "Two.", "id": "ignored"},
    )
    assert isinstance(first, SourceDocument) and isinstance(second, SourceDocument)
    assert (first.key, first.format, first.source) == ("d1", "beir", "example.net")
    assert second.key == "d2"


def test_byte_order_mark_blank_lines_and_windows_line_ends_are_tolerated(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"id": "a", "text": "One."}\r\n\r\n  \r\n{"id": "b", "text": "Two."}'
    keys = [result.key for result in read_bytes(tmp_path, data) if isinstance(result, SourceDocument)]
    assert keys == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"te', "not valid JSON"),
        (b'{"text": "x", "n": NaN}', "NaN"),
        (b'{"text": "x", "n": 1e999}', "too large"),
        (b"[1, 2]", "JSON list"),
        (b'"text"', "JSON string"),
        (b'{"body": "x", "id": 3}', "'body', 'id'"),
        (b'{"text": ["x"]}', "list, not a string"),
        (b'{"text": " "}', "empty"),
        (rb'{"text": "\u001b"}', "empty"),
        (b'{"text": "x", "id": {"a": 1}}', "id that is a object"),
        (b'{"text": "x", "metadata": "y"}', "metadata"),
        (b'{"text": "caf\xe9"}', "UTF-8 at byte 13"),
        (b'{"text": "x", "m": ' + b"[" * 200 + b"]" * 200 + b"}", "nested"),
        (b"[" * 100_000, "nested|recursion|more than"),
        (b'{"text": "' + b"x" * 20_000 + b'"}', "more than 10000 bytes"),
    ],
)
def test_a_bad_line_is_named_with_its_reason_and_the_rest_is_read(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    results = read_bytes(tmp_path, b'{"text": "One."}\n' + line + b'\n{"text": "Three."}\n')
    first, bad, third = results
    assert isinstance(first, SourceDocument) and isinstance(third, SourceDocument)
    assert isinstance(bad, Problem) and bad.line == 2
    assert any(part in bad.reason for part in reason.split("|")), bad.reason
    assert third.key == "data.jsonl#L3"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'[{"text": "x"}]', "JSON array"),
        ('{"text": "x"}'.encode("utf-16"), "UTF-16"),
        (b'{"text": "x\0"}', "binary"),
        (b"PK\x03\x04\x00\x00", "binary"),
    ],
)
def test_a_file_that_is_not_json_lines_is_one_problem(tmp_path: Path, data: bytes, reason: str) -> None:
    assert reason in only_problem(read_bytes(tmp_path, data)).reason


def test_a_file_of_nothing_but_bad_lines_is_given_up(tmp_path: Path) -> None:
    results = read_bytes(tmp_path, b"not json\n" * 5000)
    assert len(results) == 101
    assert isinstance(results[-1], Problem) and "given up" in results[-1].reason


def test_what_cannot_be_stored_is_replaced(tmp_path: Path) -> None:
    data = rb'{"text": "a\ud800b\u0000c \ud83d\ude00", "title": "x\ny", "n": {"\udfff": ["\ud800"]}}'
    document = only_document(read_bytes(tmp_path, data))
    assert document.text == "a\ufffdb c \U0001f600"
    assert document.title == "x y"
    assert document.metadata["n"] == {"\ufffd": ["\ufffd"]}


def test_a_date_that_is_not_understood_is_kept_as_given(tmp_path: Path) -> None:
    document = only_document(read_records(tmp_path, {"text": "One.", "date": "6 hours ago"}))
    assert document.date is None
    assert document.metadata["date_as_given"] == "6 hours ago"


@given(records=st.lists(RECORDS, min_size=1, max_size=5))
def test_every_record_becomes_one_document_or_one_problem(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    results = read_records(tmp_path_factory.getbasetemp(), *records, max_bytes=10**6)
    assert len(results) == len(records)
    for number, (record, result) in enumerate(zip(records, results, strict=True), start=1):
        if isinstance(result, Problem):
            assert result.line == number
        else:
            assert result.metadata["line"] == number
            assert isinstance(record["text"], str) and result.text.strip()
            json.dumps(result.to_dict(), allow_nan=False, ensure_ascii=False).encode("utf-8")


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_reported(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    for result in read_bytes(tmp_path_factory.getbasetemp(), data):
        assert isinstance(result, (SourceDocument, Problem))
