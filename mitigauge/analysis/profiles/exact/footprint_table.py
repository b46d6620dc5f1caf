"""Two operations' footprints side by side. Pure."""

from __future__ import annotations

from mitigauge.analysis.profiles.exact.operation import OperationFootprint
from mitigauge.analysis.profiles.exact.schemas import FootprintFigure, FootprintRow

TITLES: dict[FootprintFigure, str] = {
    "lines": "lines of 64 bytes of code",
    "pages": "pages of 4 KiB of code",
    "taken": "taken branches",
    "indirect": "indirect branches",
    "returns": "returns",
}


def footprint_rows(a: OperationFootprint, b: OperationFootprint) -> list[FootprintRow]:
    """One row a figure, each of an operation."""
    return [
        _row(figure, left, right, is_whole=figure not in {*a.uneven, *b.uneven})
        for figure in TITLES
        for left, right in [(getattr(a, figure), getattr(b, figure))]
    ]


def _row(figure: FootprintFigure, a: float, b: float, *, is_whole: bool) -> FootprintRow:
    return FootprintRow(
        figure=figure,
        title=TITLES[figure],
        a=a,
        b=b,
        difference=b - a,
        exact=round(b - a) if is_whole and float(b - a).is_integer() else None,
    )
