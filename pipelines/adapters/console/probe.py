"""A console opened for a moment, to see whether a run would hear anything. Nothing is sent."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.fleet.power_values import (
    IpmiConsoleValues,
    SshConsoleValues,
    TcpConsoleValues,
)
from pipelines.adapters.console.line import (
    CONNECT_S,
    StreamValues,
    command_of,
    environment_of,
    free_the_line,
    said_at,
    terminal_of,
)
from pipelines.adapters.console.log import ConsoleError
from pipelines.adapters.power.ipmi import meaning_of

# A dead address takes ipmitool 20 s, and a key exchange several.
OPEN_S = 45.0
# A line that is taken away, or a command that fails, ends sooner.
HOLD_S = 2.0
TOLD_CHARACTERS, KEPT_CHARACTERS = 300, 1 << 16
# What the programs say once the line is theirs.
_OPEN = {
    "ipmi-sol": re.compile(r"SOL Session operational"),
    "ssh": re.compile(r"Authenticated to "),
}
# Of ssh itself, about itself.
_CHATTER = re.compile(r"^(?:Authenticated to|Transferred:|Bytes per second:).*$", re.MULTILINE)
_PACKAGES = {"ipmi-sol": "ipmitool", "ssh": "openssh-client"}
_TAKEN = re.compile(r"SOL payload already active")
_MEND = {
    "ipmi-sol": "See mitigauge_console of its inventory; the controller's user needs the right to "
    "serial over LAN, which must be enabled there. docs/hosts.md.",
    "ssh": "See mitigauge_console of its inventory: user, key_file, known_hosts_file and command.",
    "tcp": "See address and port of mitigauge_console of its inventory, and the console server.",
}


@dataclass(frozen=True, slots=True)
class Probed:
    """A console that can be read: *found* says how it is; *doubt*, what to do about it."""

    found: str
    doubt: str = ""


def opened_for_a_moment(values: StreamValues) -> Probed:
    """Open the line, and let it go.

    A session of somebody else's is left to them. Raises :class:`ConsoleError` with the words of
    whatever failed, and :class:`PowerError` for a password file that cannot be used.
    """
    if isinstance(values, TcpConsoleValues):
        return _port(values)
    # The reader's own command, which is to say more: how far it came, and what is at fault.
    program, *arguments = command_of(values)
    more = ["-o", "LogLevel=VERBOSE", "-o", f"ConnectTimeout={CONNECT_S:.0f}"]
    more = more if isinstance(values, SshConsoleValues) else ["-v"]
    return _program(values, [program, *more, *arguments])


def _port(values: TcpConsoleValues) -> Probed:
    where = f"{values.address}:{values.port}"
    try:
        with socket.create_connection((values.address, values.port), CONNECT_S) as line:
            if _ends(line):
                raise _failed(values, f"{where} takes the connection and ends it")
    except OSError as error:
        raise _failed(values, f"{where}: {error.strerror or error}") from error
    return Probed(f"{where} is open")


def _ends(line: socket.socket) -> bool:
    """Whether the line is taken away within ``HOLD_S``, whatever it says meanwhile."""
    until = time.monotonic() + HOLD_S
    while (left := until - time.monotonic()) > 0:
        line.settimeout(left)
        try:
            if not line.recv(1 << 16):
                return True
        except TimeoutError:
            return False
    return False


class _Answer(NamedTuple):
    """What a program printed, whether the line was its own, and whether it is gone."""

    text: str
    is_open: bool
    ended: bool


def _program(values: IpmiConsoleValues | SshConsoleValues, command: list[str]) -> Probed:
    try:
        with terminal_of(command, environment_of(values)) as terminal:
            said = _read_answer(lambda wait_s: said_at(terminal, wait_s), _OPEN[values.kind])
    except FileNotFoundError as error:
        raise ConsoleError(
            f"{values.kind}: there is no program {command[0]}",
            hint=f"Install it on this machine: apt-get install {_PACKAGES[values.kind]}",
        ) from error
    except OSError as error:
        raise _failed(values, f"{command[0]}: {error.strerror}") from error
    if not said.is_open:
        return _not_open(values, said)
    if isinstance(values, IpmiConsoleValues):
        free_the_line(values)  # ipmitool leaves its session behind when it is ended
    if said.ended:
        raise _failed(values, f"it was open and ended at once: {_words(said.text)}")
    return Probed(f"{values.address} is open")


def _not_open(values: IpmiConsoleValues | SshConsoleValues, said: _Answer) -> Probed:
    """Whose the line is, where it is taken; raises :class:`ConsoleError` with what went wrong."""
    is_ipmi = isinstance(values, IpmiConsoleValues)
    if is_ipmi and _TAKEN.search(said.text):
        return Probed(
            f"{values.address}: somebody else has its one session",
            "A run takes it from them when it boots the host.",
        )
    known = meaning_of(said.text) if is_ipmi else None
    if known:
        raise ConsoleError(f"The IPMI controller {values.address} {known[0]}.", hint=known[1])
    words = _words(said.text) or "nothing was said"
    raise _failed(values, words if said.ended else f"not open within {OPEN_S:.0f} s: {words}")


def _read_answer(read: Callable[[float], bytes | None], marker: re.Pattern[str]) -> _Answer:
    """What a program says until ``HOLD_S`` after *marker*, or for ``OPEN_S``, or to its end."""
    text, until, is_open = "", time.monotonic() + OPEN_S, False
    while (left := until - time.monotonic()) > 0:
        piece = read(left)
        if piece == b"":
            return _Answer(text, is_open, ended=True)
        # A line that talks all the time fills no memory.
        text = (text + (piece or b"").decode(errors="replace"))[-KEPT_CHARACTERS:]
        if not is_open and marker.search(text):
            is_open, until = True, time.monotonic() + HOLD_S
    return _Answer(text, is_open, ended=False)


def _words(said: str) -> str:
    return clean_text(" ".join(_CHATTER.sub("", said).split()))[-TOLD_CHARACTERS:]


def _failed(values: StreamValues, why: str) -> ConsoleError:
    return ConsoleError(f"{values.kind}: {why}", hint=_MEND[values.kind])
