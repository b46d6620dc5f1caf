"""Which backups stay. Pure."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

# Of so many weeks, this one among them, the latest backup stays.
WEEKS_KEPT = 8
# Of all, however old: a clock that runs ahead makes every other one old.
LATEST_KEPT = 8


def to_stay(taken: Collection[datetime], now: datetime, days: float) -> set[datetime]:
    """Those of the moments (with a time zone) whose backups stay.

    All of the last *days*, the latest of each of the last eight weeks (from Monday, UTC), and the
    latest eight of all, however old.
    """
    stay = {at for at in taken if at > now - timedelta(days=days)}
    latest: dict[datetime, datetime] = {}
    for at in sorted(taken):
        latest[_monday(at)] = at
    oldest = _monday(now) - timedelta(weeks=WEEKS_KEPT - 1)
    stay |= {at for monday, at in latest.items() if monday >= oldest}
    return stay | set(sorted(taken)[-LATEST_KEPT:])


def _monday(at: datetime) -> datetime:
    """Midnight (UTC) at which the week of *at* began."""
    midnight = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=midnight.weekday())
