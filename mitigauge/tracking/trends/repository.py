"""SQL of trends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as insert_or
from sqlalchemy.orm import Session

from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.measurement.fleet.tables import Fingerprint, Host
from mitigauge.measurement.results.states import ResultState
from mitigauge.measurement.results.tables import Measurement, Result
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.tracking.trends.tables import (
    CHANGE_NUMBER,
    CHANGE_TABLE,
    IDENTITY,
    TREND_TABLE,
    VALUE_TABLE,
    StoredChange,
    Trend,
    TrendArm,
    TrendRun,
    TrendValue,
)

# Parameters of one statement.
_BATCH = 2000


class BootRow(NamedTuple):
    """A boot that counts, with what it ran on."""

    id: int
    arm_id: int
    started_at: datetime | None
    finished_at: datetime | None
    proof: BootProof | None
    facts: dict[str, Any] | None


class ValueRow(NamedTuple):
    """One value of a trend with what it was measured on."""

    trend_id: int
    run_id: int
    arm_id: int
    case_id: int
    experiment_id: int
    at: datetime
    value: float
    low: float | None
    high: float | None
    boots: int
    outlier: bool
    host: str
    kernel: str
    context: dict[str, str]
    arm: str
    profiled: bool


def runs_to_take_in(session: Session) -> list[int]:
    """Runs that are concluded and whose values are in no trend yet, the first one first."""
    taken = select(TrendRun.run_id).where(TrendRun.run_id == Run.id)
    return list(
        session.scalars(
            select(Run.id)
            .where(Run.concluded_at.is_not(None), ~taken.exists())
            .order_by(Run.finished_at.nulls_first(), Run.id)
        )
    )


def run_with_host(session: Session, run_id: int) -> tuple[Run, Host]:
    """The run and its host."""
    found = session.execute(
        select(Run, Host).join(Host, Run.host_id == Host.id).where(Run.id == run_id)
    ).one()
    return found[0], found[1]


def arms_of(session: Session, comparison_id: int) -> list[Arm]:
    """Arms of a comparison without the doubled one, in order."""
    return list(
        session.scalars(
            select(Arm)
            .where(Arm.comparison_id == comparison_id, Arm.is_aa.is_(False))
            .order_by(Arm.position)
        )
    )


def cases_of(session: Session, comparison_id: int) -> list[Case]:
    """Cases of a comparison in order."""
    return list(
        session.scalars(
            select(Case).where(Case.comparison_id == comparison_id).order_by(Case.position)
        )
    )


def kernels_by_release(session: Session, releases: Iterable[str]) -> dict[str, Kernel]:
    """Kernels that were built here or brought in, by release."""
    found = session.scalars(select(Kernel).where(Kernel.release.in_(list(releases))))
    return {str(kernel.release): kernel for kernel in found}


def counted_boots(session: Session, run_id: int) -> list[BootRow]:
    """Boots of the run that count, in their order."""
    rows = session.execute(
        select(
            Boot.id, Boot.arm_id, Boot.started_at, Boot.finished_at, Boot.proof, Fingerprint.facts
        )
        .join(Fingerprint, Boot.fingerprint_id == Fingerprint.id, isouter=True)
        .where(Boot.run_id == run_id, Boot.state == BootState.EFFECTIVE)
        .order_by(Boot.block, Boot.place, Boot.attempt)
    )
    return [BootRow(*row) for row in rows]


def means_of(session: Session, boot_ids: Sequence[int]) -> dict[tuple[int, int, str], float]:
    """(boot, case, metric) → mean."""
    rows = session.execute(
        select(Measurement.boot_id, Measurement.case_id, Measurement.metric, Measurement.mean)
        .where(Measurement.boot_id.in_(boot_ids))
    )  # fmt: skip
    return {(row[0], row[1], row[2]): row[3] for row in rows}


def tools_of(session: Session, boot_id: int) -> dict[str, dict[str, Any]]:
    """workload → tool → version, within one boot."""
    rows = session.execute(
        select(Case.workload, Result.tools)
        .join(Case, Result.case_id == Case.id)
        .where(Result.boot_id == boot_id, Result.state == ResultState.MEASURED)
        .order_by(Case.position)
    )
    found: dict[str, dict[str, Any]] = {}
    for workload, tools in rows:
        found.setdefault(workload, {}).update(tools)
    return found


def store_trends(session: Session, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], int]:
    """Make the trends that are new; identity → id of all of them. All are marked stale.

    What a case or a metric is called now is what the trend is called.
    """
    found: dict[tuple[Any, ...], int] = {}
    for first in range(0, len(rows), _BATCH):
        part = rows[first : first + _BATCH]
        statement = insert_or(TREND_TABLE).values(list(part))
        named = ("case_title", "metric_title", "direction", "is_primary", "delta_percent")
        stored = session.execute(
            statement.on_conflict_do_update(
                index_elements=list(IDENTITY),
                set_={**{name: statement.excluded[name] for name in named}, "stale": True},
            ).returning(TREND_TABLE.c.id, *(TREND_TABLE.c[name] for name in IDENTITY))
        )
        found |= {tuple(row[1:]): row[0] for row in stored}
    return found


def store_values(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store values of a run; again, it changes nothing."""
    for first in range(0, len(rows), _BATCH):
        statement = insert_or(VALUE_TABLE).values(list(rows[first : first + _BATCH]))
        session.execute(statement.on_conflict_do_nothing())


def taken_in(session: Session, run_id: int, error: str = "") -> None:
    """Note that the run's values were taken in, or why they could not be."""
    session.execute(insert_or(TrendRun).values(run_id=run_id, error=error).on_conflict_do_nothing())


def make_stale(session: Session) -> None:
    """Let changes of all trends be looked for again."""
    session.execute(update(Trend).values(stale=True))


def stale_ids(session: Session, rules: int, *, limit: int) -> list[int]:
    """Trends whose changes are to be looked for, at most so many."""
    outdated = Trend.rules != rules
    return list(
        session.scalars(
            select(Trend.id).where(Trend.stale | outdated).order_by(Trend.id).limit(limit)
        )
    )


def trends_of(session: Session, ids: Sequence[int]) -> list[Trend]:
    """The trends of those ids."""
    return list(session.scalars(select(Trend).where(Trend.id.in_(ids)).order_by(Trend.id)))


def values_of(session: Session, trend_ids: Sequence[int]) -> dict[int, list[ValueRow]]:
    """trend id → its values in order of time: of our clock, then of runs and arms."""
    rows = session.execute(
        select(
            TrendValue.trend_id, TrendValue.run_id, TrendValue.arm_id, TrendValue.case_id,
            Run.experiment_id, TrendValue.at, TrendValue.value, TrendValue.low, TrendValue.high,
            TrendValue.boots, TrendValue.outlier, Host.name, TrendArm.kernel, TrendArm.context,
            Arm.name, Case.profile_hz.is_not(None),
        )
        .join(TrendArm, and_(TrendArm.run_id == TrendValue.run_id,
                             TrendArm.arm_id == TrendValue.arm_id))
        .join(Host, TrendArm.host_id == Host.id)
        .join(Run, TrendValue.run_id == Run.id)
        .join(Arm, TrendValue.arm_id == Arm.id)
        .join(Case, TrendValue.case_id == Case.id)
        .where(TrendValue.trend_id.in_(trend_ids))
        .order_by(TrendValue.trend_id, TrendValue.at, TrendValue.run_id, Arm.position)
    )  # fmt: skip
    found: dict[int, list[ValueRow]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(ValueRow(*tuple[Any, ...](row)))
    return found


def current_changes(
    session: Session, trend_ids: Sequence[int], *, lock: bool = False
) -> dict[int, list[StoredChange]]:
    """trend id → what is said of its changes now, in order of time.

    *lock*: nobody accepts one of them until the transaction ends.
    """
    found: dict[int, list[StoredChange]] = defaultdict(list)
    statement = (
        select(StoredChange)
        .where(StoredChange.trend_id.in_(trend_ids), StoredChange.superseded_at.is_(None))
        .order_by(StoredChange.trend_id, StoredChange.at, StoredChange.id)
    )
    for change in session.scalars(statement.with_for_update() if lock else statement):
        found[change.trend_id].append(change)
    return found


def new_change_ids(session: Session, number: int) -> list[int]:
    """So many ids that no change has."""
    if not number:
        return []
    series = func.generate_series(1, number).table_valued("number")
    return list(session.scalars(select(CHANGE_NUMBER.next_value()).select_from(series)))


def drop_changes(session: Session, ids: Sequence[int]) -> None:
    """Take back what nobody said anything of."""
    session.execute(
        delete(StoredChange).where(StoredChange.id.in_(ids), StoredChange.superseded_at.is_(None))
    )


def supersede(session: Session, ids: Sequence[int], now: datetime) -> None:
    """What is said of these changes no longer holds."""
    session.execute(
        update(StoredChange)
        .where(StoredChange.id.in_(ids), StoredChange.superseded_at.is_(None))
        .values(superseded_at=now)
    )


def add_changes(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store changes, by one statement for many."""
    if rows:
        session.connection().execute(insert(CHANGE_TABLE), list(rows))


def set_summaries(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """What the list shows of each trend; *rows* hold ``of_id`` and columns."""
    if rows:
        names = [name for name in rows[0] if name != "of_id"]
        session.connection().execute(
            update(TREND_TABLE)
            .where(TREND_TABLE.c.id == bindparam("of_id"))
            .values({name: bindparam(f"to_{name}") for name in names}),
            [
                {"of_id": row["of_id"], **{f"to_{name}": row[name] for name in names}}
                for row in rows
            ],
        )


def mark_outliers(
    session: Session, trend_ids: Sequence[int], keys: Sequence[tuple[int, int, int]]
) -> None:
    """These values, by (trend, run, arm), are outliers; no others of the trends are."""
    session.execute(
        update(TrendValue)
        .where(TrendValue.trend_id.in_(trend_ids), TrendValue.outlier)
        .values(outlier=False)
    )
    for first in range(0, len(keys), _BATCH):
        session.execute(
            update(TrendValue)
            .where(
                tuple_(TrendValue.trend_id, TrendValue.run_id, TrendValue.arm_id).in_(
                    keys[first : first + _BATCH]
                )
            )
            .values(outlier=True)
        )
