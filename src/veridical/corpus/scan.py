"""Find the files to read: walk files and folders in a fixed order, and give each its key."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from veridical.corpus.readers.beir import CORPUS_FILE, QRELS_FOLDER, QUERIES_FILE, corpus_of
from veridical.errors import InputError
from veridical.types import DocumentFormat, Problem

FORMATS: dict[str, DocumentFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "text",
    ".text": "text",
    ".rst": "text",
    ".log": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
}


@dataclass(frozen=True, slots=True)
class Item:
    """A file to read.

    ``key`` names its document, or is the stem of its records' names. ``format`` is None where the name does
    not tell and the content must. ``folder`` is the top folder below the one that was named, or that one, or
    the top folder below ``key_root``: the last resort for a source.
    """

    path: Path
    key: str
    size: int
    format: DocumentFormat | None
    folder: str | None = None
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The files to read, in order, with the paths that cannot be, and notes on what was left out."""

    items: tuple[Item, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def n_bytes(self) -> int:
        """Size of all items together, in bytes, as it was when they were found."""
        return sum(item.size for item in self.items)


@dataclass(slots=True)
class _Findings:
    items: list[Item] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)
    unknown: Counter[str] = field(default_factory=Counter)
    n_links: int = 0
    n_beside: int = 0


def scan(paths: Sequence[Path | str], *, prefix: str = "", key_root: Path | str | None = None) -> ScanResult:
    """Find the files to read under ``paths``.

    Parameters
    ----------
    paths
        Files and folders. In a folder, files of unknown type, hidden files and folders, linked folders, and
        links that lead out of it are left out; a file that is named is read whatever it is called. A folder
        in BEIR layout stands for its ``corpus.jsonl``; how many other files it holds is noted. A file that is
        reached twice is read once.
    prefix
        Put before every key, with a ``/``, to keep apart corpora whose files or ids have the same names.
    key_root
        Folder that keys are relative to. By default the files of a folder are named by the folder's own name
        and their place in it, and a file by its name, so that keys do not depend on where one stands.

    Returns
    -------
    ScanResult
        Items in the order of ``paths``, within a folder by name. Paths that do not exist, cannot be listed
        or are neither file nor folder are among the problems.

    Raises
    ------
    InputError
        If ``key_root`` is not a folder.
    """
    root = None if key_root is None else Path(key_root)
    if root is not None and not root.is_dir():
        raise InputError(f"key_root '{root}' is not a folder.")
    found = _Findings()
    for given in paths:
        path = Path(given)
        if path.is_dir():
            # Only the resolved folder has a name where '.', '..' or a link was given.
            real = path.resolve()
            below = real.name if root is None else ""
            _scan_folder(found, path, root or real.parent, prefix.strip("/"), below)
        else:
            _add(found, path, root or path.parent, prefix.strip("/"), named=True)
    return ScanResult(tuple(found.items), tuple(found.problems), _notes(found))


def _scan_folder(found: _Findings, folder: Path, root: Path, prefix: str, below: str) -> None:
    def unlisted(error: OSError) -> None:
        found.problems.append(Problem(str(error.filename), f"cannot be listed: {error.strerror}."))

    files: list[Path] = []
    real = Path(os.path.realpath(folder))
    for here, folders, names in os.walk(folder, onerror=unlisted):
        place = Path(here)
        if not _leads_out(place / CORPUS_FILE, real) and (corpus := corpus_of(place)):
            folders.clear()
            files.append(corpus)
            found.n_beside += _n_beside(place)
            continue
        visible = [name for name in folders if not name.startswith(".")]
        folders[:] = [name for name in visible if not (place / name).is_symlink()]
        found.n_links += len(visible) - len(folders)
        for path in (place / name for name in names if not name.startswith(".")):
            if path.suffix.lower() not in FORMATS:
                found.unknown[path.suffix.lower() or "no extension"] += 1
            elif _leads_out(path, real):
                found.n_links += 1
            else:
                files.append(path)
    for path in sorted(files, key=lambda p: p.relative_to(folder).as_posix()):
        _add(found, path, root, prefix, below=below)


def _add(
    found: _Findings, path: Path, root: Path, prefix: str, *, named: bool = False, below: str = ""
) -> None:
    try:
        status = path.stat()
    except OSError as error:
        reason = (
            "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        )
        found.problems.append(Problem(_printable(path), f"{reason}."))
        return
    if not stat.S_ISREG(status.st_mode):
        if named:
            found.problems.append(Problem(_printable(path), "is neither a file nor a folder."))
        return
    identity = (status.st_dev, status.st_ino)
    if identity in found.seen and status.st_nlink == 1:
        return
    found.seen.add(identity)
    relative = _relative(path, root)
    if relative is None:
        found.problems.append(Problem(_printable(path), f"lies outside of the folder for keys, '{root}'."))
        return
    found.items.append(
        Item(
            path=path,
            key=f"{prefix}/{relative}" if prefix else relative,
            size=status.st_size,
            format=FORMATS.get(path.suffix.lower()),
            folder=_top_folder(relative, below),
            prefix=prefix,
        )
    )


def _top_folder(relative: str, below: str) -> str | None:
    """The first folder of a key; below the folder that was named, where it has folders, else that folder."""
    *folders, _ = relative.split("/")
    if below and len(folders) > 1:
        return folders[1]
    return folders[0] if folders else None


def _leads_out(path: Path, real: Path) -> bool:
    return path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(real)


def _n_beside(place: Path) -> int:
    """Count what a folder in BEIR layout holds beside the layout's own files, hidden ones aside."""
    n = 0
    for here, folders, names in os.walk(place):
        top = Path(here) == place
        own = {CORPUS_FILE, QUERIES_FILE} if top else set()
        folders[:] = [
            name for name in folders if not name.startswith(".") and not (top and name == QRELS_FOLDER)
        ]
        n += sum(not name.startswith(".") and name not in own for name in names)
    return n


def _relative(path: Path, root: Path) -> str | None:
    """Return the name of ``path`` below ``root``: composed Unicode, and always something UTF-8 can hold."""
    absolute, base = path.parent.resolve() / path.name, root.resolve()
    if not absolute.is_relative_to(base):
        return None
    return unicodedata.normalize("NFC", _printable(absolute.relative_to(base)))


def _printable(path: Path) -> str:
    return path.as_posix().encode("utf-8", "backslashreplace").decode("utf-8")


def _notes(found: _Findings) -> tuple[str, ...]:
    notes = []
    if found.unknown:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(found.unknown.items()))
        notes.append(f"Left out files of unknown type: {kinds}. Name one to read it anyway.")
    if found.n_beside:
        notes.append(
            f"Left out files beside a {CORPUS_FILE} in BEIR layout, which stands for its whole folder: "
            f"{found.n_beside}. Name one to read it anyway."
        )
    if found.n_links:
        notes.append(f"Left out links to folders or out of the folder: {found.n_links}.")
    return tuple(notes)
