"""Small pictures of values over time, as PNG files. Pure: the same values, the same bytes.

Drawn four times as large and averaged down, so that lines and letters are smooth.
"""

from __future__ import annotations

import io
from datetime import datetime
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from mitigauge.core.documents import units
from mitigauge.reporting.letters.weekly.document import Picture, Point

WIDTH, HEIGHT = 320, 92
PAPER, INK, FAINT = (255, 255, 255), (26, 28, 31), (189, 189, 182)
LINE, BAND, CHANGE = (15, 95, 95), (143, 187, 184), (161, 63, 0)
# All that follows in fine pixels, of which so many make one of the picture.
_FINER = 4
_LEFT, _RIGHT = 64 * _FINER, (WIDTH - 10) * _FINER
_TOP, _BOTTOM = 8 * _FINER, (HEIGHT - 18) * _FINER
_LETTERS, _DASH = 42, 3 * _FINER


class _Axes(NamedTuple):
    """Where moments and values lie."""

    first: datetime
    seconds: float
    low: float
    high: float

    def x(self, at: datetime) -> float:
        return _LEFT + (_RIGHT - _LEFT) * ((at - self.first).total_seconds() / self.seconds)

    def y(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return _BOTTOM - (_BOTTOM - _TOP) * ((inside - self.low) / (self.high - self.low))


def png(picture: Picture) -> bytes:
    """The picture as a PNG file of 320 × 92 pixels; blank where there are no points."""
    image = Image.new("RGB", (WIDTH * _FINER, HEIGHT * _FINER), PAPER)
    if picture.points:
        _draw(ImageDraw.Draw(image), picture)
    file = io.BytesIO()
    image.reduce(_FINER).save(file, "PNG", optimize=True)
    return file.getvalue()


def _draw(canvas: ImageDraw.ImageDraw, picture: Picture) -> None:
    points = sorted(picture.points, key=lambda point: point.at)
    first, last = points[0].at, points[-1].at
    axes = _Axes(first, (last - first).total_seconds() or 1.0, *_range(points, zero=picture.zero))
    if picture.zero:
        y = _whole(axes.y(0.0))
        for left in range(_LEFT, _RIGHT, 2 * _DASH):
            canvas.rectangle((left, y, left + _DASH - 1, y + _FINER - 1), FAINT)
    if picture.changed_at is not None:
        x = _whole(_change(points, axes, picture.changed_at))
        for top in range(_TOP, _BOTTOM, 5 * _FINER):
            canvas.rectangle((x, top, x + _FINER - 1, top + _DASH - 1), CHANGE)
    for point in points:
        if point.low is not None and point.high is not None:
            ends = axes.y(point.low), axes.y(point.high)
            canvas.line([(axes.x(point.at), end) for end in ends], BAND, 12)
    dots = [(axes.x(point.at), axes.y(point.value)) for point in points]
    canvas.line(dots, LINE, 6, joint="curve")
    for dot in dots:
        canvas.circle(dot, 9, LINE)
    _labels(canvas, axes, last, zero=picture.zero)


def _range(points: list[Point], *, zero: bool) -> tuple[float, float]:
    """From the lowest to the highest value; intervals may be cut, so that values still show."""
    values = [point.value for point in points] + ([0.0] if zero else [])
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    lows = [max(point.low, low - span) for point in points if point.low is not None]
    highs = [min(point.high, high + span) for point in points if point.high is not None]
    low, high = min(low, *lows, low), max(high, *highs, high)
    margin = 0.05 * ((high - low) or abs(high)) or 1.0
    return low - margin, high + margin


def _change(points: list[Point], axes: _Axes, at: datetime) -> float:
    """Where the change lies: half way between the value before and the first one after it."""
    before = max((point.at for point in points if point.at < at), default=points[0].at)
    after = min((point.at for point in points if point.at >= at), default=points[-1].at)
    return (axes.x(before) + axes.x(after)) / 2


def _whole(place: float) -> int:
    """Where the picture's pixel at *place* begins, so that straight lines are sharp."""
    return int(place) // _FINER * _FINER


def _labels(canvas: ImageDraw.ImageDraw, axes: _Axes, last: datetime, *, zero: bool) -> None:
    """The ends of both axes; with a sign where the values are effects."""
    font = ImageFont.load_default(_LETTERS)
    for value, y in ((axes.low, _BOTTOM), (axes.high, _TOP)):
        text = units.signed(value) if zero else units.humanise(value, "")
        canvas.text((_LEFT - 2 * _DASH, y), text, INK, font, anchor="rm")
    first_day, last_day = f"{axes.first:%Y-%m-%d}", f"{last:%Y-%m-%d}"
    bottom = HEIGHT * _FINER - _DASH
    canvas.text((_LEFT, bottom), first_day, INK, font, anchor="ls")
    if last_day != first_day:
        canvas.text((_RIGHT, bottom), last_day, INK, font, anchor="rs")
