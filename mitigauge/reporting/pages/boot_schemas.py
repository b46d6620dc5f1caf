"""What the API and the command line show of single boots: values, proof and noise.

Times are UTC; values are in their metric's unit.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from mitigauge.core.clock import Clock
from mitigauge.core.stats.terms import Direction
from mitigauge.core.view import View
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.runs.states import BootState
from mitigauge.reporting.pages.schemas import ArmView, ExperimentView, RowView


class BootHead(View):
    """One boot in short."""

    id: int
    comparison: str
    host: str
    arm: str
    block: int
    order: int
    attempt: int
    state: BootState
    reason: str
    nonce: str
    method: BootMethod
    kernel_boot_id: str | None = Field(description="/proc/sys/kernel/random/boot_id")
    kernel_release: str | None
    observed: str | None = Field(description="the vulnerability state the mode is judged by")


class BootLine(BootHead):
    """One boot in short, with every value it gave."""

    values: dict[int, dict[str, list[float]]] = Field(
        description="case id, then metric, then the iterations after warm-up"
    )


class WholeExperimentView(ExperimentView):
    """One experiment with each of its boots: everything a program would want."""

    boots: list[BootLine]


class BootPoint(View):
    """A boot's value for one case and metric."""

    boot_id: int = Field(description="our id of the boot, as in /boots/{boot_id}")
    block: int
    order: int = Field(description="place within the block, from 1")
    arm_id: int
    arm: str
    state: BootState
    counts: bool = Field(description="whether the boot takes part in the comparison")
    mean: float | None
    iterations: list[float]
    warmup: list[float]
    disturbed: list[float] = Field(
        description="taken again, since the processor was slowed beside them; in no mean"
    )
    at: datetime | None


class NoiseView(View):
    """Standard deviations in percent of the value; null where the boots cannot tell."""

    boot_mean_percent: float | None = Field(None, description="what boots' means showed")
    boot_percent: float | None = Field(None, description="of it, from boot to boot")
    iteration_percent: float | None = Field(None, description="of one iteration within a boot")
    boot_cost_s: float | None = Field(None, description="a boot's own time, for each of its cases")
    iteration_cost_s: float | None = None
    recommended_iterations: int | None = Field(
        None, description="a boot next time, from the variances and costs above"
    )
    two_groups: list[str] = Field(
        default_factory=list,
        description="arms whose boots fall into two groups, each with how many",
    )


class CaseView(View):
    """One case of an experiment with every boot as a point."""

    experiment_id: int
    experiment: str
    comparison: str
    case_id: int
    case: str
    workload: str
    parameters: dict[str, str | int | float]
    host: str
    metrics: list[RowView]
    points: dict[str, list[BootPoint]] = Field(description="by metric name")
    noise: dict[str, NoiseView] = Field(description="by metric name")
    threads: bool = Field(description="whether boots tell of threads by name")
    arms: list[ArmView]
    emulated: bool
    clock: Clock


class MetricValues(View):
    """Raw values of one metric, in order."""

    unit: str
    direction: Direction
    warmup: list[float]
    values: list[float]
    mean: float
    disturbed: list[float] = Field(
        description="taken again, since the processor was slowed beside them; in no mean"
    )
    slowdowns: list[float] = Field(
        description="of a fixed loop beside each of the values, over its fastest time on the "
        "host; empty where the workload times none"
    )
    disturbed_slowdowns: list[float]
    slowdown_limit: float | None


class ResultView(View):
    """What one case gave within one boot."""

    case_id: int
    case: str
    state: Literal["planned", "running", "measured", "failed", "lab_fault"]
    metrics: dict[str, MetricValues]
    lab_faults: list[dict[str, str | int]]
    tools: dict[str, str]
    started_at: datetime | None
    finished_at: datetime | None
    raw_sha256: str | None = Field(description="raw tool output, at /blobs/{sha256}")
    error: str = ""


class AttemptView(View):
    """One attempt at one step."""

    step: str
    epoch: int
    attempt: int
    outcome: str
    detail: str
    started_at: datetime
    finished_at: datetime | None


class BootView(BootHead):
    """One boot with its proof, everything a figure can be traced to."""

    experiment_id: int
    experiment: str
    emulated: bool
    clock: Clock
    mode: str
    loader_type: int | None = Field(
        description="/proc/sys/kernel/bootloader_type, which shows whether kexec started the kernel"
    )
    build_id: str | None
    cmdline: str | None
    tainted: int | None
    microcode: str | None
    expected: list[str]
    vulnerabilities: dict[str, str]
    serial_tail: str
    results: list[ResultView]
    steps: list[AttemptView]
    fingerprint: dict[str, object]
    started_at: datetime | None
    finished_at: datetime | None
