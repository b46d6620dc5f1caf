"""Power by a controller that speaks IPMI 2.0, through the program ipmitool."""

from __future__ import annotations

import os
import time
from typing import NoReturn

from mitigauge.core.logs.logger import get_logger
from mitigauge.measurement.fleet.power_values import IpmiConsoleValues, IpmiPowerValues
from pipelines.adapters.power.password import read_password
from pipelines.adapters.power.program import Finished, bare_environment, run_program
from pipelines.adapters.power.protocol import PowerError, wait_for

PROGRAM = "ipmitool"
# A dead address takes it 20 s; a suite that it has to ask for, ten more.
LIMIT_S = 60.0
# One that is busy or starting has done nothing, and is asked again for so long.
BUSY_LIMIT_S = 30.0
BUSY_WAIT_S = 2.0
LONGEST_PASSWORD_BYTES = LONGEST_KG_BYTES = 20
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
        "Give the user the privilege of an operator on the controller's LAN channel. An "
        "administrator's needs privilege: administrator in the inventory, or none there.",
    ),
    *(
        (mark, "does not give the user this privilege", "Try privilege: operator in the inventory.")
        for mark in (
            "unauthorized role requested",
            "Requested privilege level exceeds limit",
            "Set Session Privilege Level to ADMINISTRATOR failed",
            "Set Session Privilege Level to OPERATOR failed",
        )
    ),
    *(
        (
            mark,
            "has no session left",
            "Sessions that broke end by themselves after a minute or so; a console of kind "
            "ipmi-sol holds one. Else restart the controller.",
        )
        for mark in (
            "insufficient resources for session",
            "insufficient resources for role",
            "No session slot available",
            "No slot available",  # for this user, or this privilege
        )
    ),
    (
        "RAKP 4 message has invalid integrity check value",
        "has another Kg key",
        "Name a file that holds its Kg key in kg_file; where it has none, take kg_file out.",
    ),
    ("failed: Node busy", "is busy", "Restart the controller if that does not pass."),
    (
        "failed: BMC initialization in progress",
        "is starting",
        "Wait a few minutes, and try again.",
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
_BUSY = ("failed: Node busy", "failed: BMC initialization in progress")
# It was sent, and no answer came.
_UNANSWERED = "Unable to set Chassis Power Control"
# A chassis that is off cannot be cycled: completion code 0xd5.
_NOT_IN_THIS_STATE = "not supported in present state"

log = get_logger(__name__)


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
    kg = [] if values.kg_file is None else ["-K"]
    suite = [] if values.cipher_suite is None else ["-C", str(values.cipher_suite)]
    return [
        PROGRAM,
        *("-I", "lanplus", "-H", values.address, "-p", str(values.port)),
        *("-U", values.user, "-f", values.password_file, "-L", values.privilege.upper()),
        *kg,
        *suite,
    ]


def ipmitool_environment(values: IpmiPowerValues | IpmiConsoleValues) -> dict[str, str]:
    """What ipmitool needs of an environment; of secrets the controller's Kg key, where it has one.

    Raises :class:`PowerError` for a file that cannot be used.
    """
    if values.kg_file is None:
        return bare_environment()
    return bare_environment() | {"IPMI_KGKEY": os.fsdecode(_kg_key(values.kg_file))}


def _kg_key(file: str) -> bytes:
    text = read_password(file)
    try:
        key = bytes.fromhex(text[2:]) if text.startswith("0x") else text.encode()
    except ValueError:
        key = b""
    if not key or b"\0" in key.rstrip(b"\0") or len(key) > LONGEST_KG_BYTES:
        raise PowerError(
            f"The file {file} holds no Kg key.",
            hint=f"Its first line is the key: at most {LONGEST_KG_BYTES} bytes, as text or as 0x "
            "and two hexadecimal digits a byte, without a zero byte before its end.",
        )
    return key.rstrip(b"\0")


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
            if _UNANSWERED not in done.stderr:
                self._fail("cycle", done)
            log.warning("no answer to a reset, which is not sent again", controller=self._name)
        wait_for(True, self.is_on, self._name, reset=True)

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
        environment = ipmitool_environment(self._values)
        deadline = time.monotonic() + BUSY_LIMIT_S
        while True:
            done = run_program(argv, limit_s=LIMIT_S, missing_hint=INSTALL, environment=environment)
            is_busy = done.status != 0 and any(mark in done.stderr for mark in _BUSY)
            if not is_busy or time.monotonic() > deadline:
                return done
            time.sleep(BUSY_WAIT_S)

    def _fail(self, action: str, done: Finished) -> NoReturn:
        said = f"{done.stdout}\n{done.stderr}"
        if known := meaning_of(said):
            raise PowerError(f"{self._name} {known[0]}.", hint=known[1])
        raise PowerError(
            f"{self._name} failed at `chassis power {action}`: "
            f"{done.last_line or f'exit status {done.status}'}",
            hint=f"Try it by hand: {PROGRAM} -I lanplus -H {self._values.address} …",
        )
