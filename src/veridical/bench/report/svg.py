"""Small charts as inline SVG: lines with intervals, and points with names. Colours follow the page's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

N_COLOURS = 8
_WIDTH, _HEIGHT = 720, 300
_LEFT, _TOP, _BOTTOM, _RIGHT = 54, 14, 44, 212
_LINE = 16


@dataclass(frozen=True)
class Series:
    """A line: numbers along x, their values, and intervals where there are any.

    ``muted`` draws it thin and grey, without a place in the legend.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    muted: bool = False


@dataclass(frozen=True)
class Point:
    """A named point."""

    name: str
    x: float
    y: float
    strong: bool = False


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def lines(
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    unit: bool = True,
    diagonal: bool = False,
    title: str = "",
) -> str:
    """Draw lines.

    Parameters
    ----------
    series
        At least one; the coloured ones come first in the legend, in their order.
    x_label, y_label
        Under and beside the axes.
    unit
        Whether y goes from 0 to at most 1.
    diagonal
        Whether to draw y = x, dashed.
    title
        What a screen reader says.
    """
    xs = [x for one in series for x in one.x]
    ys = [y for one in series for y in (*one.y, *one.high, *one.low) if not math.isnan(y)]
    x_scale = _Scale(*((0.0, 1.0) if diagonal else _range(xs)), _LEFT, _WIDTH - _RIGHT)
    low, high = (0.0, 1.0 if diagonal else _nice_top(max(ys, default=1.0), unit)) if unit else _range(ys)
    y_scale = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    body = [
        *_axes(x_scale, y_scale, None if diagonal or len(set(xs)) > 8 else sorted(set(xs)), x_label, y_label)
    ]
    if diagonal:
        body.append(_segment("ref", x_scale.at(0), y_scale.at(0), x_scale.at(1), y_scale.at(1)))
    body += [_line(one, "muted", x_scale, y_scale) for one in series if one.muted]
    bright = [one for one in series if not one.muted]
    for place, one in enumerate(bright):
        style, aside = f"s{place % N_COLOURS + 1}", 3.0 * (place - (len(bright) - 1) / 2)
        body.append(_line(one, style, x_scale, y_scale, dashed=place >= N_COLOURS, aside=aside))
    body += _legend([one.name for one in bright], any(one.muted for one in series))
    return _svg(body, title or f"{y_label} by {x_label}", max(_HEIGHT, _TOP + _LINE * (len(bright) + 2)))


def scatter(
    points: Sequence[Point], *, x_label: str, y_label: str, log: bool = False, title: str = ""
) -> str:
    """Draw named points; ``log`` puts x on a logarithmic scale (values above 0 only)."""
    xs = [point.x for point in points]
    low, high = (min(xs), max(xs)) if log else _range([0.0, *xs])
    if log and low == high:
        low, high = low / 2, high * 2
    x_scale = _Scale(low, high, _LEFT + 8, _WIDTH - _RIGHT, log)
    y_scale = _Scale(0.0, _nice_top(max((p.y for p in points), default=1.0), True), _HEIGHT - _BOTTOM, _TOP)
    ticks = _decades(low, high) if log else None
    body = [*_axes(x_scale, y_scale, ticks, x_label, y_label)]
    placed: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda one: -one.y):
        x, y = x_scale.at(point.x), y_scale.at(point.y)
        style = "s1" if point.strong else "s8"
        said = escape(f"{point.name}: {_number(point.x)}, {point.y:.3f}")
        dot = f'<circle class="dot {style}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
        body.append(f"{dot}<title>{said}</title></circle>")
        body.append(_name(point, x, y, placed))
    return _svg(body, title or f"{y_label} by {x_label}", _HEIGHT)


def _name(point: Point, x: float, y: float, placed: list[tuple[float, float]]) -> str:
    """Write a name beside its point, moved down while it would cover another."""
    at = y + 4
    wide = 6.2 * len(point.name)
    while any(abs(at - other) < 12 and abs(x - left) < wide for left, other in placed):
        at += 12
    placed.append((x, at))
    weight = " strong" if point.strong else ""
    return f'<text class="name{weight}" x="{x + 8:.1f}" y="{at:.1f}">{escape(point.name)}</text>'


def _line(
    one: Series, style: str, x_scale: _Scale, y_scale: _Scale, *, dashed: bool = False, aside: float = 0.0
) -> str:
    """A line with its points; ``aside`` moves the whiskers apart from those of other lines."""
    kept = [place for place, y in enumerate(one.y) if not math.isnan(y)]
    points = [(x_scale.at(one.x[place]), y_scale.at(one.y[place])) for place in kept]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = " dashed" if dashed else ""
    parts = [
        f'<polyline class="line {style}{dash}" points="{path}"><title>{escape(one.name)}</title></polyline>'
    ]
    if one.muted:
        return parts[0]
    few = len(points) <= 12
    for place, (x, y) in zip(kept, points, strict=True):
        if one.low and few and not math.isnan(one.low[place]):
            ends = y_scale.at(one.low[place]), y_scale.at(one.high[place])
            parts.append(_segment(f"whisker {style}", x + aside, ends[0], x + aside, ends[1]))
        if few:
            said = f"{one.name}: {_number(one.y[place])} at {_number(one.x[place])}"
            dot = f'<circle class="dot {style}" cx="{x:.1f}" cy="{y:.1f}" r="3">'
            parts.append(f"{dot}<title>{escape(said)}</title></circle>")
    return "".join(parts)


def _axes(
    x_scale: _Scale, y_scale: _Scale, x_ticks: Sequence[float] | None, x_label: str, y_label: str
) -> list[str]:
    left, right, bottom = x_scale.start, x_scale.end, y_scale.start
    body = []
    for value in _ticks(y_scale.low, y_scale.high):
        y = y_scale.at(value)
        body.append(_segment("grid", _LEFT, y, right, y))
        body.append(
            f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(value)}</text>'
        )
    for value in x_ticks if x_ticks is not None else _ticks(x_scale.low, x_scale.high):
        x = x_scale.at(value)
        label = (
            f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{_number(value)}</text>'
        )
        body += [_segment("grid", x, bottom, x, bottom + 4), label]
    middle = (left + right) / 2
    body.append(
        f'<text class="axis" x="{middle:.1f}" y="{bottom + 36}" text-anchor="middle">{escape(x_label)}</text>'
    )
    up = f"{(_TOP + bottom) / 2:.0f}"
    turned = f'text-anchor="middle" transform="rotate(-90 14 {up})"'
    body.append(f'<text class="axis" x="14" y="{up}" {turned}>{escape(y_label)}</text>')
    return body


def _legend(names: Sequence[str], has_others: bool) -> list[str]:
    x, body = _WIDTH - _RIGHT + 16, []
    shown = [*((name, f"s{place % N_COLOURS + 1}", place >= N_COLOURS) for place, name in enumerate(names))]
    if has_others:
        shown.append(("others", "muted", False))
    for place, (name, style, dashed) in enumerate(shown):
        y = _TOP + 6 + _LINE * place
        dash = " dashed" if dashed else ""
        body.append(
            f'<polyline class="line {style}{dash}" points="{x},{y} {x + 18},{y}"/>'
            f'<text class="name" x="{x + 24}" y="{y + 4}">{escape(_short(name))}</text>'
        )
    return body


def _svg(body: Sequence[str], title: str, height: float) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
        + "".join(body)
        + "</svg>"
    )


def _segment(style: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _nice_top(value: float, unit: bool) -> float:
    if unit and value > 0.8:
        return max(1.0, value)
    step = _step(max(value, 1e-6) / 4)
    return math.ceil(max(value, 1e-6) / step - 1e-9) * step


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)


def _ticks(low: float, high: float) -> list[float]:
    step = _step((high - low) / 5)
    first = math.ceil(low / step - 1e-9)
    return [round(place * step, 10) for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _decades(low: float, high: float) -> list[float]:
    found = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    return [value for value in found if low <= value <= high] or [low, high]


def _number(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 10000 else f"{value:,.0f}"


def _short(name: str) -> str:
    return name if len(name) <= 30 else name[:29] + "…"
