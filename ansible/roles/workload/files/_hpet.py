"""Non-maskable interrupts of this host's own HPET: `_hpet.py HZ NOTES COMMAND…`.

An emulated processor counts no cycles, and a timer's ordinary interrupt cannot reach code that
runs with interrupts off, such as the first instructions of a system call. Comparator 2, which
the kernel leaves alone, therefore sends messages that arrive as NMIs. They come by the host's own
clock: where that counts instructions, so do the samples. What is profiled repeats itself to the
instruction there, and interrupts at one fixed interval would meet the same few of them again and
again: the interval is changed at random all the time.

It needs a HPET that sends messages, and /dev/mem beside a driver (`iomem=relaxed`). Both are the
lab's; nothing else names this source. NOTES gets the times of start and end, or why there is none.
Standard library only; staged beside the runner.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

ADDRESS = 0xFED00000
# Femtoseconds of a tick are in the upper half of the first register.
PERIOD_AT, COUNTER_AT = 0x004, 0x0F0
COMPARATOR = 2
CONFIG_AT = 0x100 + 0x20 * COMPARATOR
VALUE_AT, MESSAGE_AT = CONFIG_AT + 0x08, CONFIG_AT + 0x10
ENABLED, PERIODIC, SETS_VALUE = 1 << 2, 1 << 3, 1 << 6
BY_MESSAGE, CAN_MESSAGE = 1 << 14, 1 << 15
# To the first processor; delivery mode 4 is an NMI.
TO_PROCESSOR, AS_NMI = 0xFEE00000, 4 << 8
FEMTOSECONDS = 10**15
# How often the interval is changed: after some ten NMIs, so that changing is no part of a profile.
CHANGE_S = (0.005, 0.015)


class Hpet:
    """The registers of one comparator."""

    def __init__(self) -> None:
        """OSError where the registers cannot be reached or the comparator sends no messages."""
        descriptor = os.open("/dev/mem", os.O_RDWR | os.O_SYNC)
        try:
            self._memory = mmap.mmap(descriptor, mmap.PAGESIZE, offset=ADDRESS)
        finally:
            os.close(descriptor)
        if not self._register(CONFIG_AT).value & CAN_MESSAGE:
            raise OSError(f"comparator {COMPARATOR} of the HPET sends no messages")

    def _register(self, at: int) -> ctypes.c_uint32:
        # One access of 32 bits each; a copy of bytes is none.
        return ctypes.c_uint32.from_buffer(self._memory, at)

    def begin(self, hz: int) -> None:
        """Send an NMI `hz` times a second. QEMU sends two at once."""
        ticks = self._ticks(hz)
        self._register(MESSAGE_AT).value = AS_NMI
        self._register(MESSAGE_AT + 4).value = TO_PROCESSOR
        self._register(CONFIG_AT).value = BY_MESSAGE | PERIODIC | SETS_VALUE | ENABLED
        self._register(VALUE_AT).value = (self._register(COUNTER_AT).value + ticks) & 0xFFFFFFFF
        # The second value is the period.
        self._register(VALUE_AT).value = ticks

    def change(self, hz: float) -> None:
        """Go on at another rate."""
        self._register(VALUE_AT).value = self._ticks(hz)

    def _ticks(self, hz: float) -> int:
        return int(FEMTOSECONDS / self._register(PERIOD_AT).value / hz)

    def end(self) -> None:
        """Send no more."""
        self._register(CONFIG_AT).value = 0


def main(hz: str, notes: str, *command: str) -> int:
    """Status of the command, run under NMIs."""
    try:
        hpet = Hpet()
    except OSError as error:
        Path(notes).write_text(f"no NMIs from the HPET: {error}\n")
        return 1
    # They would go on without us until the host is booted again.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    hpet.begin(int(hz))
    began = time.time()
    try:
        with subprocess.Popen(command) as process:
            while process.poll() is None:
                time.sleep(random.uniform(*CHANGE_S))
                # Uniform intervals: a rate's mean would be higher than `hz`.
                hpet.change(int(hz) / random.uniform(0.5, 1.5))
        return process.returncode
    finally:
        hpet.end()
        Path(notes).write_text(f"{began}\n{time.time()}\n")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
