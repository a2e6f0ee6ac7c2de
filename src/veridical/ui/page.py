"""Filling in a page, and writing it whole or not at all."""

from __future__ import annotations

import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from veridical import __version__
from veridical.answer.context import shown_trust
from veridical.errors import StoreError


def render(package: str, name: str, **values: Any) -> str:
    """Return a page as HTML.

    Parameters
    ----------
    package
        The package in whose folder the template lies.
    name
        The template's file; it may include the files of this package, such as ``style.css``.
    **values
        What the template asks for, besides ``version``. Every text is escaped.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda included: _text(__package__, included)),
    )
    environment.filters["trust"] = lambda value: "unknown" if value is None else shown_trust(value)
    return environment.from_string(_text(package, name)).render(version=__version__, **values)


def write(html: str, path: Path) -> None:
    """Write a page; it appears whole or not at all.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", errors="replace", delete=False
        ) as scratch:
            scratch.write(html)
        part = Path(scratch.name)
        try:
            part.chmod(0o644)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text("utf-8")
