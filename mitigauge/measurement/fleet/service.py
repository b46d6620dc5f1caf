"""What the inventory says of hosts, in our words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.fleet.boot_method import HostBoots
from mitigauge.measurement.fleet.inventory_values import address_of, names_one_host, values_of


@dataclass(frozen=True)
class HostVars:
    """One host of the inventory.

    *power* and *console* have passed their drivers' checks; *variables* are all, as the
    inventory has them.
    """

    name: str
    environment: str
    host_class: str
    emulated: bool
    clock: Clock
    capabilities: frozenset[str]
    boot_timeout_s: float
    boots: HostBoots = HostBoots.RESET
    machine: str = ""
    address: str = ""
    port: int = 22
    power: Mapping[str, Any] = field(default_factory=dict)
    console: Mapping[str, Any] = field(default_factory=dict)
    guest_image: str = ""
    """The operator's, which its guests boot; empty where they boot ours."""
    for_plays: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)


def host_vars(
    name: str, environment: str, variables: Mapping[str, Any], *, boot_timeout_s: float
) -> HostVars:
    """Read a host's inventory variables; raises :class:`InvalidInput` naming a bad one."""
    if not names_one_host(name):
        raise InvalidInput(
            f"host {name[:80]!r} has a name that Ansible could take for a pattern",
            hint="Use letters, digits and . _ -, at most 63, beginning with a letter or digit.",
        )
    values = values_of(name, variables)
    address = address_of(name, variables)
    return HostVars(
        name=name,
        environment=environment,
        host_class=values.host_class,
        emulated=values.emulated,
        clock=values.clock,
        capabilities=frozenset(values.capabilities),
        boot_timeout_s=values.boot_timeout_s or boot_timeout_s,
        boots=values.boot,
        machine=values.machine or f"{environment}/{name}",
        address=address.ansible_host,
        port=address.ansible_port,
        power=values.power,
        console=values.console,
        guest_image=values.guest_image or "",
        for_plays=values.for_plays(),
        variables=variables,
    )
