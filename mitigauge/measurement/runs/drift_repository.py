"""When hosts became other machines: changes of the fingerprints that their boots showed.

A fingerprint is told by what an arm does not set, so that boots of two arms have the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from mitigauge.measurement.fleet.tables import Fingerprint
from mitigauge.measurement.runs.tables import Boot, Run


class PrintChange(NamedTuple):
    """A boot that showed another fingerprint than the boot before it on the host."""

    host_id: int
    fingerprint_id: int
    previous: int
    at: datetime
    back: bool
    """Whether the host had shown it before."""


def print_changes(
    session: Session,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    since: datetime | None = None,
    host_id: int | None = None,
) -> list[PrintChange]:
    """Changes from *start* to *end*, oldest first, on all hosts or on one.

    Boots before *since* are not looked at.
    """
    before = (
        func.lag(Boot.fingerprint_id)
        .over(partition_by=Run.host_id, order_by=(Boot.started_at, Boot.id))
        .label("previous")
    )
    boots = (
        select(Run.host_id, Boot.fingerprint_id, before, Boot.started_at)
        .join(Run, Boot.run_id == Run.id)
        .where(Boot.fingerprint_id.is_not(None), Boot.started_at.is_not(None))
    )
    if since is not None:
        boots = boots.where(Boot.started_at >= since)
    if end is not None:
        boots = boots.where(Boot.started_at < end)
    if host_id is not None:
        boots = boots.where(Run.host_id == host_id)
    lines = boots.subquery()
    # A fingerprint is stored some minutes after its boot began, the first time.
    first_boot = (
        select(func.min(Boot.started_at))
        .where(Boot.fingerprint_id == lines.c.fingerprint_id)
        .correlate(lines)
        .scalar_subquery()
    )
    changes = (
        select(
            lines.c.host_id,
            lines.c.fingerprint_id,
            lines.c.previous,
            lines.c.started_at,
            (first_boot < lines.c.started_at),
        )
        .where(lines.c.fingerprint_id != lines.c.previous)
        .order_by(lines.c.started_at, lines.c.host_id)
    )
    if start is not None:
        changes = changes.where(lines.c.started_at >= start)
    return [PrintChange(*tuple[Any, ...](row)) for row in session.execute(changes)]


def facts_of(session: Session, changes: Sequence[PrintChange]) -> dict[int, dict[str, Any]]:
    """fingerprint id → facts, of all that the changes name."""
    ids = {each for change in changes for each in (change.fingerprint_id, change.previous)}
    rows = session.execute(select(Fingerprint.id, Fingerprint.facts).where(Fingerprint.id.in_(ids)))
    return {row[0]: row[1] for row in rows}
