"""Drawings are well formed whatever is drawn, and what is unknown is left out."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.bench.report.svg import Point, Series, lines, scatter

NUMBERS = st.floats(0, 1, allow_nan=False)
NAMES = st.sampled_from(
    ["ours", "<b> & 'c' \"d\"", "größer", "", "a name that is longer than the legend has room for"]
)


def parts(svg: str, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(svg).findall(f".//{tag}")


@given(st.lists(st.tuples(NAMES, st.lists(NUMBERS, min_size=2, max_size=6)), min_size=1, max_size=10))
def test_any_lines_give_a_well_formed_drawing(found: list[tuple[str, list[float]]]) -> None:
    series = [Series(name, tuple(map(float, range(len(ys)))), tuple(ys)) for name, ys in found]
    svg = lines(series, x_label="x & y", y_label="<y>", diagonal=False)
    assert len(parts(svg, "circle")) == sum(len(ys) for _, ys in found)


@given(
    st.lists(st.builds(Point, NAMES, st.floats(1e-3, 1e6), NUMBERS), min_size=1, max_size=10), st.booleans()
)
def test_any_points_give_a_well_formed_drawing(points: list[Point], log: bool) -> None:
    assert len(parts(scatter(points, x_label="x", y_label="y", log=log), "circle")) == len(points)


def test_what_is_unknown_is_left_out() -> None:
    svg = lines([Series("a", (0.0, 1.0, 2.0), (0.5, math.nan, 0.7))], x_label="x", y_label="y")
    assert len(parts(svg, "circle")) == 2
    assert "nan" not in svg


def test_a_higher_value_is_drawn_higher() -> None:
    svg = lines([Series("a", (0.0, 1.0), (0.2, 0.6))], x_label="x", y_label="y")
    low, high = (float(circle.get("cy", "")) for circle in parts(svg, "circle"))
    assert high < low


def test_intervals_span_their_point() -> None:
    svg = lines([Series("a", (0.0, 1.0), (0.2, 0.6), (0.1, 0.5), (0.3, 0.7))], x_label="x", y_label="y")
    whiskers = [line for line in parts(svg, "line") if "whisker" in line.get("class", "")]
    for circle, whisker in zip(parts(svg, "circle"), whiskers, strict=True):
        y1, y2 = float(whisker.get("y1", "")), float(whisker.get("y2", ""))
        assert min(y1, y2) < float(circle.get("cy", "")) < max(y1, y2)


def test_others_have_one_place_in_the_legend() -> None:
    bright = Series("ours", (0.0, 1.0), (0.1, 0.2))
    muted = [Series(f"their {i}", (0.0, 1.0), (0.1, 0.2), muted=True) for i in range(5)]
    svg = lines([bright, *muted], x_label="x", y_label="y")
    names = [text.text for text in parts(svg, "text") if text.get("class") == "name"]
    assert names == ["ours", "others"]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_value_alone_can_be_drawn(value: float) -> None:
    assert parts(lines([Series("a", (1.0,), (value,))], x_label="x", y_label="y"), "circle")
