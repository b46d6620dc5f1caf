"""Two operations' footprints side by side. Pure."""

from __future__ import annotations

from mitigauge.profiles.exact.operation import OperationFootprint
from mitigauge.profiles.exact.schemas import FootprintFigure, FootprintRow

TITLES: dict[FootprintFigure, str] = {
    "lines": "lines of 64 bytes of code",
    "pages": "pages of 4 KiB of code",
    "taken": "taken branches",
    "indirect": "indirect branches",
    "returns": "returns",
}


def footprint_rows(a: OperationFootprint, b: OperationFootprint) -> list[FootprintRow]:
    """One row a figure, each of an operation."""
    return [_row(figure, float(getattr(a, figure)), float(getattr(b, figure))) for figure in TITLES]


def _row(figure: FootprintFigure, a: float, b: float) -> FootprintRow:
    is_whole = a.is_integer() and b.is_integer()
    return FootprintRow(
        figure=figure,
        title=TITLES[figure],
        a=a,
        b=b,
        difference=b - a,
        exact=int(b - a) if is_whole else None,
    )
