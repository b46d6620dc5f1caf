"""SQL of what operations run by exact counts, and which of it is not stored."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.repository import CaseInArm

# Counts of boots that count, in the order in which pages take them. Without an index it reads the
# short part of each row alone: ledgers lie apart.
_NOT_STORED = text(
    """
    SELECT now.run_id, now.case_id, now.arm_id, now.counts
    FROM (
        SELECT b.run_id, e.case_id, b.arm_id, array_agg(e.id ORDER BY b.block, e.id) AS counts
        FROM exact_count e
            JOIN boot b ON b.id = e.boot_id
        WHERE e.instructions IS NOT NULL AND b.state = 'effective'
        GROUP BY b.run_id, e.case_id, b.arm_id
    ) now
        LEFT JOIN exact_operation stored USING (run_id, case_id, arm_id)
    WHERE stored.id IS NULL
        OR stored.counts <> now.counts
        OR stored.form <> :form
        OR stored.events <> :events
    ORDER BY now.run_id DESC, now.case_id, now.arm_id
    """
)


def not_stored(session: Session, form: str, events: str) -> list[tuple[CaseInArm, list[int]]]:
    """Cases in arms whose operation is not stored of all their counts, in this *form* and with
    these *events*; with the rows of their counts, the newest runs first."""
    rows = session.execute(_NOT_STORED, {"form": form, "events": events})
    return [(CaseInArm(run, case, arm), counts) for run, case, arm, counts in rows]
