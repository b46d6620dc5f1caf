"""Power of a host, whatever controls it.

A driver is a baseboard controller in this sense: it works when the host's kernel does not, and
it stays reachable while the host is off. One file is one driver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.fleet.power_values import POWER_DRIVERS, power_values
from pipelines.adapters.power.command import CommandPower
from pipelines.adapters.power.ipmi import IpmiPower
from pipelines.adapters.power.none import NoPower
from pipelines.adapters.power.protocol import PowerControl, PowerError
from pipelines.adapters.power.qemu import QemuPower
from pipelines.adapters.power.redfish import RedfishPower

__all__ = ["DRIVERS", "PowerControl", "PowerError", "open_power"]

# Each takes the values that its model of the same name has checked.
DRIVERS: Mapping[str, Callable[[Any], PowerControl]] = {
    "command": CommandPower,
    "ipmi": IpmiPower,
    "none": NoPower,
    "qemu": QemuPower,
    "redfish": RedfishPower,
}


def open_power(host_vars: Mapping[str, Any]) -> PowerControl:
    """The power control that ``mitigauge_power`` of an inventory host describes.

    Nothing is spoken to yet. Raises :class:`InvalidInput` for a host without it, or a bad one.
    """
    power = host_vars.get("mitigauge_power")
    if not power:
        raise InvalidInput(
            "The host has no mitigauge_power in its inventory.",
            hint=f"Give it a driver: {', '.join(sorted(POWER_DRIVERS))}.",
        )
    try:
        values = power_values(power)
    except ValueError as error:
        raise InvalidInput(
            f"The host's mitigauge_power is wrong: {error}.",
            hint=f"Correct the inventory. Drivers: {', '.join(sorted(POWER_DRIVERS))}.",
        ) from error
    return DRIVERS[values.driver](values)
