"""Data sets by name, wherever in a folder their files are."""

from __future__ import annotations

from pathlib import Path

from veridical import registry
from veridical.bench.datasets import questions as own_format
from veridical.bench.datasets.base import DataSet
from veridical.bench.datasets.beir import BEIR
from veridical.bench.datasets.manifest import load_manifest
from veridical.bench.datasets.questions import Question
from veridical.errors import NotFoundError


def load(data: Path, name: str) -> list[Question]:
    """Read a data set of a folder.

    In this order: ``NAME.jsonl`` in the benchmark's own format; the published file of the data set of that
    name, in ``NAME/`` or in the folder itself; ``NAME/`` in BEIR layout.

    Parameters
    ----------
    data
        The folder.
    name
        Of a data set; for the own format and BEIR any name.

    Raises
    ------
    NotFoundError
        There is none; the hint says how one is fetched.
    InputError
        A file is not in its format.
    """
    if (data / f"{name}.jsonl").is_file():
        return own_format.read(data, name)
    if name in registry.names("datasets"):
        dataset: DataSet = registry.load("datasets", name)()
        for folder in (data / name, data):
            path = dataset.found_in(folder)
            if path is not None:
                return dataset.load(path)
    beir = BEIR()
    if beir.found_in(data / name) is not None:
        return beir.load(data / name)
    raise NotFoundError(
        f"There is no data set {name!r} in {data}: neither {name}.jsonl nor a folder {name}.",
        f"Fetch it with: veridical bench fetch {name} {data}"
        if name in load_manifest()
        else "Give the folder that holds it.",
    )
