"""Stores what a counted pass left."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact import repository
from mitigauge.analysis.profiles.exact.ledger import Ledger
from mitigauge.analysis.profiles.exact.run_code import code_run, packed
from mitigauge.analysis.profiles.exact.tables import ExactCount


@dataclass(frozen=True, slots=True)
class CountedPass:
    """A case's counted pass in one boot: its ledger, or why there is none."""

    ledger: Ledger | None = None
    detail: str = ""


def store_counts(session: Session, boot_id: int, case_id: int, found: CountedPass) -> None:
    """Store *found* unless there is something of this case and boot already."""
    if repository.stored_count(session, boot_id, case_id) is not None:
        return
    session.add(
        ExactCount(
            boot_id=boot_id,
            case_id=case_id,
            instructions=found.ledger.instructions if found.ledger else None,
            detail=found.detail,
            ledger=found.ledger.to_bytes() if found.ledger else None,
            run_code=packed(code_run(found.ledger)) if found.ledger else None,
        )
    )
    session.flush()
