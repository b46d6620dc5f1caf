"""Cells of a selection, booted side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mitigauge.measurement.selection.cells import Cell, SelectionSpec
from mitigauge.measurement.selection.console import Shown
from pipelines.adapters.selection_machine import selection_machine

SIDE_BY_SIDE = 2


def boot_cells(
    spec: SelectionSpec,
    cells: Sequence[Cell],
    images: Mapping[str, Path],
    directory: Path,
    *,
    side_by_side: int = SIDE_BY_SIDE,
    heard: Callable[[int], None] = lambda _done: None,
) -> dict[Cell, Shown]:
    """What each cell shows. *images*: release → vmlinuz; *directory*: for what is made on the way.

    *heard* is called with how many are done, before the next one is waited for, and may raise to
    end it. Raises as :meth:`SelectionMachine.boot`.
    """
    machine = selection_machine(spec, directory)
    matrix: dict[Cell, Shown] = {}
    threads = ThreadPoolExecutor(side_by_side)
    try:
        shown = threads.map(lambda cell: machine.boot(cell, images[cell.kernel]), cells)
        for done, (cell, each) in enumerate(zip(cells, shown, strict=True)):
            heard(done)
            matrix[cell] = each
    finally:
        threads.shutdown(cancel_futures=True)
    return matrix
