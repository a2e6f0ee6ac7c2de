"""docs/cli.md names every command and every option that there is; ``make docs`` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from veridical.cli.app import app

REFERENCE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for child, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {child}")


TREE = list(commands(typer.main.get_command(app), "veridical"))


@pytest.mark.parametrize(("name", "command"), TREE[1:], ids=[name for name, _ in TREE[1:]])
def test_the_reference_has_every_command_with_its_options(name: str, command: Any) -> None:
    heading = f"## `{name}`\n"
    assert heading in REFERENCE, "run 'make docs'"
    section = REFERENCE.split(heading)[1].split("\n## `")[0].split("\n### `")[0]
    options = [option for parameter in command.params for option in parameter.opts if option[:2] == "--"]
    missing = [option for option in options if option not in section]
    assert not missing, "run 'make docs'"


def test_the_reference_has_no_command_that_is_gone() -> None:
    named = {line.split("`")[1] for line in REFERENCE.splitlines() if line.startswith(("## `", "### `"))}
    assert named == {name for name, _ in TREE[1:]}
