"""Power of the whole host as its controller (BMC) tells it, in-band: `ipmitool dcmi power reading`.

DCMI specification 1.5, 6.6.1: Get Power Reading.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
import time
from typing import Any

from _kit.contract import CaseError
from _kit.perf import locale

COMMAND = ("ipmitool", "-I", "open", "dcmi", "power", "reading")
# A controller has no new figure sooner, and answers some after seconds only.
EVERY_S, LIMIT_S = 1.0, 20.0
ADVICE = "say power: without"
_WATTS = re.compile(r"^[^\S\n]*Instantaneous power reading:\s+(\d{1,9}) Watts[^\S\n]*$", re.M)
_STATE = re.compile(r"^[^\S\n]*Power reading state is:\s+(\S+)[^\S\n]*$", re.M)


class NoReading(Exception):
    """The controller told no power; the text says why."""


def watts_of(said: str) -> int:
    """Watts in ipmitool's words; :class:`NoReading` where they hold none."""
    watts, state = _WATTS.search(said), _STATE.search(said)
    if not watts or not state:
        raise NoReading(f"ipmitool said {said.strip()[:200]!r}")
    if state[1] != "activated":
        raise NoReading(f"its power reading is {state[1][:40]}")
    # A host that runs takes some: controllers say 0 for what they do not measure.
    if int(watts[1]) == 0:
        raise NoReading("it tells 0 W")
    return int(watts[1])


def read_watts() -> int:
    """Watts now; :class:`NoReading` where the host cannot tell."""
    try:
        done = subprocess.run(
            COMMAND, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            check=False, timeout=LIMIT_S, env=locale(),
        )  # fmt: skip
    except FileNotFoundError:
        raise NoReading("ipmitool is not installed on the host: apt install ipmitool") from None
    except subprocess.TimeoutExpired:
        raise NoReading(f"ipmitool: no end within {LIMIT_S:g} s") from None
    if done.returncode:
        said = (done.stderr + done.stdout).strip()[-300:]
        raise NoReading(said or f"ipmitool ended with {done.returncode}")
    return watts_of(done.stdout)


def require_bmc() -> None:
    """CaseError where this host's controller tells no power."""
    try:
        read_watts()
    except NoReading as error:
        raise CaseError(f"the host's BMC tells no power: {error}; {ADVICE}") from None


class Readings(threading.Thread):
    """Asks the controller again and again; it answers at its own pace."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._ended = threading.Event()
        self._taken: list[tuple[float, int]] = []

    def run(self) -> None:
        """Until it is told to end; a reading that fails is left out."""
        while not self._ended.is_set():
            began = time.monotonic()
            with contextlib.suppress(NoReading):
                watts = read_watts()
                self._taken.append((time.monotonic(), watts))
            self._ended.wait(max(0.0, EVERY_S - (time.monotonic() - began)))

    def end(self) -> None:
        """Ask no more."""
        self._ended.set()
        self.join()

    def since(self, began: float) -> list[dict[str, Any]]:
        """The readings; `at` in seconds after `began` of the monotonic clock."""
        return [{"at": round(at - began, 3), "watts": watts} for at, watts in self._taken]
