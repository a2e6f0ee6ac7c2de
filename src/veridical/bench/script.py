"""What the scripts in ``benchmarks/`` share: where they keep what is dear, progress, and how they end."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from veridical.bench import cache, results
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.nli.base import NLIModel
from veridical.reading.base import Reader, Reading

Pairs = Sequence[tuple[str, str]]


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add ``--work`` and ``--json``."""
    parser.add_argument(
        "--work",
        type=Path,
        default=platformdirs.user_cache_path("veridical") / "bench",
        help="where to keep what is computed",
    )
    parser.add_argument("--json", type=Path, help="write the figures here, one flat record each")


def bars(console: Console) -> Progress:
    """Progress with the time that is left."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console)


class Work:
    """Computes with progress, and keeps what was computed in a folder.

    Parameters
    ----------
    folder
        As ``--work`` gives it.
    progress
        Shows how far it has come.
    """

    def __init__(self, folder: Path, progress: Progress) -> None:
        self.folder, self.progress = folder, progress

    def vectors(self, encoder: TextEncoder, texts: Sequence[str], title: str) -> Float32Array:
        """Encode; see `cache.vectors`."""
        with self._shown(title, None) as step:
            return cache.vectors(self.folder, encoder, texts, step)

    def readings(self, reader: Reader, pairs: Pairs, title: str) -> list[Reading]:
        """Read (question, passage) pairs; see `cache.readings`."""
        with self._shown(title, len(pairs)) as step:
            return cache.readings(self.folder, reader, pairs, step)

    def judgements(self, nli: NLIModel, pairs: Pairs, title: str) -> Float32Array:
        """Judge pairs in both directions; see `cache.judgements`."""
        with self._shown(title, len(pairs)) as step:
            return cache.judgements(self.folder, nli, pairs, step)

    @contextmanager
    def _shown(self, title: str, total: int | None) -> Iterator[cache.Progress]:
        task = self.progress.add_task(title, total=total)
        yield functools.partial(self.progress.advance, task)
        self.progress.remove_task(task)


def head(script: str, about: Mapping[str, object]) -> dict[str, object]:
    """Print what figures are about, the commit first, and return it for their records."""
    found = {"commit": results.commit(Path(script).parent), **about}
    print(", ".join(f"{key} {value}" for key, value in found.items()))  # noqa: T201
    return found
