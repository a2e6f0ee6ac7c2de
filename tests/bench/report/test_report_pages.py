"""A report has every section, needs nothing but itself, and shows text as text."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import runs

from veridical.bench.report import render
from veridical.bench.report.blocks import Figure, Heading, Report, Table, Text
from veridical.bench.report.build import build
from veridical.bench.report.frame import Frame
from veridical.bench.rows import Results
from veridical.errors import InputError, NotFoundError

SECTIONS = (
    "The claim that was fixed before the run",
    "Overview",
    "Answers",
    "Retrieval",
    "Robustness",
    "Trust in documents",
    "Calibration of answers",
    "Cost and quality",
    "Systems",
    "Not run",
    "Corpora",
    "Limitations",
)


@pytest.fixture
def report(frame: Frame) -> Report:
    return build(frame)


def section(report: Report, name: str) -> list[object]:
    """The blocks under a heading."""
    found: list[object] = []
    inside = False
    for block in report.blocks:
        if isinstance(block, Heading) and block.level == 2:
            inside = block.text == name
        elif inside:
            found.append(block)
    return found


def test_every_section_is_there(report: Report) -> None:
    found = tuple(block.text for block in report.blocks if isinstance(block, Heading) and block.level == 2)
    assert found == SECTIONS


def test_figures_of_a_table_are_those_of_the_rows(report: Report, frame: Frame) -> None:
    table = next(
        b for b in section(report, "Answers") if isinstance(b, Table) and b.caption.startswith("towns, own")
    )
    rows = {cells[0].text: cells for cells in table.rows}
    known = next(one for one in frame.known if one.share == 0.3 and one.accuracy == 1.0)
    values = frame.values("towns", "own", "trusting", known, "strict")
    mean = sum(values.values()) / len(values)
    assert table.caption == "towns, own: 30% of the documents judged; 8 questions"
    assert rows["Most trusted"][1].text.startswith(f"{mean:.3f} [")


def test_every_other_system_is_tested_against_the_chosen_one(report: Report) -> None:
    table = next(b for b in section(report, "Answers") if isinstance(b, Table))
    assert "strict EM − Most trusted" in table.columns
    place = table.columns.index("strict EM − Most trusted")
    for cells in table.rows:
        assert bool(cells[place].text) is (cells[0].text != "Most trusted")


def test_curves_go_over_feedback_its_accuracy_and_settings(report: Report) -> None:
    captions = [block.caption for block in section(report, "Robustness") if isinstance(block, Figure)]
    for axis in ("share of documents judged", "share of judgements that are right", "top_k"):
        assert any(f"strict EM by {axis}" in caption for caption in captions)
    assert any("FP@k by top_k" in caption for caption in captions)


def test_trust_has_a_curve_and_its_calibration(report: Report) -> None:
    captions = [block.caption for block in section(report, "Trust in documents") if isinstance(block, Figure)]
    assert [caption.split(":")[0] for caption in captions] == ["ROC of trust", "Calibration of trust"]


def test_what_was_not_run_says_what_it_lacks(report: Report) -> None:
    (table,) = [block for block in section(report, "Not run") if isinstance(block, Table)]
    assert [[cell.text for cell in cells] for cells in table.rows] == [["Asking", "llm"]]


def test_failures_are_told(report: Report) -> None:
    lines = [line for block in section(report, "Systems") if isinstance(block, Text) for line in block.lines]
    assert any(re.fullmatch(r"Most trusted.*: \d+ failed answers", line) for line in lines)


def test_few_questions_are_called_few(report: Report) -> None:
    (text,) = [block for block in section(report, "Limitations") if isinstance(block, Text)]
    assert any("8 questions" in line and "chance" in line for line in text.lines)
    assert any("No language model took part" in line for line in text.lines)


def test_the_page_needs_nothing_but_itself(report: Report) -> None:
    page = render.html(report)
    assert not re.search(r"<(script|link|img|iframe)\b|\bsrc=|@import|url\(|https?://(?!www\.w3\.org)", page)
    assert page.count("<svg") == sum(isinstance(block, Figure) for block in report.blocks)


def test_text_is_shown_as_text(report: Report) -> None:
    page = render.html(report)
    assert "Towns &lt;b&gt;" in page and "Towns <b>" not in page
    assert "# Towns \\<b\\>" in render.markdown(report)


def test_every_drawing_is_well_formed_and_has_its_numbers(report: Report) -> None:
    figures = [block for block in report.blocks if isinstance(block, Figure)]
    assert figures
    for figure in figures:
        root = ElementTree.fromstring(figure.svg)
        assert root.tag == "svg" and root.get("aria-label")
        assert "nan" not in figure.svg.lower().replace("financ", "")
        assert figure.table.rows


def test_markdown_tables_have_as_many_cells_as_columns(report: Report) -> None:
    n = 0
    for line in render.markdown(report).splitlines():
        if not line.startswith("|"):
            n = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        assert n in (0, cells), line
        n = cells


@pytest.mark.parametrize(("name", "begin"), [("r.html", "<!doctype html>"), ("r.md", "# Towns")])
def test_the_ending_of_the_file_says_what_is_written(
    report: Report, tmp_path: Path, name: str, begin: str
) -> None:
    render.write(report, tmp_path / "new" / name)
    assert (tmp_path / "new" / name).read_text("utf-8").startswith(begin)


def test_a_system_without_rows_is_no_one_to_test_against(frame: Frame) -> None:
    with pytest.raises(InputError, match="'asking' has no rows"):
        build(frame, "asking")
    assert build(frame, "vanilla").blocks


def test_results_without_rows_make_no_report(tmp_path: Path) -> None:
    with Results(tmp_path / "r.db") as kept, pytest.raises(NotFoundError, match="no rows"):
        Frame(kept)


def test_notes_of_the_configuration_come_first_among_the_limitations(tmp_path: Path) -> None:
    _, path = runs.compare(runs.write_config(tmp_path, notes='["Only a trial."]'))
    with Results(path, read_only=True) as kept:
        (text,) = [b for b in section(build(Frame(kept)), "Limitations") if isinstance(b, Text)]
    assert text.lines[0] == "Only a trial."
