"""SQL of bisections."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager

from sqlalchemy import Engine, func, or_, select, tuple_, update
from sqlalchemy.orm import Session, selectinload

from mitigauge.core.errors import NotFound
from mitigauge.jobs.blame import LONGEST_PAUSE
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison, Experiment
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.results.tables import Measurement, Result
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import advisory_lock
from mitigauge.storage.database.found_words import with_words
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.waits import column_has_come
from mitigauge.tracking.bisect.intake import BootRow
from mitigauge.tracking.bisect.states import BisectionState
from mitigauge.tracking.bisect.tables import Bisection, BisectionCandidate, BisectionPoint

MOST_LISTED = 200


def alone(engine: Engine, bisection_id: int) -> AbstractContextManager[bool]:
    """Whether nobody else takes this bisection on, and nobody will until the block's end."""
    return advisory_lock(engine, Lock.BISECTION, bisection_id)


def exists(session: Session, bisection_id: int) -> bool:
    """Whether there is a bisection of that number."""
    return session.scalar(select(Bisection.id).where(Bisection.id == bisection_id)) is not None


def whole(session: Session, bisection_id: int, *, lock: bool = False) -> Bisection:
    """One bisection with candidates, points and steps. Raises :class:`NotFound`."""
    wanted = (
        select(Bisection)
        .where(Bisection.id == bisection_id)
        .options(
            selectinload(Bisection.candidates),
            selectinload(Bisection.points).selectinload(BisectionPoint.kernel),
            selectinload(Bisection.steps),
        )
        .execution_options(populate_existing=True)
    )
    found = session.scalars(wanted.with_for_update(of=Bisection) if lock else wanted).one_or_none()
    if found is None:
        raise NotFound(
            f"there is no bisection {bisection_id}", hint="`mitigauge bisect list` shows all."
        )
    return found


def listed(
    session: Session,
    *,
    find: str = "",
    states: Collection[BisectionState] = (),
    limit: int = MOST_LISTED,
) -> list[Bisection]:
    """The newest bisections, without their parts: with the words, in one of the states."""
    named = (Bisection.title, Bisection.case_title, Bisection.metric, Bisection.submitted_by)
    wanted = with_words(select(Bisection), find, named)
    if states:
        wanted = wanted.where(Bisection.state.in_(states))
    return list(session.scalars(wanted.order_by(Bisection.id.desc()).limit(limit)))


def running(session: Session) -> list[int]:
    """Ids of bisections that go on, the oldest first."""
    wanted = select(Bisection.id).where(
        Bisection.state == BisectionState.RUNNING,
        or_(Bisection.again_at.is_(None), column_has_come(Bisection.again_at, LONGEST_PAUSE)),
    )
    return list(session.scalars(wanted.order_by(Bisection.id)))


def running_alike(session: Session, asked: Bisection) -> int | None:
    """The running bisection that searches the same as *asked*, which is not stored; None: none.

    No other transaction begins one until this one is over, so that two requests at once are one.
    """
    session.execute(select(func.pg_advisory_xact_lock(Lock.BISECTION_START, 0)))
    wanted = (
        select(Bisection)
        .where(
            Bisection.state == BisectionState.RUNNING,
            Bisection.kind == asked.kind,
            Bisection.environment == asked.environment,
            Bisection.workload == asked.workload,
            Bisection.metric == asked.metric,
        )
        .options(selectinload(Bisection.candidates), selectinload(Bisection.points))
        .order_by(Bisection.id)
    )
    same = _searched(asked)
    return next((one.id for one in session.scalars(wanted) if _searched(one) == same), None)


def _searched(of: Bisection) -> tuple[object, ...]:
    """What tells two searches for one figure apart: its case, hosts, candidates and points."""
    return (
        of.parameters,
        sorted(of.hosts),
        (of.source.base, of.source.profile, of.profile_sha256, of.source.tree),
        [candidate.name for candidate in of.candidates],
        [(point.mode, point.release) for point in of.points[: len(of.candidates) + 1]],
    )


def went_on(session: Session, bisection_id: int) -> None:
    """Forget failures before this: it got further."""
    session.execute(
        update(Bisection)
        .where(Bisection.id == bisection_id, Bisection.failures > 0)
        .values(failures=0, again_at=None)
    )


def is_over(session: Session, experiment_id: int) -> bool:
    """Whether an experiment and all its runs are over."""
    experiment = session.get_one(Experiment, experiment_id, populate_existing=True)
    if experiment.state not in FINAL_STATES:
        return False
    waits = select(Run.id).where(Run.experiment_id == experiment_id, Run.state.not_in(FINAL_STATES))
    return session.scalars(waits.limit(1)).one_or_none() is None


def faults_of(session: Session, experiment_id: int) -> str:
    """Why runs of an experiment failed, in their own words; empty: none did."""
    wanted = select(Host.name, Run.error).join(Host, Run.host_id == Host.id)
    wanted = wanted.where(Run.experiment_id == experiment_id, Run.error != "").order_by(Run.id)
    return "; ".join(f"{host}: {error}" for host, error in session.execute(wanted))


def case_of(session: Session, experiment_id: int) -> int:
    """The one case of a step's experiment."""
    wanted = select(Case.id).join(Comparison).where(Comparison.experiment_id == experiment_id)
    return int(session.scalars(wanted).one())


def boots_of(session: Session, experiment_id: int, case_id: int, metric: str) -> list[BootRow]:
    """Every boot of a step, with its mean of the metric where it has one."""
    rows = session.execute(
        select(Boot, Arm, Host.name, Measurement.mean, Result.error)
        .join(Run, Boot.run_id == Run.id)
        .join(Arm, Boot.arm_id == Arm.id)
        .join(Host, Run.host_id == Host.id)
        .outerjoin(Result, (Result.boot_id == Boot.id) & (Result.case_id == case_id))
        .outerjoin(
            Measurement,
            (Measurement.boot_id == Boot.id)
            & (Measurement.case_id == case_id)
            & (Measurement.metric == metric),
        )
        .where(Run.experiment_id == experiment_id)
        .order_by(Boot.run_id, Boot.block, Boot.place, Boot.attempt)
    ).all()
    layouts = layouts_of(session, {release for row in rows for release in row[1].builds})
    return [
        BootRow(
            host=host,
            arm=arm.name,
            block=boot.block,
            state=boot.state,
            begun=boot.started_at is not None,
            reason=boot.reason or boot.observed or "",
            layout=layouts.get(arm.release_in(boot.block), ""),
            mean=mean,
            error=error or "",
        )
        for boot, arm, host, mean, error in rows
    ]


def boots_begun(session: Session, experiment_id: int) -> tuple[int, int]:
    """How many boots of an experiment were begun, and how many are planned in all."""
    wanted = (
        select(func.count(Boot.started_at), func.count())
        .join(Run, Boot.run_id == Run.id)
        .where(Run.experiment_id == experiment_id)
    )
    begun, planned = session.execute(wanted).one()
    return int(begun), int(planned)


def counts(session: Session, ids: Sequence[int]) -> dict[int, int]:
    """Bisection → how many candidates it has."""
    wanted = (
        select(BisectionCandidate.bisection_id, func.count())
        .where(BisectionCandidate.bisection_id.in_(list(ids)))
        .group_by(BisectionCandidate.bisection_id)
    )
    return {int(row[0]): int(row[1]) for row in session.execute(wanted)}


def titles(session: Session, culprits: Mapping[int, int]) -> dict[int, str]:
    """Bisection → title of the candidate at the position that is given for it."""
    wanted = select(
        BisectionCandidate.bisection_id, BisectionCandidate.position, BisectionCandidate.title
    ).where(
        tuple_(BisectionCandidate.bisection_id, BisectionCandidate.position).in_(
            list(culprits.items())
        )
    )
    return {bisection: title for bisection, _, title in session.execute(wanted)}


def layouts_of(session: Session, releases: set[str]) -> Mapping[str, str]:
    """Release → layout of kernels that were built here."""
    if not releases:
        return {}
    wanted = select(Kernel.release, Kernel.layout).where(Kernel.release.in_(list(releases)))
    return {str(release): layout for release, layout in session.execute(wanted)}


def experiments_of(session: Session, ids: Sequence[int]) -> dict[int, Experiment]:
    """Experiments by id."""
    found = session.scalars(select(Experiment).where(Experiment.id.in_(list(ids))))
    return {experiment.id: experiment for experiment in found}
