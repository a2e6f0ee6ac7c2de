"""How well style alone tells planted from true passages, so that a giveaway shows."""

from __future__ import annotations

from veridical.bench.attacks.style import GIVEAWAY
from veridical.bench.report.blocks import Block, Cell, Table
from veridical.bench.report.frame import Frame

_DIGITS = 2


def table(frame: Frame) -> list[Block]:
    """One row a data set and attack, of its first seed; nothing where nothing was planted."""
    rows: dict[tuple[str, str], tuple[Cell, ...]] = {}
    names: list[str] = []
    for about in sorted(frame.corpora.values(), key=lambda about: int(about["seed"])):
        style = about.get("style") or {}
        at = (str(about["dataset"]), str(about["attack"]))
        if style and at not in rows:
            names = names or list(style["statistics"])
            cells = [_cell(style["statistics"].get(name)) for name in names]
            rows[at] = (Cell(", ".join(at)), *cells, Cell(f"{style['copied']:.0%}"))
    if not rows:
        return []
    notes = (
        "Each cell: mean of the true passages, mean of the planted ones, and how well the better of above "
        "and below a threshold tells them apart (AUC, at least .5).",
        f"Marked from {GIVEAWAY:g}: a giveaway. A system that reads style can pass there without telling "
        "true from false.",
    )
    columns = ("data set and attack", *names, "copies of one another")
    return [Table(columns, tuple(rows.values()), "Style of planted and true passages", notes, folded=True)]


def _cell(found: list[float] | None) -> Cell:
    if found is None:
        return Cell("")
    true, planted, auc = found
    text = f"{true:.{_DIGITS}f} / {planted:.{_DIGITS}f} / {auc:.{_DIGITS}f}"
    return Cell(text, "worst" if auc >= GIVEAWAY else "")
