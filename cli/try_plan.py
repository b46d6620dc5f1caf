"""What `mitigauge try` measures: cases that run what the patches change, and their spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from mitigauge.analysis.profiles.exact.coverage import CountedCase, ReachPlan
    from mitigauge.kernels.schemas import KernelView
    from mitigauge.measurement.workloads.definitions import Workload

HOST, GUESTS_HOST = "lab-intel", "lab-amd"
ENVIRONMENT = "lab"
BASE_ARM, ARM = "base", "patched"
MODES = {HOST: "spectre-bhi/off", GUESTS_HOST: "vmscape/off"}


@dataclass(frozen=True, slots=True)
class TriedCase:
    """A case, by the parameter that sets it apart.

    *judged*: whether it is to have a verdict; *profiled*: whether it is sampled too.
    """

    workload: str
    parameter: str
    value: str
    host: str = HOST
    judged: bool = True
    profiled: bool = False

    def __str__(self) -> str:
        return f"{self.workload} {self.value}"

    @property
    def parameters(self) -> dict[str, str]:
        """What a spec says of it."""
        return {self.parameter: self.value}


CASES = (
    TriedCase("syscall", "test", "basic", profiled=True),
    TriedCase("syscall", "test", "getpgid"),
    # Pages and processes scatter it too much for a verdict from a few boots.
    TriedCase("syscall", "test", "fork", judged=False),
    *(TriedCase("paths", "test", value) for value in ("pipe", "futex", "page-fault")),
    *(TriedCase("exits", "to", value, GUESTS_HOST) for value in ("userspace", "kernel")),
)


def planned(
    session: Session, plain: KernelView, patched: KernelView, cases: Sequence[TriedCase]
) -> ReachPlan[TriedCase]:
    """The plan for two kernels, by the code that differs and what each case was counted to run."""
    from mitigauge.analysis.profiles.exact.reach import plan
    from mitigauge.core.settings import get_settings
    from mitigauge.kernels.tables import Kernel
    from mitigauge.measurement.catalog import Catalog
    from mitigauge.storage.files.blobs import blob_store

    kernels = [session.get_one(Kernel, view.id) for view in (plain, patched)]
    workloads = Catalog().workloads
    wanted = {case: [_counted(case, workloads[case.workload])] for case in cases}
    return plan(session, kernels, wanted, blob_store(get_settings()))


def _counted(case: TriedCase, workload: Workload) -> CountedCase:
    """What its instructions are known by."""
    from mitigauge.analysis.profiles.exact.coverage import CountedCase, case_key

    [parameters] = workload.expand(case.parameters)
    return CountedCase(
        case.workload, case_key(parameters), MODES[case.host], ENVIRONMENT, case.host
    )


def spec_of(
    cases: Sequence[TriedCase],
    plain: KernelView,
    patched: KernelView,
    blocks: int,
    *,
    profiled: bool,
) -> str:
    """The experiment: short paths through both kernels, in one mode on each host."""
    head = f"""\
name: try-{(patched.release or "")[-10:]}
question: What do these patches cost?
environment: {ENVIRONMENT}
blocks: {blocks}
comparisons:
"""
    hosts = list(dict.fromkeys(case.host for case in cases))
    return head + "".join(
        _comparison(host, [case for case in cases if case.host == host], plain, patched, profiled)
        for host in hosts
    )


def _comparison(
    host: str, cases: Sequence[TriedCase], plain: KernelView, patched: KernelView, profiled: bool
) -> str:
    arms = "".join(
        f'      - {{name: {name}, mode: {MODES[host]}, kernel: "{kernel.release}"}}\n'
        for name, kernel in ((BASE_ARM, plain), (ARM, patched))
    )
    workloads = "".join(
        f"      - workload: {case.workload}\n"
        f"        cases: {{{case.parameter}: {case.value}}}\n"
        + "        profile: true\n" * (profiled and case.profiled)
        + "        primary: []\n" * (not case.judged)
        for case in cases
    )
    return f"""\
  - name: {"exits" if host == GUESTS_HOST else "patches"}
    hosts: [{host}]
    baseline: {BASE_ARM}
    arms:
{arms}    workloads:
{workloads}"""
