"""The demo's HTML page: one self-contained file."""

from __future__ import annotations

from pathlib import Path

from veridical.demo.run import DemoResult
from veridical.ui import page


def write_page(result: DemoResult, path: Path) -> None:
    """Write the page; it appears whole or not at all.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    page.write(render(result), path)


def render(result: DemoResult) -> str:
    """Return the page as HTML; every text from a document is escaped."""
    verdicts = [(row.before_verdict, row.after_verdict) for row in result.questions]
    return page.render(
        "veridical.demo",
        "page.html.jinja",
        result=result,
        n_before=sum(before == "right" for before, _ in verdicts),
        n_after=sum(after == "right" for _, after in verdicts),
        n_direct=sum(row.judged for row in result.questions),
        names={d.ref: d.name for d in result.trust.documents},
    )
