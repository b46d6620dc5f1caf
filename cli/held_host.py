"""A host of the inventory that a command works on by itself, while no run begins there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.stored import stored
from mitigauge.core.errors import NotFound

if TYPE_CHECKING:
    from pipelines.adapters.ansible_host import AnsibleHost
    from pipelines.host_control import RunLog


@dataclass(frozen=True)
class HeldHost:
    """A log that drops its lines and knows whether a run took the host after all."""

    environment: str
    name: str

    def line(self, kind: str, text: str) -> None:
        """Drop the line."""

    def alive(self) -> bool:
        """A play that has begun is not stopped."""
        return True

    def holds(self) -> bool:
        """Whether no run holds the host; asked before each play."""
        from mitigauge.measurement.runs import service

        with stored() as session:
            service.require_free(session, self.environment, self.name)
        return True


@contextmanager
def kept_out(environment: str, name: str, command: str) -> Iterator[None]:
    """No run begins on the host meanwhile."""
    from mitigauge.measurement.runs import service

    with stored() as session:
        ours = service.keep_out(session, environment, name, f"{command} is at work")
    try:
        yield
    finally:
        if ours:
            with stored() as session:
                service.bring_back(session, environment, name, by="")


def host_of(environment: str, name: str, log: RunLog) -> AnsibleHost:
    """The host of the inventory. Raises :class:`NotFound` naming the known ones."""
    from mitigauge.measurement.fleet.inventory import load_hosts
    from pipelines.adapters.ansible_host import AnsibleHost

    hosts = load_hosts(environment)
    if name not in hosts:
        raise NotFound(
            f"environment {environment!r} has no host {name!r}", hint=f"Known: {', '.join(hosts)}."
        )
    return AnsibleHost(hosts[name], log)
