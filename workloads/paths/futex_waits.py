"""Waits on a futex whose value differs, so many as are asked: perf's run for a time alone."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from _kit import exact

# void waits(const uint32_t *word, uint64_t times): futex(2) with FUTEX_WAIT | FUTEX_PRIVATE_FLAG
# for the value 1, without a timeout, *times* times.
WAITS = bytes.fromhex(
    "53"  # push rbx
    "4889f3"  # mov rbx, rsi
    "b8ca000000"  # again: mov eax, 202
    "be80000000"  # mov esi, 128
    "ba01000000"  # mov edx, 1
    "4531d2"  # xor r10d, r10d
    "0f05"  # syscall
    "48ffcb"  # dec rbx
    "75e7"  # jnz again
    "5b"  # pop rbx
    "c3"  # ret
)


def waiter() -> Callable[[int], float]:
    """A function that waits so many times and tells in how many seconds.

    It raises ValueError for less than once: the loop counts down to zero.
    """
    word = ctypes.c_uint32(0)
    run = exact.machine_code(WAITS, ctypes.c_void_p, ctypes.c_uint64)

    def wait(times: int) -> float:
        if times < 1:
            raise ValueError(f"{times} waits: at least one")
        began = time.perf_counter()
        run(ctypes.addressof(word), times)
        return time.perf_counter() - began

    return wait
