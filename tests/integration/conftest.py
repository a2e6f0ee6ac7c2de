"""Real processes on fake models."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.testing.fake_models import FakeModels

START = """
from veridical.testing.fake_models import FakeModels
import veridical.pipeline.facade as facade
fakes = FakeModels()
facade.Models = lambda *_: fakes
{before}
from veridical.cli import main
main()
"""


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command in a process of its own; ``before`` is Python that runs first."""
    started: list[subprocess.Popen[str]] = []

    def start(
        *arguments: str, before: str = "", real: bool = False, **options: object
    ) -> subprocess.Popen[str]:
        env = {
            k: v for k, v in os.environ.items() if not k.startswith(("VERIDICAL_", "FORCE_COLOR", "COLUMNS"))
        }
        env |= {"OMP_NUM_THREADS": "1", **options.pop("env", {})}  # type: ignore[dict-item]
        code = "from veridical.cli import main; main()" if real else START.format(before=before)
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            **{
                "cwd": tmp_path,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                **options,
            },  # type: ignore[call-overload]
            env=env,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def open_kb(tmp_path: Path) -> Iterator[Callable[[str], Veridical]]:
    """Opens knowledge bases by name in this process, on fakes."""
    opened: list[Veridical] = []

    def make(name: str) -> Veridical:
        v = Veridical.open(tmp_path / name)
        v.models = FakeModels()  # type: ignore[assignment]
        opened.append(v)
        return v

    yield make
    for v in opened:
        v.close()
