"""Data sets are fetched once, resumed where they stopped, checked by hash, and pinned where none is known."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from veridical import registry
from veridical.bench.datasets import manifest
from veridical.bench.datasets.fetch import PINS, fetch
from veridical.errors import InputError, NotFoundError

DATA = b'{"question": "q"}\n' * 40_000  # several chunks


class Server:
    """Serves files; may break off after so many bytes, and may not know ranges."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.breaks = 0  # how many answers are broken off half way
        self.ranges = True
        self.asked: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.headers.get("Range"))
                body = outer.files.get(self.path)
                if body is None:
                    self.send_error(404)
                    return
                begin = 0
                asked = self.headers.get("Range")
                if asked and outer.ranges:
                    begin = int(asked.removeprefix("bytes=").removesuffix("-"))
                    if begin >= len(body):
                        self.send_response(416)
                        self.send_header("Content-Range", f"bytes */{len(body)}")
                        self.end_headers()
                        return
                self.send_response(206 if begin else 200)
                self.send_header("Content-Length", str(len(body) - begin))
                self.end_headers()
                rest = body[begin:]
                if outer.breaks:
                    outer.breaks -= 1
                    rest = rest[: len(rest) // 2]
                self.wfile.write(rest)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    made.files["/data.jsonl"] = DATA
    yield made
    made.http.shutdown()
    made.http.server_close()


def entries(
    folder: Path, url: str, *, name: str = "data.jsonl", member: str = "", sha256: str = "", n: int = 0
) -> Path:
    measured = f'sha256 = "{sha256}"\nbytes = {n}' if sha256 else "unverified = true"
    path = folder / "manifest.toml"
    path.write_text(
        '[made]\ntitle = "Made"\nlicense = "CC0"\nrevision = "1"\nhome = "https://made.example"\n'
        f'[[made.files]]\nname = "{name}"\nurl = "{url}"\nmember = "{member}"\n{measured}\n',
        "utf-8",
    )
    return path


def test_an_unmeasured_file_is_pinned_by_its_own_hash(server: Server, tmp_path: Path) -> None:
    found = fetch("made", tmp_path, entries=entries(tmp_path, f"{server.url}/data.jsonl"))
    digest = hashlib.sha256(DATA).hexdigest()
    assert (found[0].how, found[0].sha256, found[0].bytes) == ("pinned", digest, len(DATA))
    assert (tmp_path / "made" / "data.jsonl").read_bytes() == DATA
    assert json.loads((tmp_path / "made" / PINS).read_text("utf-8")) == {"data.jsonl": digest}
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["data.jsonl", PINS]


def test_what_is_there_is_not_fetched_again_and_still_checked(server: Server, tmp_path: Path) -> None:
    listed = entries(tmp_path, f"{server.url}/data.jsonl")
    fetch("made", tmp_path, entries=listed)
    assert fetch("made", tmp_path, entries=listed, offline=True)[0].how == "here"
    assert len(server.asked) == 1
    (tmp_path / "made" / "data.jsonl").write_text("changed", "utf-8")
    with pytest.raises(InputError, match="earlier fetch"):
        fetch("made", tmp_path, entries=listed)


def test_a_file_that_changed_at_its_source_is_refused(server: Server, tmp_path: Path) -> None:
    listed = entries(tmp_path, f"{server.url}/data.jsonl")
    fetch("made", tmp_path, entries=listed)
    (tmp_path / "made" / "data.jsonl").unlink()
    server.files["/data.jsonl"] = DATA + b"more"
    with pytest.raises(InputError, match="sha256"):
        fetch("made", tmp_path, entries=listed)
    assert not (tmp_path / "made" / "data.jsonl").exists()


def test_a_measured_file_has_to_have_its_hash(server: Server, tmp_path: Path) -> None:
    digest = hashlib.sha256(DATA).hexdigest()
    url = f"{server.url}/data.jsonl"
    found = fetch("made", tmp_path, entries=entries(tmp_path, url, sha256=digest, n=len(DATA)))
    assert found[0].how == "verified"
    assert not (tmp_path / "made" / PINS).exists()
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match="the manifest says"):
        fetch("made", other, entries=entries(other, url, sha256="0" * 64, n=1))
    assert not (other / "made" / "data.jsonl").exists()


def test_a_broken_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.breaks = 2
    shown: list[int] = []

    def progress(title: str, total: int | None):  # type: ignore[no-untyped-def]
        assert (title, total) == ("data.jsonl", len(DATA))
        return shown.append

    found = fetch("made", tmp_path, entries=entries(tmp_path, f"{server.url}/data.jsonl"), progress=progress)
    assert found[0].bytes == len(DATA)
    assert server.asked == [None, f"bytes={len(DATA) // 2}-", f"bytes={len(DATA) - len(DATA) // 4}-"]
    assert sum(shown) == len(DATA)


def test_what_came_is_kept_for_the_next_try(server: Server, tmp_path: Path) -> None:
    server.breaks = 4
    listed = entries(tmp_path, f"{server.url}/data.jsonl")
    with pytest.raises(NotFoundError, match="What came is kept"):
        fetch("made", tmp_path, entries=listed)
    n_asked = len(server.asked)
    assert fetch("made", tmp_path, entries=listed)[0].bytes == len(DATA)
    assert server.asked[n_asked] not in (None, "bytes=0-")


def test_a_server_without_ranges_sends_all_of_it_again(server: Server, tmp_path: Path) -> None:
    server.breaks, server.ranges = 1, False
    found = fetch("made", tmp_path, entries=entries(tmp_path, f"{server.url}/data.jsonl"))
    assert found[0].sha256 == hashlib.sha256(DATA).hexdigest()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"release/{name}.json", content)
            archive.writestr(f"__MACOSX/release/{name}.json", b"junk")
    return out.getvalue()


def tarred(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(f"release/{name}.json")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_file_is_taken_out_of_an_archive_and_the_archive_is_not_kept(pack, server, tmp_path) -> None:  # type: ignore[no-untyped-def]
    server.files["/all"] = pack(dev=b"[1]", train=b"[2]")
    listed = entries(tmp_path, f"{server.url}/all", name="dev.json", member="dev.json")
    more = listed.read_text("utf-8").split("[[made.files]]")[1].replace("dev.json", "train.json")
    listed.write_text(f"{listed.read_text('utf-8')}[[made.files]]{more}", "utf-8")
    manifest.load_manifest.cache_clear()
    fetch("made", tmp_path, entries=listed)
    folder = tmp_path / "made"
    assert (folder / "dev.json").read_bytes() == b"[1]"
    assert (folder / "train.json").read_bytes() == b"[2]"
    assert len(server.asked) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["dev.json", PINS, "train.json"]


@pytest.mark.parametrize("sent", [zipped(other=b"[]"), tarred(other=b"[]"), b"no archive at all"])
def test_an_archive_without_the_file_is_refused_and_not_kept(sent, server, tmp_path) -> None:  # type: ignore[no-untyped-def]
    server.files["/all"] = sent
    listed = entries(tmp_path, f"{server.url}/all", name="dev.json", member="dev.json")
    with pytest.raises(InputError, match=r"no archive with dev\.json"):
        fetch("made", tmp_path, entries=listed)
    assert list((tmp_path / "made").iterdir()) == []


def test_a_web_page_is_no_data(server: Server, tmp_path: Path) -> None:
    server.files["/data.jsonl"] = b"\n<!DOCTYPE html><html>Please agree</html>"
    with pytest.raises(InputError, match="web page"):
        fetch("made", tmp_path, entries=entries(tmp_path, f"{server.url}/data.jsonl"))
    assert list((tmp_path / "made").iterdir()) == []


def test_what_cannot_be_had_says_where_it_goes_by_hand(server: Server, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="HTTP 404") as caught:
        fetch("made", tmp_path, entries=entries(tmp_path, f"{server.url}/gone"))
    assert (
        caught.value.hint == f"Get it from https://made.example and put into {tmp_path / 'made'}: data.jsonl."
    )


def test_nobody_listening_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="cannot be had"):
        fetch("made", tmp_path, entries=entries(tmp_path, "http://127.0.0.1:9/data"))


def test_only_web_addresses_are_fetched(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="kind file"):
        fetch("made", tmp_path, entries=entries(tmp_path, (tmp_path / "x").as_uri()))


def test_offline_nothing_is_downloaded(server: Server, tmp_path: Path) -> None:
    listed = entries(tmp_path, f"{server.url}/data.jsonl")
    with pytest.raises(NotFoundError, match="downloads are off"):
        fetch("made", tmp_path, entries=listed, offline=True)
    assert server.asked == []


def test_damaged_pins_are_named(server: Server, tmp_path: Path) -> None:
    listed = entries(tmp_path, f"{server.url}/data.jsonl")
    fetch("made", tmp_path, entries=listed)
    (tmp_path / "made" / PINS).write_text("[", "utf-8")
    with pytest.raises(InputError, match=PINS):
        fetch("made", tmp_path, entries=listed)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    listed = entries(tmp_path, "http://127.0.0.1:9/data")
    with pytest.raises(InputError, match="cannot be kept"):
        fetch("made", tmp_path / "file", entries=listed)


def test_an_unknown_data_set_is_refused_with_a_list() -> None:
    with pytest.raises(NotFoundError) as caught:
        manifest.find("no-such-data")
    assert "hotpotqa" in caught.value.hint


def test_what_the_package_can_fetch_it_can_read_and_finds_by_name(tmp_path: Path) -> None:
    for name, entry in manifest.load_manifest().items():
        dataset = registry.load("datasets", name)()
        for file in entry.files:
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / file.name).touch()
        assert dataset.found_in(tmp_path / name) is not None
        assert entry.home.startswith("https://")
        assert entry.license


@pytest.mark.parametrize("change", [("title", "tilte"), ("data.jsonl", "../data.jsonl"), ("[made]", "[made")])
def test_a_manifest_that_does_not_fit_is_named(change: tuple[str, str], tmp_path: Path) -> None:
    listed = entries(tmp_path, "http://made.example/data.jsonl")
    listed.write_text(listed.read_text("utf-8").replace(change[0], change[1], 1), "utf-8")
    with pytest.raises(InputError, match=r"manifest\.toml"):
        manifest.load_manifest(listed)
