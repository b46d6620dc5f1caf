"""Threads by name over arms: what the page and the command show."""

from __future__ import annotations

from pydantic import Field

from mitigauge.core.view import View
from mitigauge.reporting.tables.counter_schemas import CounterArm, CounterClaim


class ThreadFigure(View):
    """A rate over an arm's boots, and its change against the baseline."""

    mean: float
    low: float | None = Field(description="95 % interval over boots; null: of one boot")
    high: float | None
    change_percent: float | None = None
    low_percent: float | None = None
    high_percent: float | None = None
    q: float | None = Field(None, description="false discovery rate over all names of the table")
    note: str = ""


class ThreadCell(View):
    """One name in one arm."""

    arm_id: int
    n: int = Field(description="boots that tell of the name")
    wakeups: ThreadFigure | None = Field(description="in a second")
    run: ThreadFigure | None = Field(description="ms in a second; null: the host does not tell")
    wait: ThreadFigure | None = Field(
        description="ms in a second in which threads were ready and had no processor"
    )
    claims: list[CounterClaim] = Field(
        default_factory=list, description="published changes of the wake-ups"
    )


class ThreadRow(View):
    """Threads of one name, numbers merged."""

    name: str
    own: bool = Field(description="of the load: the case's metric counts their wake-ups")
    threads: int = Field(description="at most so many at a time")
    cells: list[ThreadCell]


class OtherThreads(View):
    """Names that are no row, in the boot with the most of them."""

    names: int
    wakeups: float = Field(description="theirs in a second, the largest of all boots")


class ThreadTableView(View):
    """One case on one host."""

    comparison: str
    case_id: int
    case: str
    host: str
    host_class: str
    processor: str
    emulated: bool
    counted: bool
    window_s: float = Field(description="seconds that the case asks for, else 5")
    measured_s: float = Field(description="seconds of all windows of a boot, the mean")
    arms: list[CounterArm] = Field(description="the baseline first")
    rows: list[ThreadRow] = Field(description="own names first, then by wake-ups")
    left_out: int = Field(description="names beyond the limit of a page")
    others: OtherThreads | None


class ThreadsView(View):
    """Threads by name over the arms of an experiment."""

    experiment_id: int
    experiment: str
    state: str
    emulated: bool
    counted: bool
    tables: list[ThreadTableView]
    left_out: int = Field(description="tables beyond the limit, or not asked for")
