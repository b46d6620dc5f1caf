"""Make a host ready for a run: kernels, workloads, tuning."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from mitigauge.boot_method import BootMethod
from mitigauge.runs import outcomes
from mitigauge.runs.tables import Run
from pipelines.host_control import Needs
from pipelines.steps.context import Done, StepContext


def prepare(context: StepContext) -> Done:
    """Install what the run needs; done again it changes nothing on the host."""
    comparison = context.run.comparison
    workloads = sorted({case.workload for case in comparison.cases})
    facts = context.host.prepare(_needs(context, workloads))

    def apply(session: Session, run: Run) -> None:
        outcomes.prepared(session, run, facts)

    return Done(apply, event=f"host prepared for {', '.join(workloads)}")


def _needs(context: StepContext, workloads: Sequence[str]) -> Needs:
    comparison = context.run.comparison
    return Needs(
        kernels=sorted({arm.kernel for arm in comparison.arms if arm.kernel}),
        workloads=workloads,
        guest=any(context.catalog.workloads[name].guest for name in workloads),
        profiled=any(case.profile_hz for case in comparison.cases),
        guest_profiled=any(case.profile_guest for case in comparison.cases),
        kexec=any(boot.method == BootMethod.KEXEC for boot in context.run.boots),
    )
