"""io_uring(7) without a library: 32 requests that do nothing, submitted by one entry."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from _kit import exact
from _kit.contract import CaseError
from loops import Loop

BATCH = 32
# include/uapi/linux/io_uring.h
SETUP, OFF_SQ_RING, OFF_SQES = 425, 0, 0x10000000
PARAMS_BYTES, SQE_BYTES, CQE_BYTES, NUMBER_BYTES = 120, 64, 16, 4
SQ_HEAD_AT, CQ_HEAD_AT, FEATURES_AT = 40, 80, 20
SINGLE_MMAP = 1
# void submit(sq_tail, cq_head, fd, times): 32 requests more, io_uring_enter(fd, 32, 32,
# IORING_ENTER_GETEVENTS), 32 answers less.
SUBMIT = bytes.fromhex(
    "53 55 4154 4155"  #             push rbx; push rbp; push r12; push r13
    "4889fb 4889f5 4189d4 4989cd"  # mov rbx, rdi; mov rbp, rsi; mov r12d, edx; mov r13, rcx
    "830320 b8aa010000 4489e7"  #    again: add dword [rbx], 32; mov eax, 426; mov edi, r12d
    "be20000000 ba20000000"  #       mov esi, 32; mov edx, 32
    "41ba01000000 4531c0 4531c9"  #  mov r10d, 1; xor r8d, r8d; xor r9d, r9d
    "0f05 83450020 49ffcd 75d4"  #   syscall; add dword [rbp], 32; dec r13; jnz again
    "415d 415c 5d 5b c3"  #          pop r13; pop r12; pop rbp; pop rbx; ret
)


def made() -> tuple[int, bytes]:
    """A ring's descriptor and what the kernel says of it; CaseError where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    params = ctypes.create_string_buffer(PARAMS_BYTES)
    descriptor = libc.syscall(ctypes.c_long(SETUP), BATCH, params)
    if descriptor < 0:
        why = os.strerror(ctypes.get_errno())
        raise CaseError(
            f"no io_uring here: {why} (sysctl kernel.io_uring_disabled, CONFIG_IO_URING)"
        )
    if not struct.unpack_from("=I", params.raw, FEATURES_AT)[0] & SINGLE_MMAP:
        os.close(descriptor)
        raise CaseError("the io_uring of this kernel is older than Linux 5.4")
    return descriptor, params.raw


@contextmanager
def nops() -> Iterator[Loop]:
    """A loop of requests that do nothing, a multiple of BATCH of them."""
    descriptor, params = made()
    # struct io_sqring_offsets and io_cqring_offsets, as far as they are used.
    _, tail_at, mask_at, _, _, _, array_at = struct.unpack_from("=7I", params, SQ_HEAD_AT)
    head_at, answered_at, _, _, _, cqes_at = struct.unpack_from("=6I", params, CQ_HEAD_AT)
    answers = struct.unpack_from("=I", params, 4)[0]
    # Both queues are one mapping.
    size = max(cqes_at + answers * CQE_BYTES, array_at + BATCH * NUMBER_BYTES)
    ring = mmap.mmap(descriptor, size, offset=OFF_SQ_RING)
    requests = mmap.mmap(descriptor, BATCH * SQE_BYTES, offset=OFF_SQES)
    # A request of zeros is IORING_OP_NOP.
    requests.write(bytes(BATCH * SQE_BYTES))
    assert struct.unpack_from("=I", ring, mask_at)[0] == BATCH - 1
    struct.pack_into(f"={BATCH}I", ring, array_at, *range(BATCH))
    base = ctypes.addressof(ctypes.c_char.from_buffer(ring))
    run = exact.machine_code(
        SUBMIT, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    )

    def answered() -> int:
        return int(struct.unpack_from("=I", ring, answered_at)[0])

    def loop(times: int) -> None:
        before = answered()
        run(base + tail_at, base + head_at, descriptor, times // BATCH)
        came = (answered() - before) % (1 << 32)
        if came != times // BATCH * BATCH % (1 << 32):
            raise CaseError(f"of {times} requests {came} were answered")

    try:
        yield loop
    finally:
        os.close(descriptor)
