"""What a report is made of, before it is Markdown or HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Heading:
    """A heading; ``level`` 2 or 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph, or a list of points."""

    lines: tuple[str, ...]
    as_list: bool = False


@dataclass(frozen=True)
class Cell:
    """One entry of a table; ``mark`` is ``best``, ``worst`` or nothing."""

    text: str
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows; the first column names the row. One that is ``folded`` opens at a click."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Figure:
    """A drawing, and the numbers behind it for those who cannot see it."""

    svg: str
    caption: str
    table: Table


Block = Heading | Text | Table | Figure


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...] = field(default=())


def row(name: str, texts: Sequence[str]) -> tuple[Cell, ...]:
    """A row without marks."""
    return (Cell(name), *(Cell(text) for text in texts))
