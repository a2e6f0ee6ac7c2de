"""The manifest of published data sets: where each file comes from, and what it must be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from veridical.errors import NotFoundError
from veridical.models.manifest import measured, read_entries


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    name
        What it is called where it is kept.
    url
        Where it comes from.
    member
        The file of that name inside the archive at ``url``; empty where that is no archive.
    sha256, bytes
        What it must be; empty and 0 where nobody has measured it (it is unverified).
    """

    name: str
    url: str
    member: str = ""
    sha256: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class DataEntry:
    """One data set of the manifest."""

    name: str
    title: str
    license: str
    revision: str
    home: str
    files: tuple[DataFile, ...]

    @property
    def verified(self) -> bool:
        """Whether every file has a hash to be compared with."""
        return all(file.sha256 for file in self.files)


@cache
def load_manifest(path: Path | None = None) -> dict[str, DataEntry]:
    """Read the shipped manifest, or another of the same form.

    Raises
    ------
    InputError
        The file is not a manifest; the message says which entry.
    """
    file = resources.files(__package__ or "").joinpath("manifest.toml") if path is None else path
    return read_entries(file, f"Manifest of data sets {path or 'of the package'}", _entry)


def find(name: str, path: Path | None = None) -> DataEntry:
    """Return the manifest's entry of a name.

    Raises
    ------
    NotFoundError
        There is none; the hint lists what there is.
    """
    entries = load_manifest(path)
    if name not in entries:
        raise NotFoundError(
            f"No data set that can be fetched is called {name!r}.", "There are: " + ", ".join(sorted(entries))
        )
    return entries[name]


def _entry(name: str, table: dict[str, Any]) -> DataEntry:
    files = tuple(
        DataFile(raw["name"], raw["url"], raw.get("member", ""), *measured(raw)) for raw in table["files"]
    )
    for part in (name, *(file.name for file in files)):
        if Path(part).name != part:
            raise ValueError(f"{part!r} must be a plain name, since it becomes one on disk")
    return DataEntry(name, table["title"], table["license"], table["revision"], table["home"], files)
