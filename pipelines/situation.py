"""From a run's rows to the situation that ``decide`` judges."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.core.settings import get_settings
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs import attempt_repository
from mitigauge.measurement.runs.service import in_order, unjudged_blocks
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import database_now
from pipelines.decision import BootSituation, RunSituation, Step


def situation_of(session: Session, run: Run) -> RunSituation:
    """Where the run stands, by the database's clock."""
    now = database_now(session)
    own_timeout_s = run.prepared.boot_timeout_s if run.prepared else None
    return RunSituation(
        cancelled=run.experiment.state == ExperimentState.CANCELLED,
        prepared=run.prepared is not None,
        preparation_begun=attempt_repository.has_begun(session, run.id, Step.PREPARE),
        restored=run.tuning_restored,
        faults_in_a_row=run.consecutive_faults,
        baseline_arm_id=next(arm.id for arm in run.comparison.arms if arm.is_baseline),
        boot_timeout_s=own_timeout_s or get_settings().boot_timeout_s,
        boots=[
            BootSituation(
                id=boot.id,
                arm_id=boot.arm_id,
                state=boot.state,
                rebooted_for_s=(
                    (now - boot.rebooted_at).total_seconds() if boot.rebooted_at else None
                ),
                up=boot.up_at is not None,
                job_started=boot.job_started_at is not None,
                power_cycled=boot.power_cycled,
            )
            for boot in in_order(run.boots)
        ],
        last_fault=attempt_repository.last_fault(session, run.id) if run.consecutive_faults else "",
        ending=run.ending,
        unjudged_blocks=unjudged_blocks(run),
        decided_after=run.decided_blocks,
    )
