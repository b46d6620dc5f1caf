"""A plain grid of texts: for a mailing list, or as a Markdown table. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mitigauge.core.documents.plain_text import markdown, neutralise, pad, unstructured, width

GAP = "  "
# Of a cell: a hostile name must not push a table out of every mail.
LONGEST = 32


def text_grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of the grid, heading and rule first; columns of figures stand on the right."""
    shown = [[neutralise(cell, LONGEST) for cell in row] for row in (head, *rows)]
    widths = [max(map(width, column)) for column in zip(*shown, strict=True)]
    right = [_is_figures([row[place] for row in shown[1:]]) for place in range(len(head))]
    rule = ["-" * columns for columns in widths]

    def line(row: Sequence[str]) -> str:
        cells = [pad(cell, widths[i], right=right[i]) for i, cell in enumerate(row)]
        return GAP.join(cells).rstrip()

    return [unstructured(line(shown[0])), line(rule), *(unstructured(line(r)) for r in shown[1:])]


def markdown_grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The grid as a Markdown table."""
    right = [_is_figures([row[place] for row in rows]) for place in range(len(head))]
    lines = [[markdown(cell) for cell in head], ["---:" if it else "---" for it in right]]
    lines += [[markdown(cell) for cell in row] for row in rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _is_figures(cells: Sequence[str]) -> bool:
    return any(cells) and all(cell[:1] in "+-0123456789" for cell in cells if cell)
