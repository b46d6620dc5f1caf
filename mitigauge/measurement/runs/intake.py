"""Taking in what the cases of a boot gave: stored once, then unchangeable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.core.errors import Conflict
from mitigauge.core.stats.boot_means import mean_of
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.results.schema import MetricBody, PaceBody, ReadResult
from mitigauge.measurement.results.states import ResultState
from mitigauge.measurement.results.threads import columns_of
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot

LONGEST_ERROR = 4000


@dataclass(frozen=True, slots=True)
class TakenResult:
    """A case's result with the digest of its raw files in the blob store."""

    case_id: int
    result: ReadResult
    raw_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a case gave no result in a boot."""

    case_id: int
    state: ResultState
    error: str
    raw_sha256: str | None = None


def store_results(session: Session, boot: Boot, taken: Sequence[TakenResult]) -> int:
    """Store results of a boot's cases; returns how many were not there already.

    Raises :class:`Conflict`, and stores nothing, when the boot is not being measured or holds
    another result of one of the cases.
    """
    stored = result_rows.digests_of_boot(session, boot.id)
    for of_case in taken:
        if stored.get(of_case.case_id, of_case.result.digest) != of_case.result.digest:
            raise Conflict(
                f"boot {boot.id} has another result of case {of_case.case_id} already",
                hint="Results are never replaced; a further boot gives a further result.",
            )
    new = [of_case for of_case in taken if of_case.case_id not in stored]
    if not new:
        return 0
    if boot.state != BootState.MEASURING:
        raise Conflict(
            f"boot {boot.id} is {boot.state}, not measuring",
            hint="Results are taken only while their boot is proven and measuring.",
        )
    result_rows.insert_results(
        session,
        results=[_result_row(boot.id, of_case) for of_case in new],
        measurements=[row for of_case in new for row in _measurements(boot.id, of_case)],
        details=[row for of_case in new for row in _details(boot.id, of_case)],
        threads=[row for of_case in new for row in _threads(boot.id, of_case)],
    )
    return len(new)


def store_failures(session: Session, boot_id: int, failures: Sequence[Failure]) -> None:
    """Note that cases gave no result in this boot; what is stored of a case stays."""
    rows: list[dict[str, Any]] = [
        {
            "boot_id": boot_id,
            "case_id": failure.case_id,
            "state": failure.state,
            "body_sha256": "",
            "raw_sha256": failure.raw_sha256,
            "lab_faults": [],
            "tools": {},
            "error": failure.error[:LONGEST_ERROR],
        }
        for failure in failures
    ]
    result_rows.insert_failures(session, rows)


def _result_row(boot_id: int, taken: TakenResult) -> Mapping[str, Any]:
    body = taken.result.body
    return {
        "boot_id": boot_id,
        "case_id": taken.case_id,
        "state": ResultState.MEASURED,
        "body_sha256": taken.result.digest,
        "raw_sha256": taken.raw_sha256,
        "lab_faults": [fault.model_dump() for fault in body.lab_faults],
        "tools": dict(body.tools),
        "started_at": body.started_at,
        "finished_at": body.finished_at,
    }


def _measurements(boot_id: int, taken: TakenResult) -> list[Mapping[str, Any]]:
    body = taken.result.body
    return [
        {"boot_id": boot_id, "case_id": taken.case_id, **_measurement(name, metric, body.pace)}
        for name, metric in body.metrics.items()
    ]


def _details(boot_id: int, taken: TakenResult) -> list[Mapping[str, Any]]:
    told = taken.result.details
    if told is None:
        return []
    return [{"boot_id": boot_id, "case_id": taken.case_id, "body": told.model_dump(mode="json")}]


def _threads(boot_id: int, taken: TakenResult) -> list[Mapping[str, Any]]:
    told = taken.result.body.threads
    if told is None:
        return []
    return [{"boot_id": boot_id, "case_id": taken.case_id, **columns_of(told)}]


def _measurement(name: str, metric: MetricBody, pace: PaceBody | None) -> Mapping[str, Any]:
    return {
        "metric": name,
        "mean": mean_of(metric.values),
        "counted": metric.values,
        "warmup": metric.warmup or None,
        "disturbed": metric.disturbed or None,
        "slowdowns": pace.values if pace else None,
        "disturbed_slowdowns": (pace.disturbed or None) if pace else None,
        "slowdown_limit": pace.limit if pace else None,
    }
