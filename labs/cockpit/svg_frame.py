"""The frame of an SVG chart: where a value falls in it, and the few strokes that all charts are made of."""

from __future__ import annotations

from markupsafe import Markup

from labs.cockpit.charts import Axis, Chart, share_of_axis
from labs.cockpit.markup import tag

WIDTH, HEIGHT = 340.0, 200.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 14.0, 16.0, 34.0
_NAMES, _NUMBERS, _TOTALS = 84.0, 92.0, 50.0


class Frame:
    """Where the plot is, and where a value falls in it."""

    def __init__(self, chart: Chart) -> None:
        """Leave room for names and numbers where the chart has them."""
        self.chart = chart
        self.left, self.right = (_NAMES, WIDTH - _NUMBERS) if chart.bars else (_LEFT, WIDTH - _RIGHT)
        if chart.lanes:
            self.right = WIDTH - _TOTALS
        self.top, self.bottom = _TOP, HEIGHT - _BOTTOM
        self.rows = chart.y or Axis(label="rows", low=0, high=len(chart.bars), ticks=())
        if chart.square:
            self._square()

    def _square(self) -> None:
        """Give x and y one scale, as large as fits, in the middle of the drawing."""
        wide, high = self.chart.x.high - self.chart.x.low, self.rows.high - self.rows.low
        scale = min(WIDTH / wide, HEIGHT / high)
        self.left, self.right = (WIDTH - scale * wide) / 2, (WIDTH + scale * wide) / 2
        self.top, self.bottom = (HEIGHT - scale * high) / 2, (HEIGHT + scale * high) / 2

    def x(self, value: float) -> float:
        """Return where a value of the x axis falls."""
        return self.left + share_of_axis(self.chart.x, value) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return where a value of the y axis, or the number of a row, falls."""
        return self.bottom - share_of_axis(self.rows, value) * (self.bottom - self.top)


def at(value: float) -> str:
    """Write a coordinate."""
    return f"{value:.1f}"


def text(words: str, x: float, y: float, anchor: str) -> Markup:
    """Return words at a point."""
    return tag("text", words, x=at(x), y=at(y), text_anchor=anchor)


def stroke(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    """Return a straight line."""
    return tag("path", d=f"M{at(x1)} {at(y1)}L{at(x2)} {at(y2)}", class_=f"fl-svg-{kind}")
