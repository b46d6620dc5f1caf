"""The same call while somebody watches: a debugger that stops at each, and `perf trace`."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from _kit import exact
from _kit.contract import CaseError
from _kit.perf import locale
from loops import Loop, by_syscall

TRACEME, PTRACE_SYSCALL = 0, 24
READY_S = 60.0
# void follow(process, times): PTRACE_SYSCALL, then wait4(process), *times* times.
FOLLOW = bytes.fromhex(
    "53 55 89fd 4889f3"  #                   push rbx; push rbp; mov ebp, edi; mov rbx, rsi
    "b865000000 bf18000000 89ee"  #          again: mov eax, 101; mov edi, 24; mov esi, ebp
    "31d2 4531d2 0f05"  #                    xor edx, edx; xor r10d, r10d; syscall
    "b83d000000 89ef 31f6 31d2 4531d2 0f05"  # mov eax, 61; mov edi, ebp; xor …; syscall
    "48ffcb 75d8 5d 5b c3"  #                dec rbx; jnz again; pop rbp; pop rbx; ret
)
# void call(count): personality(2) for ever, each counted.
COUNTED = bytes.fromhex(
    "b887000000 4889fb 31ff 0f05"  # again: mov eax, 135; mov rbx, rdi; xor edi, edi; syscall
    "4889df 48ff07 ebec"  #          mov rdi, rbx; inc qword [rdi]; jmp again
)


@contextmanager
def ptraced() -> Iterator[Loop]:
    """A loop of calls of another process, each stopped at its begin and at its end."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    follow = exact.machine_code(FOLLOW, ctypes.c_int, ctypes.c_uint64)
    process = os.fork()
    if not process:
        libc.ptrace(TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        address = ctypes.addressof(ctypes.c_char.from_buffer(shared))
        exact.machine_code(COUNTED, ctypes.c_void_p)(address)
        os._exit(1)

    def made() -> int:
        return int(struct.unpack_from("=Q", shared)[0])

    def loop(times: int) -> None:
        before = made()
        follow(process, 2 * times)
        if made() - before != times:
            raise CaseError(f"of {times} calls that are traced {made() - before} were made")

    try:
        os.waitpid(process, 0)
        # What Python calls on its way to the loop, then the stop at the begin of one more call.
        while made() < 1:
            follow(process, 1)
        yield loop
    finally:
        # It may have ended by itself.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


@contextmanager
def perf_traced() -> Iterator[Loop]:
    """The loop of calls while `perf trace` writes a line of each."""
    loop = by_syscall()
    with tempfile.NamedTemporaryFile() as lines, tempfile.TemporaryFile() as said:
        command = ["perf", "trace", "--pid", str(os.getpid()), "--output", lines.name]
        watcher = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=locale()
        )
        try:
            until = time.monotonic() + READY_S
            while not os.stat(lines.name).st_size:
                if watcher.poll() is not None or time.monotonic() > until:
                    said.seek(0)
                    told = said.read(400).decode(errors="replace").strip()
                    raise CaseError(f"perf trace saw no call within {READY_S:.0f} s: {told}")
                loop(100)
                time.sleep(0.01)
            yield loop
        finally:
            watcher.terminate()
            watcher.wait()
