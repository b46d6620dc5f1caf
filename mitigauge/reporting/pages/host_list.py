"""The list of hosts, read without SQLAlchemy where a command asks for it: see experiment_list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mitigauge.core.natural_order import natural_order
from mitigauge.reporting.pages.host_list_repository import hosts_asked
from mitigauge.reporting.pages.host_schemas import HostSummary
from mitigauge.storage.database.direct import direct_connection


class HostState(StrEnum):
    """What a host is in a list."""

    FREE = "free"
    IN_USE = "in-use"
    RESERVED = "reserved"
    SET_ASIDE = "set-aside"


@dataclass(frozen=True, slots=True)
class HostFilter:
    """Which hosts to list; empty: all."""

    find: str = ""
    """Each of its words in name, environment, class or capabilities, in any case."""
    states: Collection[HostState] = ()

    def takes(self, host: HostSummary) -> bool:
        """Whether the host is asked for."""
        named = " ".join((host.name, host.environment, host.host_class, *host.capabilities))
        words = all(word in named.lower() for word in self.find.lower().split())
        return words and (not self.states or state_of(host) in self.states)


EVERY_HOST = HostFilter()


def state_of(host: HostSummary) -> HostState:
    """What keeps runs from it first, then who has it."""
    if host.set_aside_at is not None:
        return HostState.SET_ASIDE
    if host.reserved_until is not None:
        return HostState.RESERVED
    return HostState.IN_USE if host.leased_by else HostState.FREE


def listed(wanted: HostFilter = EVERY_HOST) -> list[HostSummary]:
    """Hosts that ever took part in an experiment, host-2 before host-10.

    The same as :func:`mitigauge.reporting.pages.hosts.list_hosts`. Raises
    :class:`mitigauge.core.errors.NotReady` where the database is not at head.
    """
    statement, given = hosts_asked()
    with direct_connection() as connection:
        return in_order(connection.execute(statement.encode(), given).fetchall(), wanted)


def in_order(
    rows: Iterable[Mapping[str, Any]], wanted: HostFilter = EVERY_HOST
) -> list[HostSummary]:
    """The hosts that are asked for, by environment and name."""
    hosts = [host for row in rows if wanted.takes(host := HostSummary(**row))]
    return sorted(hosts, key=lambda host: (host.environment, natural_order(host.name)))
