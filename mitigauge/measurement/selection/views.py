"""A matrix as programs read it: rows of words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.measurement.selection.cells import SelectionSpec
from mitigauge.measurement.selection.console import unproven
from mitigauge.measurement.selection.findings import Finding, FindingKind, Matrix


class SelectionCell(BaseModel):
    """One boot of an emulated processor."""

    model_config = ConfigDict(frozen=True)

    kernel: str
    processor: str
    mitigations: str = Field(description="as on the command line; empty: not said")
    option: str = Field(description="of the mitigation, as on the command line; empty: not said")
    state: str | None = Field(description="what sysfs says; null: there is no such file")
    log: list[str] = Field(description="the kernel's own lines of it")
    code: str = Field(description="digest of the patched code; alike is the same code")
    unproven: str = Field(description="why it proves nothing; empty: it is proven")
    findings: list[FindingKind]


def selection_cells(
    spec: SelectionSpec, matrix: Matrix, found: Sequence[Finding]
) -> list[SelectionCell]:
    """Every cell with what was found of it."""
    return [
        SelectionCell(
            kernel=cell.kernel,
            processor=cell.processor.name,
            mitigations=cell.mitigations,
            option=cell.option,
            state=shown.state,
            log=list(shown.log),
            code=shown.code_digest,
            unproven=unproven(spec, cell, shown),
            findings=[each.kind for each in found if each.cell == cell],
        )
        for cell, shown in matrix.items()
    ]
