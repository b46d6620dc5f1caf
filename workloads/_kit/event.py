"""Counters of the kernel that a thread waits on (eventfd); Python's own came with 3.10."""

from __future__ import annotations

import ctypes
import os
import sys

# EFD_SEMAPHORE and EFD_CLOEXEC of <sys/eventfd.h>.
SEMAPHORE, CLOSE_ON_EXEC = 0o1, 0o2000000
_BYTES = 8


def eventfd(flags: int) -> int:
    """A new one's descriptor; it begins with nothing. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = int(libc.eventfd(0, flags))
    if number < 0:
        raise OSError(ctypes.get_errno(), "eventfd")
    return number


def add(descriptor: int, count: int) -> None:
    """Add to it, which wakes whoever waits."""
    os.write(descriptor, count.to_bytes(_BYTES, sys.byteorder))


def take(descriptor: int) -> int:
    """Wait until there is something, and take all of it; of a semaphore one."""
    return int.from_bytes(os.read(descriptor, _BYTES), sys.byteorder)
