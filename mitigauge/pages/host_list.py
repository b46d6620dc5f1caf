"""The list of hosts, read without SQLAlchemy where a command asks for it: see experiment_list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mitigauge.database.direct import direct_connection
from mitigauge.fleet.natural_order import natural_order
from mitigauge.pages.host_list_repository import hosts_asked
from mitigauge.pages.host_schemas import HostSummary


def listed() -> list[HostSummary]:
    """All hosts that ever took part in an experiment, host-2 before host-10.

    The same as :func:`mitigauge.pages.hosts.list_hosts`. Raises
    :class:`mitigauge.errors.NotReady` where the database is not at head.
    """
    statement, given = hosts_asked()
    with direct_connection() as connection:
        return in_order(connection.execute(statement.encode(), given).fetchall())


def in_order(rows: Iterable[Mapping[str, Any]]) -> list[HostSummary]:
    """The hosts by environment and name."""
    hosts = [HostSummary(**row) for row in rows]
    return sorted(hosts, key=lambda host: (host.environment, natural_order(host.name)))
