"""Make a host ready for a run: kernels, workloads, tuning."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.runs import outcomes
from mitigauge.runs.tables import Run
from pipelines.steps.context import Done, StepContext


def prepare(context: StepContext) -> Done:
    """Install what the run needs; done again it changes nothing on the host."""
    comparison = context.run.comparison
    kernels = sorted({arm.kernel for arm in comparison.arms if arm.kernel})
    workloads = sorted({case.workload for case in comparison.cases})
    known = context.catalog.workloads
    guest = any(known[name].guest for name in workloads)
    facts = context.host.prepare(
        kernels=kernels,
        workloads=workloads,
        guest=guest,
        profiled=any(case.profile_hz for case in comparison.cases),
        guest_profiled=any(case.profile_guest for case in comparison.cases),
    )

    def apply(session: Session, run: Run) -> None:
        outcomes.prepared(session, run, facts)

    return Done(apply, event=f"host prepared for {', '.join(workloads)}")
