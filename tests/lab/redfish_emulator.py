"""The sushy emulator before a chassis of ours; run by the Python that it is installed for.

Its own driver keeps a power state of its own; this one asks and tells the program ``CHASSIS``.
"""

from __future__ import annotations

import subprocess

from sushy_tools import error
from sushy_tools.emulator import main as emulator
from sushy_tools.emulator.resources.systems import fakedriver

_TOLD = {
    "On": ("power", "1"),
    "ForceOn": ("power", "1"),
    "ForceOff": ("power", "0"),
    "ForceRestart": ("reset", "1"),
    "Nmi": ("nmi", "1"),
}


class ChassisDriver(fakedriver.FakeDriver):  # type: ignore[misc]
    """One system, whose power is a program's."""

    def get_power_state(self, identity: str) -> str:
        """On or Off, as the program says."""
        self._get(identity)
        return "On" if "power:1" in self._chassis("get", "power") else "Off"

    def set_power_state(self, identity: str, state: str) -> None:
        """Told to the program."""
        self._get(identity)
        if state not in _TOLD:
            raise error.NotSupportedError(f"{state} is nothing that this chassis can do")
        self._chassis("set", *_TOLD[state])

    def _chassis(self, *words: str) -> str:
        command = [self._config["CHASSIS"], *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    fakedriver.FakeDriver = ChassisDriver
    emulator.main()
