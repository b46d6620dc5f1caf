"""What could not be dealt with: counted, and set aside with its reason when it fails again.

So that one mail, or one thread, never stands before those behind it for ever.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.core.errors import MitigaugeError, NotReady
from mitigauge.core.hostile_text import clean_text
from mitigauge.jobs.blame import OF_MACHINE
from mitigauge.tracking.series import fault_repository as repository

# Where mails of a Maildir fail; archives are places by their address.
MAILDIR = "maildir"
MOST_FAILURES = 2
# Of a thread that its archive does not give: that may be over tomorrow.
MOST_AWAY = 20
LONGEST_WHY = 500


def is_ours(error: BaseException) -> bool:
    """Whether this machine, and not what came, is at fault: it is tried again without a count."""
    if isinstance(error, OSError):
        return error.errno in OF_MACHINE
    server_s = isinstance(error, MitigaugeError) and error.status >= 500
    return isinstance(error, NotReady | MemoryError) or server_s


def failed(session: Session, place: str, name: str, why: str, most: int = MOST_FAILURES) -> bool:
    """Count a failure with its reason; whether it is set aside now, after *most* of them."""
    row = repository.count(session, place, clean_text(name), clean_text(why)[:LONGEST_WHY])
    row.set_aside = row.set_aside or row.failures >= most
    return row.set_aside


def words(session: Session, place: str = "") -> list[str]:
    """What is set aside, the newest first, a line a thing."""
    return [
        f"{row.name} ({row.last_at:%Y-%m-%d %H:%M} UTC): {row.why}"
        for row in repository.set_aside(session, place)
    ]
