"""SQL of regressions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Select, case, func, literal, or_, select, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from mitigauge.analysis.verdicts.tables import StoredVerdict
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.found_words import with_words
from mitigauge.storage.database.locks import AGAINST_CHANGES
from mitigauge.tracking.regressions.states import OPEN_STATES, EntryKind, Origin, RegressionState
from mitigauge.tracking.regressions.tables import Regression, RegressionEntry
from mitigauge.tracking.trends.schemas import ChangeKind, ChangeState
from mitigauge.tracking.trends.tables import StoredChange, Trend


@dataclass(frozen=True, slots=True)
class RegressionFilter:
    """Which regressions to list; None and empty: all."""

    states: Collection[RegressionState] = ()
    owner: str | None = None
    """Empty: those of nobody."""
    environment: str | None = None
    host_class: str | None = None
    workload: str | None = None
    text: str = ""
    """Each of its words within case, metric, mode, host class or bug."""
    since: datetime | None = None
    """Found from then on."""


def find(session: Session, regression_id: int, *, lock: bool = False) -> Regression | None:
    """One regression; *lock*: nobody else changes it until the transaction ends."""
    return session.get(
        Regression,
        regression_id,
        with_for_update=AGAINST_CHANGES if lock else None,
        populate_existing=lock,
    )


def listed(
    session: Session, wanted: RegressionFilter, *, offset: int, limit: int
) -> tuple[list[Regression], dict[RegressionState, int]]:
    """Some of them, the open first, of these the newest; and how many there are of each state,
    whichever states are wanted."""
    # Words are looked for once, and both are one way to the database.
    columns = (Regression.id, Regression.state, Regression.found_at)
    every = _where(cast("Select[Any]", select(*columns)), wanted).cte("every")
    page = select(every.c.id, every.c.state, every.c.found_at)
    if wanted.states:
        page = page.where(every.c.state.in_(wanted.states))
    part = page.order_by(*_open_first(every.c)).offset(offset).limit(limit).subquery()
    by_state = (
        select(every.c.state, func.count().label("number")).group_by(every.c.state).subquery()
    )
    counts = select(
        func.jsonb_object_agg(by_state.c.state, by_state.c.number).label("of")
    ).subquery()
    rows = session.execute(
        select(counts.c.of, Regression)
        .select_from(counts)
        # The counts are there even where the page is empty.
        .outerjoin(part, true())
        .outerjoin(Regression, Regression.id == part.c.id)
        .order_by(*_open_first(part.c))
    ).all()
    numbers = rows[0][0] or {}
    found = [regression for _, regression in rows if regression is not None]
    return found, {RegressionState(state): number for state, number in numbers.items()}


def _open_first(columns: Any) -> tuple[Any, ...]:
    """The order of the list: the open first, of these the newest."""
    is_over = case((columns.state.in_(OPEN_STATES), 0), else_=1)
    return is_over, columns.found_at.desc(), columns.id.desc()


def _where(statement: Select[Any], wanted: RegressionFilter) -> Select[Any]:
    """*statement*, of those that match but for their state."""
    exact = {
        Regression.environment: wanted.environment,
        Regression.host_class: wanted.host_class,
        Regression.workload: wanted.workload,
        Regression.owner: wanted.owner,
    }
    for column, value in exact.items():
        if value is not None:
            statement = statement.where(column == value)
    if wanted.since is not None:
        statement = statement.where(Regression.found_at >= wanted.since)
    named = (
        Regression.case_title, Regression.metric, Regression.mode, Regression.host_class,
        Regression.bug, Regression.owner,
    )  # fmt: skip
    return with_words(statement, wanted.text, named)


def history(session: Session, regression_id: int, limit: int) -> list[RegressionEntry]:
    """The newest entries, the newest last."""
    newest = (
        select(RegressionEntry)
        .where(RegressionEntry.regression_id == regression_id)
        .order_by(RegressionEntry.id.desc())
        .limit(limit)
    )
    return list(session.scalars(newest))[::-1]


def entries_of(session: Session, regression_id: int) -> int:
    """How many entries its history has."""
    asked = select(func.count()).where(RegressionEntry.regression_id == regression_id)
    return session.scalar(asked) or 0


def last_change(session: Session, regression_id: int) -> RegressionEntry | None:
    """The newest entry."""
    return next(iter(history(session, regression_id, 1)), None)


def duplicates_of(session: Session, regression_id: int) -> list[int]:
    """Regressions that joined it."""
    asked = select(Regression.id).where(Regression.duplicate_of == regression_id)
    return list(session.scalars(asked.order_by(Regression.id)))


def arm_name(session: Session, arm_id: int | None) -> str:
    """The arm's name; empty where there is none."""
    return "" if arm_id is None else session.scalar(select(Arm.name).where(Arm.id == arm_id)) or ""


def take_in_changes(session: Session) -> list[int]:
    """Make a regression of each lasting change for the worse that has none; their ids.

    Of primary metrics alone: the others are exploratory.
    """
    run = aliased(Run)
    new = (
        select(
            literal(Origin.TREND.value), Trend.id, StoredChange.id, run.experiment_id,
            StoredChange.run_after, Trend.environment, Trend.host_class, StoredChange.hosts,
            Trend.emulated, Trend.clock, Trend.workload, Trend.case_title, Trend.metric,
            Trend.metric_title, Trend.mode, literal("the values before"),
            StoredChange.effect_percent, StoredChange.ci_low_percent,
            StoredChange.ci_high_percent, StoredChange.at, StoredChange.found_at,
            literal(RegressionState.NEW.value), StoredChange.arm_after,
        )
        .join(Trend, StoredChange.trend_id == Trend.id)
        .join(run, StoredChange.run_after == run.id)
        .where(
            StoredChange.superseded_at.is_(None),
            StoredChange.verdict == "worse",
            StoredChange.kind == ChangeKind.LASTING,
            StoredChange.state == ChangeState.OPEN,
            Trend.is_primary,
            ~select(Regression.id).where(Regression.change_id == StoredChange.id).exists(),
        )
        .order_by(StoredChange.found_at, StoredChange.id)
    )  # fmt: skip
    columns = [
        "origin", "trend_id", "change_id", "experiment_id", "run_id", "environment", "host_class",
        "hosts", "emulated", "clock", "workload", "case_title", "metric", "metric_title", "mode",
        "before", "effect_percent", "ci_low_percent", "ci_high_percent", "happened_at", "found_at",
        "state", "arm_id",
    ]  # fmt: skip
    made = insert(Regression).from_select(columns, new).on_conflict_do_nothing()
    return list(session.scalars(made.returning(Regression.id)))


@dataclass(frozen=True, slots=True)
class OfChange:
    """A regression and what is said now of the change that it was made of."""

    regression_id: int
    kind: ChangeKind
    state: ChangeState
    said_by: str
    said: str


def unsettled_changes(session: Session) -> list[OfChange]:
    """Open regressions whose changes are not what they were, and new ones that were accepted."""
    gone = StoredChange.kind != ChangeKind.LASTING
    accepted = StoredChange.state != ChangeState.OPEN
    asked = (
        select(
            Regression.id, StoredChange.kind, StoredChange.state, StoredChange.said_by,
            StoredChange.said,
        )
        .join(StoredChange, StoredChange.id == Regression.change_id)
        .where(
            StoredChange.superseded_at.is_(None),
            or_(
                Regression.state.in_(OPEN_STATES) & gone,
                (Regression.state == RegressionState.NEW) & accepted,
            ),
        )
        .order_by(Regression.id)
    )  # fmt: skip
    return [OfChange(*row) for row in session.execute(asked)]


def note_found(session: Session, regression_ids: Sequence[int], by: str) -> None:
    """Begin the histories of new regressions."""
    session.add_all(
        RegressionEntry(regression_id=each, by=by, kind=EntryKind.FOUND) for each in regression_ids
    )
    session.flush()


@dataclass(frozen=True, slots=True)
class Cell:
    """One comparison of an experiment on one host."""

    run: Run
    host: Host
    case: Case
    arm: Arm
    baseline: str
    verdict: StoredVerdict


def cell(
    session: Session, experiment_id: int, host: str, case_id: int, arm: str, metric: str
) -> Cell | None:
    """The current verdict of a cell with what it is about; None where there is none."""
    baseline = aliased(Arm)
    asked = (
        select(Run, Host, Case, Arm, baseline.name, StoredVerdict)
        .join(Host, Run.host_id == Host.id)
        .join(Comparison, Run.comparison_id == Comparison.id)
        .join(Case, Case.comparison_id == Comparison.id)
        .join(Arm, Arm.comparison_id == Comparison.id)
        .join(baseline, (baseline.comparison_id == Comparison.id) & baseline.is_baseline)
        .join(
            StoredVerdict,
            (StoredVerdict.run_id == Run.id)
            & (StoredVerdict.case_id == Case.id)
            & (StoredVerdict.arm_id == Arm.id),
        )
        .where(
            Run.experiment_id == experiment_id, Host.name == host, Case.id == case_id,
            Arm.name == arm, StoredVerdict.metric == metric,
            StoredVerdict.superseded_at.is_(None),
        )
    )  # fmt: skip
    row = session.execute(asked.limit(1)).one_or_none()
    return None if row is None else Cell(*row)


def of_cell(session: Session, cell: Cell) -> Regression | None:
    """The regression that was filed of a cell."""
    return session.scalars(
        select(Regression).where(
            Regression.origin == Origin.CELL, Regression.run_id == cell.run.id,
            Regression.case_id == cell.case.id, Regression.arm_id == cell.arm.id,
            Regression.metric == cell.verdict.metric,
        )
    ).one_or_none()  # fmt: skip


def arms_beside(session: Session, comparison_id: int) -> list[Arm]:
    """The arms of a comparison, in their order."""
    asked = select(Arm).where(Arm.comparison_id == comparison_id).order_by(Arm.position)
    return list(session.scalars(asked))


def current_change(session: Session, change_id: int | None) -> StoredChange | None:
    """What is said now of a trend's change; None where there is none any more."""
    asked = select(StoredChange).where(
        StoredChange.id == change_id, StoredChange.superseded_at.is_(None)
    )
    return session.scalars(asked).one_or_none()


def in_hand(
    session: Session, states: Collection[RegressionState], *, before: datetime, limit: int
) -> list[Regression]:
    """Those of the states that were found before then, the newest first."""
    asked = select(Regression).where(Regression.state.in_(states), Regression.found_at < before)
    newest = asked.order_by(Regression.found_at.desc(), Regression.id.desc())
    return list(session.scalars(newest.limit(limit)))


def of_changes(session: Session, change_ids: Collection[int]) -> list[Regression]:
    """Those that were made of the changes."""
    return list(session.scalars(select(Regression).where(Regression.change_id.in_(change_ids))))


def numbered(session: Session, ids: Collection[int]) -> list[Regression]:
    """Those of the numbers."""
    return list(session.scalars(select(Regression).where(Regression.id.in_(ids))))
