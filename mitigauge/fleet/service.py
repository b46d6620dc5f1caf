"""What the inventory says of hosts, in our words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mitigauge.errors import InvalidInput


@dataclass(frozen=True)
class HostVars:
    """One host of the inventory."""

    name: str
    environment: str
    host_class: str
    emulated: bool
    capabilities: frozenset[str]
    boot_timeout_s: float
    machine: str = ""
    power: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)


def host_vars(
    name: str, environment: str, variables: Mapping[str, Any], *, boot_timeout_s: float
) -> HostVars:
    """Read a host's inventory variables; raises :class:`InvalidInput` naming a bad one."""
    emulated = variables.get("mitigauge_emulated", False)
    if not isinstance(emulated, bool):
        raise InvalidInput(
            f"host {name}: mitigauge_emulated is {emulated!r}",
            hint="Write true or false in the inventory.",
        )
    try:
        timeout = float(variables.get("mitigauge_boot_timeout_s", boot_timeout_s))
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"host {name}: mitigauge_boot_timeout_s is no number of seconds",
            hint="Write for example 240.",
        ) from error
    return HostVars(
        name=name,
        environment=environment,
        host_class=str(variables.get("mitigauge_class", "unknown class")),
        emulated=emulated,
        capabilities=frozenset(map(str, variables.get("mitigauge_capabilities", []))),
        boot_timeout_s=timeout,
        machine=str(variables.get("mitigauge_machine", f"{environment}/{name}")),
        power=variables.get("mitigauge_power", {}),
        variables=variables,
    )
