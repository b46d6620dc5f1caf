"""What a process does with memory it has freed."""

from __future__ import annotations

import gc
from contextlib import suppress

# Of mallopt(3).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
KEPT_BYTES = 128 << 20
# New objects until the youngest are looked through, and how many times until older ones are.
_NEW_OBJECTS, _TIMES = 50_000, 50
# The most that glibc takes for this one.
_LARGEST_BLOCK = 32 << 20


def keep_freed_memory() -> None:
    """Keep up to 128 MiB for the next use instead of giving it back to the kernel.

    A diff fills and frees tens of megabytes; to get them page by page from the kernel anew
    each time takes a sixth of the answer. Does nothing where there is no glibc.
    """
    import ctypes

    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGEST_BLOCK)
        libc.mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)


def collect_seldom() -> None:
    """Look for cycles of garbage every 50,000 new objects, not every 700.

    Modules are hundreds of thousands of objects that stay: to look through them again and again
    while they are loaded takes a tenth of the start.
    """
    gc.set_threshold(_NEW_OBJECTS, _TIMES, _TIMES)
