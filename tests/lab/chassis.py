"""The chassis of an emulated host, as a controller's program: ``VALUES get power``, and so on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import orjson

from mitigauge.measurement.fleet.power_values import QemuPowerValues
from pipelines.adapters.power.qemu import QemuPower


def main() -> int:
    """Do one thing with the host's power; 2 for what no chassis can do."""
    power = QemuPower(QemuPowerValues.model_validate(orjson.loads(sys.argv[1])))
    words = sys.argv[2:]
    if words[0] == "get":
        for each in words[1:]:
            print(f"{each}:{int(power.is_on()) if each == 'power' else 0}")
        return 0
    actions: Mapping[tuple[str, ...], Callable[[], None]] = {
        ("set", "power", "1"): power.on,
        ("set", "power", "0"): power.off,
        ("set", "reset", "1"): power.cycle,
        ("set", "nmi", "1"): power.nmi,
    }
    action = actions.get(tuple(words))
    if action is None:
        return 2
    action()
    return 0


if __name__ == "__main__":
    sys.exit(main())
