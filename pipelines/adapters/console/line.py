"""A connected console: a port of a console server, or a program that prints what the line says."""

from __future__ import annotations

import os
import pty
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from mitigauge.measurement.fleet.power_values import (
    IpmiConsoleValues,
    SshConsoleValues,
    TcpConsoleValues,
)
from pipelines.adapters.power.ipmi import ipmitool_environment, ipmitool_options
from pipelines.adapters.power.program import bare_environment

CONNECT_S = 15.0
# How often a silent line is left, to see whether anybody still wants it.
LOOK_EVERY_S = 30.0
_PIECE = 1 << 16

StreamValues = IpmiConsoleValues | SshConsoleValues | TcpConsoleValues


@contextmanager
def line(values: StreamValues) -> Iterator[Callable[[], bytes | None]]:
    """A connected line: each call gives a piece, None after a while of silence, b"" at its end."""
    if isinstance(values, TcpConsoleValues):
        with socket.create_connection((values.address, values.port), CONNECT_S) as opened:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            opened.settimeout(LOOK_EVERY_S)
            yield lambda: _piece_of(opened)
        return
    if isinstance(values, IpmiConsoleValues):
        free_the_line(values)
    with terminal_of(command_of(values), environment_of(values)) as terminal:
        yield lambda: said_at(terminal)


def _piece_of(opened: socket.socket) -> bytes | None:
    try:
        return opened.recv(_PIECE)
    except TimeoutError:
        return None


def command_of(values: IpmiConsoleValues | SshConsoleValues) -> list[str]:
    """The program that prints what the line says."""
    if isinstance(values, IpmiConsoleValues):
        return [*ipmitool_options(values), "sol", "activate"]
    # No configuration and no agent of the worker's user has a part in this.
    options = ("BatchMode=yes", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes")
    more = (f"UserKnownHostsFile={values.known_hosts_file}", "ServerAliveInterval=15")
    return [
        *("ssh", "-F", "/dev/null", "-a", "-x", "-T", "-e", "none"),
        *(word for option in (*options, *more) for word in ("-o", option)),
        *("-i", values.key_file, "-p", str(values.port), "-l", values.user),
        *("--", values.address, values.command),
    ]


def environment_of(values: IpmiConsoleValues | SshConsoleValues) -> dict[str, str]:
    """The environment of that program: without secrets but the Kg key of its controller."""
    if isinstance(values, IpmiConsoleValues):
        return ipmitool_environment(values)
    return bare_environment()


def free_the_line(values: IpmiConsoleValues) -> None:
    """End a session that a reader which was killed, or a person, has left open: there is one."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [*ipmitool_options(values), "sol", "deactivate"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=2 * CONNECT_S,
            env=ipmitool_environment(values),
            check=False,
        )


@contextmanager
def terminal_of(command: list[str], environment: dict[str, str]) -> Iterator[int]:
    """The terminal of a running program. ipmitool refuses to work without one."""
    ours, its = pty.openpty()
    try:
        try:
            process = subprocess.Popen(
                command,
                stdin=its,
                stdout=its,
                stderr=its,
                start_new_session=True,
                env=environment,
                cwd="/",
            )
        finally:
            os.close(its)
        try:
            yield ours
        finally:
            _stop(process)
    finally:
        os.close(ours)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it started; ipmitool gives the line back when asked."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
            return


def said_at(terminal: int, wait_s: float | None = None) -> bytes | None:
    """A piece of what a program says; None after *wait_s* of silence, b"" when it is gone."""
    ready, _, _ = select.select([terminal], [], [], LOOK_EVERY_S if wait_s is None else wait_s)
    if not ready:
        return None
    try:
        return os.read(terminal, _PIECE)
    except OSError:
        return b""  # how a terminal says that its program is gone
