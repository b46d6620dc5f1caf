"""Weeks as ISO 8601 counts them, from Monday 00:00 UTC. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mitigauge.core.errors import InvalidInput

LENGTH = timedelta(days=7)
_FORM = re.compile(r"([12]\d{3})-W([0-5]\d)")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """One week of one year, written ``2026-W47``."""

    year: int
    number: int

    @classmethod
    def parse(cls, text: str) -> Week:
        """The week that *text* names. Raises :class:`InvalidInput` for anything else."""
        found = _FORM.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            week = cls(int(found[1]), int(found[2]))
            # A year has 52 or 53 weeks.
            datetime.fromisocalendar(week.year, week.number, 1)
        except ValueError:
            raise InvalidInput(
                f"{text[:40]!r} is no week", hint="Write year and week as 2026-W47 (ISO 8601)."
            ) from None
        return week

    @classmethod
    def of(cls, moment: datetime) -> Week:
        """The week that *moment*, which knows its time zone, is in."""
        year, number, _ = moment.astimezone(UTC).isocalendar()
        return cls(year, number)

    @property
    def start(self) -> datetime:
        """Its first moment."""
        return datetime.fromisocalendar(self.year, self.number, 1).replace(tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The first moment after it."""
        return self.start + LENGTH

    def earlier(self, weeks: int = 1) -> Week:
        """The week so many before it."""
        return Week.of(self.start - weeks * LENGTH)

    def in_words(self) -> str:
        """``Monday 16 to Sunday 22 November 2026``, with both months where they differ."""
        first, last = self.start, self.end - timedelta(days=1)
        from_month = "" if first.month == last.month else f" {_MONTHS[first.month - 1]}"
        from_year = "" if first.year == last.year else f" {first.year}"
        return (
            f"Monday {first.day}{from_month}{from_year} to "
            f"Sunday {last.day} {_MONTHS[last.month - 1]} {last.year}"
        )

    def __str__(self) -> str:
        return f"{self.year}-W{self.number:02}"
