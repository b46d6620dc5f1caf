"""The interactive serial console."""

from __future__ import annotations

import os
import select
import socket
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from lab import machine
from lab.errors import LabError
from lab.hosts import Host

LEAVE = b"\x1d"  # Ctrl-]


def join(host: Host) -> None:
    """Connect this terminal with the host's serial line until Ctrl-] or end of input."""
    if machine.pid(host) is None:
        raise LabError(f"{host.name} is down.", hint="Start it with `mitigauge lab up`.")
    if not sys.stdin.isatty():
        raise LabError(
            "The console needs a terminal.", hint="`--log` prints the end of the log instead."
        )
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(str(host.serial_socket))
        except OSError as error:
            raise LabError(f"{host.serial_socket}: {error.strerror}") from error
        sys.stderr.write(f"Joined {host.name}; Ctrl-] leaves, Enter wakes the prompt.\r\n")
        with _raw_terminal(sys.stdin.fileno()):
            relay(line, sys.stdin.fileno(), sys.stdout.fileno())
    sys.stderr.write("\r\nLeft.\n")


def relay(line: socket.socket, keyboard: int, screen: int) -> None:
    """Copy both ways until Ctrl-] or until one side ends."""
    while True:
        ready, _, _ = select.select([line.fileno(), keyboard], [], [])
        if line.fileno() in ready:
            said = line.recv(4096)
            if not said:
                return
            os.write(screen, said)
        if keyboard in ready:
            typed = os.read(keyboard, 1024)
            before, leave, _ = typed.partition(LEAVE)
            line.sendall(before)
            if leave or not typed:
                return


@contextmanager
def _raw_terminal(terminal: int) -> Iterator[None]:
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
