"""Fetching published data sets: resumed where it stopped, checked, and pinned where nobody had measured."""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any

from veridical.bench.datasets import manifest
from veridical.bench.datasets.manifest import DataEntry, DataFile
from veridical.errors import InputError, NotFoundError
from veridical.types import Record

Progress = Callable[[str, int | None], Callable[[int], None]]
"""Begins a download, given its title and bytes (``None``: unknown); returns what to call with new bytes."""

PINS = "pins.json"
_CHUNK = 1 << 18
_TIMEOUT_S = 30
_N_TRIES = 4
_NO_RANGE = 416


def _silent(title: str, total: int | None) -> Callable[[int], None]:
    del title, total
    return lambda _: None


@dataclass(frozen=True)
class Fetched(Record):
    """One file that is there.

    Attributes
    ----------
    how
        ``here`` before, ``verified`` by the manifest's hash, or ``pinned`` by its own, which nobody checked.
    """

    path: str
    sha256: str
    bytes: int
    how: str


def fetch(
    name: str,
    data: Path,
    *,
    offline: bool = False,
    progress: Progress = _silent,
    entries: Path | None = None,
) -> list[Fetched]:
    """Bring the files of a data set into ``DATA/NAME/``, those that are not there yet.

    A download that was broken off goes on where it stopped, if the server can. A file whose hash the manifest
    does not know is pinned: its hash is kept in ``pins.json`` beside it, and whatever comes later has to have
    the same.

    Parameters
    ----------
    name
        Of the manifest.
    data
        Folder of data sets.
    offline
        Raise where something would have to be downloaded.
    progress
        Shows how far it has come.
    entries
        Another manifest than the package's.

    Raises
    ------
    NotFoundError
        There is no such data set, or it cannot be had; the hint says where to put its files by hand.
    InputError
        What came is not what the manifest or an earlier fetch says, or the folder cannot be written.
    """
    entry = manifest.find(name, entries)
    folder = data / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Data cannot be kept in {folder}: {error.strerror or error}.") from error
    pins = _pins(folder)
    found = []
    for file in entry.files:
        there = (folder / file.name).is_file()
        if not there:
            if offline:
                raise NotFoundError(
                    f"{name}: {file.name} is not in {folder}, and downloads are off (VERIDICAL_OFFLINE).",
                    _by_hand(entry, folder),
                )
            _bring(entry, file, folder, progress)
        found.append(_checked(file, folder, pins, there))
    for archive in folder.glob("*.archive"):
        archive.unlink()
    return found


def _bring(entry: DataEntry, file: DataFile, folder: Path, progress: Progress) -> None:
    target = folder / file.name
    key = hashlib.sha256(file.url.encode()).hexdigest()[:12]
    whole = folder / f"{key}.archive" if file.member else folder / f"{file.name}.whole"
    if not whole.is_file():
        part = folder / f"{key}.part"
        try:
            _download(file, part, progress)
        except (OSError, HTTPException, ValueError) as error:
            raise NotFoundError(
                f"{entry.name}: {file.url} cannot be had ({_reason(error)}). What came is kept.",
                _by_hand(entry, folder),
            ) from error
        part.replace(whole)
    if file.member:
        _unpack(entry, file, whole, target)
    else:
        _refuse_page(entry, whole)
        whole.replace(target)


def _download(file: DataFile, part: Path, progress: Progress) -> None:
    """Get the rest of a file; a connection that breaks is taken up again where it broke."""
    tick: Callable[[int], None] | None = None
    for attempt in range(_N_TRIES):
        have = part.stat().st_size if part.is_file() else 0
        try:
            with _open(file.url, have) as response:
                resumed = have > 0 and response.status == 206
                have = have if resumed else 0
                length = response.headers.get("Content-Length")
                total = have + int(length) if length and length.isdigit() else None
                if tick is None:
                    tick = progress(file.name, total)
                    tick(have)
                with part.open("ab" if resumed else "wb") as out:
                    got = _copy(response, out, tick)
            if total is None or have + got == total:
                return
            error: Exception = OSError(f"{have + got} of {total} bytes came")
        except urllib.error.HTTPError as refused:
            if refused.code == _NO_RANGE and have:  # all of it is here already, or another file is there now
                if refused.headers.get("Content-Range") == f"bytes */{have}":
                    return
                part.unlink()
                error = refused
            else:
                raise
        except (OSError, HTTPException) as broken:
            error = broken
        if attempt == _N_TRIES - 1:
            raise error


def _open(url: str, have: int) -> Any:
    headers = {"User-Agent": "veridical", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(url, headers=headers)  # noqa: S310
    if request.type not in ("http", "https"):
        raise ValueError(f"addresses of kind {request.type}: are not fetched")
    return urllib.request.urlopen(request, timeout=_TIMEOUT_S)  # noqa: S310


def _copy(response: IO[bytes], out: IO[bytes], tick: Callable[[int], None]) -> int:
    got = 0
    while chunk := response.read(_CHUNK):
        out.write(chunk)
        got += len(chunk)
        tick(len(chunk))
    return got


def _unpack(entry: DataEntry, file: DataFile, archive: Path, target: Path) -> None:
    """Copy one file out of a zip or tar archive; nothing else of it touches the disk."""
    scratch = target.with_name(f"{target.name}.unpacking")
    try:
        with scratch.open("wb") as out:
            if zipfile.is_zipfile(archive):
                with (
                    zipfile.ZipFile(archive) as zipped,
                    zipped.open(_member(zipped.namelist(), file)) as inner,
                ):
                    shutil.copyfileobj(inner, out)
            else:
                with tarfile.open(archive) as tarred:
                    inside = tarred.extractfile(_member(tarred.getnames(), file))
                    if inside is None:
                        raise KeyError(file.member)
                    shutil.copyfileobj(inside, out)
    except (KeyError, EOFError, OSError, tarfile.TarError, zipfile.BadZipFile) as error:
        scratch.unlink(missing_ok=True)
        archive.unlink()
        raise InputError(
            f"{entry.name}: what came from {file.url} is no archive with {file.member} ({error}).",
            _by_hand(entry, target.parent),
        ) from error
    scratch.replace(target)


def _member(names: list[str], file: DataFile) -> str:
    """The only file of that name, in whatever folder of the archive."""
    found = [name for name in names if name.rpartition("/")[2] == file.member and "__MACOSX" not in name]
    if len(found) != 1:
        raise KeyError(f"{len(found)} files are called {file.member}")
    return found[0]


def _refuse_page(entry: DataEntry, path: Path) -> None:
    """Some servers answer with a page that asks for consent, or says that there is nothing."""
    with path.open("rb") as file:
        begin = file.read(512).lstrip().lower()
    if begin.startswith((b"<!doctype", b"<html")):
        path.unlink()
        raise InputError(
            f"{entry.name}: what came is a web page and no data file.", _by_hand(entry, path.parent)
        )


def _checked(file: DataFile, folder: Path, pins: dict[str, str], was_there: bool) -> Fetched:
    path = folder / file.name
    with path.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    wanted = file.sha256 or pins.get(file.name, "")
    if wanted and found != wanted:
        if not was_there:
            path.unlink()
        who = "the manifest" if file.sha256 else f"{folder / PINS}, from an earlier fetch,"
        raise InputError(
            f"{path}: sha256 is {found}, and {who} says {wanted}.",
            f"Fetch it again; if the publisher changed the file, delete its line in {PINS} first.",
        )
    if not file.sha256 and file.name not in pins:
        pins[file.name] = found
        (folder / PINS).write_text(json.dumps(pins, indent=2) + "\n", "utf-8")
    how = "here" if was_there else "verified" if file.sha256 else "pinned"
    return Fetched(str(path), found, path.stat().st_size, how)


def _pins(folder: Path) -> dict[str, str]:
    path = folder / PINS
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
        return {str(name): str(value) for name, value in found.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read ({error}).", "Delete it; files are pinned anew.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    return str(getattr(error, "reason", error)) or type(error).__name__


def _by_hand(entry: DataEntry, folder: Path) -> str:
    names = ", ".join(file.name for file in entry.files)
    return f"Get it from {entry.home} and put into {folder}: {names}."
