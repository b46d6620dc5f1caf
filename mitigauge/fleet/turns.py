"""Turns on a machine: hosts that share one boot side by side, and measure alone.

A host that measures must be alone with its processors, since whatever another one does
shows in its figures. Booting disturbs nobody's figures but a measurement's, so several
boot at once, and none begins to while another waits to measure: nobody starves.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from mitigauge.fleet.leases import Lease, note_activity
from mitigauge.fleet.tables import Host, HostLease


class Activity(StrEnum):
    """What a leased host does with its machine."""

    IDLE = "idle"
    BOOTING = "booting"
    """Boots, or is prepared or restored."""
    WAITING = "waiting"
    """Is booted, and waits to measure."""
    MEASURING = "measuring"


EXCLUDES = {
    Activity.BOOTING: (Activity.WAITING, Activity.MEASURING),
    Activity.MEASURING: (Activity.BOOTING, Activity.MEASURING),
}


def take_turn(session: Session, lease: Lease, wanted: Activity) -> bool:
    """Begin to boot or to measure; False while another host of the machine stands against it.

    Either way the turn the host had before is over. Serialised by machine.
    """
    machine = session.scalars(select(Host.machine).where(Host.id == lease.host_id)).one()
    session.execute(select(func.pg_advisory_xact_lock(func.hashtext(machine))))
    others = session.scalars(
        select(HostLease.activity)
        .join(Host, HostLease.host_id == Host.id)
        .where(
            Host.machine == machine,
            HostLease.host_id != lease.host_id,
            HostLease.released_at.is_(None),
        )
    ).all()
    free = not any(other in EXCLUDES[wanted] for other in others)
    refused = Activity.WAITING if wanted is Activity.MEASURING else Activity.IDLE
    note_activity(session, lease, wanted if free else refused)
    return free


def end_turn(session: Session, lease: Lease) -> None:
    """Leave the machine to others, until the next turn is taken."""
    note_activity(session, lease, Activity.IDLE)
