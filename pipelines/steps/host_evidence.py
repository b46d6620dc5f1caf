"""What stood beside a case on its host: what was collected, and what makes its boot invalid."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.core.wire.collectors import DIRECTORY
from mitigauge.core.wire.kernel_log import MOST_LINES
from mitigauge.measurement.collectors.service import Collected, read_collected
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.runs.boot_evidence import KernelLine
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.measurement.runs.taint import Unsound, is_the_arms, unsound
from mitigauge.measurement.workloads import collectors
from pipelines.steps.parser import measured_window


def collected_beside(case: Case, directory: Path, clock: str) -> Collected | None:
    """What was collected beside the case that left *directory*; None where nothing was asked."""
    asked = collectors.of_case(case.collect, clock)
    if not asked:
        return None
    return read_collected(directory / DIRECTORY, asked, measured_window(directory))


def is_unsound_again(run: Run, boot: Boot, own: Unsound) -> bool:
    """Whether another boot of the boot's arm was unsound by its kernel too."""
    proofs = [
        other.proof
        for other in run.boots
        if other.proof and other.arm_id == boot.arm_id and other.id != boot.id
    ]
    return is_the_arms(own, proofs, emulated=run.host.emulated)


class Gates(BaseModel):
    """What the host's kernel counted while a case ran."""

    model_config = ConfigDict(extra="ignore", strict=True)

    throttled: int = Field(0, ge=0, lt=1 << 62)
    machine_checks: int = Field(0, ge=0, lt=1 << 62)
    tainted: int = Field(0, ge=0, lt=1 << 62)
    kernel_log: list[KernelLine] = Field(default_factory=list, max_length=MOST_LINES)

    def unsound(self, case: Case, *, emulated: bool) -> Unsound | None:
        """What follows from taint that came while the case ran; None where nothing does."""
        when = f" during {case.title}"
        return unsound(self.tainted, self.kernel_log, emulated=emulated, when=when)

    def closed(self, case: Case) -> str:
        """Why the boot does not count; empty where it does."""
        if self.machine_checks:
            return f"{self.machine_checks} machine checks during {case.title}"
        if self.throttled:
            return f"the processor was slowed for heat {self.throttled} times during {case.title}"
        return ""
