"""Power by a controller that speaks IPMI 2.0, through the program ipmitool."""

from __future__ import annotations

from typing import NoReturn

from mitigauge.measurement.fleet.power_values import IpmiConsoleValues, IpmiPowerValues
from pipelines.adapters.power.password import read_password
from pipelines.adapters.power.program import Finished, run_program
from pipelines.adapters.power.protocol import PowerError, wait_for

PROGRAM = "ipmitool"
# A dead address takes it 20 s; a suite that it has to ask for, ten more.
LIMIT_S = 60.0
LONGEST_PASSWORD_BYTES = 20
INSTALL = "Install it on the worker's machine: apt-get install ipmitool"

# What ipmitool says, what that means, and the way out.
_MEANINGS = (
    ("RAKP 2 HMAC is invalid", "refused the password", "Correct password_file."),
    ("unauthorized name", "knows no such user", "Correct user, and enable it for IPMI over LAN."),
    (
        "invalid role",
        "does not give the user this privilege",
        "Try privilege: operator in the inventory.",
    ),
    (
        "failed: Insufficient privilege level",
        "gives the user no right to do that",
        "The user needs the privilege of an operator.",
    ),
    (
        "invalid authentication algorithm",
        "does not take this cipher suite",
        "Set cipher_suite: 17 is the newest, 3 the oldest that is not broken.",
    ),
    (
        "no matching cipher suite",
        "does not take this cipher suite",
        "Set cipher_suite: 17 is the newest, 3 the oldest that is not broken.",
    ),
    (
        "Get Auth Capabilities error",
        "does not answer",
        "Is the address right, IPMI over LAN enabled, and UDP let through?",
    ),
    (
        "Could not open socket",
        "cannot be found",
        "Is the address right, and known on the worker's machine?",
    ),
    ("lookup failed", "cannot be found", "Is the name known on the worker's machine?"),
)
# A chassis that is off cannot be cycled: completion code 0xd5.
_NOT_IN_THIS_STATE = "not supported in present state"


def ipmitool_options(values: IpmiPowerValues | IpmiConsoleValues) -> list[str]:
    """``ipmitool`` with all that it needs to reach the controller; the password by its file.

    Raises :class:`PowerError` for a password file that cannot be used.
    """
    password = read_password(values.password_file)
    if len(password.encode()) > LONGEST_PASSWORD_BYTES:
        raise PowerError(
            f"The password in {values.password_file} has more than {LONGEST_PASSWORD_BYTES} bytes.",
            hint="IPMI knows no longer ones: give the controller's user a shorter one.",
        )
    suite = [] if values.cipher_suite is None else ["-C", str(values.cipher_suite)]
    return [
        PROGRAM,
        *("-I", "lanplus", "-H", values.address, "-p", str(values.port)),
        *("-U", values.user, "-f", values.password_file, "-L", values.privilege.upper()),
        *suite,
    ]


def meaning_of(said: str) -> tuple[str, str] | None:
    """(what the controller did, the way out) of ipmitool's words; None for words not known."""
    return next(((meaning, hint) for mark, meaning, hint in _MEANINGS if mark in said), None)


class IpmiPower:
    """A controller over IPMI 2.0 (``driver: ipmi``)."""

    def __init__(self, values: IpmiPowerValues) -> None:
        self._values = values
        self._name = f"The IPMI controller {values.address}"

    def is_on(self) -> bool:
        """See PowerControl."""
        said = self._control("status").stdout.lower()
        if "power is on" in said:
            return True
        if "power is off" in said:
            return False
        raise PowerError(
            f"{self._name} answered a question for its power with {said.strip()[:80]!r}.",
            hint=f"Try `{PROGRAM} … chassis power status` by hand.",
        )

    def on(self) -> None:
        """See PowerControl."""
        if self.is_on():
            return
        self._control("on")
        wait_for(True, self.is_on, self._name)

    def off(self) -> None:
        """See PowerControl."""
        if not self.is_on():
            return
        self._control("off")
        wait_for(False, self.is_on, self._name)

    def cycle(self) -> None:
        """See PowerControl."""
        done = self._run("cycle")
        if _NOT_IN_THIS_STATE in done.stderr:
            done = self._run("on")
        if done.status != 0:
            self._fail("cycle", done)
        wait_for(True, self.is_on, self._name)

    def nmi(self) -> None:
        """See PowerControl."""
        self._control("diag")

    def progress(self) -> str:
        """IPMI tells nothing of it."""
        return ""

    def _control(self, action: str) -> Finished:
        done = self._run(action)
        if done.status != 0:
            self._fail(action, done)
        return done

    def _run(self, action: str) -> Finished:
        # -v once: only then does it say whether the password or the network is at fault.
        argv = [*ipmitool_options(self._values), "-v", "chassis", "power", action]
        return run_program(argv, limit_s=LIMIT_S, missing_hint=INSTALL)

    def _fail(self, action: str, done: Finished) -> NoReturn:
        said = f"{done.stdout}\n{done.stderr}"
        if known := meaning_of(said):
            raise PowerError(f"{self._name} {known[0]}.", hint=known[1])
        raise PowerError(
            f"{self._name} failed at `chassis power {action}`: "
            f"{done.last_line or f'exit status {done.status}'}",
            hint=f"Try it by hand: {PROGRAM} -I lanplus -H {self._values.address} …",
        )
