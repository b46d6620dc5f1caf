"""SQL of exact counts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from mitigauge.database.engine import BINARY
from mitigauge.profiles.exact.ledger import Ledger
from mitigauge.profiles.exact.tables import ExactCount


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
