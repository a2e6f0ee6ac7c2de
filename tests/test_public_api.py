"""The public surface is what ``__all__`` says, and importing it costs next to nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import veridical


@pytest.mark.parametrize("name", veridical.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(veridical, name) is not None


def test_public_names_are_listed_once_and_documented() -> None:
    assert len(set(veridical.__all__)) == len(veridical.__all__) <= 20
    for name in veridical.__all__:
        assert name == "__version__" or getattr(veridical, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = veridical.nothing_of_the_kind


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, veridical;"
        "heavy = {'numpy', 'scipy', 'onnxruntime', 'sqlalchemy', 'tantivy', 'openai', 'typer', 'rich'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
