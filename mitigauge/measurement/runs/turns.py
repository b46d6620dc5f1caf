"""Turns on a machine: hosts that share one boot side by side, and measure alone.

A host that measures must be alone with its processors, since whatever another one does
shows in its figures. Booting disturbs nobody's figures but a measurement's, so several
boot at once, and none begins to while another waits to measure: nobody starves.

In the figures of a host whose time counts instructions nothing shows. Such hosts boot and measure
side by side, and wait only for a host in real time, which they would disturb.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs.lease_repository import Lease, activities_beside, note_activity
from mitigauge.measurement.runs.states import Activity

EXCLUDES = {
    Activity.BOOTING: (Activity.WAITING, Activity.MEASURING),
    Activity.MEASURING: (Activity.BOOTING, Activity.MEASURING),
}


def take_turn(session: Session, lease: Lease, wanted: Activity) -> bool:
    """Begin to boot or to measure; False while another host of the machine stands against it.

    Either way the turn the host had before is over. Serialised by machine.
    """
    host = session.get_one(Host, lease.host_id)
    others = activities_beside(session, host, counted_too=host.clock != Clock.COUNTED)
    free = not any(other in EXCLUDES[wanted] for other in others)
    refused = Activity.WAITING if wanted is Activity.MEASURING else Activity.IDLE
    note_activity(session, lease, wanted if free else refused)
    return free


def end_turn(session: Session, lease: Lease) -> None:
    """Leave the machine to others, until the next turn is taken."""
    note_activity(session, lease, Activity.IDLE)
