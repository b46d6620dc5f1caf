"""Taking runs' values into trends, and looking for changes of what got a value.

What is written survives being cut off anywhere: a run is taken in whole or not, and a trend that
got a value stays stale until its changes are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.logs.logger import get_logger
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.tables import Arm, Case
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import (
    advisory_lock,
    database_now,
    in_words,
    is_away,
    transaction,
)
from mitigauge.storage.database.locks import Lock
from mitigauge.tracking.trends import repository, stability_repository
from mitigauge.tracking.trends.context import context_of
from mitigauge.tracking.trends.detection import RULES, ChangePoint, Read, Terms, read_all
from mitigauge.tracking.trends.matching import NOT_SHOWN, Plan, plan
from mitigauge.tracking.trends.repository import BootRow
from mitigauge.tracking.trends.schemas import ChangeKind, ChangeState
from mitigauge.tracking.trends.tables import IDENTITY, StoredChange, Trend, TrendArm
from mitigauge.tracking.trends.values import RunArm, RunCase, Value, line_of, values_of

log = get_logger(__name__)
# Trends whose changes are looked for at once.
BATCH = 1000

Progress = Callable[[str, int, int], None]
"""Called with what is done, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did."""

    runs: int
    trends: int
    changes: int
    """Changes that are new or say something else."""


def update(
    engine: Engine,
    *,
    again: bool = False,
    progress: Progress = lambda _what, _done, _all: None,
) -> Updated | None:
    """Take in concluded runs and look for changes; None while another update goes on.

    *again*: look at all trends, not only at those that got a value.
    """
    with advisory_lock(engine, Lock.TRENDS) as alone:
        if not alone:
            return None
        with transaction(engine) as session:
            runs = repository.runs_to_take_in(session)
            if again:
                repository.make_stale(session)
        for number, run_id in enumerate(runs, start=1):
            take_in(engine, run_id)
            progress("runs taken in", number, len(runs))
        trends, changes = _look_for_changes(engine, progress)
        if runs or again:
            with transaction(engine) as session:
                stability_repository.store(session)
        return Updated(len(runs), trends, changes)


def update_quietly(engine: Engine) -> None:
    """The same for a worker: whatever is wrong is logged, and no run has to wait for it.

    Raises nothing: what was not done is done at the next call.
    """
    try:
        update(engine)
    except Exception as error:
        if is_away(error):
            log.warning("database away, trends wait", error=in_words(error))
            return
        log.exception("trends not updated")


def take_in(engine: Engine, run_id: int) -> None:
    """Store the values of a concluded run; one that cannot be read is noted and left out."""
    try:
        with transaction(engine) as session:
            _take_in(session, run_id)
    except Exception as error:
        if is_away(error):
            raise
        log.exception("run not taken into trends", run=run_id)
        with transaction(engine) as session:
            repository.taken_in(session, run_id, f"{type(error).__name__}: {error}"[:1000])


def _take_in(session: Session, run_id: int) -> None:
    run, host = repository.run_with_host(session, run_id)
    boots = repository.counted_boots(session, run_id)
    by_arm: dict[int, list[BootRow]] = {}
    for boot in boots:
        by_arm.setdefault(boot.arm_id, []).append(boot)
    arms = [arm for arm in repository.arms_of(session, run.comparison_id) if arm.id in by_arm]
    cases = repository.cases_of(session, run.comparison_id)
    _store_arms(session, run, host, arms, by_arm)
    kernels = repository.kernels_by_release(session, {arm.kernel for arm in arms if arm.kernel})
    means = repository.means_of(session, [boot.id for boot in boots])
    values = values_of(
        [
            RunArm(arm.id, arm.full_mode, _line(kernels.get(arm.kernel)),
                   [boot.id for boot in by_arm[arm.id]])
            for arm in arms
        ],
        [_run_case(case) for case in cases],
        means,
    )  # fmt: skip
    at = {arm.id: _ended(by_arm[arm.id], run) for arm in arms}
    _store_values(session, run, host, values, at)
    repository.taken_in(session, run_id)


def _run_case(case: Case) -> RunCase:
    return RunCase(case.id, case.workload, case.title, case.parameters, case.metrics)


def _line(kernel: Kernel | None) -> str:
    if kernel is None:
        return ""
    digests = [str(patch["digest"]) for patch in kernel.patches]
    return line_of(kernel.series_id, digests, kernel.base, kernel.profile)


def _ended(boots: Sequence[BootRow], run: Run) -> datetime:
    """When the last boot that counts ended, by our clock."""
    ends = [boot.finished_at for boot in boots if boot.finished_at is not None]
    end = max(ends, default=run.finished_at or run.started_at or run.concluded_at)
    assert end is not None, "a concluded run has a time"
    return end


def _store_arms(
    session: Session, run: Run, host: Host, arms: Iterable[Arm], by_arm: dict[int, list[BootRow]]
) -> None:
    for arm in arms:
        boots = by_arm[arm.id]
        last = boots[-1]
        proof = last.proof or BootProof()
        session.merge(
            TrendArm(
                run_id=run.id,
                arm_id=arm.id,
                host_id=host.id,
                at=_ended(boots, run),
                kernel=proof.kernel_release or arm.kernel,
                context=context_of(
                    proof,
                    last.facts or {},
                    settings=arm.settings.model_dump(mode="json", exclude_defaults=True),
                    lab_cmdline=arm.lab_cmdline,
                    staged=run.prepared.staged if run.prepared else {},
                    tools=repository.tools_of(session, last.id),
                ),
            )
        )
    session.flush()


def _store_values(
    session: Session, run: Run, host: Host, values: Sequence[Value], at: dict[int, datetime]
) -> None:
    identities: dict[tuple[Any, ...], dict[str, Any]] = {}
    of_value: list[tuple[tuple[Any, ...], Value]] = []
    for value in values:
        identity = {
            "environment": host.environment,
            "host_class": host.host_class,
            "emulated": host.emulated,
            "clock": host.clock,
            "workload": value.case.workload,
            "case_key": value.case.key,
            "metric": value.metric,
            "unit": value.declared.unit,
            "mode": value.arm.mode,
            "line": value.arm.line,
        }
        key = tuple(identity[name] for name in IDENTITY)
        identities[key] = {
            **identity,
            "case_title": value.case.title,
            "metric_title": value.declared.title,
            "direction": value.declared.direction,
            "is_primary": value.declared.primary,
            "delta_percent": value.declared.delta_percent,
        }
        of_value.append((key, value))
    ids = repository.store_trends(session, list(identities.values()))
    repository.store_values(
        session,
        [
            {
                "trend_id": ids[key], "run_id": run.id, "arm_id": value.arm.id,
                "case_id": value.case.id, "at": at[value.arm.id], "value": value.value,
                "low": value.low, "high": value.high, "boots": value.boots,
            }
            for key, value in of_value
        ],
    )  # fmt: skip


def _look_for_changes(engine: Engine, progress: Progress) -> tuple[int, int]:
    done = written = 0
    while True:
        with transaction(engine) as session:
            ids = repository.stale_ids(session, RULES, limit=BATCH)
            trends = {trend.id: trend for trend in repository.trends_of(session, ids)}
            values = repository.values_of(session, ids)
        if not ids:
            return done, written
        # Takes seconds for a thousand trends, so no transaction is open meanwhile.
        reads = read_all([(_terms(trends[each]), values.get(each, [])) for each in ids])
        with transaction(engine) as session:
            written += _store(session, reads)
        done += len(ids)
        progress("trends looked at", done, done)


def _terms(trend: Trend) -> Terms:
    return Terms(
        trend.id, trend.workload, trend.case_title, trend.unit, trend.direction,
        trend.delta_percent,
    )  # fmt: skip


def _store(session: Session, reads: Sequence[Read]) -> int:
    now = database_now(session)
    ids = [read.terms.id for read in reads]
    stored = repository.current_changes(session, ids, lock=True)
    plans = [plan(stored.get(read.terms.id, []), read.changes) for read in reads]
    rows, changed = _rows(session, plans, now)
    repository.add_changes(session, rows)
    kept = repository.current_changes(session, ids)
    repository.set_summaries(
        session, [_summary(read, kept.get(read.terms.id, [])) for read in reads]
    )
    repository.mark_outliers(
        session,
        ids,
        [
            (v.trend_id, v.run_id, v.arm_id)
            for read in reads
            for v in (read.values[place] for place in read.outliers)
        ],
    )
    return changed


def _rows(
    session: Session, plans: Sequence[Plan], now: datetime
) -> tuple[list[dict[str, Any]], int]:
    """Rows to add; what they replace is taken away or superseded here."""
    replaced = [each for made in plans for each in made.replaced]
    dropped = [old for made in plans for old in made.dropped]
    later = [each for made in plans for each in made.next_versions]
    withdrawn = [old for made in plans for old in made.withdrawn]
    new = [change for made in plans for change in made.new]
    fresh = repository.new_change_ids(session, len(new))
    rows = [
        _row(change, id=number, version=1, found_at=now, written_at=now)
        for number, change in zip(fresh, new, strict=True)
    ]
    for old, change in replaced:
        rows.append(
            _row(change, id=old.id, version=old.version, found_at=old.found_at,
                 written_at=now, reason=old.reason)
        )  # fmt: skip
    for old, change, reason in later:
        rows.append(
            _row(change, id=old.id, version=old.version + 1, found_at=old.found_at,
                 written_at=now, reason=reason)
        )  # fmt: skip
    rows += [_withdrawn(old, now) for old in withdrawn]
    repository.drop_changes(session, [old.id for old in dropped] + [old.id for old, _ in replaced])
    repository.supersede(
        session, [old.id for old in withdrawn] + [old.id for old, *_ in later], now
    )
    return rows, len(new) + len(later) + len(withdrawn)


def _row(change: ChangePoint, **more: Any) -> dict[str, Any]:
    return {
        **change.columns(),
        "state": ChangeState.OPEN,
        "rules": RULES,
        "reason": "",
        "said_by": "",
        "said": "",
        "superseded_at": None,
        **more,
    }


def _withdrawn(old: StoredChange, now: datetime) -> dict[str, Any]:
    kept = {column.name: getattr(old, column.name) for column in StoredChange.__table__.columns}
    return {
        **kept,
        "version": old.version + 1,
        "kind": ChangeKind.WITHDRAWN,
        "state": ChangeState.OPEN,
        "written_at": now,
        "superseded_at": None,
        "reason": NOT_SHOWN,
        "said_by": "",
        "said": "",
    }


def _summary(read: Read, changes: Sequence[StoredChange]) -> dict[str, Any]:
    values = read.values
    shown = [change for change in changes if change.kind != ChangeKind.WITHDRAWN]
    return {
        "of_id": read.terms.id,
        "value_count": len(values),
        "first_at": values[0].at if values else None,
        "last_at": values[-1].at if values else None,
        "level": read.level,
        "levels": list(read.levels),
        "sparkline": read.sparkline,
        "changed_at": max((change.at for change in shown), default=None),
        "open_changes": sum(change.state == ChangeState.OPEN for change in changes),
        "rules": RULES,
        "stale": False,
    }
