"""SQL of what a weekly report tells, and of the reports that were made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, distinct, func, or_, select, tuple_, update
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.tables import AaOutcome, CaseNoise, StoredVerdict
from mitigauge.core.effect import Verdict
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison, Experiment
from mitigauge.measurement.fleet.tables import Host, HostAbsence
from mitigauge.measurement.results.states import ResultState
from mitigauge.measurement.results.tables import Result
from mitigauge.measurement.runs.states import UNCOUNTED_BOOT_STATES, BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.reporting.letters.weekly.tables import WeeklyReport
from mitigauge.storage.database.natural_sql import natural
from mitigauge.tracking.trends.tables import Trend

DECIDED = (Verdict.BETTER, Verdict.WORSE, Verdict.SAME)


class VerdictLine(NamedTuple):
    """One verdict that was given."""

    run_id: int
    case_id: int
    metric: str
    arm_id: int
    version: int
    verdict: str
    effect_percent: float | None
    ci_low_percent: float | None
    ci_high_percent: float | None
    bound: str
    n: int
    given_at: datetime


class RunLine(NamedTuple):
    """A run with its host and experiment."""

    id: int
    experiment_id: int
    comparison_id: int
    host_id: int
    clock: str
    state: str
    error: str
    started_at: datetime | None
    finished_at: datetime | None


class CaseLine(NamedTuple):
    """A case as far as a report names it."""

    id: int
    comparison_id: int
    workload: str
    title: str
    metrics: dict[str, CaseMetric]


def _all(session: Session, statement: Any) -> Sequence[Any]:
    return session.execute(statement).all()


def verdicts(
    session: Session, *, since: datetime, start: datetime, end: datetime
) -> list[VerdictLine]:
    """Verdicts given from *since* to *end*, and the undecided of the week from *start*."""
    rows = session.execute(
        select(*(getattr(StoredVerdict, name) for name in VerdictLine._fields)).where(
            StoredVerdict.given_at >= since,
            StoredVerdict.given_at < end,
            or_(
                StoredVerdict.verdict.in_(DECIDED),
                and_(StoredVerdict.verdict.is_not(None), StoredVerdict.given_at >= start),
            ),
        )
    )
    return [VerdictLine(*row) for row in rows]


def runs(session: Session, ids: Iterable[int]) -> dict[int, RunLine]:
    """Runs by their ids."""
    rows = session.execute(
        select(*(getattr(Run, name) for name in RunLine._fields)).where(Run.id.in_(list(ids)))
    )
    return {row.id: RunLine(*row) for row in rows}


def runs_ended(session: Session, start: datetime, end: datetime) -> list[RunLine]:
    """Runs that were concluded between the two: their verdicts are of the same time."""
    rows = session.execute(
        select(*(getattr(Run, name) for name in RunLine._fields))
        .where(Run.concluded_at >= start, Run.concluded_at < end)
        .order_by(Run.id)
    )
    return [RunLine(*row) for row in rows]


def runs_under_way(session: Session, end: datetime) -> int:
    """How many runs had begun and were not over at *end*."""
    return session.scalars(
        select(func.count(Run.id)).where(
            Run.started_at < end,
            or_(
                Run.concluded_at >= end,
                and_(Run.concluded_at.is_(None), Run.state.not_in(FINAL_STATES)),
            ),
        )
    ).one()


def cases(session: Session, comparison_ids: Iterable[int]) -> dict[int, CaseLine]:
    """Cases of the comparisons, by their ids."""
    rows = session.execute(
        select(*(getattr(Case, name) for name in CaseLine._fields)).where(
            Case.comparison_id.in_(list(comparison_ids))
        )
    )
    return {row.id: CaseLine(*row) for row in rows}


def arms(session: Session, comparison_ids: Iterable[int]) -> list[Arm]:
    """Arms of the comparisons, in their order."""
    return list(
        session.scalars(
            select(Arm)
            .where(Arm.comparison_id.in_(list(comparison_ids)))
            .order_by(Arm.comparison_id, Arm.position)
        )
    )


def comparisons(session: Session, ids: Iterable[int]) -> dict[int, Comparison]:
    """Comparisons by their ids."""
    found = session.scalars(select(Comparison).where(Comparison.id.in_(list(ids))))
    return {comparison.id: comparison for comparison in found}


def experiments(session: Session, ids: Iterable[int]) -> dict[int, Experiment]:
    """Experiments by their ids."""
    found = session.scalars(select(Experiment).where(Experiment.id.in_(list(ids))))
    return {experiment.id: experiment for experiment in found}


def boots_uncounted(session: Session, run_ids: Iterable[int]) -> Sequence[Any]:
    """(run, arm name, state, reason, how many) of boots that gave no figure."""
    return _all(
        session,
        select(Boot.run_id, Arm.name, Boot.state, Boot.reason, func.count())
        .join(Arm, Boot.arm_id == Arm.id)
        .where(Boot.run_id.in_(list(run_ids)), Boot.state.in_(UNCOUNTED_BOOT_STATES))
        .group_by(Boot.run_id, Arm.position, Arm.name, Boot.state, Boot.reason)
        .order_by(Boot.run_id, Arm.position, Boot.state, Boot.reason),
    )


def cases_uncounted(session: Session, run_ids: Iterable[int]) -> Sequence[Any]:
    """(run, case, state, error, how many) of cases that gave no figure within a boot."""
    return _all(
        session,
        select(Boot.run_id, Case.title, Result.state, Result.error, func.count())
        .join(Boot, Result.boot_id == Boot.id)
        .join(Case, Result.case_id == Case.id)
        .where(
            Boot.run_id.in_(list(run_ids)),
            Boot.state == BootState.EFFECTIVE,
            Result.state != ResultState.MEASURED,
        )
        .group_by(Boot.run_id, Case.position, Case.title, Result.state, Result.error)
        .order_by(Boot.run_id, Case.position, Result.state, Result.error),
    )


def boot_seconds(session: Session, run_ids: Iterable[int]) -> Sequence[Any]:
    """(run, boots that were begun, seconds of those that count for nothing)."""
    seconds = func.extract("epoch", Boot.finished_at - Boot.started_at)
    return _all(
        session,
        select(
            Boot.run_id,
            func.count(),
            func.coalesce(func.sum(seconds).filter(Boot.state.in_(UNCOUNTED_BOOT_STATES)), 0.0),
        )
        .where(Boot.run_id.in_(list(run_ids)), Boot.started_at.is_not(None))
        .group_by(Boot.run_id),
    )


def absences(session: Session, start: datetime, end: datetime) -> Sequence[Any]:
    """(host id, absence) of all that overlap the time from *start* to *end*, oldest first."""
    over = func.coalesce(
        func.least(HostAbsence.ended_at, HostAbsence.until), HostAbsence.ended_at, HostAbsence.until
    )
    return _all(
        session,
        select(
            HostAbsence.host_id,
            HostAbsence.kind,
            HostAbsence.reason,
            HostAbsence.begun_by,
            HostAbsence.began_at,
            over.label("over_at"),
        )
        .where(HostAbsence.began_at < end, or_(over.is_(None), over > start))
        .order_by(HostAbsence.began_at, HostAbsence.id),
    )


def noise(session: Session, start: datetime, end: datetime) -> Sequence[Any]:
    """(host class, emulated, clock, workload, metric, when, noise) of cases of runs that ended."""
    return _all(
        session,
        select(
            Host.host_class,
            Host.emulated,
            Run.clock,
            Case.workload,
            CaseNoise.metric,
            Run.concluded_at,
            CaseNoise.boot_mean_percent,
            CaseNoise.boot_percent,
            CaseNoise.iteration_percent,
        )
        .join(Run, CaseNoise.run_id == Run.id)
        .join(Host, Run.host_id == Host.id)
        .join(Case, CaseNoise.case_id == Case.id)
        .where(Run.concluded_at >= start, Run.concluded_at < end),
    )


def aa_counts(session: Session, start: datetime, end: datetime) -> Sequence[Any]:
    """(host class, comparisons, alarms, both of them ever, days of hosts) of doubled arms."""
    alarm = AaOutcome.verdict.in_((Verdict.BETTER, Verdict.WORSE))
    within = Run.concluded_at >= start
    day = func.date(func.timezone("UTC", Run.concluded_at))
    return _all(
        session,
        select(
            Host.host_class,
            func.count().filter(within),
            func.count().filter(within, alarm),
            func.count(),
            func.count().filter(alarm),
            func.count(distinct(tuple_(Run.host_id, day))),
        )
        .join(Run, AaOutcome.run_id == Run.id)
        .join(Host, Run.host_id == Host.id)
        .where(Run.concluded_at < end, AaOutcome.slowed_percent == 0)
        .group_by(Host.host_class)
        .order_by(natural(Host.host_class)),
    )


def newest_verdict_at(session: Session) -> datetime | None:
    """When the newest verdict was given."""
    return session.scalars(select(func.max(StoredVerdict.given_at))).one()


def any_verdict(session: Session, start: datetime, end: datetime) -> bool:
    """Whether any verdict was given between the two."""
    found = select(StoredVerdict.run_id).where(
        StoredVerdict.given_at >= start, StoredVerdict.given_at < end
    )
    return session.scalars(found.limit(1)).one_or_none() is not None


def any_trend(session: Session, end: datetime) -> bool:
    """Whether any trend had a value before *end*."""
    found = select(Trend.id).where(Trend.first_at < end).limit(1)
    return session.scalars(found).one_or_none() is not None


def stored(session: Session, week: str, *, lock: bool = False) -> WeeklyReport | None:
    """The report of the week as it stands."""
    statement = select(WeeklyReport).where(
        WeeklyReport.week == week, WeeklyReport.superseded_at.is_(None)
    )
    return session.scalars(statement.with_for_update() if lock else statement).one_or_none()


def sent_weeks(session: Session) -> set[str]:
    """Weeks of which any version was sent."""
    found = select(WeeklyReport.week).where(WeeklyReport.sent_at.is_not(None)).distinct()
    return set(session.scalars(found))


def newest_version(session: Session, week: str) -> int:
    """The number of the week's newest version; 0: there is none."""
    found = select(func.max(WeeklyReport.version)).where(WeeklyReport.week == week)
    return session.scalars(found).one() or 0


def supersede(session: Session, report: WeeklyReport, at: datetime) -> None:
    """Another version comes."""
    session.execute(
        update(WeeklyReport).where(WeeklyReport.id == report.id).values(superseded_at=at)
    )


def listed(session: Session, limit: int) -> Sequence[Any]:
    """(week, version, complete, made_at, sent_at, counts, found) of reports, newest first."""
    return _all(
        session,
        select(
            WeeklyReport.week,
            WeeklyReport.version,
            WeeklyReport.complete,
            WeeklyReport.made_at,
            WeeklyReport.sent_at,
            WeeklyReport.data["counts"].label("counts"),
            WeeklyReport.data["found"].label("found"),
        )
        .where(WeeklyReport.superseded_at.is_(None))
        .order_by(WeeklyReport.week.desc())
        .limit(limit),
    )
