"""SQL of exact counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import RowMapping, Table, func, null, select, text
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.run_code import CodeRun, code_run, unpacked
from mitigauge.analysis.profiles.exact.tables import ExactCount, ExactOperation, StoredBill
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot
from mitigauge.storage.database.engine import BINARY

OPERATION_TABLE = cast("Table", ExactOperation.__table__)


class CaseInArm(NamedTuple):
    """A case in an arm of a run."""

    run_id: int
    case_id: int
    arm_id: int


class OperationRow(NamedTuple):
    """A stored operation without its instructions. *events*: the digest of the bill's."""

    number: int
    events: str
    bill: StoredBill
    summary: bytes


class BillRow(NamedTuple):
    """A stored bill, and the rows of counts that it is of."""

    counts: list[int]
    steady: int
    bill: StoredBill


def stored_count(session: Session, boot_id: int, case_id: int) -> ExactCount | None:
    """What is stored of a case in a boot."""
    return session.scalar(
        select(ExactCount).where(ExactCount.case_id == case_id, ExactCount.boot_id == boot_id)
    )


def ledgers_of(session: Session, counts: Sequence[int]) -> dict[int, Ledger]:
    """The ledgers by the number of their row; those without one are left out."""
    rows = session.execute(
        select(ExactCount.id, ExactCount.ledger).where(
            ExactCount.id.in_(counts), ExactCount.ledger.is_not(None)
        ),
        execution_options=BINARY,
    )
    return {id_: Ledger.from_bytes(packed) for id_, packed in rows if packed is not None}


def code_run_by(session: Session, counts: Sequence[int]) -> dict[int, CodeRun]:
    """What each of these ran of the kernel; those without a ledger are left out."""
    rows = session.execute(
        select(ExactCount.id, ExactCount.run_code).where(
            ExactCount.id.in_(counts), ExactCount.ledger.is_not(None)
        ),
        execution_options=BINARY,
    )
    stored = {number: unpacked(kept) for number, kept in rows}
    missing = [number for number, code in stored.items() if code is None]
    return {number: code for number, code in stored.items() if code is not None} | {
        number: code_run(ledger) for number, ledger in ledgers_of(session, missing).items()
    }


def counts_of_runs(session: Session, run_ids: Sequence[int]) -> dict[CaseInArm, list[int]]:
    """The exact counts with a ledger of each case and arm, of boots that count, block by block."""
    rows = session.execute(
        select(
            Boot.run_id,
            ExactCount.case_id,
            Boot.arm_id,
            func.array_agg(aggregate_order_by(ExactCount.id, Boot.block, ExactCount.id)),
        )
        .join(Boot, ExactCount.boot_id == Boot.id)
        .where(
            Boot.run_id.in_(run_ids),
            Boot.state == BootState.EFFECTIVE,
            ExactCount.instructions.is_not(None),
        )
        .group_by(Boot.run_id, ExactCount.case_id, Boot.arm_id)
    )
    return {CaseInArm(run, case, arm): list(counts) for run, case, arm, counts in rows}


def operation_row(
    session: Session, of: CaseInArm, counts: Sequence[int], form: str
) -> OperationRow | None:
    """What is stored of those *counts* in this *form*."""
    rows = session.execute(
        select(
            ExactOperation.id.label("number"),
            ExactOperation.events,
            ExactOperation.bill,
            ExactOperation.summary,
        ).where(
            ExactOperation.run_id == of.run_id,
            ExactOperation.case_id == of.case_id,
            ExactOperation.arm_id == of.arm_id,
            ExactOperation.counts == list(counts),
            ExactOperation.form == form,
            ExactOperation.steady.is_not(None),
        ),
        execution_options=BINARY,
    )
    row = rows.mappings().one_or_none()
    return None if row is None else OperationRow(**row)


def operation_lines(
    session: Session,
    number: int,
    counts: Sequence[int],
    form: str,
    *,
    start: int = 0,
    length: int | None = None,
) -> bytes | None:
    """The packed instructions of a stored operation, or *length* bytes of them from *start* on.

    None where the row is of other *counts* or in another *form* by now.
    """
    wanted = (
        ExactOperation.lines
        if length is None
        else func.substring(ExactOperation.lines, start + 1, length)
    )
    return session.scalar(
        select(wanted).where(
            ExactOperation.id == number,
            ExactOperation.counts == list(counts),
            ExactOperation.form == form,
        ),
        execution_options=BINARY,
    )


def bill_rows(
    session: Session, run_ids: Collection[int], form: str, events: str
) -> dict[CaseInArm, BillRow]:
    """The bills of the runs' operations that are stored in this *form* with those *events*."""
    rows = session.execute(
        select(
            ExactOperation.run_id,
            ExactOperation.case_id,
            ExactOperation.arm_id,
            ExactOperation.counts,
            ExactOperation.steady,
            ExactOperation.bill,
        ).where(
            ExactOperation.run_id.in_(run_ids),
            ExactOperation.form == form,
            ExactOperation.events == events,
            ExactOperation.steady.is_not(None),
        )
    )
    return {
        CaseInArm(*(row[name] for name in CaseInArm._fields)): BillRow(
            *(row[name] for name in BillRow._fields)
        )
        for row in rows.mappings()
    }


def put_operation(session: Session, of: CaseInArm, values: dict[str, Any]) -> None:
    """Store an operation in place of what was stored of that case and arm."""
    # None in a column of JSON would be JSON's null, which is a value to PostgreSQL.
    stored = {name: null() if value is None else value for name, value in values.items()}
    session.execute(
        insert(OPERATION_TABLE)
        .values(**of._asdict(), **stored)
        .on_conflict_do_update(
            index_elements=list(CaseInArm._fields), set_={**stored, "stored_at": func.now()}
        )
    )


def newest_counts(session: Session) -> Sequence[RowMapping]:
    """Of each case, mode, host and build of a kernel the newest exact count, the newest first.

    *notes*: the digest of what the kernel's build noted; None where it noted nothing.
    """
    return session.execute(_NEWEST_COUNTS).mappings().all()


# Parameters are the same where their texts are: PostgreSQL keeps keys of jsonb in one order.
_NEWEST_COUNTS = text(
    """
    SELECT * FROM (
        SELECT DISTINCT ON
            (c.workload, c.parameters::text, a.family, a.mode, h.id, b.proof ->> 'build_id')
            e.id, c.workload, c.parameters, c.title, a.family, a.mode, h.environment,
            h.name AS host, coalesce(b.proof ->> 'kernel_release', a.kernel) AS kernel,
            (
                SELECT k.functions_sha256 FROM kernel k
                WHERE k.build_id = b.proof ->> 'build_id' AND k.functions_sha256 IS NOT NULL
                LIMIT 1
            ) AS notes,
            e.stored_at
        FROM exact_count e
            JOIN benchmark_case c ON c.id = e.case_id
            JOIN boot b ON b.id = e.boot_id
            JOIN arm a ON a.id = b.arm_id
            JOIN run r ON r.id = b.run_id
            JOIN host h ON h.id = r.host_id
        WHERE e.ledger IS NOT NULL AND b.state = 'effective'
        ORDER BY c.workload, c.parameters::text, a.family, a.mode, h.id, b.proof ->> 'build_id',
            e.stored_at DESC, e.id DESC
    ) newest
    ORDER BY stored_at DESC, id DESC
    """
)
