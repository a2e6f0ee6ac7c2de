"""What there is to compare, in a few words each."""

from __future__ import annotations

from veridical import registry
from veridical.bench import beliefs, protocols
from veridical.bench.config import BUILT_IN_ATTACKS
from veridical.bench.datasets.manifest import DataEntry, load_manifest
from veridical.bench.systems.base import About
from veridical.errors import InputError, MissingExtraError

_BUILT_IN = {"clean": "no poison at all", "own": "the false passages that the data set brings"}


def listed(kind: str) -> list[dict[str, str]]:
    """Return one row of texts for each name of a kind, all rows with the same keys."""
    if kind == "systems":
        return [_system(name) for name in registry.names("systems")]
    if kind == "attacks":
        own = [{"name": name, "what it does": _BUILT_IN[name]} for name in BUILT_IN_ATTACKS]
        return own + [
            {"name": name, "what it does": _first_line("attacks", name)} for name in registry.names("attacks")
        ]
    if kind == "datasets":
        published = [_dataset(entry) for entry in load_manifest().values()]
        there = {row["name"] for row in published}
        others = [name for name in registry.names("datasets") if name not in there]
        return published + [_other(name) for name in others]
    if kind == "protocols":
        return [{"name": name, "what it fixes": protocols.load(name).title} for name in protocols.names()]
    return [{"name": name, "what it goes by": way.about} for name, way in beliefs.WAYS.items()]


def _system(name: str) -> dict[str, str]:
    try:
        about: About = registry.load("systems", name).about
    except (InputError, MissingExtraError) as error:
        return {"name": name, "title": error.message, "paper": "", "calls": "", "needs": ""}
    needs = ", ".join(sorted(about.needs)) + (f", weights {about.weights}" if about.weights else "")
    return {
        "name": name,
        "title": about.title,
        "paper": about.paper,
        "calls": about.calls,
        "needs": needs.removeprefix(", "),
    }


def _dataset(entry: DataEntry) -> dict[str, str]:
    return {
        "name": entry.name,
        "what it is": entry.title,
        "licence": entry.license,
        "published at": entry.home,
        "hash": "in the manifest" if entry.verified else "unverified: pinned when first fetched",
    }


def _other(name: str) -> dict[str, str]:
    """A format, or somebody's data set, that is not fetched."""
    what = _first_line("datasets", name)
    return {"name": name, "what it is": what, "licence": "", "published at": "", "hash": ""}


def _first_line(kind: str, name: str) -> str:
    try:
        text = registry.load(kind, name).__doc__ or ""
    except (InputError, MissingExtraError) as error:
        return error.message
    return " ".join(text.strip().split("\n\n")[0].split())
