"""What the first page shows. Each line has what leads to its evidence."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mitigauge.core.view import View
from mitigauge.jobs.schemas import JobView
from mitigauge.reporting.pages.host_schemas import QueuedRun
from mitigauge.reporting.pages.schemas import ExperimentSummary
from mitigauge.tracking.regressions.schemas import RegressionSummary
from mitigauge.tracking.regressions.states import RegressionState


class RunningNow(View):
    """A run that has its host."""

    host: str
    environment: str
    run: QueuedRun
    boots_done: int
    boots_total: int


class WaitingForHosts(View):
    """What waits for one host."""

    host: str
    environment: str
    runs: int
    starts_in_s: float | None = Field(description="the first of them; null: cannot be told")
    not_known: str = Field(description="why its start cannot be told")


class HostForAPerson(View):
    """A host on which nothing will run until a person does something."""

    host: str
    environment: str
    why: str
    waiting: int = Field(description="runs that wait for it")


class Approval(View):
    """A patch series' revision whose patches a person must look at before they run."""

    series: str
    title: str
    revision: str
    sender: str
    why: str = Field(description="why nobody's word is enough")


class HomeView(View):
    """The service at a glance, the same for everybody."""

    now: datetime
    running: list[RunningNow]
    running_total: int
    waiting: list[WaitingForHosts]
    waiting_total: int = Field(description="runs that wait for a host")
    regressions: list[RegressionSummary] = Field(
        description="those that nobody took yet, the newest"
    )
    regression_counts: dict[RegressionState, int]
    approvals: list[Approval]
    requests: int = Field(description="mails whose sender nothing proves, to be looked at")
    hosts: list[HostForAPerson]
    jobs: list[JobView] = Field(description="jobs that failed within the last days")
    workers: int = Field(description="that work now")
    latest: list[ExperimentSummary] = Field(description="experiments that ended last")
    experiments: int = Field(description="of all times")
