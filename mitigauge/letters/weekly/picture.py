"""Small pictures of values over time, as PNG files. Pure: the same values, the same bytes.

Drawn three times as large and averaged down, so that lines are smooth; written with zlib, since a
library for it is hundreds of times as large as this.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mitigauge.letters.weekly.document import Picture, Point

WIDTH, HEIGHT = 320, 92
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 8, 16
FINER = 3
PAPER, INK, FAINT = (255, 255, 255), (26, 28, 31), (189, 189, 182)
LINE, BAND, CHANGE = (15, 95, 95), (143, 187, 184), (161, 63, 0)

# Three columns a letter, five rows, a bit a dot, the leftmost column the highest bit.
_GLYPHS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717",
    "6": "74757", "7": "71122", "8": "75757", "9": "75717", "-": "00700", "+": "02720",
    ".": "00002", "%": "51245", "e": "07747", " ": "00000",
}  # fmt: skip
Canvas = NDArray[np.float64]


def png(picture: Picture) -> bytes:
    """The picture as a PNG file of 320 × 92 pixels."""
    canvas = np.full((HEIGHT * FINER, WIDTH * FINER, 3), PAPER, dtype=np.float64)
    points = sorted(picture.points, key=lambda point: point.at)
    low, high = _range(points, zero=picture.zero)
    x, y = _places(points, low, high)
    if picture.zero:
        _dashed(canvas, _level(0.0, low, high))
    if picture.changed_at is not None:
        _upright(canvas, _moment(points, picture))
    for at, point in enumerate(points):
        if point.low is not None and point.high is not None:
            ends = [_level(min(max(end, low), high), low, high) for end in (point.low, point.high)]
            _stroke(canvas, (x[at], ends[0]), (x[at], ends[1]), BAND, 1.6)
    for at in range(1, len(points)):
        _stroke(canvas, (x[at - 1], y[at - 1]), (x[at], y[at]), LINE, 0.7)
    for at in range(len(points)):
        _dot(canvas, x[at], y[at], LINE, 2.2)
    _words(canvas, _label(high), TOP - 2)
    _words(canvas, _label(low), HEIGHT - BOTTOM - 3)
    _dates(canvas, points)
    small = canvas.reshape(HEIGHT, FINER, WIDTH, FINER, 3).mean(axis=(1, 3))
    return _file(np.rint(small).astype(np.uint8))


def _range(points: Sequence[Point], *, zero: bool) -> tuple[float, float]:
    """From the lowest to the highest value; intervals may be cut, so that values still show."""
    values = [point.value for point in points] + ([0.0] if zero else [])
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    for point in points:
        if point.low is not None and point.high is not None:
            low = min(low, max(point.low, min(values) - span))
            high = max(high, min(point.high, max(values) + span))
    margin = 0.05 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _places(points: Sequence[Point], low: float, high: float) -> tuple[list[float], list[float]]:
    first, last = points[0].at, points[-1].at
    whole = (last - first).total_seconds() or 1.0
    room = WIDTH - LEFT - RIGHT
    x = [LEFT + room * (point.at - first).total_seconds() / whole for point in points]
    return x, [_level(point.value, low, high) for point in points]


def _level(value: float, low: float, high: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)


def _moment(points: Sequence[Point], picture: Picture) -> float:
    """Where the change lies: half way between the value before and the first one after it."""
    assert picture.changed_at is not None
    x, _ = _places(points, 0.0, 1.0)
    after = [at for at, point in enumerate(points) if point.at >= picture.changed_at]
    if not after or after[0] == 0:
        return x[0] if after else x[-1]
    return (x[after[0]] + x[after[0] - 1]) / 2


def _stroke(
    canvas: Canvas,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: tuple[int, int, int],
    half: float,
) -> None:
    """A straight line, *half* as many pixels to each side."""
    (x0, y0), (x1, y1) = start, end
    left, right = int((min(x0, x1) - half) * FINER), int((max(x0, x1) + half) * FINER) + 2
    top, bottom = int((min(y0, y1) - half) * FINER), int((max(y0, y1) + half) * FINER) + 2
    left, top = max(left, 0), max(top, 0)
    part = canvas[top:bottom, left:right]
    rows, columns = np.mgrid[top : top + part.shape[0], left : left + part.shape[1]]
    px, py = (columns + 0.5) / FINER - x0, (rows + 0.5) / FINER - y0
    dx, dy = x1 - x0, y1 - y0
    along = np.clip((px * dx + py * dy) / ((dx * dx + dy * dy) or 1.0), 0.0, 1.0)
    part[(px - along * dx) ** 2 + (py - along * dy) ** 2 <= half * half] = colour


def _dot(canvas: Canvas, x: float, y: float, colour: tuple[int, int, int], radius: float) -> None:
    _stroke(canvas, (x, y), (x, y), colour, radius)


def _dashed(canvas: Canvas, y: float) -> None:
    for x in range(LEFT, WIDTH - RIGHT, 6):
        _stroke(canvas, (x, y), (x + 2.5, y), FAINT, 0.4)


def _upright(canvas: Canvas, x: float) -> None:
    for y in range(TOP, HEIGHT - BOTTOM, 5):
        _stroke(canvas, (x, y), (x, y + 2.5), CHANGE, 0.6)


def _label(value: float) -> str:
    return f"{value:+.3g}" if abs(value) < 1e4 else f"{value:.1e}"


def _words(canvas: Canvas, text: str, top: int, left: int | None = None) -> None:
    """*text* in letters of 3 × 5 dots of 1½ pixels, ended at the axis unless *left* says so."""
    dot = 3 * FINER // 2
    step = 4 * dot
    x = (LEFT - 6) * FINER - step * len(text) if left is None else left * FINER
    for character in text:
        rows = _GLYPHS.get(character, _GLYPHS[" "])
        for row, bits in enumerate(rows):
            for column in range(3):
                if int(bits, 8) >> (2 - column) & 1:
                    y0, x0 = top * FINER + row * dot, x + column * dot
                    canvas[max(y0, 0) : y0 + dot, max(x0, 0) : x0 + dot] = INK
        x += step


def _dates(canvas: Canvas, points: Sequence[Point]) -> None:
    top = HEIGHT - 10
    first, last = (f"{point.at:%Y-%m-%d}" for point in (points[0], points[-1]))
    _words(canvas, first, top, LEFT)
    if first != last:
        _words(canvas, last, top, WIDTH - RIGHT - 6 * len(last))


def _file(pixels: NDArray[np.uint8]) -> bytes:
    """PNG, ISO/IEC 15948: eight bits a channel, no filter."""
    height, width, _ = pixels.shape
    raw = np.concatenate(
        [np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 3)], axis=1
    ).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", head)
        + _chunk(b"IDAT", zlib.compress(raw, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
