"""SQL of confirmations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from mitigauge.analysis.verdicts.repository import given_again_since
from mitigauge.analysis.verdicts.tables import StoredVerdict
from mitigauge.core.effect import Verdict
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.results.tables import Measurement
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.tracking.regressions.states import (
    NOT_SURE,
    OPEN_STATES,
    REAL,
    ConfirmationState,
    EntryKind,
    Origin,
    RegressionState,
)
from mitigauge.tracking.regressions.tables import Confirmation, Regression, RegressionEntry
from mitigauge.tracking.trends.schemas import ChangeKind
from mitigauge.tracking.trends.tables import StoredChange, TrendArm, TrendValue

OPEN = (ConfirmationState.WAITING, ConfirmationState.MEASURING)


def of_regressions(session: Session, ids: Sequence[int]) -> dict[int, Confirmation]:
    """regression → its newest try, for those that have one."""
    return {tried: tries[0] for tried, tries in tries_of(session, ids).items()}


def tries_of(session: Session, ids: Sequence[int]) -> dict[int, list[Confirmation]]:
    """regression → its tries, the newest first."""
    tries: dict[int, list[Confirmation]] = {}
    newest_first = (
        select(Confirmation)
        .where(Confirmation.regression_id.in_(ids))
        .order_by(Confirmation.id.desc())
    )
    for row in session.scalars(newest_first):
        tries.setdefault(row.regression_id, []).append(row)
    return tries


def suspected(session: Session, limit: int) -> list[int]:
    """New regressions of trends that nobody measured again yet, the oldest first."""
    known = select(Confirmation.id).where(Confirmation.regression_id == Regression.id)
    wanted = (
        select(Regression.id)
        .where(
            Regression.origin == Origin.TREND,
            Regression.state == RegressionState.NEW,
            ~known.exists(),
        )
        .order_by(Regression.id)
        .limit(limit)
    )
    return list(session.scalars(wanted))


def open_ones(session: Session, state: ConfirmationState) -> list[Confirmation]:
    """Those in this state, the oldest first, and nobody else changes them meanwhile."""
    wanted = select(Confirmation).where(Confirmation.state == state).order_by(Confirmation.id)
    return list(session.scalars(wanted.with_for_update(skip_locked=True)))


def judged_again(session: Session) -> list[Confirmation]:
    """Decided ones whose experiment's verdicts were given again since, locked."""
    since = given_again_since(Confirmation.experiment_id, Confirmation.decided_at)
    wanted = select(Confirmation).where(Confirmation.state.not_in(OPEN), since)
    return list(session.scalars(wanted.order_by(Confirmation.id).with_for_update(skip_locked=True)))


def without_bisection(session: Session) -> list[int]:
    """Confirmations of open regressions that no bisection was begun of, nor refused."""
    wanted = (
        select(Confirmation.id)
        .join(Regression, Regression.id == Confirmation.regression_id)
        .where(
            Confirmation.state == ConfirmationState.CONFIRMED,
            Confirmation.follows == "",
            Regression.bisection_id.is_(None),
            Regression.state.in_(OPEN_STATES),
        )
        .order_by(Confirmation.id)
    )
    return list(session.scalars(wanted))


def decided_by_week(session: Session) -> dict[datetime, tuple[int, int]]:
    """Monday of a week, UTC → confirmations that it decided as confirmed, and all it decided.

    Every try counts. What could not be measured is no decision, nor is what two builds alone say.
    """
    week = func.date_trunc("week", Confirmation.decided_at, "UTC")
    told = (
        ConfirmationState.CONFIRMED, ConfirmationState.REFUTED, ConfirmationState.UNDECIDED,
    )  # fmt: skip
    is_confirmed = Confirmation.state == ConfirmationState.CONFIRMED
    wanted = (
        select(week, func.count().filter(is_confirmed), func.count())
        .where(Confirmation.state.in_(told), Confirmation.experiment_id.is_not(None))
        .group_by(week)
    )
    return {start: (confirmed, all_) for start, confirmed, all_ in session.execute(wanted)}


def judged_by_people(session: Session, ids: Sequence[int], itself: str) -> set[int]:
    """Those of the regressions of which somebody else than *itself* said a state."""
    wanted = select(RegressionEntry.regression_id).where(
        RegressionEntry.regression_id.in_(ids),
        RegressionEntry.kind == EntryKind.STATE,
        RegressionEntry.by != itself,
    )
    return set(session.scalars(wanted))


def sure_of(session: Session, regressions: Sequence[Regression], itself: str) -> set[int]:
    """Those of the regressions that are known to be worse.

    What a person said of it last decides, else the newest fresh boots that confirmed or refuted
    it. A comparison that a person filed has its error rates, as long as its verdict stands; values
    over time alone have none.
    """
    ids = [each.id for each in regressions]
    people, boots = _last_words(session, ids, itself), _confirmed_by_boots(session, ids)
    filed = _still_worse(session, ids)
    return {number for number in ids if people.get(number, boots.get(number, number in filed))}


def _still_worse(session: Session, ids: Sequence[int]) -> set[int]:
    """Those that were filed of a comparison whose verdict of now is *worse*, or is deleted."""
    verdict = StoredVerdict
    verdict_now = and_(
        verdict.run_id == Regression.run_id, verdict.case_id == Regression.case_id,
        verdict.arm_id == Regression.arm_id, verdict.metric == Regression.metric,
        verdict.superseded_at.is_(None),
    )  # fmt: skip
    wanted = (
        select(Regression.id)
        .outerjoin(verdict, verdict_now)
        .where(
            Regression.id.in_(ids),
            Regression.origin == Origin.CELL,
            or_(Regression.run_id.is_(None), verdict.verdict == Verdict.WORSE),
        )
    )
    return set(session.scalars(wanted))


def _last_words(session: Session, ids: Sequence[int], itself: str) -> dict[int, bool]:
    """regression → whether the last state that a person gave it says that it is real.

    To file a comparison gives it its first state, which rests on the verdict alone.
    """
    entry = RegressionEntry
    oldest_first = (
        select(entry.regression_id, entry.after, entry.before, Regression.origin)
        .join(Regression, Regression.id == entry.regression_id)
        .where(
            entry.regression_id.in_(ids), entry.kind == EntryKind.STATE, entry.by != itself,
            entry.after.in_([*REAL, *NOT_SURE]),
        )
        .order_by(entry.id)
    )  # fmt: skip
    words: dict[int, bool] = {}
    filed: set[int] = set()
    for number, after, before, origin in session.execute(oldest_first):
        is_filing = origin is Origin.CELL and before == RegressionState.NEW and number not in filed
        filed.add(number)
        if not is_filing:
            words[number] = after in REAL
    return words


def _confirmed_by_boots(session: Session, ids: Sequence[int]) -> dict[int, bool]:
    """regression → whether its newest fresh boots that confirm or refute confirm it."""
    oldest_first = (
        select(Confirmation.regression_id, Confirmation.state)
        .where(
            Confirmation.regression_id.in_(ids),
            Confirmation.state.in_([ConfirmationState.CONFIRMED, ConfirmationState.REFUTED]),
        )
        .order_by(Confirmation.id)
    )
    confirmed = ConfirmationState.CONFIRMED
    return {number: state is confirmed for number, state in session.execute(oldest_first)}


def change_of(session: Session, regression: Regression) -> StoredChange | None:
    """What is said now of the change that it was made of; None: it no longer lasts."""
    wanted = select(StoredChange).where(
        StoredChange.id == regression.change_id,
        StoredChange.superseded_at.is_(None),
        StoredChange.kind == ChangeKind.LASTING,
    )
    return session.scalars(wanted).one_or_none()


def kernel_of(session: Session, run_id: int, arm_id: int) -> str:
    """The kernel that an arm of a run booted; empty where it is not known."""
    found = session.get(TrendArm, (run_id, arm_id))
    return found.kernel if found else ""


def case_and_host(session: Session, change: StoredChange) -> tuple[Case, Host] | None:
    """The case of the first value after a change, and the host that measured it."""
    wanted = (
        select(Case, Host)
        .join(TrendValue, TrendValue.case_id == Case.id)
        .join(Run, Run.id == TrendValue.run_id)
        .join(Host, Host.id == Run.host_id)
        .where(
            TrendValue.trend_id == change.trend_id,
            TrendValue.run_id == change.run_after,
            TrendValue.arm_id == change.arm_after,
        )
    )
    row = session.execute(wanted.limit(1)).one_or_none()
    return None if row is None else (row[0], row[1])


def boots_between(session: Session, regression: Regression, since: datetime, now: datetime) -> int:
    """Boots that were ordered then for regressions of the same host class."""
    of = aliased(Regression)
    wanted = (
        select(func.coalesce(func.sum(Confirmation.boots), 0))
        .join(of, of.id == Confirmation.regression_id)
        .where(
            # A clock that once ran ahead uses up no later week.
            Confirmation.ordered_at.between(since, now),
            of.environment == regression.environment,
            of.host_class == regression.host_class,
        )
    )
    return int(session.scalar(wanted) or 0)


def verdict_of(session: Session, experiment_id: int, metric: str) -> StoredVerdict | None:
    """The final verdict of the one arm that is no baseline; None where none was given."""
    wanted = (
        select(StoredVerdict)
        .join(Run, Run.id == StoredVerdict.run_id)
        .join(Arm, Arm.id == StoredVerdict.arm_id)
        .where(
            Run.experiment_id == experiment_id,
            StoredVerdict.metric == metric,
            StoredVerdict.superseded_at.is_(None),
            StoredVerdict.given_at.is_not(None),
            ~Arm.is_baseline,
            ~Arm.is_aa,
        )
    )
    return session.scalars(wanted.limit(1)).one_or_none()


def host_of(session: Session, experiment_id: int) -> str:
    """The host of an experiment on one host; empty where it has no run."""
    wanted = (
        select(Host.name)
        .join(Run, Run.host_id == Host.id)
        .where(Run.experiment_id == experiment_id)
        .limit(1)
    )
    return session.scalar(wanted) or ""


def layouts_of(session: Session, experiment_id: int) -> int:
    """In how many builds each kernel of an experiment of one comparison is booted."""
    wanted = select(func.max(Comparison.layouts)).where(Comparison.experiment_id == experiment_id)
    return session.scalar(wanted) or 1


def baseline_level(session: Session, experiment_id: int, metric: str) -> float | None:
    """Geometric mean of the baseline's boots whose value is above 0; None without one."""
    wanted = (
        select(func.exp(func.avg(func.ln(Measurement.mean))))
        .join(Boot, Boot.id == Measurement.boot_id)
        .join(Run, Run.id == Boot.run_id)
        .join(Arm, Arm.id == Boot.arm_id)
        .where(Run.experiment_id == experiment_id, Measurement.metric == metric, Arm.is_baseline)
        .where(Measurement.mean > 0)
    )
    level = session.scalar(wanted)
    return None if level is None else float(level)


def boots_that_ran(session: Session, experiment_id: int, metric: str) -> int:
    """Boots of an experiment that gave a value."""
    wanted = (
        select(func.count(func.distinct(Boot.id)))
        .join(Run, Run.id == Boot.run_id)
        .join(Measurement, Measurement.boot_id == Boot.id)
        .where(Run.experiment_id == experiment_id, Measurement.metric == metric)
    )
    return session.scalar(wanted) or 0


def faults_of(session: Session, experiment_id: int) -> str:
    """Why boots or runs of an experiment failed, in their own words; empty: none did."""
    runs = select(Run.error).where(Run.experiment_id == experiment_id, Run.error != "")
    boots = (
        select(Boot.reason)
        .join(Run, Run.id == Boot.run_id)
        .where(Run.experiment_id == experiment_id, Boot.reason != "")
        .order_by(Boot.id)
        .limit(20)
    )
    return "; ".join(dict.fromkeys([*session.scalars(runs), *session.scalars(boots)]))[:1000]
