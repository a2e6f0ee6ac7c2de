"""The demo's HTML page: one self-contained file."""

from __future__ import annotations

import tempfile
from importlib import resources
from pathlib import Path

from veridical import __version__
from veridical.answer.context import shown_trust
from veridical.demo.run import DemoResult
from veridical.errors import StoreError


def write_page(result: DemoResult, path: Path) -> None:
    """Write the page; it appears whole or not at all.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    html = render(result)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", encoding="utf-8", delete=False
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


def render(result: DemoResult) -> str:
    """Return the page as HTML; every text from a document is escaped."""
    from jinja2 import Environment, StrictUndefined

    template = resources.files("veridical.demo").joinpath("page.html.jinja").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["trust"] = lambda value: "unknown" if value is None else shown_trust(value)
    verdicts = [(row.before_verdict, row.after_verdict) for row in result.questions]
    return environment.from_string(template).render(
        result=result,
        version=__version__,
        n_before=sum(before == "right" for before, _ in verdicts),
        n_after=sum(after == "right" for _, after in verdicts),
        n_direct=sum(row.judged for row in result.questions),
        names={d.ref: d.name for d in result.trust.documents},
    )
