"""Non-maskable interrupts for a host at a steady mean rate: ``python -m lab.nmi SOCKET``.

An emulated processor counts no cycles, and a timer cannot interrupt code that runs with
interrupts off, such as the first instructions of a system call. Counters of real hardware
reach it because they interrupt by NMI; here the emulator sends those.

QEMU starts this program for every connection that the guest makes to :data:`ADDRESS`, with
the connection as standard input and output. The guest says how many a second it wants,
reads ``ok`` after the first, and ends them by closing the connection.
"""

from __future__ import annotations

import random
import select
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from qemu.qmp import QMPError
from qemu.qmp.legacy import QEMUMonitorProtocol

ADDRESS = "10.0.2.100:7"
HIGHEST_HZ = 2000
# A guest that hangs closes nothing.
LONGEST_S = 3600.0
CONNECT_TIMEOUT_S = 10.0
ENDS = ("RESET", "SHUTDOWN")


def command(socket: Path) -> str:
    """The command line for QEMU to start, as a shell would read it."""
    return shlex.join([sys.executable, "-m", "lab.nmi", str(socket)])


def wanted_hz(line: str) -> int:
    """The rate a guest asks for. Raises ``ValueError`` saying what is possible."""
    text = line.strip()
    if not text.isdecimal() or not 1 <= int(text) <= HIGHEST_HZ:
        raise ValueError(f"{text[:40]!r} is no rate: a whole number from 1 to {HIGHEST_HZ}")
    return int(text)


def send(machine: QEMUMonitorProtocol, hz: int, connection: Any) -> None:
    """Interrupt all processors *hz* times a second until *connection* or the system ends.

    A system that crashes or is reset closes nothing, and its firmware does not get through
    its start under interrupts.
    """
    machine.cmd("inject-nmi")
    print("ok", flush=True)
    began = due = time.monotonic()
    while due - began < LONGEST_S:
        # Not in step with the guest's own timers.
        due += random.uniform(0.5, 1.5) / hz
        ended, _, _ = select.select([connection], [], [], max(0.0, due - time.monotonic()))
        if ended or any(event["event"] in ENDS for event in machine.get_events()):
            return
        machine.cmd("inject-nmi")


def main(socket: str) -> int:
    """Serve one connection; what goes wrong is said on it."""
    try:
        hz = wanted_hz(sys.stdin.readline(100))
        machine = QEMUMonitorProtocol(socket)
        machine.settimeout(CONNECT_TIMEOUT_S)
        machine.connect()
        send(machine, hz, sys.stdin)
    except BrokenPipeError:
        return 0
    except (ValueError, QMPError, OSError, TimeoutError) as error:
        print(f"error: {error}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
