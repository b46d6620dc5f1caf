"""Whether a moment that was written down has come; its clock may have been ahead.

A clock that is a year ahead for an hour leaves moments behind that would hold work up for a year.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, or_
from sqlalchemy.orm import InstrumentedAttribute

# No lease is taken for longer, and no run or job waits longer before it is looked at again.
LONGEST_LEASE, LONGEST_WAIT = timedelta(hours=1), timedelta(days=1)

Column = InstrumentedAttribute[datetime] | InstrumentedAttribute[datetime | None]


def has_come(at: datetime, now: datetime, longest: timedelta) -> bool:
    """Whether *at* is over, or farther ahead than the *longest* wait of its kind."""
    return not now < at <= now + longest


def column_has_come(
    at: Column, longest: timedelta, *, grace: timedelta = timedelta(0)
) -> ColumnElement[bool]:
    """The same of a column, by the database's clock; over for *grace* at least."""
    now = func.clock_timestamp()
    return or_(at <= now - grace, at > now + longest)


def began_before(at: Column, ago: timedelta) -> ColumnElement[bool]:
    """Whether *at* is longer *ago* than that, or ahead, so that nobody knows how long ago."""
    now = func.clock_timestamp()
    return or_(at < now - ago, at > now)
