"""End a run: give the host back as it was."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs.states import RunState
from mitigauge.measurement.runs.tables import Run
from pipelines.decision import CANCELLED
from pipelines.host_control import LabFault, LeaseGone
from pipelines.steps.context import Done, StepContext


def stop(context: StepContext) -> Done:
    """Leave out all boots to come: they could change no verdict."""
    reason = context.action.reason
    return Done(
        lambda session, run: outcomes.stopped_early(session, run, reason),
        detail=reason,
        event=f"stopped early: {reason}",
    )


def restore(context: StepContext) -> Done:
    """Undo the tuning. A host that cannot be restored is set aside, and the run ends."""
    problem = ""
    try:
        context.host.restore()
    except LeaseGone:
        raise
    except LabFault as fault:
        problem = fault.message

    def apply(session: Session, run: Run) -> None:
        outcomes.restored(run)
        if problem:
            outcomes.set_aside(session, run, f"it could not be restored: {problem}")

    return Done(
        apply,
        outcome="lab_fault" if problem else "done",
        detail=problem,
        event=f"host could not be restored: {problem}" if problem else "host restored",
    )


def finish(context: StepContext) -> Done:
    """Close the run; a reason means that it did not get to its end."""
    reason = context.action.reason
    state = RunState.FINISHED
    if reason:
        state = RunState.CANCELLED if reason == CANCELLED else RunState.FAILED

    def apply(session: Session, run: Run) -> None:
        if state is RunState.FAILED and run.prepared is None:
            run.host.failed_preparations += 1
        outcomes.finish(session, run, state=state, error=reason)

    return Done(apply, detail=reason, event=f"run {state}" + (f": {reason}" if reason else ""))
