"""End a run: give the host back as it was."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.experiments import outcomes
from mitigauge.experiments.tables import Run
from pipelines.host_control import LabFault
from pipelines.steps.context import Done, StepContext, boot_of


def stop(context: StepContext) -> Done:
    """Leave out all boots to come: they could change no verdict."""
    reason = context.action.reason
    return Done(
        lambda session, run: outcomes.stopped_early(session, run, reason),
        detail=reason,
        event=f"stopped early: {reason}",
    )


def restore(context: StepContext) -> Done:
    """Undo the tuning. A host that cannot be restored is said to be so, and let go."""
    problem = ""
    try:
        context.host.restore()
    except LabFault as fault:
        problem = fault.message
    return Done(
        lambda _, run: outcomes.restored(run),
        outcome="lab_fault" if problem else "done",
        detail=problem,
        event=f"host could not be restored: {problem}" if problem else "host restored",
    )


def finish(context: StepContext) -> Done:
    """Close the run; a reason means that it did not get to its end."""
    reason = context.action.reason
    state = "finished"
    if reason:
        state = "cancelled" if reason == "cancelled" else "failed"

    def apply(session: Session, run: Run) -> None:
        if context.action.boot_id:
            outcomes.lost(session, boot_of(run, context.action.boot_id), reason)
        outcomes.finish(session, run, state=state, error=reason)

    return Done(apply, detail=reason, event=f"run {state}" + (f": {reason}" if reason else ""))
