"""Whether a run may begin on a host, and what stands against it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.fleet.tables import Host
from mitigauge.storage.database.waits import LONGEST_WAIT, has_come

LONGEST_DAYS = 60
_LASTS = re.compile(r"(\d{1,4})([hd])")


@dataclass(frozen=True, slots=True)
class Kept:
    """Why no run begins on a host now."""

    why: str
    until: datetime | None
    """When one may; None: once a person says so."""


def kept_from(host: Host, now: datetime) -> Kept | None:
    """What keeps runs from beginning on *host* at *now*; None: nothing does.

    Of two that do, the one that lasts longer.
    """
    kept = [each for each in (_aside(host, now), _reserved(host, now)) if each is not None]
    return max(kept, key=lambda k: (k.until is None, k.until or now), default=None)


def _aside(host: Host, now: datetime) -> Kept | None:
    if host.set_aside_at is None:
        return None
    if host.set_aside_by:
        return Kept(
            f"{host.name} is set aside by {host.set_aside_by}: {host.set_aside_reason}", None
        )
    if host.probe_at is None or has_come(host.probe_at, now, LONGEST_WAIT):
        return None
    return Kept(
        f"{host.name} is set aside, next probe {host.probe_at:%H:%M} UTC: {host.set_aside_reason}",
        host.probe_at,
    )


def is_reserved(host: Host, now: datetime) -> bool:
    """Whether somebody has the host at *now*."""
    return host.reserved_until is not None and host.reserved_until > now


def _reserved(host: Host, now: datetime) -> Kept | None:
    if not is_reserved(host, now):
        return None
    until = f"{host.reserved_until:%Y-%m-%d %H:%M} UTC"
    return Kept(
        f"{host.name} is reserved by {host.reserved_by} until {until}: {host.reserved_reason}",
        host.reserved_until,
    )


def moment(text: str, now: datetime) -> datetime:
    """``8h``, ``3d``, or a date with or without time, in UTC unless it names a zone.

    Raises :class:`InvalidInput` for anything else.
    """
    lasts = _LASTS.fullmatch(text.strip())
    if lasts:
        number = int(lasts[1])
        return now + (timedelta(hours=number) if lasts[2] == "h" else timedelta(days=number))
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(
            f"{text[:60]!r} is no time", hint="Give 8h, 3d, 2026-12-01 or 2026-12-01T18:00 (UTC)."
        ) from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def require_time(until: datetime, now: datetime) -> None:
    """Raise :class:`InvalidInput` for a time that is past or too far away."""
    if until <= now:
        raise InvalidInput(
            f"{until:%Y-%m-%d %H:%M} UTC is past", hint=f"It is {now:%Y-%m-%d %H:%M} UTC now."
        )
    if until > now + timedelta(days=LONGEST_DAYS):
        raise InvalidInput(
            f"{until:%Y-%m-%d} is more than {LONGEST_DAYS} days away",
            hint="Set the host aside, which lasts until somebody takes it back.",
        )
