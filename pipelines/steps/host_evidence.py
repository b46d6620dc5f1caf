"""What stood beside a case on its host: what was collected, and what makes its boot invalid."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.wire.collectors import DIRECTORY
from mitigauge.measurement.collectors.service import Collected, read_collected
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.workloads import collectors
from pipelines.steps.parser import measured_window


def collected_beside(case: Case, directory: Path, clock: str) -> Collected | None:
    """What was collected beside the case that left *directory*; None where nothing was asked."""
    asked = collectors.of_case(case.collect, clock)
    if not asked:
        return None
    return read_collected(directory / DIRECTORY, asked, measured_window(directory))


class Gates(BaseModel):
    """What the host's kernel counted while a case ran."""

    model_config = ConfigDict(extra="ignore", strict=True)

    throttled: int = Field(0, ge=0, lt=1 << 62)
    machine_checks: int = Field(0, ge=0, lt=1 << 62)

    def closed(self, case: Case) -> str:
        """Why the boot does not count; empty where it does."""
        if self.machine_checks:
            return f"{self.machine_checks} machine checks during {case.title}"
        if self.throttled:
            return f"the processor was slowed for heat {self.throttled} times during {case.title}"
        return ""
