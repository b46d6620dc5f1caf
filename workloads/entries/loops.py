"""Loops of operations in machine code (x86-64), so that nothing stands between two of them.

Each takes how many operations it makes, at least one, and returns None, or the nanoseconds of the
operations alone where the loop does other things between them.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from _kit import exact
from _kit.contract import CaseError

Loop = Callable[[int], "int | None"]
CACHES = Path("/sys/devices/system/cpu")
SIZES = {"K": 1 << 10, "M": 1 << 20}
# personality(PER_LINUX), what a program of Linux is already: nothing of it changes. Filters that
# look at an argument look at this one.
SYSCALL = bytes.fromhex(
    "53 4889fb"  #                push rbx; mov rbx, rdi
    "b887000000 31ff 0f05"  #     again: mov eax, 135; xor edi, edi; syscall
    "48ffcb 75f2 5b c3"  #        dec rbx; jnz again; pop rbx; ret
)
# getppid(2), which has no argument.
GETPPID = bytes.fromhex(
    "53 4889fb"  #                push rbx; mov rbx, rdi
    "b86e000000 0f05"  #          again: mov eax, 110; syscall
    "48ffcb 75f4 5b c3"  #        dec rbx; jnz again; pop rbx; ret
)
# personality(PER_LINUX) by the numbers of 32-bit programs.
INT80 = bytes.fromhex(
    "53 4154 4989fc"  #           push rbx; push r12; mov r12, rdi
    "b888000000 31db cd80"  #     again: mov eax, 136; xor ebx, ebx; int 0x80
    "49ffcc 75f2 415c 5b c3"  #   dec r12; jnz again; pop r12; pop rbx; ret
)
# void vdso(function, times): the function's arguments are CLOCK_MONOTONIC and a place on the stack.
VDSO = bytes.fromhex(
    "53 55 4883ec18 4889fd 4889f3"  # push rbx; push rbp; sub rsp, 24; mov rbp, rdi; mov rbx, rsi
    "bf01000000 4889e6 ffd5"  #       again: mov edi, 1; mov rsi, rsp; call rbp
    "48ffcb 75f1"  #                  dec rbx; jnz again
    "4883c418 5d 5b c3"  #            add rsp, 24; pop rbp; pop rbx; ret
)
# void cold(buffer, bytes, times, sum): a load from each line of the buffer, then one personality(2)
# between two RDTSC, whose difference is added to the sum.
COLD = bytes.fromhex(
    "53 55 4154 4155 4156"  #         push rbx; push rbp; push r12; push r13; push r14
    "4889fb 4889f5 4989d4 4989cd"  #  mov rbx, rdi; mov rbp, rsi; mov r12, rdx; mov r13, rcx
    "31c0"  #                         again: xor eax, eax
    "4839e8 7309 8a0c03"  #           walk: cmp rax, rbp; jae call; mov cl, [rbx+rax]
    "4883c040 ebf2"  #                add rax, 64; jmp walk
    "0faee8 0f31"  #                  call: lfence; rdtsc
    "48c1e220 4809d0 4989c6"  #       shl rdx, 32; or rax, rdx; mov r14, rax
    "b887000000 31ff 0f05"  #         mov eax, 135; xor edi, edi; syscall
    "0faee8 0f31 48c1e220 4809d0"  #  lfence; rdtsc; shl rdx, 32; or rax, rdx
    "4c29f0 49014500"  #              sub rax, r14; add [r13], rax
    "49ffcc 75c0"  #                  dec r12; jnz again
    "415e 415d 415c 5d 5b c3"  #      pop r14; pop r13; pop r12; pop rbp; pop rbx; ret
)
# void ticks(where): RDTSC.
TICKS = bytes.fromhex("0faee8 0f31 48c1e220 4809d0 488907 c3")


def plain(code: bytes) -> Loop:
    """A loop whose only argument is how often."""
    return exact.machine_code(code, ctypes.c_uint64)


def by_syscall() -> Loop:
    """personality(2) by SYSCALL; CaseError where something refuses it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.personality(ctypes.c_ulong(0)) < 0:
        raise CaseError(f"personality(0) is refused here: {os.strerror(ctypes.get_errno())}")
    return plain(SYSCALL)


def by_int80() -> Loop:
    """personality(2) by INT 0x80; CaseError on a kernel without an entry for 32-bit programs."""
    loop = plain(INT80)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        loop(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        raise CaseError(
            "this kernel has no entry for 32-bit programs: CONFIG_IA32_EMULATION, and not "
            "ia32_emulation=0 on its command line"
        )
    return loop


def by_vdso() -> Loop:
    """clock_gettime(2) as the C library calls it, by the kernel's code in the program's memory."""
    libc = ctypes.CDLL(None)
    function = ctypes.cast(libc.clock_gettime, ctypes.c_void_p).value
    run = exact.machine_code(VDSO, ctypes.c_void_p, ctypes.c_uint64)
    return lambda times: run(function, times)


def cache_bytes(level: int, cpu: int) -> int:
    """Size of a processor's data or unified cache; CaseError where the kernel does not tell."""
    for index in sorted((CACHES / f"cpu{cpu}/cache").glob("index[0-9]*")):
        said = {name: (index / name).read_text().strip() for name in ("level", "type", "size")}
        if said["level"] == str(level) and said["type"] in ("Data", "Unified"):
            return int(said["size"][:-1]) * SIZES[said["size"][-1]]
    raise CaseError(
        f"the kernel does not tell the size of processor {cpu}'s cache of level {level}"
    )


def behind_walk(size: int) -> Loop:
    """personality(2) timed one by one, each behind a walk through *size* bytes."""
    buffer = (ctypes.c_char * max(size, 1))()
    # Pages that were never written to are all the same one.
    ctypes.memset(buffer, 1, len(buffer))
    run = exact.machine_code(
        COLD, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p
    )
    read = exact.machine_code(TICKS, ctypes.c_void_p)
    within, began, ended = (ctypes.c_uint64() for _ in range(3))

    def loop(times: int) -> int:
        within.value = 0
        began_ns = time.perf_counter_ns()
        read(ctypes.addressof(began))
        run(ctypes.addressof(buffer), size, times, ctypes.addressof(within))
        read(ctypes.addressof(ended))
        took_ns = time.perf_counter_ns() - began_ns
        return round(within.value * took_ns / (ended.value - began.value))

    return loop
