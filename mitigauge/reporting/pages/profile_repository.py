"""SQL of views that join profiles with experiments, arms, cases and runs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, func, select, text
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.tables import ExactCount
from mitigauge.analysis.profiles.store.tables import Profile, System
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison, Experiment
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import BINARY
from mitigauge.storage.database.natural_sql import natural

# More than a list to choose from can hold; the latest come first.
MOST_GROUPS = 500


def groups_like(session: Session, case: Case, system: System) -> Sequence[RowMapping]:
    """Groups of profiles of the workload and parameters of *case*, in any experiment."""
    rows = session.execute(
        select(
            Experiment.id.label("experiment_id"),
            Experiment.name.label("experiment"),
            Case.id.label("case_id"),
            Host.name.label("host"),
            Host.emulated,
            Run.clock,
            Arm.name.label("arm"),
            func.max(Profile.event).label("event"),
            func.count(Profile.id).label("profiles"),
        )
        .join(Boot, Profile.boot_id == Boot.id)
        .join(Run, Boot.run_id == Run.id)
        .join(Host, Run.host_id == Host.id)
        .join(Arm, Boot.arm_id == Arm.id)
        .join(Case, Profile.case_id == Case.id)
        .join(Comparison, Case.comparison_id == Comparison.id)
        .join(Experiment, Comparison.experiment_id == Experiment.id)
        .where(
            Case.workload == case.workload,
            Case.parameters == case.parameters,
            Profile.system == system,
            Boot.state == BootState.EFFECTIVE,
        )
        .group_by(Experiment.id, Case.id, Host.id, Run.id, Arm.id)
        .order_by(Experiment.id.desc(), natural(Host.name), Arm.position)
        .limit(MOST_GROUPS)
    )
    return rows.mappings().all()


def profiles_of_arm(
    session: Session, *, case_id: int, arm_id: int, run_id: int, system: System
) -> list[Profile]:
    """Profiles of one case in one arm's boots that count, in a run."""
    return list(
        session.scalars(
            select(Profile)
            .join(Boot, Profile.boot_id == Boot.id)
            .where(
                Profile.case_id == case_id,
                Profile.system == system,
                Boot.arm_id == arm_id,
                Boot.run_id == run_id,
                Boot.state == BootState.EFFECTIVE,
            )
            .order_by(Boot.block),
            execution_options=BINARY,
        )
    )


def counts_of_arm(session: Session, *, case_id: int, arm_id: int, run_id: int) -> list[ExactCount]:
    """Exact counts of one case in one arm's boots that count, in a run, without their ledgers."""
    return list(
        session.scalars(
            select(ExactCount)
            .join(Boot, ExactCount.boot_id == Boot.id)
            .where(
                ExactCount.case_id == case_id,
                Boot.arm_id == arm_id,
                Boot.run_id == run_id,
                Boot.state == BootState.EFFECTIVE,
            )
            .order_by(Boot.block, ExactCount.id)
        )
    )


def first_counted_pair(session: Session, experiment_id: int) -> RowMapping | None:
    """The first case of an experiment that was counted and profiled, on which host, in which arms.

    The baseline and the first other arm; None where there is none.
    """
    return session.execute(_FIRST_COUNTED_PAIR, {"experiment_id": experiment_id}).mappings().first()


_FIRST_COUNTED_PAIR = text(
    """
    SELECT c.id AS case_id, h.name AS host, base.name AS a, other.name AS b
    FROM exact_count e
        JOIN benchmark_case c ON c.id = e.case_id
        JOIN boot ON boot.id = e.boot_id
        JOIN run r ON r.id = boot.run_id
        JOIN host h ON h.id = r.host_id
        JOIN arm other ON other.id = boot.arm_id AND NOT other.is_baseline
        JOIN arm base ON base.comparison_id = other.comparison_id AND base.is_baseline
    WHERE r.experiment_id = :experiment_id AND e.ledger IS NOT NULL AND boot.state = 'effective'
        AND EXISTS (
            SELECT FROM profile p WHERE p.boot_id = boot.id AND p.case_id = e.case_id
        )
    ORDER BY c.id, other.position
    LIMIT 1
    """
)
