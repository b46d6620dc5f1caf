"""Boots that do not come to their end are done again, so often and no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mitigauge.measurement.selection.cells import Cell
from mitigauge.measurement.selection.console import Shown
from pipelines.adapters.selection_machine import TRIES, SelectionMachine
from tests.unit.selection.test_console import SPEC, cell, shown


@dataclass(frozen=True)
class Scripted(SelectionMachine):
    """Shows one after the other."""

    shows: Iterator[Shown]

    def _boot_once(self, cell: Cell, image: Path) -> Shown:
        return next(self.shows)


@pytest.mark.parametrize("failures", range(TRIES + 1))
def test_a_boot_that_does_not_end_is_done_again(failures: int) -> None:
    shows = iter([*[Shown(tail="panic")] * failures, *[shown("forced")] * TRIES])
    said = Scripted(SPEC, Path("root"), shows).boot(cell("vmscape=force"), Path("image"))
    assert said.ended == (failures < TRIES)
    booted = failures + TRIES - len(list(shows))
    assert booted == min(failures + 1, TRIES)
