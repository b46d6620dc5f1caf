"""SQL of studies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.states import RunState
from mitigauge.measurement.runs.tables import Run
from mitigauge.tracking.studies.states import ENDED, StudyKind
from mitigauge.tracking.studies.tables import Study


class CountedArm(NamedTuple):
    """A case in an arm of a run; *key*: what is the same case in another comparison."""

    run_id: int
    case_id: int
    arm_id: int
    arm: str
    kernel: str
    host: str
    title: str
    key: str


def of_revision(
    session: Session, revision_id: int, kind: StudyKind, *, lock: bool = False
) -> Study | None:
    """The study of that kind; None where nobody asked for it."""
    wanted = select(Study).where(Study.revision_id == revision_id, Study.kind == kind)
    return session.scalars(wanted.with_for_update() if lock else wanted).one_or_none()


def whole(session: Session, study_id: int) -> Study | None:
    """One study, locked."""
    return session.scalars(
        select(Study).where(Study.id == study_id).with_for_update()
    ).one_or_none()


def of_revisions(session: Session, revision_ids: Collection[int]) -> Sequence[Study]:
    """All studies of those revisions."""
    wanted = select(Study).where(Study.revision_id.in_(revision_ids)).order_by(Study.id)
    return session.scalars(wanted).all()


def open_of(session: Session, revision_id: int) -> Sequence[Study]:
    """Those of a revision that are not over."""
    wanted = select(Study).where(Study.revision_id == revision_id, Study.state.not_in(ENDED))
    return session.scalars(wanted).all()


def tried_kernels(session: Session, experiment_ids: Collection[int], most: int) -> set[str]:
    """Releases of kernels that no further experiment is to boot.

    Those of a run that did not fail, and those that *most* experiments had, each of which failed.
    """
    rows = session.execute(
        select(Arm.kernel, Run.experiment_id, Run.state)
        .join(Run, Run.comparison_id == Arm.comparison_id)
        .where(Run.experiment_id.in_(experiment_ids), ~Arm.is_aa)
    )
    tries: defaultdict[str, set[int]] = defaultdict(set)
    done: set[str] = set()
    for kernel, experiment, state in rows:
        tries[kernel].add(experiment)
        if state != RunState.FAILED:
            done.add(kernel)
    return done | {kernel for kernel, had in tries.items() if len(had) >= most}


def counted_arms(session: Session, experiment_ids: Collection[int]) -> list[CountedArm]:
    """Every case in every arm of the experiments' runs."""
    rows = session.execute(
        select(
            Run.id, Case.id, Arm.id, Arm.name, Arm.kernel, Host.name, Case.title, Case.workload,
            Case.parameters,
        )
        .join(Host, Host.id == Run.host_id)
        .join(Arm, Arm.comparison_id == Run.comparison_id)
        .join(Case, Case.comparison_id == Run.comparison_id)
        .where(Run.experiment_id.in_(experiment_ids), ~Arm.is_aa)
        .order_by(Case.position, Arm.position, Run.id)
    )  # fmt: skip
    return [
        CountedArm(
            run, case, arm, name, kernel, host, title, f"{workload} {sorted(parameters.items())}"
        )
        for run, case, arm, name, kernel, host, title, workload, parameters in rows
    ]
