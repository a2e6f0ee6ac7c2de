"""Writes a report as Markdown, and as one HTML page that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from veridical.bench.report.blocks import Block, Cell, Figure, Heading, Report, Table, Text
from veridical.ui import page

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def html(report: Report) -> str:
    """Return the report as HTML; every text is escaped."""
    kinds = [(type(block).__name__, block) for block in report.blocks]
    return page.render(__package__, "page.html.jinja", report=report, blocks=kinds)


def markdown(report: Report) -> str:
    """Return the report as Markdown; figures become the tables of their numbers."""
    lines = [f"# {_plain(report.title)}", "", _plain(report.lead), ""]
    lines += [f"- {_plain(name)}: {_plain(value)}" for name, value in report.facts]
    for block in report.blocks:
        lines += ["", *_markdown(block)]
    return "\n".join(lines) + "\n"


def write(report: Report, path: Path) -> None:
    """Write a report by the ending of its file: ``.html``, else Markdown; whole or not at all.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    page.write(html(report) if path.suffix.lower() in (".html", ".htm") else markdown(report), path)


def _markdown(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {_plain(block.text)}"
    elif isinstance(block, Text):
        for line in block.lines:
            yield f"- {_plain(line)}" if block.as_list else _plain(line)
    elif isinstance(block, Figure):
        yield from _table(block.table, block.caption)
    else:
        yield from _table(block, block.caption)


def _table(table: Table, caption: str) -> Iterator[str]:
    if caption:
        yield f"**{_plain(caption)}**"
        yield ""
    yield "| " + " | ".join(map(_plain, table.columns)) + " |"
    yield "|" + "---|" + "---:|" * (len(table.columns) - 1)
    for cells in table.rows:
        yield "| " + " | ".join(map(_cell, cells)) + " |"
    for note in table.notes:
        yield ""
        yield _plain(note)


def _cell(cell: Cell) -> str:
    text = _plain(cell.text).replace("\n", " ")
    return f"**{text}**" if cell.mark == "best" and text else text


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
