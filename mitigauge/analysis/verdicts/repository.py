"""SQL of what was judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    RowMapping,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    type_coerce,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as insert_or
from sqlalchemy.orm import InstrumentedAttribute, Session

from mitigauge.analysis.verdicts.cells import CELL_FIELDS, Cell, says_the_same
from mitigauge.analysis.verdicts.tables import (
    REBASED_TABLE,
    VERDICT_TABLE,
    AaOutcome,
    RebasedCell,
    StoredVerdict,
)
from mitigauge.core.effect import Verdict
from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.bounds import Bound
from mitigauge.core.stats.terms import RULES
from mitigauge.measurement.experiments.tables import Arm, Case, Experiment
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import database_now
from mitigauge.storage.database.locks import Lock

_KEY = ("case_id", "metric", "arm_id")
_REBASED = tuple(
    column.name for column in REBASED_TABLE.columns if column.name not in ("run_id", "baseline_id")
)
# With what only planned cells have, as pages show both.
_REBASED_SHOWN: tuple[Any, ...] = (
    *REBASED_TABLE.columns,
    literal(1).label("version"),
    literal("").label("reason"),
    null().label("decided_after"),
)
_COLUMNS = tuple(VERDICT_TABLE.columns)
# Without what only the next judging looks at.
_SHOWN = tuple(column for column in _COLUMNS if column.name not in ("boots", "rules"))


class PlainestEffect(NamedTuple):
    """The effect that a headline names."""

    case: str
    host: str
    arm: str
    effect_percent: float
    ci_low_percent: float | None
    ci_high_percent: float | None
    verdict: str
    bound: str
    unranked: bool
    """Whether some arm of the experiment works by events that are not counted."""


def store_cells(
    session: Session, run_id: int, cells: Sequence[Cell], *, ended: bool, reason: str
) -> bool:
    """Write what is said of the run's arms now; whether anything changed.

    Figures so far are replaced. A verdict that was given and is said again is left as it is; one
    that no longer holds is superseded by the next version, which names *reason*. Two that store
    at the same time take turns, and the second finds nothing to write.
    """
    session.execute(select(func.pg_advisory_xact_lock(Lock.VERDICTS, run_id)))
    now = database_now(session)
    stored = {_key(row): row for row in _current(session, run_id)}
    new: list[dict[str, Any]] = []
    superseded: list[dict[str, Any]] = []
    changed = False
    for cell in cells:
        before = stored.get(cell.key)
        was_given = before is not None and before["given_at"] is not None
        same = before is not None and says_the_same(cell, before)
        if was_given and same:
            continue
        given = ended or cell.is_decided
        changed = changed or given or not same
        version = 1 if before is None else int(before["version"])
        if before is not None and was_given:
            superseded.append(dict(zip(_KEY, cell.key, strict=True)))
            version += 1
        new.append(
            {
                **{name: getattr(cell, name) for name in CELL_FIELDS},
                "boots": list(cell.boots),
                "run_id": run_id,
                "version": version,
                "reason": _why(before, reason),
                "given_at": now if given else None,
                "written_at": now,
            }
        )
    if changed:
        _replace(session, run_id, new, superseded, now)
    return changed


def _key(row: RowMapping) -> tuple[int, str, int]:
    return row["case_id"], row["metric"], row["arm_id"]


def _why(before: RowMapping | None, reason: str) -> str:
    if before is not None and before["given_at"] is not None and before["rules"] != RULES:
        return f"rules {RULES} instead of {before['rules']}"
    return reason


def _replace(
    session: Session,
    run_id: int,
    new: list[dict[str, Any]],
    superseded: Sequence[Mapping[str, Any]],
    now: datetime,
) -> None:
    current = and_(StoredVerdict.run_id == run_id, StoredVerdict.superseded_at.is_(None))
    session.execute(delete(StoredVerdict).where(current, StoredVerdict.given_at.is_(None)))
    if superseded:
        one = [getattr(StoredVerdict, name) == bindparam(f"of_{name}") for name in _KEY]
        session.connection().execute(
            update(StoredVerdict).where(current, *one).values(superseded_at=now),
            [{f"of_{name}": value for name, value in key.items()} for key in superseded],
        )
    # One statement for all: by way of the mapped class it is one for each pattern of nulls.
    session.connection().execute(insert(VERDICT_TABLE), list(new))


def _current(session: Session, run_id: int) -> Sequence[RowMapping]:
    statement = select(*_COLUMNS).where(
        StoredVerdict.run_id == run_id, StoredVerdict.superseded_at.is_(None)
    )
    return session.execute(statement).mappings().all()


def current_of(
    session: Session, run_ids: Iterable[int], case_id: int | None = None
) -> Sequence[Row[Any]]:
    """What is said now of the runs' arms, of all cases or of one."""
    statement = select(*_SHOWN).where(
        StoredVerdict.run_id.in_(list(run_ids)), StoredVerdict.superseded_at.is_(None)
    )
    if case_id is not None:
        statement = statement.where(StoredVerdict.case_id == case_id)
    return session.execute(statement).all()


def earlier_of(
    session: Session, run_ids: Iterable[int], case_id: int | None = None
) -> Sequence[Row[Any]]:
    """What was said before and no longer holds, oldest first."""
    statement = (
        select(*_SHOWN)
        .where(StoredVerdict.run_id.in_(list(run_ids)), StoredVerdict.superseded_at.is_not(None))
        .order_by(StoredVerdict.version)
    )
    if case_id is not None:
        statement = statement.where(StoredVerdict.case_id == case_id)
    return session.execute(statement).all()


def given_again_since(
    experiment_id: InstrumentedAttribute[Any], moment: InstrumentedAttribute[Any]
) -> ColumnElement[bool]:
    """Whether verdicts of that experiment were given once more after the *moment*; two columns."""
    return (
        select(StoredVerdict.run_id)
        .join(Run, StoredVerdict.run_id == Run.id)
        .where(
            Run.experiment_id == experiment_id,
            StoredVerdict.version > 1,
            StoredVerdict.given_at > moment,
        )
        .exists()
    )


def primary_verdicts(session: Session, run_id: int) -> list[Verdict]:
    """Which verdicts the run's primary metrics have now, sorted.

    An A/A arm's verdict is of the method, not of the mode: it is left out.
    """
    found = session.scalars(
        select(StoredVerdict.verdict)
        .distinct()
        .join(Case, StoredVerdict.case_id == Case.id)
        .join(Arm, StoredVerdict.arm_id == Arm.id)
        .where(
            StoredVerdict.run_id == run_id,
            StoredVerdict.superseded_at.is_(None),
            ~Arm.is_aa,
            type_coerce(Case.metrics, JSONB)[StoredVerdict.metric]["primary"].as_boolean(),
        )
        .order_by(StoredVerdict.verdict)
    )
    return [verdict for verdict in found if verdict is not None]


def store_rebased(session: Session, run_id: int, cells: Iterable[tuple[int, Cell]]) -> None:
    """Replace what is said of the run's arms against arms that are not its baseline.

    *cells*: each with the arm in the baseline's place.
    """
    session.execute(delete(RebasedCell).where(RebasedCell.run_id == run_id))
    rows = [
        {
            **{name: getattr(cell, name) for name in _REBASED},
            "run_id": run_id,
            "baseline_id": baseline,
        }
        for baseline, cell in cells
    ]
    if rows:
        session.connection().execute(insert(REBASED_TABLE), rows)


def rebased_of(
    session: Session, run_ids: Iterable[int], baseline_ids: Iterable[int]
) -> Sequence[Row[Any]]:
    """What is said of the runs' arms against these arms, with the columns of :func:`current_of`."""
    statement = select(*_REBASED_SHOWN).where(
        RebasedCell.run_id.in_(list(run_ids)), RebasedCell.baseline_id.in_(list(baseline_ids))
    )
    return session.execute(statement).all()


def store_aa(session: Session, outcomes: Sequence[Mapping[str, Any]]) -> None:
    """Store what was said of doubled baselines; what is there already stays."""
    if outcomes:
        session.execute(insert_or(AaOutcome).on_conflict_do_nothing(), list(outcomes))


class DoubledCounts(NamedTuple):
    """Verdicts on doubled baselines: how often each was given, and on how many days."""

    spec: str
    workload: str
    metric: str
    slowed_percent: int
    verdicts: dict[str, int]
    days: int


def doubled_counts(session: Session, days: Mapping[int, date]) -> list[DoubledCounts]:
    """Verdicts on the doubled baselines of one host's runs; *days*: of each run."""
    rows = session.execute(
        select(
            Experiment.name,
            Case.workload,
            AaOutcome.metric,
            AaOutcome.slowed_percent,
            AaOutcome.verdict,
            AaOutcome.run_id,
        )
        .join(Case, AaOutcome.case_id == Case.id)
        .join(Run, AaOutcome.run_id == Run.id)
        .join(Experiment, Run.experiment_id == Experiment.id)
        .where(AaOutcome.run_id.in_(list(days)))
    )
    groups: dict[tuple[str, str, str, int], list[tuple[str, date]]] = {}
    for spec, workload, metric, slowed_percent, verdict, run_id in rows:
        key = (spec, workload, metric, slowed_percent)
        groups.setdefault(key, []).append((verdict, days[run_id]))
    return [
        DoubledCounts(*key, Counter(verdict for verdict, _ in each), len({day for _, day in each}))
        for key, each in sorted(
            groups.items(), key=lambda of: [natural_order(str(part)) for part in of[0]]
        )
    ]


def verdict_counts(session: Session, experiment_id: int) -> dict[Verdict, int]:
    """How many comparisons of primary metrics have each verdict now."""
    rows = session.execute(
        _primary_verdicts(select(StoredVerdict.verdict, func.count()), experiment_id)
        .where(StoredVerdict.verdict.is_not(None))
        .group_by(StoredVerdict.verdict)
    )
    return {Verdict(verdict): number for verdict, number in rows}


def plainest_effect(session: Session, experiment_id: int) -> PlainestEffect | None:
    """Of what was called worse (else better): the one whose interval is farthest from no effect.

    Of thousands of comparisons the largest effect is mostly the one with the most luck in it;
    the near end of its interval is not.
    """
    bounded = (
        select(StoredVerdict.run_id)
        .join(Run, StoredVerdict.run_id == Run.id)
        .where(
            Run.experiment_id == experiment_id,
            StoredVerdict.superseded_at.is_(None),
            StoredVerdict.bound != Bound.EXACT,
        )
    )
    near_end = func.least(
        func.abs(StoredVerdict.ci_low_percent), func.abs(StoredVerdict.ci_high_percent)
    )
    asked = select(
        Case.title,
        Host.name,
        Arm.name,
        StoredVerdict.effect_percent,
        StoredVerdict.ci_low_percent,
        StoredVerdict.ci_high_percent,
        StoredVerdict.verdict,
        StoredVerdict.bound,
        bounded.exists(),
    )
    found = session.execute(
        _primary_verdicts(asked, experiment_id)
        .join(Host, Run.host_id == Host.id)
        .join(Arm, StoredVerdict.arm_id == Arm.id)
        .where(
            StoredVerdict.verdict.in_((Verdict.BETTER, Verdict.WORSE)),
            StoredVerdict.effect_percent.is_not(None),
        )
        .order_by(
            (StoredVerdict.verdict == Verdict.WORSE).desc(), near_end.desc().nulls_last(),
            Run.id, Case.position, Arm.position,
        )
        .limit(1)
    ).one_or_none()  # fmt: skip
    return None if found is None else PlainestEffect(*tuple[Any, ...](found))


def _primary_verdicts(asked: Any, experiment_id: int) -> Any:
    """*asked* of the current verdicts on primary metrics."""
    primary = type_coerce(Case.metrics, JSONB)[StoredVerdict.metric]["primary"].as_boolean()
    return (
        asked.select_from(StoredVerdict)
        .join(Run, StoredVerdict.run_id == Run.id)
        .join(Case, StoredVerdict.case_id == Case.id)
        .where(Run.experiment_id == experiment_id, StoredVerdict.superseded_at.is_(None), primary)
    )
