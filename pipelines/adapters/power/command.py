"""Power by the operator's own programs: for a power distribution unit, or any oddity."""

from __future__ import annotations

import time
from collections.abc import Sequence

from mitigauge.measurement.fleet.power_values import CommandPowerValues
from pipelines.adapters.power.program import Finished, run_program
from pipelines.adapters.power.protocol import PowerError, wait_for

_MISSING = "Write its whole path into mitigauge_power, and let the worker's user run it."


class CommandPower:
    """Programs for on and off, for cycle, or for all three (``driver: command``).

    There may be some for status and nmi. Exit status 0 is success. Where ``status`` tells, what
    was switched is checked by it.
    """

    def __init__(self, values: CommandPowerValues) -> None:
        self._values = values

    def is_on(self) -> bool:
        """What ``status`` prints; PowerError where there is no such program."""
        if self._values.status is None:
            raise PowerError(
                "Nothing tells whether the host is on: mitigauge_power has no status program.",
                hint="Give it one that prints on or off.",
            )
        done = self._run("status", self._values.status)
        said = done.stdout.strip().lower()
        if said not in ("on", "off"):
            raise PowerError(
                f"The program {self._values.status[0]} printed {said[:60]!r} as power status.",
                hint="It should print on or off, and nothing else.",
            )
        return said == "on"

    def on(self) -> None:
        """See PowerControl."""
        self._switch("on", self._values.on, True)

    def off(self) -> None:
        """See PowerControl."""
        self._switch("off", self._values.off, False)

    def cycle(self) -> None:
        """See PowerControl."""
        if self._values.cycle is not None:
            self._switch("cycle", self._values.cycle, True)
            return
        self.off()
        # Power supplies hold their charge for seconds, and the board would never notice.
        time.sleep(self._values.off_s)
        self.on()

    def nmi(self) -> None:
        """See PowerControl."""
        if self._values.nmi is None:
            raise PowerError(
                "Nothing can interrupt the host: mitigauge_power has no nmi program.",
                hint="Give it one, if the controller can.",
            )
        self._run("nmi", self._values.nmi)

    def progress(self) -> str:
        """Programs tell nothing of it."""
        return ""

    def _switch(self, action: str, argv: Sequence[str] | None, wanted: bool) -> None:
        if argv is None:
            raise PowerError(
                f"Nothing can switch the host {action}: mitigauge_power has no {action} program.",
                hint=f'Give it one, as "{action}", or use cycle.',
            )
        self._run(action, argv)
        if self._values.status is not None:
            name = f"The program {self._values.status[0]}"
            wait_for(wanted, self.is_on, name, reset=action == "cycle")

    def _run(self, action: str, argv: Sequence[str]) -> Finished:
        done = run_program(argv, limit_s=self._values.timeout_s, missing_hint=_MISSING)
        if done.status != 0:
            raise PowerError(
                f"The program {argv[0]} for {action} failed with exit status {done.status}: "
                f"{done.last_line or 'it said nothing'}",
                hint="Run it by hand, as the worker's user.",
            )
        return done
